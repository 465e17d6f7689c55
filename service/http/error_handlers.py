"""Handlers that turn exceptions into problems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Literal

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from redis.exceptions import RedisError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from service.http.field_remedies import explained_option
from service.http.problems import (
    MAX_ERRORS,
    FieldError,
    Problem,
    invalid,
    not_found,
    pointer,
    problem_response,
    request_id_of,
    unavailable,
)
from service.http.quota_errors import limit_reached
from service.http.remedies import Place, Remedy, in_list, working
from service.http.restore_hints import add_restore_hint
from service.http.strict_queries import given_options
from service.http.union_errors import Located, located
from service.sandbox.client import SandboxUnavailableError
from worker.blobs.local import BlobNotFoundError
from worker.blobs.s3 import BucketUnavailableError
from worker.domain import errors as store

log = structlog.get_logger(__name__)
ToProblem = Callable[[Request, Any], Problem]
_BLOB_ERRORS: dict[type[Exception], Literal["missing", "unavailable"]] = {
    BlobNotFoundError: "missing",
    store.ArchiveMissingError: "missing",
    BucketUnavailableError: "unavailable",
}
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


def install(app: FastAPI) -> None:
    """Add the handlers to an app."""
    for kind, to_problem in _HANDLERS.items():
        app.add_exception_handler(kind, _handler(to_problem))


def _handler(to_problem: ToProblem) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handle(request: Request, error: Exception) -> Response:
        if kind := _BLOB_ERRORS.get(type(error)):
            with suppress(RedisError):
                await run_in_threadpool(request.app.state.services.store.blobs.count_error, kind)
        problem = await add_restore_hint(request, to_problem(request, error))
        return problem_response(problem, request_id_of(request), request.scope["path"])

    return handle


def _http_problem(request: Request, error: HTTPException) -> Problem:
    if isinstance(error, Problem):
        return error
    if error.status_code == HTTPStatus.NOT_FOUND:
        return Problem(404, "There is nothing at this address; see /docs for the routes.", kind="not-found")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allow = ", ".join(sorted(_methods(request)))
        detail = f"This address accepts only {allow}."
        return Problem(405, detail, kind="method-not-allowed", headers={"Allow": allow})
    if error.status_code == HTTPStatus.BAD_REQUEST:  # raised by FastAPI for a body that cannot be parsed
        return malformed("The body is not valid JSON in UTF-8, or nested too deeply.")
    return Problem(error.status_code, str(error.detail), headers=error.headers)


def malformed(detail: str, errors: Sequence[FieldError] = ()) -> Problem:
    """Return the 400 for a body that cannot be parsed."""
    return Problem(400, detail, kind="malformed-body", errors=errors)


def _methods(request: Request) -> set[str]:
    """Return all methods of the address. Starlette reports only those of the first route."""
    probes = {method: {**request.scope, "method": method} for method in _METHODS}
    routes = request.app.router.routes
    return {
        method
        for method, probe in probes.items()
        if any(route.matches(probe)[0] is Match.FULL for route in routes)
    }


def _validation_problem(request: Request, error: RequestValidationError) -> Problem:
    """Return the problem of invalid parameters, with remedies for those with a fixed set of values."""
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        return malformed("The body is not valid JSON.")
    query = given_options(request)
    inputs = {tuple(detail["loc"]): detail.get("input") for detail in details}
    found = located(details, error.body)
    explanations = [explained_option(wrong, inputs.get(wrong.path), query) for wrong in found]
    places = {pointer(*wrong.path): inputs.get(wrong.path) for wrong, _ in explanations}

    def left(remedy: Remedy) -> set[Place]:
        sent = [value for values in remedy.options.values() for value in in_list(values)]
        return {place for place, value in places.items() if value in sent}

    fixes = working([fixes for _, fixes in explanations], places, left)
    return invalid(*field_errors(wrong for wrong, _ in explanations)[:MAX_ERRORS], fixes=fixes)


def field_errors(errors: Iterable[Located]) -> list[FieldError]:
    """Return the errors with JSON pointers, without duplicates."""
    found = [
        FieldError(pointer=pointer(*error.path), code=error.code.upper(), message=error.message)
        for error in errors
    ]
    return list(dict.fromkeys(found))


_NOT_FOUND: dict[type[store.StoreError], str] = {
    store.JobNotFoundError: "job",
    store.DatasetNotFoundError: "dataset",
    store.ModelNotFoundError: "model",
    store.SweepNotFoundError: "sweep",
    store.AliasNotFoundError: "alias",
}


# Errors that need no more than a sentence.
_CONFLICTS: dict[type[store.StoreError], tuple[str, str]] = {
    store.JobNotEndedError: ("job-live", "The job has not ended; cancel it first."),
    store.SweepNotEndedError: ("sweep-live", "The sweep has not ended; cancel it first."),
    store.JobOfSweepError: ("job-of-sweep", "The job belongs to a sweep; control the sweep instead."),
    store.DatasetInUseError: (
        "dataset-in-use",
        "Jobs or sweeps that have not ended use this dataset; cancel them first.",
    ),
    store.ModelInUseError: (
        "model-in-use",
        "An alias names this model; move or delete the alias first.",
    ),
}


_ARCHIVE_MISSING = (
    "The trees, events and metrics of this record were moved to the blob store some time after its end, and "
    "they are missing there. The operator has to restore the blobs (LITERATI_BLOBS) from a backup."
)


def _store_problem(request: Request, error: store.StoreError) -> Problem:
    if what := _NOT_FOUND.get(type(error)):
        return not_found(what)
    if conflict := _CONFLICTS.get(type(error)):
        kind, detail = conflict
        return Problem(409, detail, kind=kind)
    match error:
        case store.StoreFormatError():
            return unavailable(str(error))
        case store.PreconditionFailedError():
            detail = "The record has changed: its revision is not that in `If-Match`; read it again."
            return Problem(412, detail, kind="precondition-failed")
        case store.IdempotencyConflictError():
            message = "This key was used with another body; use a new key."
            return invalid(FieldError("/header/Idempotency-Key", "KEY_REUSED", message))
        case store.RevisionNotFoundError():
            message = "The job has no tree of this revision, or no longer keeps it (LITERATI_MAX_INCUMBENTS)."
            return invalid(FieldError("/body/revision", "NOT_FOUND", message))
        case store.LimitReachedError():
            return limit_reached(error.limit, request.app.state.services.settings)
        case store.ArchiveMissingError():
            log.error("archive missing", blob=str(error))
            return Problem(503, _ARCHIVE_MISSING, kind="archive-missing")
        case store.WrongStateError():
            return Problem(409, str(error), kind="wrong-state")
        case store.InvalidTokenError():
            where = pointer("query", "page_token" if "page_token" in request.query_params else "after")
            message = "This is not a token or id from an earlier response."
            return invalid(FieldError(where, "BAD_TOKEN", message))
    raise error


_NO_ANSWER = "The store does not answer; try again soon."
_STORE_DETAILS: dict[str | None, str] = {
    "full": "The store accepts no changes, because its memory or its disk is full; try again later.",
    "access": "The store refuses this server; its administrator must correct the password or the rights.",
}


def _store_unavailable(request: Request, error: RedisError) -> Problem:
    if store.is_store_fault(error):  # the store answered with an error, which a retry would not change
        raise error
    log.warning("store unavailable", error=type(error).__name__, reason=str(error))
    return unavailable(_STORE_DETAILS.get(store.refusal(error), _NO_ANSWER))


def _not_replicated(request: Request, error: store.NotReplicatedError) -> Problem:
    log.warning("change not replicated", error=str(error))
    return unavailable(
        "Too few replicas of the store confirmed the change in time. It may have been made or not; repeat "
        "the request soon. A submission with the same Idempotency-Key starts only one job or sweep."
    )


def _sandbox_unavailable(request: Request, error: Exception) -> Problem:
    log.error("sandbox unavailable")
    return unavailable("The server could not start a process for this request; try again soon.")


def _disconnected(request: Request, error: Exception) -> Problem:
    """Return a 400 for a client that disconnected within its body, which is not a server error."""
    return malformed("The body is incomplete.")


def _bucket_unavailable(request: Request, error: Exception) -> Problem:
    log.error("blob store unavailable", error=str(error))
    return unavailable("The blob store does not answer; try again soon.")


def _blob_missing(request: Request, error: Exception) -> Problem:
    """Return a 404 for a record without its blob, which is being deleted or was lost."""
    log.error("blob missing", blob=str(error))
    detail = "The stored data of this record is missing; it may just have been deleted."
    return Problem(404, detail, kind="not-found")


_HANDLERS: dict[type[Exception], ToProblem] = {
    HTTPException: _http_problem,
    RequestValidationError: _validation_problem,
    store.StoreError: _store_problem,
    RedisError: _store_unavailable,
    store.NotReplicatedError: _not_replicated,
    BlobNotFoundError: _blob_missing,
    BucketUnavailableError: _bucket_unavailable,
    ClientDisconnect: _disconnected,
    SandboxUnavailableError: _sandbox_unavailable,
}
