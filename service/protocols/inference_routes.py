"""Predict with the Open Inference Protocol, version 2. The routes read the body themselves."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from service.examples import protocols as examples
from service.http.fast_path import FastPathRoute, with_fast_path
from service.http.strict_queries import NO_OPTIONS
from service.ingest import media_types
from service.predict.execution import predict_rows
from service.predict.parameters import BYTES
from service.predict.request_options import HEAD_BYTES, inference_options
from service.protocols.schemas import InferenceResponse
from service.protocols.versions import Version, find_model
from service.schemas.parameters import ModelName, model_name
from service.schemas.problems import problems

router = APIRouter(prefix="/v2", tags=["protocols"], route_class=FastPathRoute, dependencies=[NO_OPTIONS])
_SIZE = {
    "description": "Only if bytes of tensors follow the JSON: the number of bytes of the JSON.",
    "schema": {"type": "integer"},
}
_BODY = {
    "parameters": [{"name": HEAD_BYTES, "in": "header", "required": False, **_SIZE}],
    "requestBody": {
        "required": True,
        "description": "A tensor for each column that the tree uses, or one matrix with all columns of the "
        "model in their order. null and NaN are missing values, and so are, as text, the words for missing "
        "cells of the CSV that the model was trained on. The body may be compressed with gzip or zstd.",
        "content": {
            "application/json": {
                "schema": {"$ref": "#/components/schemas/InferenceRequest"},
                "examples": {
                    "columns": {"value": examples.COLUMNS},
                    "matrix": {"value": examples.MATRIX},
                },
            },
            media_types.ANY: BYTES,
        },
    },
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The outputs. If some of them are asked for as bytes, these follow the JSON.",
        "headers": {
            HEAD_BYTES: _SIZE,
            "Literati-Warnings": {
                "description": "Warnings about the rows as JSON, if there are any.",
                "schema": {"type": "string"},
            },
        },
        "content": {"application/json": {"example": examples.INFERENCE}, media_types.ANY: BYTES},
    },
    **problems(404, 415, 422),
}


async def _infer(request: Request, model: str, version: str | None = None) -> Response:
    options = inference_options(request, model)
    return await predict_rows(request, await find_model(request, model, version), options)


async def _infer_at_once(request: Request) -> Response:
    model = await model_name(request.path_params["model"])
    return await _infer(request, model, request.path_params.get("version"))


@router.post(
    "/models/{model}/infer",
    operation_id="infer",
    summary="Predict with the Open Inference Protocol",
    response_model=InferenceResponse,
    openapi_extra=_BODY,
    responses=_RESPONSES,
)
@with_fast_path(_infer_at_once)
async def infer(request: Request, model: ModelName) -> Response:
    """Predict rows that are tensors, as clients of KServe, Triton and MLServer send them.

    Rows are read as strictly as by `POST /v1/models/{model}/predict`, and the predictions are the same.
    """
    return await _infer(request, model)


@router.post(
    "/models/{model}/versions/{version}/infer",
    operation_id="infer_with_version",
    summary="Predict with a version and the Open Inference Protocol",
    response_model=InferenceResponse,
    openapi_extra=_BODY,
    responses=_RESPONSES,
)
@with_fast_path(_infer_at_once)
async def infer_with_version(request: Request, model: ModelName, version: Version) -> Response:
    """Predict as without a version, but only if the name refers to this model."""
    return await _infer(request, model, version)
