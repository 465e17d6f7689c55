"""The FastAPI app: its layers, its routes, and what lives as long as it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool

import literati
from service import error_handlers, openapi
from service.apart.processes import Processes
from service.api_keys import Keys
from service.audit import open_audit
from service.auth import AuthLayer
from service.dependencies import Services
from service.front import Front
from service.hub import Hub
from service.key_store import KeyStore
from service.limits import BodyLimits
from service.metrics import Metrics
from service.prediction.predictors import Predictors
from service.purses import Purses
from service.rate_limits import RateLimits
from service.readiness import Readiness
from service.routes import ROUTERS, datasets, predict
from service.settings import Settings
from service.turns import Turns
from worker.open_blobs import open_blobs
from worker.open_store import open_store
from worker.reconciler import Reconciler, keep_days
from worker.store.buckets import Buckets
from worker.store.resolver import ModelResolver


def create_app(settings: Settings | None = None) -> FastAPI:
    """An app on its own store connection. Nothing is connected before the first request or the start."""
    settings = Settings() if settings is None else settings
    services = _services(settings)
    app = FastAPI(
        title="Literati",
        version=literati.__version__,
        description=openapi.DESCRIPTION,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,  # served by a route of our own, with headers like every other
        redirect_slashes=False,
        # Its own telemetry asks the environment with every request whether it is wanted.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.services = services
    error_handlers.install(app)
    for router in ROUTERS:  # include_router would match every request twice: 50 us more for each
        app.router.routes.extend(router.routes)
    openapi.install(app)
    # The one added last is the outermost.
    app.add_middleware(BodyLimits, settings=settings)
    if settings.rate_limits != "off":
        app.add_middleware(RateLimits, purses=Purses(services.buckets), settings=settings)
    app.add_middleware(AuthLayer, keys=services.keys)
    app.add_middleware(
        Front, metrics=services.metrics, audit=open_audit(settings), access_log=settings.access_log
    )
    return app


def _services(settings: Settings) -> Services:
    store = open_store(settings)
    blobs = open_blobs(settings)
    keys = Keys(settings.api_keys_file, KeyStore(store.client))
    hub = Hub(settings.store_url, most=settings.max_waiting, keys_changed=keys.announce)
    return Services(
        settings=settings,
        store=store,
        blobs=blobs,
        hub=hub,
        keys=keys,
        metrics=Metrics(store, blobs, lambda: hub.waiting),
        predictors=Predictors(store, ModelResolver(settings.store_url)),
        apart=Processes(),
        buckets=Buckets(settings.store_url),
        readiness=Readiness(store, blobs),
        small_uploads=Turns(datasets.SMALL_AT_ONCE, per_tenant=datasets.SMALL_AT_ONCE - 1),
        large_uploads=Turns(datasets.LARGE_AT_ONCE),
        predictions=Turns(predict.AT_ONCE, per_tenant=predict.AT_ONCE - 1),
        bulk_predictions=Turns(predict.AT_ONCE, per_tenant=predict.AT_ONCE - 1),
    )


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    from worker.app import (
        wake,
    )  # imports Celery, for a second: not needed to describe the API, nor at the first job

    services: Services = app.state.services
    reconciler = Reconciler(
        services.store,
        wake,
        services.blobs,
        every=services.settings.reconcile_seconds,
        keep=keep_days(services.settings),
    )
    reconciler.start()
    services.apart.start()
    following = asyncio.create_task(services.keys.follow(services.hub.wake_all))
    try:
        async with services.hub.running():
            yield
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        await services.predictors.close()
        await services.buckets.close()
        services.apart.stop()
        await run_in_threadpool(reconciler.stop)
