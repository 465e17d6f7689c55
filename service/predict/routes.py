"""Routes that predict, with a model or with the best tree of a running job.

The routes read the body themselves: the framework would create a Python object for every cell.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from service.dependencies import Services
from service.examples import models as model_examples
from service.http.fast_path import FastPathRoute, with_fast_path
from service.http.strict_queries import CHECKED_OPTIONS
from service.ingest import media_types
from service.predict.execution import predict_rows
from service.predict.parameters import BYTES, Decimal, Delimiter, NullValues, rows_body
from service.predict.predictor import MAX_EXPLAINED_ROWS, PredictOptions
from service.predict.request_options import predict_options
from service.predict.schemas import JobPredictions, Predictions
from service.schemas.parameters import JobId, ModelName, TreeRevision, model_name
from service.schemas.problems import problems

router = APIRouter(prefix="/v1", tags=["models"], route_class=FastPathRoute, dependencies=[CHECKED_OPTIONS])

Explain = Annotated[
    bool,
    Query(
        description="Explain the prediction of each row, for up to "
        f"{MAX_EXPLAINED_ROWS:,} rows. Only for JSON responses."
    ),
]
_BODY = rows_body(
    "The rows, with the columns that the tree uses in any order. Other columns of the model can be left out.",
    model_examples.RECORDS,
    model_examples.ARRAYS,
    model_examples.CSV,
)


def _responses(example: dict[str, Any], **details: str) -> dict[int | str, dict[str, Any]]:
    statuses = sorted({404, 406, 415, 422, *(int(name.removeprefix("s")) for name in details)})
    return {
        200: {
            "description": "One prediction for each row. CSV has the columns `prediction`, `leaf_id` and a "
            "column `probability_<class>` for each class. Arrow has the same columns; the other fields of "
            "the JSON response are in the metadata of its schema.",
            "headers": {
                "Literati-Warnings": {
                    "description": "Only for CSV responses with warnings: the warnings as JSON.",
                    "schema": {"type": "string"},
                }
            },
            "content": {
                "application/json": {"example": example},
                "text/csv": {"schema": {"type": "string"}, "example": model_examples.PREDICTIONS_CSV},
                media_types.ARROW: BYTES,
            },
        },
        **problems(*statuses, **details),
    }


async def _predict_without_query(request: Request) -> Response:
    name = await model_name(request.path_params["model"])
    return await _predict_with_model(request, name, predict_options(request))


@router.post(
    "/models/{model}/predict",
    operation_id="predict",
    summary="Predict",
    response_model=Predictions,
    openapi_extra=_BODY,
    responses=_responses(model_examples.PREDICTIONS),
)
@with_fast_path(_predict_without_query)
async def predict(
    request: Request,
    model: ModelName,
    explain: Explain = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    null_values: NullValues = None,
) -> Response:
    """Predict the class of each row, with the probabilities of all classes and the leaf of the row.

    Rows that differ from the training data are predicted too, and `warnings` describes the difference:
    unknown columns, absent columns that the tree does not use, missing values, categories that were not in
    the training data, and numbers outside the training range.
    """
    options = predict_options(request, explain, delimiter, decimal, null_values)
    return await _predict_with_model(request, model, options)


async def _predict_with_model(request: Request, model: str, options: PredictOptions) -> Response:
    services: Services = request.app.state.services
    predictor = await services.predictors.of_model(request.scope["literati.caller"].tenant, model)
    return await predict_rows(request, predictor, options)


@router.post(
    "/jobs/{job_id}/predict",
    operation_id="predict_with_job",
    summary="Predict with the best tree of a job",
    response_model=JobPredictions,
    openapi_extra=_BODY,
    responses=_responses(
        model_examples.JOB_PREDICTIONS,
        s404="There is no such job, or it has no such tree.",
        s409="The job has not found a tree yet; try again.",
    ),
    tags=["jobs"],
)
async def predict_with_job(
    request: Request,
    job_id: JobId,
    revision: TreeRevision = None,
    explain: Explain = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    null_values: NullValues = None,
) -> Response:
    """Predict while the search is still running. The response names the revision of the tree.

    With `revision`, every request uses the same tree.
    """
    options = predict_options(request, explain, delimiter, decimal, null_values)
    services: Services = request.app.state.services
    tenant = request.scope["literati.caller"].tenant
    predictor = await services.predictors.of_job(tenant, job_id, revision)
    return await predict_rows(request, predictor, options)
