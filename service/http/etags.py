"""Conditional requests: entity tags, `If-None-Match` and `If-Match`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from fastapi import Request, Response
from pydantic import BaseModel

from service.http.compression import plain_tag


def weak_tag(revision: int) -> str:
    """Return the tag of a revision of a record."""
    return f'W/"{revision}"'


def strong_tag(*parts: object) -> str:
    """Return a tag of everything that determines the bytes of a response."""
    return f'"{hashlib.blake2b(repr(parts).encode(), digest_size=12).hexdigest()}"'


def matches(request: Request, tag: str, header: str = "if-none-match") -> bool:
    """Return whether the header lists this tag, by the weak comparison of RFC 9110."""
    given = request.headers.getlist(header)
    wanted = tag.removeprefix("W/")
    entries = [entry.strip().removeprefix("W/") for line in given for entry in line.split(",")]
    if "*" in entries or wanted in entries:
        return True
    codings = request.headers.get("accept-encoding", "")
    return any(plain_tag(entry, codings) == wanted for entry in entries)


def expected_revision(request: Request) -> Callable[[int], bool] | None:
    """Return a check of a record's revision against `If-Match`; None if the header was not sent.

    The comparison is weak, unlike RFC 9110, because these tags stand for revisions and not for bytes.
    """
    if "if-match" not in request.headers:
        return None
    return lambda revision: matches(request, weak_tag(revision), "if-match")


def json_response(
    body: BaseModel, *, status: int = 200, tag: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    return Response(
        body.model_dump_json(),
        status_code=status,
        headers=tag_headers(tag, headers),
        media_type="application/json",
    )


def not_modified(tag: str, headers: dict[str, str] | None = None) -> Response:
    return Response(status_code=304, headers=tag_headers(tag, headers))


def tag_headers(tag: str | None, headers: dict[str, str] | None = None) -> dict[str, str]:
    tagged = {} if tag is None else {"ETag": tag, "Cache-Control": "private, no-cache"}
    return {**tagged, **(headers or {})}
