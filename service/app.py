"""The FastAPI app: its middleware, its routes and its lifespan."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

import literati
from service import openapi
from service.auth.api_keys import ApiKeys
from service.auth.authentication import AuthMiddleware
from service.auth.key_store import KeyStore
from service.datasets import service as datasets
from service.dependencies import Services
from service.http import error_handlers
from service.http.body_limits import BodyLimitMiddleware
from service.http.fair_semaphore import FairSemaphore
from service.http.notifications import JobNotifications
from service.http.rate_limits import RateLimitMiddleware
from service.nodes import node_scan as nodes
from service.ops.audit import open_audit
from service.ops.metrics import Metrics
from service.ops.readiness import Readiness
from service.predict import execution as predict
from service.predict.model_cache import Predictors
from service.request_middleware import RequestMiddleware
from service.routers import ROUTERS
from service.sandbox.client import Sandbox
from service.settings import Settings
from worker.blobs.open import open_blobs
from worker.reconciler import Reconciler, retention_days
from worker.store import open_store
from worker.store.model_names import ModelResolver
from worker.store.token_buckets import Buckets


def create_app(settings: Settings | None = None) -> FastAPI:
    """Return an app with its own store client, which connects at the start or with the first request."""
    settings = Settings() if settings is None else settings
    services = _services(settings)
    app = FastAPI(
        title="Literati",
        version=literati.__version__,
        description=openapi.DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # served by a route of `service.web`
        redirect_slashes=False,
        # FastAPI's telemetry would read the environment with every request.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.services = services
    error_handlers.install(app)
    for router in ROUTERS:  # include_router would match every request twice, which takes 50 µs
        app.router.routes.extend(router.routes)
    openapi.install(app)
    # The middleware added last is the outermost.
    app.add_middleware(BodyLimitMiddleware, settings=settings)
    if settings.rate_limits != "off":
        app.add_middleware(RateLimitMiddleware, buckets=services.buckets, settings=settings)
    app.add_middleware(AuthMiddleware, keys=services.keys, store_format=services.store.format)
    app.add_middleware(
        RequestMiddleware,
        metrics=services.metrics,
        audit=open_audit(settings),
        access_log=settings.access_log,
    )
    return app


def _services(settings: Settings) -> Services:
    blobs = open_blobs(settings)
    store = open_store(settings, blobs)
    keys = ApiKeys(settings.api_keys_file, KeyStore(store))
    notifications = JobNotifications(
        settings.store_url, max_waiting=settings.max_waiting, keys_changed=keys.announce
    )
    return Services(
        settings=settings,
        store=store,
        blobs=blobs,
        notifications=notifications,
        keys=keys,
        metrics=Metrics(store, blobs, lambda: notifications.waiting),
        predictors=Predictors(store, ModelResolver(settings.store_url)),
        sandbox=Sandbox(),
        buckets=Buckets(settings.store_url),
        readiness=Readiness(store, blobs),
        small_uploads=FairSemaphore(datasets.MAX_SMALL_UPLOADS, per_tenant=datasets.MAX_SMALL_UPLOADS - 1),
        large_uploads=FairSemaphore(datasets.MAX_LARGE_UPLOADS),
        predictions=FairSemaphore(predict.MAX_CONCURRENT, per_tenant=predict.MAX_CONCURRENT - 1),
        bulk_predictions=FairSemaphore(predict.MAX_CONCURRENT, per_tenant=predict.MAX_CONCURRENT - 1),
        node_scans=FairSemaphore(nodes.MAX_CONCURRENT, per_tenant=nodes.MAX_CONCURRENT - 1),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    from worker.app import wake  # importing Celery takes a second, which describing the API does not need

    services: Services = app.state.services
    loop = asyncio.get_running_loop()
    reconciler = Reconciler(
        services.store,
        wake,
        services.blobs,
        interval=services.settings.reconcile_seconds,
        retention=retention_days(services.settings),
        on_refused=lambda: loop.call_soon_threadsafe(services.notifications.end_all),
        archive_after_hours=services.settings.archive_after_hours,
    )
    reconciler.start()
    services.sandbox.start()
    follow_keys = asyncio.create_task(services.keys.follow(services.notifications.wake_all))
    try:
        async with services.notifications.running():
            yield
    finally:
        follow_keys.cancel()
        with suppress(asyncio.CancelledError):
            await follow_keys
        await services.predictors.close()
        await services.buckets.close()
        services.sandbox.stop()
        await run_in_threadpool(reconciler.stop)
