"""What an exception that leaves a handler is answered with."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match

from service.apart.processes import NoProcessError
from service.errors import (
    FieldError,
    Problem,
    invalid,
    not_found,
    pointer,
    problem_response,
    request_id_of,
    unavailable,
)
from service.field_remedies import explained_option
from service.query_options import given_options
from service.reached_limits import reached
from service.remedies import Place, Remedy, in_list, working
from service.restorable import with_restore
from service.union_errors import Located, located
from worker import errors as store
from worker.blobs import BlobGoneError
from worker.bucket import BucketAwayError

log = structlog.get_logger(__name__)
_MOST_ERRORS = 20
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")


def install(app: FastAPI) -> None:
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(store.StoreError, _store)
    app.add_exception_handler(RedisError, _away)
    app.add_exception_handler(BlobGoneError, _blob_gone)
    app.add_exception_handler(BucketAwayError, _bucket_away)
    app.add_exception_handler(ClientDisconnect, _hung_up)
    app.add_exception_handler(NoProcessError, _no_process)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    problem = await with_restore(request, _problem(request, error))
    return problem_response(problem, request_id_of(request))


def _problem(request: Request, error: HTTPException) -> Problem:
    if isinstance(error, Problem):
        return error
    if error.status_code == HTTPStatus.NOT_FOUND:
        return Problem(404, "There is nothing at this address; see /docs.", kind="not-found")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allow = ", ".join(sorted(_methods(request)))
        return Problem(
            405, f"This address takes {allow}.", kind="method-not-allowed", headers={"Allow": allow}
        )
    if error.status_code == HTTPStatus.BAD_REQUEST:  # the framework's word for a body that cannot be read
        return malformed("The body could not be read: it is not JSON in UTF-8, or nested too deeply.")
    return Problem(error.status_code, str(error.detail), headers=error.headers)


def malformed(detail: str, errors: Sequence[FieldError] = ()) -> Problem:
    return Problem(400, detail, kind="malformed-body", errors=errors)


def _methods(request: Request) -> set[str]:
    """All methods of the address: the framework names those of its first route only."""
    probes = {method: {**request.scope, "method": method} for method in _METHODS}
    routes = request.app.router.routes
    return {
        method
        for method, probe in probes.items()
        if any(route.matches(probe)[0] is Match.FULL for route in routes)
    }


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = error.errors()
    if any(detail["type"] == "json_invalid" for detail in details):
        problem = malformed("The body is not valid JSON.")
    else:
        problem = _invalid(details, error.body, given_options(request))
    return problem_response(problem, request_id_of(request))


def _invalid(details: Sequence[Any], body: Any, query: Mapping[str, list[str]]) -> Problem:
    """The problem of options that cannot be read, with remedies for those that take only some words."""
    inputs = {tuple(detail["loc"]): detail.get("input") for detail in details}
    told = [explained_option(error, inputs.get(error.path), query) for error in located(details, body)]
    places = {pointer(*error.path): inputs.get(error.path) for error, _ in told}

    def left(remedy: Remedy) -> set[Place]:
        sent = [value for values in remedy.options.values() for value in in_list(values)]
        return {place for place, value in places.items() if value in sent}

    fixes = working([fixes for _, fixes in told], places, left)
    return invalid(*field_errors(error for error, _ in told)[:_MOST_ERRORS], fixes=fixes)


def field_errors(errors: Iterable[Located]) -> list[FieldError]:
    """Return the errors by JSON pointer, each place and message once; see `union_errors`."""
    found = [
        FieldError(pointer=pointer(*error.path), code=error.code.upper(), message=error.message)
        for error in errors
    ]
    return list(dict.fromkeys(found))


async def _store(request: Request, error: Exception) -> Response:
    assert isinstance(error, store.StoreError)
    if isinstance(error, store.LimitReachedError):
        problem = reached(error.limit, request.app.state.services.settings)
    else:
        problem = await with_restore(request, _store_problem(error, request.query_params))
    return problem_response(problem, request_id_of(request))


_GONE: dict[type[store.StoreError], str] = {
    store.JobGoneError: "job",
    store.DatasetGoneError: "dataset",
    store.ModelGoneError: "model",
    store.AliasGoneError: "alias",
}
_REFUSED: dict[type[store.StoreError], tuple[int, str, str]] = {  # status, kind, detail
    store.JobLiveError: (409, "job-live", "The job has not ended; cancel it first."),
    store.DatasetInUseError: (409, "dataset-in-use", "Jobs that have not ended use this dataset."),
    store.ModelInUseError: (409, "model-in-use", "An alias names this model; move or delete it first."),
    store.PreconditionFailedError: (
        412,
        "precondition-failed",
        "It was changed since: its revision is not the one in `If-Match`.",
    ),
}
_UNUSABLE: dict[type[store.StoreError], FieldError] = {
    store.IdempotencyConflictError: FieldError(
        "/header/Idempotency-Key", "KEY_REUSED", "This key came with another body before."
    ),
    store.RevisionGoneError: FieldError(
        "/body/revision",
        "NOT_FOUND",
        "The job has no tree of this revision, or does not keep it any more (LITERATI_MAX_INCUMBENTS).",
    ),
}


def _store_problem(error: store.StoreError, query: Container[str]) -> Problem:
    kind = type(error)
    if kind in _GONE:
        return not_found(_GONE[kind])
    if kind in _REFUSED:
        status, name, detail = _REFUSED[kind]
        return Problem(status, detail, kind=name)
    if kind in _UNUSABLE:
        return invalid(_UNUSABLE[kind])
    match error:
        case store.WrongStateError():
            return Problem(409, str(error), kind="wrong-state")
        case store.BadTokenError():
            where = pointer("query", "page_token" if "page_token" in query else "after")
            return invalid(FieldError(where, "BAD_TOKEN", "Not a token or id that was given out here."))
    raise error


async def _away(request: Request, error: Exception) -> Response:
    if store.is_store_fault(error):  # an answer, which is the same at the next try
        raise error
    log.warning("store away", error=type(error).__name__)
    return problem_response(unavailable("The store does not answer; try again soon."), request_id_of(request))


async def _no_process(request: Request, error: Exception) -> Response:
    log.error("no process to be had")
    problem = unavailable("No process could be started for this; try again soon.")
    return problem_response(problem, request_id_of(request))


async def _hung_up(request: Request, error: Exception) -> Response:
    """In the middle of its own body. Nobody reads this, but it is not our error either."""
    return problem_response(malformed("The body broke off."), request_id_of(request))


async def _bucket_away(request: Request, error: Exception) -> Response:
    log.error("blob store away", error=str(error))
    problem = unavailable("The blob store does not answer; try again soon.")
    return problem_response(problem, request_id_of(request))


async def _blob_gone(request: Request, error: Exception) -> Response:
    """The record was there a moment ago: it is being deleted, or the folder of blobs is not complete."""
    log.error("blob gone", blob=str(error))
    return problem_response(
        Problem(404, "The stored bytes are gone.", kind="not-found"), request_id_of(request)
    )
