"""Predict with the protocol of MLflow's scoring server, which has one model at each address."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

import literati
from service.examples import models as model_examples
from service.examples import protocols as examples
from service.examples.jobs import answer
from service.http.fast_path import FastPathRoute, with_fast_path
from service.http.strict_queries import NO_OPTIONS
from service.ingest import media_types
from service.ops.routes import Health
from service.predict.execution import predict_rows
from service.predict.parameters import BYTES
from service.predict.request_options import mlflow_options
from service.protocols.schemas import MlflowPredictions
from service.protocols.versions import find_model
from service.schemas.parameters import ModelName, model_name
from service.schemas.problems import problems

router = APIRouter(prefix="/mlflow", tags=["protocols"], route_class=FastPathRoute, dependencies=[NO_OPTIONS])
_BODY = {
    "requestBody": {
        "required": True,
        "description": "The rows in one of MLflow's forms, as CSV or as Parquet. null and NaN are missing "
        "values. The body may be compressed with gzip or zstd.",
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/MlflowRequest"},
                "examples": {name: {"value": value} for name, value in examples.MLFLOW_REQUESTS.items()},
            },
            media_types.CSV: {"schema": {"type": "string"}, "example": model_examples.CSV},
            media_types.PARQUET: BYTES,
        },
    }
}
_HEALTH: dict[int | str, dict[str, Any]] = {
    200: answer("The model exists.", {"status": "ok"}),
    **problems(404, 422),
}


async def _invoke(request: Request, model: str) -> Response:
    options = mlflow_options(request)
    return await predict_rows(request, await find_model(request, model), options)


async def _invoke_at_once(request: Request) -> Response:
    return await _invoke(request, await model_name(request.path_params["model"]))


@router.post(
    "/{model}/invocations",
    operation_id="invoke_mlflow",
    summary="Predict with MLflow's scoring protocol",
    response_model=MlflowPredictions,
    openapi_extra=_BODY,
    responses={
        200: answer(
            "The predictions.",
            examples.MLFLOW_PREDICTIONS,
            headers={
                "Literati-Warnings": {
                    "description": "Warnings about the rows as JSON, if there are any.",
                    "schema": {"type": "string"},
                }
            },
        ),
        **problems(404, 415, 422),
    },
)
@with_fast_path(_invoke_at_once)
async def invoke_mlflow(request: Request, model: ModelName) -> Response:
    """Predict rows in the forms of MLflow's scoring server.

    Rows are read as strictly as by `POST /v1/models/{model}/predict`, and the predictions are the same.
    """
    return await _invoke(request, model)


@router.get(
    "/{model}/ping", operation_id="ping_mlflow", summary="Check that a model exists", responses=_HEALTH
)
async def ping_mlflow(request: Request, model: ModelName) -> Health:
    """Answer if the model exists. It is loaded, so that the next prediction does not wait for it."""
    await find_model(request, model)
    return Health()


@router.get(
    "/{model}/health",
    operation_id="get_mlflow_health",
    summary="Check that a model exists",
    responses=_HEALTH,
)
async def get_mlflow_health(request: Request, model: ModelName) -> Health:
    """Answer like `ping`."""
    await find_model(request, model)
    return Health()


@router.get(
    "/{model}/version",
    operation_id="get_mlflow_version",
    summary="Get the version of the service",
    response_class=Response,
    responses={
        200: {
            "description": "The version as text.",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": "0.2.0"}},
        },
        **problems(404, 422),
    },
)
async def get_mlflow_version(request: Request, model: ModelName) -> Response:
    """Return the version of Literati, where MLflow's server returns that of MLflow."""
    await find_model(request, model)
    return Response(literati.__version__, media_type="text/plain")
