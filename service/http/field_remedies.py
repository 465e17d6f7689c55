"""Remedies for fields of a body that are not known, and for values that a field does not take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from inspect import isclass
from typing import Any, get_args

from pydantic import BaseModel

from service.near_names import did_you_mean, nearest
from service.remedies import Remedy, in_body, in_query
from service.union_errors import Located

UNKNOWN_FIELD = "extra_forbidden"
_MOST_CHOICES = 5  # that are proposed where none is near to what was sent
_LONGEST_MOVED = 1000  # characters of a value that a remedy carries to another field
_CHOICE = re.compile(r"'([^']*)'")  # in Pydantic's message about a value that is none of some words
_CHOICE_CODES = ("literal_error", "enum", "type")
_BOUND = re.compile(r"Input should be (?:less|greater) than or equal to (-?\d+(?:\.\d+)?)")
Steps = tuple[str, ...]


def explained(error: Located, model: type[BaseModel], body: Any) -> tuple[Located, tuple[Remedy, ...]]:
    """Return the error with the name that may have been meant, and what may be done about it.

    `model` is what the body was read as. Whether a remedy works is for the caller to try.
    """
    _, *steps = error.path
    if not steps or not all(isinstance(step, str) for step in steps):
        return error, ()  # a merge patch does not reach into lists
    path = tuple(str(step) for step in steps)
    given = _at(body, path)
    if error.code == UNKNOWN_FIELD:
        return _unknown(error, model, body, path, given)
    if given is None:
        return error, (in_body(f"Leave out `{'.'.join(path)}`", *path, value=None),)
    if error.code in _CHOICE_CODES and isinstance(given, str):
        choices = _CHOICE.findall(error.message)
        message, words = _with_guess(error.message, given, choices)
        return replace(error, message=message), tuple(
            in_body(f"Use `{word}`", *path, value=word) for word in words
        )
    if bound := _BOUND.fullmatch(error.message):
        number = json.loads(bound[1])
        return error, (in_body(f"Use {number:,}", *path, value=number),)
    return error, ()


def explained_option(
    error: Located, given: Any, query: Mapping[str, list[str]]
) -> tuple[Located, tuple[Remedy, ...]]:
    """As `explained`, for an option of the query that takes only some words. `given` is the wrong one."""
    source, *steps = error.path
    if source != "query" or error.code not in _CHOICE_CODES or not isinstance(given, str):
        return error, ()
    name = str(steps[0])
    message, words = _with_guess(error.message, given, _CHOICE.findall(error.message))
    fixes = [
        in_query(f"Use `{word}`", **{name: [word if value == given else value for value in query[name]]})
        for word in words
    ]
    return replace(error, message=message), tuple(fixes)


def _with_guess(message: str, given: str, choices: Sequence[str]) -> tuple[str, list[str]]:
    """Return the message with the choice that is nearest to what was given, and the choices to propose."""
    near = nearest(given, choices)
    guess = did_you_mean(f"'{word}'" for word in near)
    return (f"{message}.{guess}" if guess else message), near or list(choices[:_MOST_CHOICES])


def _unknown(
    error: Located, model: type[BaseModel], body: Any, path: Steps, given: Any
) -> tuple[Located, tuple[Remedy, ...]]:
    *parent, name = path
    places = [place for place in _places(model, name, tuple(parent)) if _at(body, place) is None]
    shown = [".".join(place[len(parent) :] if place[:-1] == path[:-1] else place) for place in places]
    fixes = [in_body(f"Leave out `{name[:80]}`", *path, value=None)]
    if len(json.dumps(given)) <= _LONGEST_MOVED:
        fixes[:0] = [_moved(path, place, given, word) for place, word in zip(places, shown, strict=True)]
    guess = did_you_mean(f"`{word}`" for word in shown)
    message = "There is no such field; see /docs for those that there are."
    if guess:
        message = f"There is no such field.{guess} See /docs for those that there are."
    return replace(error, message=message), tuple(fixes)


def _moved(path: Steps, place: Steps, value: Any, shown: str) -> Remedy:
    removed, added = in_body("", *path, value=None), in_body("", *place, value=value)
    options = _both(removed.options, added.options)
    return Remedy(f"Call it `{shown}`", options, "body")


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    result = dict(one)
    for name, value in other.items():
        inner = result.get(name)
        result[name] = _both(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return result


def _places(model: type[BaseModel], name: str, parent: Steps) -> list[Steps]:
    """Return where a field may belong: to one of this very name elsewhere, else to one like it beside it."""
    fields = list(_fields(model))
    elsewhere = [place for place in fields if place[-1] == name]
    beside = [place[-1] for place in fields if place[:-1] == parent]
    return elsewhere[:1] or [(*parent, near) for near in nearest(name, beside)]


def _fields(model: type[BaseModel], above: Steps = ()) -> Iterator[Steps]:
    """Every field of the model and of those within it, by its place."""
    for name, field in model.model_fields.items():
        place = (*above, field.alias or name)
        yield place
        for inner in _models(field.annotation):
            yield from _fields(inner, place)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models among the forms that a field takes."""
    if isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for part in get_args(annotation):
        yield from _models(part)


def _at(body: Any, path: Sequence[str]) -> Any:
    for step in path:
        body = body.get(step) if isinstance(body, dict) else None
    return body
