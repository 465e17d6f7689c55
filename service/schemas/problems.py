"""The problem of RFC 9457, and the table of problem answers for a route's documentation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from service.errors import MEDIA_TYPE


class FieldProblem(BaseModel):
    """What is wrong with one part of the request."""

    pointer: Annotated[
        str,
        Field(
            description="JSON pointer into the request: `/body/...`, `/query/...`, `/header/...`. Rows count "
            "from 0: `/body/records/3/age`, `/body/data/3/0`, and `/body/rows/3/age` for CSV, Parquet and "
            "Arrow. So do the lines of a text that cannot be decoded, its first line among them: "
            "`/body/lines/4`."
        ),
    ]
    row: Annotated[
        int | None,
        Field(
            ge=1,
            description="Where one row is meant: its number, counted from 1, the first row of data (a header "
            "is none). Messages count the same way.",
        ),
    ] = None
    code: Annotated[str, Field(description="A stable word for programs.")]
    message: Annotated[str, Field(description="A sentence for people.")]


class ProblemFix(BaseModel):
    """A change to the request with which it works, as far as can be told."""

    label: Annotated[str, Field(description="For a button.")]
    options: Annotated[
        dict[str, Any],
        Field(
            description="In the query: options with their whole new values; a list is repeated. In the body: "
            "what is merged with it (RFC 7396). null takes back what was sent."
        ),
    ]
    part: Annotated[Literal["query", "body"], Field(description="The part of the request that is changed.")]


class ProblemDetails(BaseModel):
    """An error (RFC 9457)."""

    type: Annotated[str, Field(description="A URN that names the kind, or `about:blank`.")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: str
    instance: Annotated[str, Field(description="Names this occurrence; the id is also in `X-Request-ID`.")]
    errors: Annotated[list[FieldProblem] | None, Field(description="For bad input: where and what.")] = None
    fixes: Annotated[
        list[ProblemFix] | None,
        Field(description="Remedies to choose from: each is for everything in `errors`."),
    ] = None


_RETRY = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
_TABLE: dict[int, tuple[str, str, str]] = {  # status: description, kind, detail of the example
    400: ("The body cannot be read.", "malformed-body", "The body is not valid JSON."),
    401: ("No valid API key.", "not-signed-in", "Send a valid API key: `Authorization: Bearer lit_...`."),
    403: ("The key lacks a scope.", "scope-needed", "This key lacks the scope `train`."),
    404: ("Not there, or another tenant's.", "not-found", "There is no such job."),
    406: ("No media type that can be given.", "not-acceptable", "This can be had as application/json."),
    408: ("The body came too slowly.", "body-too-slow", "The body came too slowly."),
    409: ("Not possible in this state.", "wrong-state", "The job has ended."),
    412: ("Changed since (`If-Match`).", "precondition-failed", "It was changed since."),
    413: ("The body is too large.", "body-too-large", "The body is larger than the bytes taken here."),
    415: ("Not a media type that is read here.", "media-type", "Send application/json."),
    422: (
        "Input that cannot be used.",
        "invalid-request",
        "/body/parameters/max_depth: Input should be less than or equal to 12.",
    ),
    429: (
        "Too much at once.",
        "rate-limited",
        "Too many calls; try again soon.",
    ),
    431: ("Address or headers are too long.", "head-too-large", "The head of the request is too long."),
    500: ("Something unexpected.", "unexpected", "Something went wrong here."),
    503: ("The store is away.", "unavailable", "The store does not answer; try again soon."),
}


def problems(*statuses: int, **details: str) -> dict[int | str, dict[str, Any]]:
    """Entries of a route's `responses`. A keyword such as s409="..." says what the status means there."""
    return {status: _response(status, details.get(f"s{status}")) for status in statuses}


def _response(status: int, meaning: str | None) -> dict[str, Any]:
    description, kind, detail = _TABLE[status]
    example: dict[str, Any] = {
        "type": f"urn:literati:problem:{kind}",
        "title": kind.replace("-", " ").capitalize(),
        "status": status,
        "detail": detail,
        "instance": "urn:literati:request:4f1c2a9be07d3358",
    }
    if status == 422:
        example["errors"] = [
            {
                "pointer": "/body/parameters/max_depth",
                "code": "LESS_THAN_EQUAL",
                "message": "Input should be less than or equal to 12",
            }
        ]
    schema = {"$ref": "#/components/schemas/ProblemDetails"}
    response: dict[str, Any] = {
        "description": meaning or description,
        "content": {MEDIA_TYPE: {"schema": schema, "example": example}},
    }
    if status in (429, 503):
        response["headers"] = _RETRY
    return response
