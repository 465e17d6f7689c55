"""Errors of the API as problem details (RFC 9457).

They never contain stack traces, nor values of the request except in remedies that move a value elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException, Request, Response

from service.http.remedies import Remedy

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
MAX_ERRORS = 20  # in one response
_MAX_POINTER = 256  # characters


@dataclass(frozen=True)
class FieldError:
    """An error in one part of a request."""

    pointer: str  # a JSON pointer: /body/parameters/max_depth, /query/page_size, /header/Idempotency-Key
    code: str  # a stable identifier
    message: str  # a sentence, without the value itself
    row: int | None = None  # if the error is in one row: its number, from 1; pointers count from 0 (RFC 6901)


class Problem(HTTPException):
    """An error response. `kind` identifies the error for programs."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str | None = None,
        errors: Sequence[FieldError] = (),
        fixes: Sequence[Remedy] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.kind = kind
        self.errors = tuple(errors)
        self.fixes = tuple(fixes)
        self.missing: str | None = None  # the type of the record that was not found
        self.deleted: dict[str, str | None] | None = None  # how to restore the record that was not found


def not_found(what: str) -> Problem:
    """Return the 404 for a record of this type."""
    problem = Problem(404, f"There is no such {what}.", kind="not-found")
    problem.missing = what
    return problem


def invalid(*errors: FieldError, detail: str | None = None, fixes: Sequence[Remedy] = ()) -> Problem:
    """Return the 422 for a request that is well-formed but cannot be processed."""
    return Problem(422, detail or _summary(errors), kind="invalid-request", errors=errors, fixes=fixes)


def _summary(errors: Sequence[FieldError]) -> str:
    """Return the first error as a sentence, and how many more there are."""
    more = f" See `errors` for {len(errors) - 1} more." if len(errors) > 1 else ""
    end = "" if errors[0].message.endswith((".", "?")) else "."
    return f"{errors[0].pointer}: {errors[0].message}{end}{more}"


def unavailable(detail: str) -> Problem:
    """Return the 503 for a fault that may be over soon."""
    return Problem(503, detail, kind="unavailable", headers={"Retry-After": str(RETRY_SECONDS)})


def pointer(*parts: str | int) -> str:
    """Return a JSON pointer (RFC 6901) to a part of the request."""
    text = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return text.encode(errors="replace").decode()[:_MAX_POINTER]


def is_inference(path: str) -> bool:
    """Return whether a path belongs to the Open Inference Protocol."""
    return path == "/v2" or path.startswith("/v2/")


def problem_body(problem: Problem, request_id: str, path: str = "") -> dict[str, Any]:
    """Return the JSON object of a problem. The Open Inference Protocol has its text in `error`."""
    kind = problem.kind
    body: dict[str, Any] = {
        "type": f"urn:literati:problem:{kind}" if kind else "about:blank",
        "title": kind.replace("-", " ").capitalize() if kind else HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "detail": problem.detail,
        "instance": f"urn:literati:request:{request_id}",
    }
    if is_inference(path):
        body["error"] = problem.detail
    if problem.errors:
        body["errors"] = [
            {name: value for name, value in asdict(error).items() if value is not None}
            for error in problem.errors
        ]
    if problem.fixes:
        body["fixes"] = [asdict(fix) for fix in problem.fixes]
    if problem.deleted:
        body["deleted"] = problem.deleted
    return body


def problem_response(problem: Problem, request_id: str, path: str = "") -> Response:
    """Return the response to a request for this path, which may not be known."""
    return Response(
        json.dumps(problem_body(problem, request_id, path)),
        status_code=problem.status_code,
        headers=dict(problem.headers or {}),
        media_type=MEDIA_TYPE,
    )


def request_id_of(request: Request) -> str:
    return str(request.scope.get("literati.request_id", "unknown"))
