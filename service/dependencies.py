"""What route handlers ask for by type. All asynchronous: a plain function would cost a thread each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from service.apart.processes import Processes
from service.api_keys import Keys
from service.auth import Caller
from service.hub import Hub
from service.metrics import Metrics
from service.prediction.predictors import Predictors
from service.readiness import Readiness
from service.settings import Settings
from service.turns import Turns
from worker.blobs import Blobs
from worker.store import Store
from worker.store.buckets import Buckets


@dataclass(frozen=True)
class Services:
    """Made once for an app, at `app.state.services`."""

    settings: Settings
    store: Store
    blobs: Blobs
    hub: Hub
    keys: Keys
    metrics: Metrics
    predictors: Predictors
    apart: Processes
    buckets: Buckets
    readiness: Readiness
    small_uploads: Turns
    large_uploads: Turns
    predictions: Turns  # that take a thread
    bulk_predictions: Turns  # that take a process


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def _settings(request: Request) -> Settings:
    return (await _services(request)).settings


async def _store(request: Request) -> Store:
    return (await _services(request)).store


async def _blobs(request: Request) -> Blobs:
    return (await _services(request)).blobs


async def _hub(request: Request) -> Hub:
    return (await _services(request)).hub


async def _keys(request: Request) -> Keys:
    return (await _services(request)).keys


async def _metrics(request: Request) -> Metrics:
    return (await _services(request)).metrics


async def _caller(request: Request) -> Caller:
    caller: Caller = request.scope["literati.caller"]
    return caller


ServicesDep = Annotated[Services, Depends(_services)]
SettingsDep = Annotated[Settings, Depends(_settings)]
StoreDep = Annotated[Store, Depends(_store)]
BlobsDep = Annotated[Blobs, Depends(_blobs)]
KeysDep = Annotated[Keys, Depends(_keys)]
HubDep = Annotated[Hub, Depends(_hub)]
MetricsDep = Annotated[Metrics, Depends(_metrics)]
CallerDep = Annotated[Caller, Depends(_caller)]
