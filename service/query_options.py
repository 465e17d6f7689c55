"""Options in an address that it does not know, or that it takes once and gets twice.

They would be left aside in silence otherwise, and a misspelt `weight` would be a model that weighs nothing.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from service.errors import FieldError, invalid, pointer

_MOST_ERRORS = 20
_LONGEST_NAME = 64  # of ours; nothing longer is looked for


async def _check(request: Request) -> None:
    if not request.url.query:
        return
    known = _known(request.scope["route"])
    errors = list(_errors(Counter(name for name, _ in request.query_params.multi_items()), known))
    if known and errors:
        raise invalid(*errors[:_MOST_ERRORS])


def _errors(given: Mapping[str, int], known: Mapping[str, bool]) -> Iterator[FieldError]:
    for name, times in given.items():
        where = pointer("query", name)
        if name not in known:
            yield FieldError(where, "UNKNOWN_OPTION", _unknown(name, list(known)))
        elif times > 1 and not known[name]:
            yield FieldError(where, "REPEATED", "Give this option once.")


def _unknown(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:_LONGEST_NAME].lower(), known, n=1)
    guess = f" Did you mean `{near[0]}`?" if near else ""
    return f"There is no such option here.{guess} There is {', '.join(f'`{option}`' for option in known)}."


def _known(route: APIRoute) -> dict[str, bool]:
    """The route's options, and whether each may come several times."""
    return dict(_options(route.dependant))


def _options(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    for field in dependant.query_params:
        yield field.alias, _is_list(field.field_info.annotation)
    for inner in dependant.dependencies:
        yield from _options(inner)


def _is_list(annotation: Any) -> bool:
    return list in (get_origin(part) for part in (annotation, *get_args(annotation)))


CHECKED_OPTIONS = Depends(_check)  # of a router; its routes that have no options take any
