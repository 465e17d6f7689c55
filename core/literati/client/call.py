"""A request to the server, as the resources describe it and the transport sends it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2

from literati.client.config import Connection
from literati.client.errors import (
    ApiError,
    ConfigurationError,
    ConnectionFailedError,
    InvalidIdError,
    api_error,
)
from literati.client.retry import STATUSES, Attempts, parse_retry_after
from literati.client.tables import Body

Query = Mapping[str, Any]
LONG_TIMEOUT = 600.0  # seconds for calls that send a table

# The request was not sent, so it cannot have been carried out.
NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
# These are errors of the caller, which another attempt does not change.
NOT_REPEATED = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError)


@dataclass(frozen=True)
class Call:
    """A request with what it takes to send it again."""

    method: str
    path: str
    query: Query = field(default_factory=dict)
    json: Any = None
    body: Body | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None  # seconds without a byte from the server; None: the client's
    repeatable: bool = True  # whether sending it twice has the same effect as sending it once
    patient: bool = False  # whether to try until the policy's `reconnect_seconds` are over
    once: bool = False  # whether the call is never tried again

    def may_follow(self, error: httpx2.RequestError) -> bool:
        """Return whether the call may be sent again after this error."""
        sent_safely = self.repeatable or isinstance(error, NOT_SENT)
        return sent_safely and not self.once and not isinstance(error, NOT_REPEATED)

    def may_follow_status(self, status: int) -> bool:
        """Return whether the call may be sent again after a response with this status."""
        return status in STATUSES and not self.once and (self.repeatable or status != 503)


LIST_OF_ALIASES = ("models", "aliases")  # a path that is not the model or alias of that name


def api_path(*segments: str) -> str:
    """Return the path of a resource. Every segment is quoted, because ids come from users.

    Raise InvalidIdError for text that is not one segment even if it is quoted: servers decode a path before
    they look for its route, so that `aliases%2Fname` would be the alias and not a model with that id.
    """
    for segment in segments:
        if not isinstance(segment, str):
            raise TypeError(f"Expected the id of a record or an alias as text, got {type(segment).__name__}")
    bad = [text for text in segments if text in ("", ".", "..") or "/" in text or not text.isprintable()]
    if bad or segments == LIST_OF_ALIASES:
        text = (bad or segments)[-1]
        raise InvalidIdError(
            f"{text!r} cannot be the id of a record or an alias; use one that the server has listed."
        )
    return "/".join(["/v1", *(quote(segment, safe="") for segment in segments)])


def idempotency(key: str | None) -> dict[str, str]:
    """Return the header by which the server recognises a submission that is sent again.

    It is made once for each call and kept over all attempts.
    """
    return {"Idempotency-Key": key or uuid4().hex}


def given(query: Query) -> dict[str, Any]:
    """Return the options of a query that are not None."""
    return {name: value for name, value in query.items() if value is not None}


def error_of(response: httpx2.Response) -> ApiError:
    """Return the error that a response describes. Its body must have been read."""
    try:
        problem = json.loads(response.content)
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    problem = {"title": response.reason_phrase, **problem}
    return api_error(
        response.status_code,
        problem,
        response.headers.get("X-Request-ID"),
        parse_retry_after(response.headers.get("Retry-After")),
    )


def checked_status(response: httpx2.Response) -> httpx2.Response:
    """Return a response below 400, and raise an error if it is a redirection, which is not followed."""
    if 300 <= response.status_code < 400 and response.status_code != 304:
        target = response.headers.get("Location", "another address")
        raise ConfigurationError(
            f"{response.request.url} leads to {target}; use the address of the server itself."
        )
    return response


def json_of(response: httpx2.Response) -> dict[str, Any]:
    """Return the JSON object of a response."""
    try:
        data = response.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise ConfigurationError(
            f"{response.request.url} does not answer as Literati does; check the address."
        )
    return data


def no_answer(
    call: Call, connection: Connection, error: Exception, attempts: Attempts
) -> ConnectionFailedError:
    """Return the error of a call that got no answer."""
    sent = ""
    if not call.repeatable and not isinstance(error, NOT_SENT):
        sent = " The request may have been carried out; look at the record before you send it again."
    tried = f" after {attempts.failed + 1} attempts in {attempts.seconds:.0f} s" if attempts.failed else ""
    reason = str(error) or type(error).__name__
    found = ConnectionFailedError(
        f"{connection.url} (from {connection.source}) does not answer{tried}: {reason}.{sent}"
    )
    found.__cause__ = error
    return found
