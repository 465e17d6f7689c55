"""Errors of the client. All are `ClientError`s, and those of responses are `ApiError`s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from literati.errors import LiteratiError

PREFIX = "urn:literati:problem:"
REQUEST_PREFIX = "urn:literati:request:"


class ClientError(LiteratiError):
    """Base class of the client's errors."""


class ConfigurationError(ClientError, ValueError):
    """The address, the API key or the configuration file cannot be used."""


class InvalidIdError(ClientError, ValueError):
    """This text cannot be the id of a record or an alias. Nothing was sent."""


class ConnectionFailedError(ClientError, ConnectionError):
    """The server did not answer, although the request was tried again where that is safe."""


class WaitTimeoutError(ClientError, TimeoutError):
    """The time that `wait` was given is over. A job or sweep that has not ended continues."""


class EndedWithoutModelError(ClientError):
    """A job or sweep ended without a model. `record` is its last state."""

    def __init__(self, message: str, record: dict[str, Any]) -> None:
        super().__init__(message, record)
        self.record = record

    def __str__(self) -> str:
        return str(self.args[0])


class FailedError(EndedWithoutModelError):
    """A job or sweep failed."""


class CancelledError(EndedWithoutModelError):
    """A job or sweep was cancelled."""


class VersionWarning(UserWarning):
    """The client and the server are of versions that may not understand each other."""


@dataclass(frozen=True)
class FieldProblem:
    """An error in one part of a request."""

    pointer: str  # a JSON pointer, such as /body/parameters/max_depth or /query/target
    code: str  # a stable identifier
    message: str
    row: int | None = None  # counted from 1, if the error is in one row


@dataclass(frozen=True)
class Fix:
    """A change of the request with which it works."""

    label: str
    part: str  # `query` or `body`
    options: dict[str, Any]  # query options with their new values, or a merge patch of the body


class ApiError(ClientError):
    """A response with a status of 400 or above, as the problem details (RFC 9457) describe it."""

    def __init__(
        self,
        status: int,
        problem: dict[str, Any],
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(status, problem, request_id, retry_after)
        self.status = status
        self.problem = problem
        self.retry_after = retry_after  # seconds
        instance = str(problem.get("instance", ""))
        self.request_id = request_id or instance.removeprefix(REQUEST_PREFIX) or None
        self.type = str(problem.get("type", "about:blank"))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail") or self.title or f"HTTP status {status}")
        self.errors = tuple(_field_problem(entry) for entry in problem.get("errors") or ())
        self.fixes = tuple(_fix(entry) for entry in problem.get("fixes") or ())

    @property
    def kind(self) -> str:
        """Return the last part of `type`, such as `wrong-state`."""
        return self.type.removeprefix(PREFIX)

    def __str__(self) -> str:
        where = f"status {self.status}" + (f", request {self.request_id}" if self.request_id else "")
        new = [error for error in self.errors if error.message.rstrip(".") not in self.detail]
        lines = [f"{error.pointer}: {error.message}" for error in new]
        lines += [f"Possible fix: {fix.label} ({fix.part}: {fix.options})" for fix in self.fixes]
        return "\n".join([f"{self.detail} ({where})", *lines])


class InvalidRequestError(ApiError, ValueError):
    """The request cannot be used (400, 413, 415, 422). `errors` names the places and `fixes` what works."""


class AuthenticationError(ApiError):
    """The API key is missing or not valid (401)."""


class PermissionDeniedError(ApiError):
    """The API key lacks a scope, or the server accepts no caller without a key (403)."""


class NotFoundError(ApiError, LookupError):
    """There is no such record (404)."""


class ConflictError(ApiError):
    """The state of the record, or a limit of the server, does not allow this (409, 412)."""


class RateLimitedError(ApiError):
    """There are too many requests, or too many jobs that have not ended (429)."""


class ServerError(ApiError):
    """The server failed (500 and above)."""


class UnavailableError(ServerError):
    """The server cannot answer now (503)."""


_CLASSES: dict[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    413: InvalidRequestError,
    415: InvalidRequestError,
    422: InvalidRequestError,
    429: RateLimitedError,
    503: UnavailableError,
}


def api_error(
    status: int, problem: dict[str, Any], request_id: str | None, retry_after: float | None
) -> ApiError:
    """Return the error of a response by its status."""
    default = ServerError if status >= 500 else ApiError
    return _CLASSES.get(status, default)(status, problem, request_id, retry_after)


def _field_problem(entry: dict[str, Any]) -> FieldProblem:
    pointer, code, message = (str(entry.get(name, "")) for name in ("pointer", "code", "message"))
    return FieldProblem(pointer, code, message, entry.get("row"))


def _fix(entry: dict[str, Any]) -> Fix:
    return Fix(str(entry.get("label", "")), str(entry.get("part", "")), dict(entry.get("options") or {}))
