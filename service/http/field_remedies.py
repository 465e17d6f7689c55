"""Remedies for unknown fields of a body and for values that a field does not accept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import isclass
from typing import Any, get_args

from pydantic import BaseModel

from literati.suggestions import did_you_mean, nearest
from service.http.remedies import Remedy, in_body, in_query, merged
from service.http.union_errors import Located

UNKNOWN_FIELD = "extra_forbidden"
_MAX_CHOICES = 5  # that are suggested if none is similar to the value
_MAX_MOVED = 1000  # characters of a value that a remedy moves to another field
_CHOICE = re.compile(r"'([^']*)'")  # a choice in Pydantic's message about a value that is none of them
_CHOICE_CODES = ("literal_error", "enum", "type")
_BOUND = re.compile(r"Input should be (?:less|greater) than or equal to (-?\d+(?:\.\d+)?)")
Steps = tuple[str, ...]


def explained(error: Located, model: type[BaseModel], body: Any) -> tuple[Located, tuple[Remedy, ...]]:
    """Return the error with a suggested name in its message, and possible remedies.

    `model` is the model of the body. The caller must check whether a remedy works.
    """
    _, *steps = error.path
    if not steps or not all(isinstance(step, str) for step in steps):
        return error, ()  # a merge patch cannot change an element of a list
    path = tuple(str(step) for step in steps)
    given = _at(body, path)
    if error.code == UNKNOWN_FIELD:
        return _unknown(error, model, body, path, given)
    if given is None:
        return error, (in_body(f"Leave out `{'.'.join(path)}`", *path, value=None),)
    if error.code in _CHOICE_CODES and isinstance(given, str):
        error, words = _with_guess(error, given)
        return error, tuple(in_body(f"Use `{word}`", *path, value=word) for word in words)
    if bound := _BOUND.fullmatch(error.message):
        number = json.loads(bound[1])
        return error, (in_body(f"Use {number:,}", *path, value=number),)
    return error, ()


def explained_option(
    error: Located, given: Any, query: Mapping[str, list[str]]
) -> tuple[Located, tuple[Remedy, ...]]:
    """Do the same as `explained` for a query option with a fixed set of values, which lacks `given`."""
    source, *steps = error.path
    if source != "query" or error.code not in _CHOICE_CODES or not isinstance(given, str):
        return error, ()
    name = str(steps[0])
    error, words = _with_guess(error, given)
    fixes = [
        in_query(f"Use `{word}`", **{name: [word if value == given else value for value in query[name]]})
        for word in words
    ]
    return error, tuple(fixes)


def _with_guess(error: Located, given: str) -> tuple[Located, list[str]]:
    """Return the error with the most similar choice in its message, and the choices to suggest."""
    choices = _CHOICE.findall(error.message)
    near = nearest(given, choices)
    if not near:
        return error, choices[:_MAX_CHOICES]
    guess = did_you_mean(f"'{word}'" for word in near)
    return replace(error, message=f"{error.message}.{guess}"), near


def _unknown(
    error: Located, model: type[BaseModel], body: Any, path: Steps, given: Any
) -> tuple[Located, tuple[Remedy, ...]]:
    *parent, name = path
    places = [place for place in _places(model, name, tuple(parent)) if _at(body, place) is None]
    shown = [".".join(place[len(parent) :] if place[:-1] == path[:-1] else place) for place in places]
    fixes = [in_body(f"Leave out `{name[:80]}`", *path, value=None)]
    if len(json.dumps(given)) <= _MAX_MOVED:
        fixes[:0] = [_moved(path, place, given, word) for place, word in zip(places, shown, strict=True)]
    guess = did_you_mean(f"`{word}`" for word in shown)
    message = f"There is no such field{f'.{guess} See' if guess else '; see'} /docs for the known fields."
    return replace(error, message=message), tuple(fixes)


def _moved(path: Steps, place: Steps, value: Any, shown: str) -> Remedy:
    removed, added = in_body("", *path, value=None), in_body("", *place, value=value)
    options = merged(removed.options, added.options, keep_nulls=True)
    return Remedy(f"Call it `{shown}`", options, "body")


def _places(model: type[BaseModel], name: str, parent: Steps) -> list[Steps]:
    """Return where a field may belong: a field of the same name elsewhere, or a similar one beside it."""
    fields = list(_fields(model))
    elsewhere = [place for place in fields if place[-1] == name]
    beside = [place[-1] for place in fields if place[:-1] == parent]
    return elsewhere[:1] or [(*parent, near) for near in nearest(name, beside)]


def _fields(model: type[BaseModel], above: Steps = ()) -> Iterator[Steps]:
    """Yield the paths of all fields of a model and of the models in it."""
    for name, field in model.model_fields.items():
        place = (*above, field.alias or name)
        yield place
        for inner in _models(field.annotation):
            yield from _fields(inner, place)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models among the types of a field."""
    if isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for part in get_args(annotation):
        yield from _models(part)


def _at(body: Any, path: Sequence[str]) -> Any:
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
    return body
