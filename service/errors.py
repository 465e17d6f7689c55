"""Every error as an RFC 9457 problem, without stack traces and without echoing what was sent.

Only a remedy that moves a value to another field or option holds that value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException, Request, Response

from service.remedies import Remedy

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 2
_LONGEST_POINTER = 256
# A pointer counts rows from 0, as RFC 6901 has it, whatever the format of the rows. People count from 1.
_ROW_POINTER = re.compile(r"/body/(?:records|data|rows)/(\d+)(?:/|$)")


@dataclass(frozen=True)
class FieldError:
    """What is wrong with one part of a request."""

    pointer: str  # a JSON pointer: /body/parameters/max_depth, /query/page_size, /header/Idempotency-Key
    code: str  # a stable word in capitals
    message: str  # a sentence for people; never the value itself


class Problem(HTTPException):
    """An answer that is an error. A `kind` names what programs may want to tell apart."""

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
        self.missing: str | None = None  # the kind of record that was not found


def not_found(what: str) -> Problem:
    problem = Problem(404, f"There is no such {what}.", kind="not-found")
    problem.missing = what
    return problem


def invalid(*errors: FieldError, detail: str | None = None, fixes: Sequence[Remedy] = ()) -> Problem:
    """422 for input that has the right form and cannot be used."""
    return Problem(422, detail or _first(errors), kind="invalid-request", errors=errors, fixes=fixes)


def _first(errors: Sequence[FieldError]) -> str:
    """For those who read no further."""
    more = f" {len(errors) - 1} more: see `errors`." if len(errors) > 1 else ""
    end = "" if errors[0].message.endswith((".", "?")) else "."
    return f"{errors[0].pointer}: {errors[0].message}{end}{more}"


def unavailable(detail: str) -> Problem:
    return Problem(503, detail, kind="unavailable", headers={"Retry-After": str(RETRY_SECONDS)})


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901) to a part of the request."""
    text = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return text.encode(errors="replace").decode()[:_LONGEST_POINTER]


def row_number(where: str) -> int | None:
    """Return the number of the row that a pointer leads to, counted from 1, the first row of data."""
    found = _ROW_POINTER.match(where)
    return None if found is None else int(found[1]) + 1


def _row_member(error: FieldError) -> dict[str, int]:
    row = row_number(error.pointer)
    return {} if row is None else {"row": row}


def problem_body(problem: Problem, request_id: str) -> dict[str, Any]:
    kind = problem.kind
    body: dict[str, Any] = {
        "type": f"urn:literati:problem:{kind}" if kind else "about:blank",
        "title": kind.replace("-", " ").capitalize() if kind else HTTPStatus(problem.status_code).phrase,
        "status": problem.status_code,
        "detail": problem.detail,
        "instance": f"urn:literati:request:{request_id}",
    }
    if problem.errors:
        body["errors"] = [asdict(error) | _row_member(error) for error in problem.errors]
    if problem.fixes:
        body["fixes"] = [asdict(fix) for fix in problem.fixes]
    return body


def problem_response(problem: Problem, request_id: str) -> Response:
    return Response(
        json.dumps(problem_body(problem, request_id)),
        status_code=problem.status_code,
        headers=dict(problem.headers or {}),
        media_type=MEDIA_TYPE,
    )


def request_id_of(request: Request) -> str:
    return str(request.scope.get("literati.request_id", "unknown"))
