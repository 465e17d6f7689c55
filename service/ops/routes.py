"""Routes for health, readiness, metrics and the version."""

from __future__ import annotations

import platform
from typing import Literal

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

import literati
from service.dependencies import MetricsDep, ServicesDep
from service.examples import jobs as examples
from service.schemas.problems import problems

router = APIRouter(tags=["system"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class Version(BaseModel):
    name: Literal["literati"] = "literati"
    version: str
    api: Literal["v1"] = "v1"
    python: str


@router.get(
    "/healthz",
    operation_id="get_health",
    summary="Check that the process is alive",
    responses={200: examples.answer("The process is alive.", {"status": "ok"})},
)
async def get_health() -> Health:
    """Answer as long as the process runs, without asking the store."""
    return Health()


@router.get(
    "/readyz",
    operation_id="get_readiness",
    summary="Check that the service is ready",
    responses={200: examples.answer("The service is ready.", {"status": "ok"}), **problems(503)},
)
async def get_readiness(services: ServicesDep) -> Health:
    """Check that the store answers and that it and the blob folder accept writes."""
    await services.readiness.check()
    return Health()


@router.get(
    "/metrics",
    operation_id="get_metrics",
    summary="Get metrics for Prometheus",
    response_class=Response,
    responses={
        200: {
            "description": "The metrics in the text format of Prometheus.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": "literati_queue_depth 0.0"}},
        },
        **problems(503),
    },
)
async def get_metrics(metrics: MetricsDep) -> Response:
    """Return metrics of requests, jobs, workers, the store and the disk.

    While the store does not answer, its metrics are left out and `literati_store_up` is 0.
    """
    return Response(await run_in_threadpool(metrics.render), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/version",
    operation_id="get_version",
    summary="Get the version",
    responses={
        200: examples.answer(
            "The version.", {"name": "literati", "version": "0.2.0", "api": "v1", "python": "3.13.1"}
        )
    },
)
async def get_version() -> Version:
    """Return the version of the service, which is also that of the library."""
    return Version(version=literati.__version__, python=platform.python_version())
