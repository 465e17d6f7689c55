"""Predict, with a finished model or with the best tree of a job that still runs.

The body is read here and not by the framework: rows are not worth a Python object a cell.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import anyio
from fastapi import APIRouter, Query, Request, Response

from service.dependencies import Services
from service.error_handlers import malformed
from service.errors import FieldError, Problem, invalid, not_found
from service.ingest import media
from service.ingest.header import DELIMITER_WORDS
from service.ingest.query import null_words
from service.negotiation import best
from service.prediction import errand
from service.prediction.bodies import (
    FORMATS,
    MEDIA_TYPES,
    body_format_of,
    csv_only,
    is_packed,
    recognised,
    unpacked,
)
from service.prediction.csv_rows import CsvOptions
from service.prediction.faults import MalformedError, RowsError
from service.prediction.predictor import MOST_EXPLAINED, Answer, Format, Predictor, Wanted
from service.prediction.predictors import NoRevisionError, NoTreeYetError
from service.query_options import CHECKED_OPTIONS
from service.remedies import Remedy
from service.routes.models import ModelName, model_name
from service.schemas import model_examples
from service.schemas import models as wire
from service.schemas.problem import problems
from service.schemas.requests import JobId
from service.short_route import ShortRoute, with_short
from worker.messages import DecimalSign

router = APIRouter(prefix="/v1", tags=["models"], route_class=ShortRoute, dependencies=[CHECKED_OPTIONS])
SHORT_BYTES = 1 << 14  # longer bodies may take many milliseconds, and are read by a thread ...
QUICK_BYTES = 1 << 18  # ... but for plain numbers up to here
LONGEST_HEADER = 4096
APART_BYTES = 1 << 20  # still longer ones by a process apart
AT_ONCE = 4  # of those and of the ones before: more would only need more memory
_threads = anyio.CapacityLimiter(2 * AT_ONCE)
_PLAIN = Wanted()

Explain = Annotated[
    bool, Query(description=f"Say why, for each row (at most {MOST_EXPLAINED:,}); only in JSON.")
]
Delimiter = Annotated[
    str | None, Query(max_length=16, description="Of CSV; a character, or `tab`. Default: found out.")
]
Decimal = Annotated[
    DecimalSign | None,
    Query(
        description="The decimal sign in CSV. Default: as in the CSV that the model was trained on, if the "
        "rows can be read so, else found out."
    ),
]
NullValues = Annotated[
    list[str] | None,
    Query(
        max_length=100,
        description="CSV: words for a missing cell, as in an upload; repeat, or put commas between them. "
        "Default: those of the CSV that the model was trained on.",
    ),
]

_BYTES = {"schema": {"type": "string", "format": "binary"}}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "Rows with the columns that the tree uses, in any order; other columns of the model "
        "may be left out. null, or an empty cell, is a missing value. `application/octet-stream`, or no "
        "type, is recognised by its first bytes. The body may be packed with gzip or zstd.",
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        {"$ref": "#/components/schemas/Records"},
                        {"$ref": "#/components/schemas/Arrays"},
                    ]
                },
                "examples": {
                    "records": {"value": model_examples.RECORDS},
                    "arrays": {"value": model_examples.ARRAYS},
                },
            },
            "text/csv": {"schema": {"type": "string"}, "example": model_examples.CSV},
            media.TSV: {"schema": {"type": "string"}, "example": model_examples.CSV.replace(",", "\t")},
            **dict.fromkeys((media.ARROW, media.ARROW_FILE, media.PARQUET, media.ANY), _BYTES),
        },
    }
}


def _responses(example: dict[str, Any], **details: str) -> dict[int | str, dict[str, Any]]:
    statuses = sorted({404, 406, 415, 422, *(int(name.removeprefix("s")) for name in details)})
    return {
        200: {
            "description": "A prediction for each row. CSV has the columns `prediction`, `leaf_id` and a "
            "`probability_` for each class; Arrow has the same and the rest in its schema's metadata.",
            "headers": {
                "Literati-Warnings": {
                    "description": "With CSV: the warnings as JSON, if there are any.",
                    "schema": {"type": "string"},
                }
            },
            "content": {
                "application/json": {"example": example},
                "text/csv": {"schema": {"type": "string"}, "example": model_examples.PREDICTIONS_CSV},
                MEDIA_TYPES["arrow"]: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **problems(*statuses, **details),
    }


async def _predict_plainly(request: Request) -> Response:
    """Without a query string."""
    return await _predict(request, await model_name(request.path_params["model"]), _wanted(request))


@router.post(
    "/models/{model}/predict",
    operation_id="predict",
    summary="Predict",
    response_model=wire.Predictions,
    openapi_extra=_BODY,
    responses=_responses(model_examples.PREDICTIONS),
)
@with_short(_predict_plainly)
async def predict(
    request: Request,
    model: ModelName,
    explain: Explain = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    null_values: NullValues = None,
) -> Response:
    """The class of each row, the classes' probabilities, and the leaf it ends in.

    What the model does not know is said in `warnings`: unknown columns, absent columns (rows need only those
    that the tree uses), missing values, categories that training did not see, numbers outside the training
    range. They are predicted all the same.
    """
    return await _predict(request, model, _wanted(request, explain, delimiter, decimal, null_values))


async def _predict(request: Request, model: str, wanted: Wanted) -> Response:
    services: Services = request.app.state.services
    predictor = await services.predictors.of_model(request.scope["literati.caller"].tenant, model)
    return await _answer(request, predictor, wanted)


@router.post(
    "/jobs/{job_id}/predict",
    operation_id="predict_with_job",
    summary="Predict with the best tree of a job",
    response_model=wire.JobPredictions,
    openapi_extra=_BODY,
    responses=_responses(
        model_examples.JOB_PREDICTIONS,
        s404="No such job, or no such tree.",
        s409="The job has found no tree yet; try again.",
    ),
    tags=["jobs"],
)
async def predict_with_job(
    request: Request,
    job_id: JobId,
    revision: Annotated[
        int | None, Query(ge=1, le=1 << 53, description="This tree of the job's. Default: the best so far.")
    ] = None,
    explain: Explain = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    null_values: NullValues = None,
) -> Response:
    """While the search goes on. The answer says which tree it was; with `revision` it is always that one."""
    wanted = _wanted(request, explain, delimiter, decimal, null_values)
    services: Services = request.app.state.services
    tenant = request.scope["literati.caller"].tenant
    try:
        predictor = await services.predictors.of_job(tenant, job_id, revision)
    except NoTreeYetError:
        detail = "The job has found no tree yet; try again soon."
        raise Problem(409, detail, kind="no-tree-yet", headers={"Retry-After": "1"}) from None
    except NoRevisionError:
        raise not_found("tree") from None
    return await _answer(request, predictor, wanted)


def _wanted(
    request: Request,
    explain: bool = False,
    delimiter: str | None = None,
    decimal: DecimalSign | None = None,
    null_values: list[str] | None = None,
) -> Wanted:
    (body_format, csv), answer_format = body_format_of(request), _answer_format(request)
    if explain and answer_format != "json":
        error = FieldError("/query/explain", "JSON_ONLY", "Explanations are given in JSON only.")
        raise invalid(error, fixes=[Remedy("Predict without explanations", {"explain": None})])
    if delimiter is None and decimal is None and null_values is None:
        if body_format == answer_format == "json" and not explain:
            return _PLAIN
        return Wanted(body_format, answer_format, csv, explain)
    if body_format not in ("csv", "any"):
        raise csv_only(request)
    return Wanted(body_format, answer_format, _with_options(csv, delimiter, decimal, null_values), explain)


def _with_options(
    csv: CsvOptions, delimiter: str | None, decimal: DecimalSign | None, null_values: list[str] | None
) -> CsvOptions:
    """What the media type says, unless an option says otherwise."""
    if delimiter is not None:
        delimiter = DELIMITER_WORDS.get(delimiter.lower(), delimiter)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0.-+':
            message = "Expected one character that parts the cells, such as , or ; or | or the word tab."
            raise invalid(FieldError("/query/delimiter", "BAD_DELIMITER", message))
    if decimal == delimiter == ",":
        message = "The decimal sign and the delimiter cannot be the same."
        raise invalid(FieldError("/query/decimal", "BAD_DECIMAL", message))
    words = None if null_values is None else frozenset(null_words(null_values))
    return replace(csv, delimiter=delimiter or csv.delimiter, decimal=decimal, null_words=words)


def _answer_format(request: Request) -> Format:
    accept = request.headers.get("accept", "*/*")
    if accept in ("*/*", "application/json"):
        return "json"
    chosen = best(request, list(FORMATS))
    if chosen is None:
        detail = f"Predictions can be had as {', '.join(MEDIA_TYPES.values())}."
        raise Problem(406, detail, kind="not-acceptable")
    return FORMATS[chosen]


async def _answer(request: Request, predictor: Predictor, wanted: Wanted) -> Response:
    services: Services = request.app.state.services
    body = await request.body()
    packed = is_packed(request, body)
    if wanted.body_format == "any" and not packed:
        wanted = recognised(request, wanted, body)
    answer: Answer | None = None
    try:
        if packed or wanted.body_format == "parquet":
            pass  # what this takes is not known before
        elif len(body) <= SHORT_BYTES and not wanted.explain:
            answer = _answer_here(services, predictor, body, wanted)
        elif len(body) <= QUICK_BYTES:
            answer = predictor.quick_answer(body, wanted, services.settings.max_predict_rows)
        if answer is None:
            bulk = packed or wanted.body_format == "parquet" or len(body) > APART_BYTES
            turns = services.bulk_predictions if bulk else services.predictions
            async with turns.slot(request.scope["literati.caller"].tenant):
                answer = await anyio.to_thread.run_sync(
                    _answer_packed if packed else _answer_somewhere,
                    *(request, predictor, body, wanted),
                    limiter=_threads,
                )
    except MalformedError as error:
        raise malformed(error.detail, error.errors) from None
    except RowsError as error:
        raise invalid(*error.errors, detail=error.detail, fixes=error.fixes) from None
    return Response(
        answer.content, headers=_headers(answer, wanted), media_type=MEDIA_TYPES[wanted.answer_format]
    )


def _answer_here(services: Services, predictor: Predictor, body: bytes, wanted: Wanted) -> Answer:
    return predictor.answer(body, wanted, services.settings.max_predict_rows)


def _answer_somewhere(request: Request, predictor: Predictor, body: bytes, wanted: Wanted) -> Answer:
    """Long bodies, and Parquet, are read by a process apart."""
    far = len(body) > APART_BYTES or wanted.body_format == "parquet"
    return (_answer_apart if far else _answer_here)(request.app.state.services, predictor, body, wanted)


def _answer_packed(request: Request, predictor: Predictor, body: bytes, wanted: Wanted) -> Answer:
    body = unpacked(request, body)
    if wanted.body_format == "any":
        wanted = recognised(request, wanted, body)
    return _answer_somewhere(request, predictor, body, wanted)


def _answer_apart(services: Services, predictor: Predictor, body: bytes, wanted: Wanted) -> Answer:
    settings = services.settings
    return errand.run(
        services.apart, predictor, body, wanted, settings.max_predict_rows, settings.max_parse_seconds
    )


def _headers(answer: Answer, wanted: Wanted) -> dict[str, str] | None:
    """CSV has no room for warnings."""
    if wanted.answer_format != "csv" or not answer.notices:
        return None
    shown = [{name: notice[name] for name in ("code", "column", "count")} for notice in answer.notices]
    while len(text := json.dumps(shown)) > LONGEST_HEADER:
        shown = shown[: len(shown) // 2]
    return {"Literati-Warnings": text}
