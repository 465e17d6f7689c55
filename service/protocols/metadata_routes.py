"""Health and metadata of the Open Inference Protocol, version 2."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

import literati
from literati.data.schema import Column
from service.dependencies import ServicesDep
from service.examples import protocols as examples
from service.examples.jobs import answer
from service.http.strict_queries import NO_OPTIONS
from service.predict.predictor import Predictor
from service.predict.tensor_encode import content_type, label_datatype
from service.protocols import schemas
from service.protocols.versions import Version, find_model
from service.schemas.parameters import ModelName
from service.schemas.problems import problems

router = APIRouter(prefix="/v2", tags=["protocols"], dependencies=[NO_OPTIONS])
EXTENSIONS = ["binary_tensor_data"]
_METADATA: dict[int | str, dict[str, Any]] = {
    200: answer("The inputs and outputs.", examples.METADATA),
    **problems(404, 422),
}
_READY: dict[int | str, dict[str, Any]] = {
    200: answer("The model is ready.", examples.MODEL_READY),
    **problems(404, 422),
}


@router.get(
    "",
    operation_id="get_inference_server",
    summary="Get the server's name and extensions",
    responses={200: answer("The server.", examples.SERVER), **problems(422)},
)
async def get_inference_server() -> schemas.ServerMetadata:
    """Return the name, the version and the extensions of the Open Inference Protocol that are supported."""
    return schemas.ServerMetadata(version=literati.__version__, extensions=EXTENSIONS)


@router.get(
    "/health/live",
    operation_id="get_inference_liveness",
    summary="Check that the process is alive",
    responses={200: answer("The process is alive.", {"live": True}), **problems(422)},
)
async def get_inference_liveness() -> schemas.ServerLive:
    """Answer like `GET /healthz`."""
    return schemas.ServerLive()


@router.get(
    "/health/ready",
    operation_id="get_inference_readiness",
    summary="Check that the service is ready",
    responses={200: answer("The service is ready.", {"live": True, "ready": True}), **problems(422, 503)},
)
async def get_inference_readiness(services: ServicesDep) -> schemas.ServerReady:
    """Check the same as `GET /readyz`."""
    await services.readiness.check()
    return schemas.ServerReady()


@router.get(
    "/models/{model}",
    operation_id="get_inference_model",
    summary="Get the inputs and outputs of a model",
    responses=_METADATA,
)
async def get_inference_model(request: Request, model: ModelName) -> schemas.ModelMetadata:
    """Return the columns of the model as inputs, in the order in which a matrix has them, and the outputs."""
    return _metadata(model, await find_model(request, model))


@router.get(
    "/models/{model}/versions/{version}",
    operation_id="get_inference_model_version",
    summary="Get the inputs and outputs of a version",
    responses=_METADATA,
)
async def get_inference_model_version(
    request: Request, model: ModelName, version: Version
) -> schemas.ModelMetadata:
    """Return the same as without a version, if the name refers to this model."""
    return _metadata(model, await find_model(request, model, version))


@router.get(
    "/models/{model}/ready",
    operation_id="get_inference_model_readiness",
    summary="Check that a model is ready",
    responses=_READY,
)
async def get_inference_model_readiness(request: Request, model: ModelName) -> schemas.ModelReady:
    """Answer if the model exists. It is loaded, so that the next prediction does not wait for it."""
    await find_model(request, model)
    return schemas.ModelReady(name=model)


@router.get(
    "/models/{model}/versions/{version}/ready",
    operation_id="get_inference_model_version_readiness",
    summary="Check that a version is ready",
    responses=_READY,
)
async def get_inference_model_version_readiness(
    request: Request, model: ModelName, version: Version
) -> schemas.ModelReady:
    """Answer if the name refers to this model."""
    await find_model(request, model, version)
    return schemas.ModelReady(name=model)


def _metadata(name: str, predictor: Predictor) -> schemas.ModelMetadata:
    tree, used = predictor.tree, predictor.layout.used
    classes: dict[str, Any] = {"classes": predictor.encoder.classes}
    outputs = [
        _tensor(tensor.name, tensor.datatype, *tensor.width, **(classes if tensor.width else {}))
        for tensor in predictor.tensors.tensors.values()
    ]
    return schemas.ModelMetadata(
        name=name,
        versions=[predictor.source["model_id"]],
        inputs=[
            _tensor(column.name, _datatype(column), required=index in used)
            for index, column in enumerate(tree.schema.columns)
        ],
        outputs=outputs,
    )


def _tensor(name: str, datatype: Any, *width: int, **parameters: Any) -> schemas.MetadataTensor:
    return schemas.MetadataTensor(
        name=name,
        datatype=datatype,
        shape=[-1, *width],
        parameters={"content_type": content_type(datatype), **parameters},
    )


def _datatype(column: Column) -> str:
    """Return the datatype in which the cells of a column are sent without a change."""
    if column.kind == "category":
        return label_datatype(list(column.categories))
    return "BOOL" if column.kind == "boolean" else "FP64"
