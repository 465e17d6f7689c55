"""Refuse unknown query options, and options that are repeated but have one value.

FastAPI would ignore them, so that a misspelt `weight` would train a model without weights. The decision page
0030 explains why query models with `extra="forbid"` do not replace this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args, get_origin

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from literati.suggestions import did_you_mean, nearest
from service.http.problems import MAX_ERRORS, FieldError, invalid, pointer
from service.http.remedies import Place, Remedy, in_list, in_query, working

_MAX_MOVED = 1000  # characters of values that a remedy moves to another option
UNKNOWN, REPEATED = "UNKNOWN_OPTION", "REPEATED"


async def _check(request: Request) -> None:
    if not request.url.query:
        return
    route: APIRoute = request.scope["route"]
    if known := dict(_options(route.dependant)):
        _refuse(request, known)


async def _check_none(request: Request) -> None:
    if request.url.query:
        _refuse(request, {})


def _refuse(request: Request, known: Mapping[str, bool]) -> None:
    """Raise the problem 422 if the request has options that are not known, or too many values of one."""
    given = given_options(request)
    errors = list(_errors(given, known))
    if errors:
        groups = [_remedies(error, given, known) for error in errors]
        fixes = working(groups, _places(errors), lambda remedy: _places(_errors(_with(given, remedy), known)))
        raise invalid(*errors[:MAX_ERRORS], fixes=fixes if len(errors) <= MAX_ERRORS else ())


def given_options(request: Request) -> dict[str, list[str]]:
    """Return the query options of a request with all their values."""
    return {name: request.query_params.getlist(name) for name in request.query_params}


def _with(given: Mapping[str, list[str]], remedy: Remedy) -> dict[str, list[str]]:
    changed = {**given, **{name: in_list(value) for name, value in remedy.options.items()}}
    return {name: values for name, values in changed.items() if values}


def _places(errors: Iterable[FieldError]) -> set[Place]:
    return {error.pointer for error in errors}


def _errors(given: Mapping[str, list[str]], known: Mapping[str, bool]) -> Iterator[FieldError]:
    for name, values in given.items():
        where = pointer("query", name)
        if name not in known:
            yield FieldError(where, UNKNOWN, _unknown(name, known))
        elif len(values) > 1 and not known[name]:
            yield FieldError(where, REPEATED, "Send this option once.")


def _remedies(error: FieldError, given: Mapping[str, list[str]], known: Mapping[str, bool]) -> list[Remedy]:
    name = next(name for name in given if pointer("query", name) == error.pointer)
    values = given[name]
    if error.code == REPEATED:
        return [in_query(f"Use the last `{name[:80]}`", **{name: values[-1:]})]
    moved = []
    if sum(map(len, values)) <= _MAX_MOVED:
        moved = [
            in_query(f"Call it `{meant}`", **{name: None, meant: values})
            for meant in nearest(name, known)
            if meant not in given
        ]
    return [*moved, in_query(f"Leave out `{name[:80]}`", **{name: None})]


def _unknown(name: str, known: Mapping[str, bool]) -> str:
    if not known:
        return "There is no such option; this address has none."
    guess = did_you_mean(f"`{meant}`" for meant in nearest(name, known))
    return f"There is no such option.{guess} The options are {', '.join(f'`{option}`' for option in known)}."


def _options(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Yield the options of a route, and whether each may be repeated."""
    for field in dependant.query_params:
        yield field.alias, _is_list(field.field_info.annotation)
    for inner in dependant.dependencies:
        yield from _options(inner)


def _is_list(annotation: Any) -> bool:
    return list in (get_origin(part) for part in (annotation, *get_args(annotation)))


# Dependencies of routers.
CHECKED_OPTIONS = Depends(_check)  # routes without options are not checked
NO_OPTIONS = Depends(_check_none)  # none of the routes has options
