"""Dependencies of the routes. They are asynchronous, because FastAPI runs plain functions in a thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from service.auth.api_keys import ApiKeys
from service.auth.authentication import Caller
from service.http.fair_semaphore import FairSemaphore
from service.http.notifications import JobNotifications
from service.ops.metrics import Metrics
from service.ops.readiness import Readiness
from service.predict.model_cache import Predictors
from service.sandbox.client import Sandbox
from service.settings import Settings
from worker.blobs.local import Blobs
from worker.store import Store
from worker.store.token_buckets import Buckets


@dataclass(frozen=True)
class Services:
    """The objects that an app shares between requests, at `app.state.services`."""

    settings: Settings
    store: Store
    blobs: Blobs
    notifications: JobNotifications
    keys: ApiKeys
    metrics: Metrics
    predictors: Predictors
    sandbox: Sandbox
    buckets: Buckets
    readiness: Readiness
    small_uploads: FairSemaphore
    large_uploads: FairSemaphore
    predictions: FairSemaphore  # in a thread
    bulk_predictions: FairSemaphore  # in a sandboxed process
    node_scans: FairSemaphore  # of the rows of a dataset, in a thread


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _caller(request: Request) -> Caller:
    caller: Caller = request.scope["literati.caller"]
    return caller


def _service(name: str) -> Callable[[Request], Awaitable[Any]]:
    """Return a dependency on one of the services."""

    async def get(request: Request) -> Any:
        return getattr(request.app.state.services, name)

    return get


ServicesDep = Annotated[Services, Depends(_services)]
SettingsDep = Annotated[Settings, Depends(_service("settings"))]
StoreDep = Annotated[Store, Depends(_service("store"))]
BlobsDep = Annotated[Blobs, Depends(_service("blobs"))]
KeysDep = Annotated[ApiKeys, Depends(_service("keys"))]
NotificationsDep = Annotated[JobNotifications, Depends(_service("notifications"))]
MetricsDep = Annotated[Metrics, Depends(_service("metrics"))]
CallerDep = Annotated[Caller, Depends(_caller)]
