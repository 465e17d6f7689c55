"""Routes that score a model or a job's tree on rows with their true classes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from service.dependencies import CallerDep, ServicesDep
from service.examples import jobs as examples
from service.examples import models as model_examples
from service.http.problems import FieldError, invalid
from service.http.remedies import in_query
from service.http.strict_queries import CHECKED_OPTIONS
from service.predict.execution import score_rows
from service.predict.parameters import Decimal, Delimiter, NullValues, rows_body
from service.predict.predictor import Predictor
from service.predict.request_options import score_options
from service.predict.schemas import JobScored, Scored
from service.predict.scoring import ScoreColumns
from service.schemas.parameters import JobId, ModelName, TreeRevision
from service.schemas.problems import problems

router = APIRouter(prefix="/v1", dependencies=[CHECKED_OPTIONS])

Target = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=1024,
        description="The column with the true class of each row. By default the target of the dataset that "
        "the model was trained on.",
    ),
]
Weight = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=1024,
        description="A column with the weight of each row, which may be a column of the model. By default "
        "every row weighs 1, also if the training rows had weights.",
    ),
]
_BODY = rows_body(
    "The rows, with the columns that the tree uses and the column of the true classes in any order. Other "
    "columns of the model can be left out.",
    model_examples.LABELLED_RECORDS,
    model_examples.LABELLED_ARRAYS,
    model_examples.LABELLED_CSV,
)
_DESCRIPTION = """\
Predict the rows and compare the predictions with their true classes, which a column of the rows contains.

Rows without a true class are left out. A row whose true class the model does not know is a wrong prediction:
it counts in the accuracy, the calibration and the confusion matrix, and its class has a recall and an F1
score of 0. The log loss, the Brier score, the area under the ROC curve and the operating points leave such
rows out, because the model gives their class no probability. The number of both kinds of rows is in the
response."""


def _responses(example: dict[str, Any], **details: str) -> dict[int | str, dict[str, Any]]:
    statuses = sorted({404, 415, 422, *(int(name.removeprefix("s")) for name in details)})
    return {200: examples.answer("The scores.", example), **problems(*statuses, **details)}


@router.post(
    "/models/{model}/score",
    operation_id="score",
    summary="Score a model on labelled rows",
    description=_DESCRIPTION,
    response_model=Scored,
    openapi_extra=_BODY,
    responses=_responses(model_examples.SCORED),
    tags=["models"],
)
async def score(
    request: Request,
    model: ModelName,
    caller: CallerDep,
    services: ServicesDep,
    target: Target = None,
    weight: Weight = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    null_values: NullValues = None,
) -> Response:
    predictor = await services.predictors.of_model(caller.tenant, model)
    columns = _score_columns(predictor, target, weight)
    return await score_rows(
        request, predictor, score_options(request, columns, delimiter, decimal, null_values)
    )


@router.post(
    "/jobs/{job_id}/score",
    operation_id="score_job",
    summary="Score the best tree of a job on labelled rows",
    description=_DESCRIPTION,
    response_model=JobScored,
    openapi_extra=_BODY,
    responses=_responses(
        model_examples.JOB_SCORED,
        s404="There is no such job, or it has no such tree.",
        s409="The job has not found a tree yet; try again.",
    ),
    tags=["jobs"],
)
async def score_job(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    services: ServicesDep,
    revision: TreeRevision = None,
    target: Target = None,
    weight: Weight = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    null_values: NullValues = None,
) -> Response:
    predictor = await services.predictors.of_job(caller.tenant, job_id, revision)
    columns = _score_columns(predictor, target, weight)
    return await score_rows(
        request, predictor, score_options(request, columns, delimiter, decimal, null_values)
    )


def _score_columns(predictor: Predictor, target: str | None, weight: str | None) -> ScoreColumns:
    """Return the columns to read; raise the problem 422 if they cannot be used."""
    columns = {column.name: column for column in predictor.tree.schema.columns}
    chosen = target or predictor.target
    if chosen is None:
        message = (
            "The name of the target is not known, because the dataset of this model was deleted; send the "
            "name of the column with the true classes."
        )
        raise invalid(FieldError("/query/target", "MISSING", message))
    if chosen in columns:
        message = "This column is one that the model predicts with; name the column with the true classes."
        fixes = [] if predictor.target is None else [in_query(f"Use {predictor.target!r}", target=None)]
        raise invalid(FieldError("/query/target", "MODEL_COLUMN", message), fixes=fixes)
    unweighted = in_query("Score without weights", weight=None)
    if weight == chosen:
        message = "This column has the true classes; name a column of numbers."
        raise invalid(FieldError("/query/weight", "BAD_WEIGHT", message), fixes=[unweighted])
    if weight in columns and columns[weight].kind != "number":
        message = f"This column of the model holds {columns[weight].kind} values; name a column of numbers."
        raise invalid(FieldError("/query/weight", "BAD_WEIGHT", message), fixes=[unweighted])
    return ScoreColumns(chosen, weight)
