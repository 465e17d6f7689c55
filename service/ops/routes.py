"""Whether it lives, whether it is ready, what it measures, and which version it is."""

from __future__ import annotations

import platform
from typing import Literal

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

import literati
from service.dependencies import MetricsDep, ServicesDep
from service.schemas import examples
from service.schemas.problem import problems

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
    summary="Alive?",
    responses={200: examples.answer("It lives.", {"status": "ok"})},
)
async def get_health() -> Health:
    """Answers as long as the process does. It asks nobody else."""
    return Health()


@router.get(
    "/readyz",
    operation_id="get_readiness",
    summary="Ready?",
    responses={200: examples.answer("It is ready.", {"status": "ok"}), **problems(503)},
)
async def get_readiness(services: ServicesDep) -> Health:
    """Ready means that the store answers and that its data and the blob folder can be written."""
    await services.readiness.check()
    return Health()


@router.get(
    "/metrics",
    operation_id="get_metrics",
    summary="Measurements for Prometheus",
    response_class=Response,
    responses={
        200: {
            "description": "The text format of Prometheus.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": "literati_queue_depth 0.0"}},
        },
        **problems(503),
    },
)
async def get_metrics(metrics: MetricsDep) -> Response:
    """Requests by route and status with their latency, and what is known of jobs, workers, store and disk.

    While the store is away, what it would tell is left out and `literati_store_up` is 0.
    """
    return Response(await run_in_threadpool(metrics.page), media_type=CONTENT_TYPE_LATEST)


@router.get(
    "/version",
    operation_id="get_version",
    summary="Which version?",
    responses={
        200: examples.answer(
            "The version.", {"name": "literati", "version": "0.1.0", "api": "v1", "python": "3.13.1"}
        )
    },
)
async def get_version() -> Version:
    """The version of the service and of the engine: they are released together."""
    return Version(version=literati.__version__, python=platform.python_version())
