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


def strong_tag(*parts: object, minor: tuple[object, ...] = ()) -> str:
    """Return a tag of everything that determines the bytes of a response.

    `minor` are the parts for whose changes nobody waits; see `matches_in_essence`.
    """
    digests = (hashlib.blake2b(repr(part).encode(), digest_size=12) for part in (parts, minor) if part)
    return f'"{".".join(digest.hexdigest() for digest in digests)}"'


def matches_in_essence(request: Request, tag: str) -> bool:
    """Return whether `If-None-Match` lists a tag that differs from this one at most in its minor parts."""
    essence = tag.strip('"').partition(".")[0]
    entries = _entries(request, "if-none-match")
    return "*" in entries or any(entry.strip('"').partition(".")[0] == essence for entry in entries)


def _entries(request: Request, header: str) -> list[str]:
    given = request.headers.getlist(header)
    return [entry.strip().removeprefix("W/") for line in given for entry in line.split(",")]


def matches(request: Request, tag: str, header: str = "if-none-match") -> bool:
    """Return whether the header lists this tag, by the weak comparison of RFC 9110."""
    wanted = tag.removeprefix("W/")
    entries = _entries(request, header)
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
