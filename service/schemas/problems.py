"""The schema of problems (RFC 9457), and the problem responses in the description of a route."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from service.http.problems import MEDIA_TYPE, FieldError, Problem, problem_body


class FieldProblem(BaseModel):
    """An error of one part of the request."""

    pointer: Annotated[
        str,
        Field(
            description="A JSON pointer into the request: `/body/...`, `/query/...` or `/header/...`. Rows "
            "are counted from 0: `/body/records/3/age`, `/body/data/3/0`, and `/body/rows/3/age` for CSV, "
            "Parquet, Arrow and tensors. In MLflow's JSON: `/body/dataframe_split/data/3/0`. Lines of text "
            "that cannot be decoded are counted from 0 too: `/body/lines/4`."
        ),
    ]
    row: Annotated[
        int | None,
        Field(
            ge=1,
            description="The number of the row, if the error is in one row. Rows of data are counted from 1, "
            "without the header, as in messages.",
        ),
    ] = None
    code: Annotated[str, Field(description="A stable code for programs.")]
    message: Annotated[str, Field(description="The error in words.")]


class ProblemFix(BaseModel):
    """A change to the request that avoids the errors."""

    label: Annotated[str, Field(description="The change in words, for example for a button.")]
    options: Annotated[
        dict[str, Any],
        Field(
            description="For the query: parameters with their complete new values; a list is a repeated "
            "parameter. For the body: a merge patch (RFC 7396). null removes a value."
        ),
    ]
    part: Annotated[Literal["query", "body"], Field(description="The part of the request to change.")]


class DeletedRecord(BaseModel):
    """A record that was deleted and can be restored."""

    at: Annotated[datetime, Field(description="When it was deleted.")]
    until: Annotated[datetime | None, Field(description="When it is removed for good; null if never.")]
    restore: Annotated[str, Field(description="The path to which a POST request restores it.")]


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: Annotated[str, Field(description="The URN of the kind of problem, or `about:blank`.")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    instance: Annotated[
        str, Field(description="The URN of this occurrence, with the id of the header `X-Request-ID`.")
    ]
    error: Annotated[
        str | None, Field(description="Only for the Open Inference Protocol: the same as `detail`.")
    ] = None
    errors: Annotated[list[FieldProblem] | None, Field(description="The errors of invalid input.")] = None
    fixes: Annotated[
        list[ProblemFix] | None, Field(description="Alternative fixes. Each one avoids all `errors`.")
    ] = None
    deleted: Annotated[
        DeletedRecord | None, Field(description="If the record that was not found can be restored.")
    ] = None


_FIELD_ERROR = FieldError(
    "/body/parameters/max_depth", "LESS_THAN_EQUAL", "Input should be less than or equal to 12"
)
_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
_TABLE: dict[int, tuple[str, str, str]] = {  # status: description, kind, detail of the example
    400: ("The body cannot be read.", "malformed-body", "The body is not valid JSON."),
    401: (
        "The API key is missing or not valid.",
        "not-signed-in",
        "Send a valid API key: `Authorization: Bearer lit_...`.",
    ),
    403: ("The API key lacks the required scope.", "scope-needed", "This key lacks the scope `train`."),
    404: ("There is no such resource of this tenant.", "not-found", "There is no such job."),
    406: ("No accepted media type is available.", "not-acceptable", "This is available as application/json."),
    408: ("The body was sent too slowly.", "body-too-slow", "The body was sent too slowly."),
    409: ("This is not possible in the current state.", "wrong-state", "The job has ended."),
    412: ("The resource has changed (`If-Match`).", "precondition-failed", "The job has changed."),
    413: ("The body is too large.", "body-too-large", "The body is larger than the limit."),
    415: ("The media type is not supported.", "media-type", "Send application/json."),
    422: (
        "The input cannot be used.",
        "invalid-request",
        f"{_FIELD_ERROR.pointer}: {_FIELD_ERROR.message}.",
    ),
    429: ("There are too many requests.", "rate-limited", "Too many calls; try again soon."),
    431: ("The URL or the headers are too long.", "head-too-large", "The head of the request is too long."),
    500: ("There was an unexpected error.", "unexpected", "There was an unexpected error."),
    503: ("The store is unavailable.", "unavailable", "The store does not respond; try again soon."),
}


def problems(*statuses: int, **details: str) -> dict[int | str, dict[str, Any]]:
    """Return entries of a route's `responses`. A keyword such as s409="..." describes that status."""
    return {status: _response(status, details.get(f"s{status}")) for status in statuses}


def restore_problems(kind: str, limit: str) -> dict[int | str, dict[str, Any]]:
    """Return the problem responses of a route that restores a deleted resource."""
    gone = f"No such {kind} was deleted, or it cannot be restored any more."
    return problems(404, 409, s404=gone, s409=f"The maximum {limit} is reached; delete others first.")


def _response(status: int, meaning: str | None) -> dict[str, Any]:
    description, kind, detail = _TABLE[status]
    problem = Problem(status, detail, kind=kind, errors=[_FIELD_ERROR] if status == 422 else ())
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    example = problem_body(problem, "4f1c2a9be07d3358")
    response: dict[str, Any] = {
        "description": meaning or description,
        "content": {MEDIA_TYPE: {"schema": schema, "example": example}},
    }
    if status in (429, 503):
        response["headers"] = _RETRY
    return response
