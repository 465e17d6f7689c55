"""Remedies of a problem: changes with which the request succeeds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal, TypeVar

MAX_FIXES = 10  # in one response
_MAX_TRIED = 30


@dataclass(frozen=True)
class Remedy:
    """A change to the query options of a request, or to its JSON body.

    Query options are replaced, the body is merged (RFC 7396); null removes what was sent.
    """

    label: str  # the text of a button
    options: dict[str, Any]
    part: Literal["query", "body"] = "query"


def in_query(label: str, **options: Sequence[str] | None) -> Remedy:
    """Return the remedy that sets query options; None removes an option."""
    simplified = {
        name: values if values is None else values[0] if len(values) == 1 else list(values)
        for name, values in options.items()
    }
    return Remedy(label, simplified)


def in_body(label: str, *path: str, value: Any) -> Remedy:
    """Return the remedy that sets one field of the body."""
    options: Any = value
    for name in reversed(path):
        options = {name: options}
    return Remedy(label, options, "body")


Place = str  # the JSON pointer of an error
Candidate = TypeVar("Candidate")
Fault = TypeVar("Fault", bound=Hashable)


def working(
    groups: Sequence[Sequence[Remedy]], faults: Collection[Place], left: Callable[[Remedy], Collection[Place]]
) -> tuple[Remedy, ...]:
    """Try remedies and return those that work; see `tried`.

    There is a group of remedies for each fault. If there is one fault, all its working remedies are returned.
    If there are several, the first working combination with a remedy for each is returned.
    """
    if not groups or not all(groups):
        return ()
    return tried(map(_joined, product(*groups)), faults, left, MAX_FIXES if len(groups) == 1 else 1)


def tried(
    candidates: Iterable[Candidate],
    faults: Collection[Fault],
    left: Callable[[Candidate], Collection[Fault]],
    limit: int = MAX_FIXES,
) -> tuple[Candidate, ...]:
    """Return the remedies with which a request passes the check that it failed.

    `left` returns the faults that remain when a remedy is applied. If faults always remain, the remedies are
    returned that repair all present faults and only reveal others.
    """
    complete: list[Candidate] = []
    partial: list[Candidate] = []
    for candidate in islice(candidates, _MAX_TRIED):
        remaining = left(candidate)
        if not remaining:
            complete.append(candidate)
        elif not set(faults).intersection(remaining):
            partial.append(candidate)
        if len(complete) == limit:
            break
    return tuple((complete or partial)[:limit])


def _joined(remedies: Sequence[Remedy]) -> Remedy:
    if len(remedies) == 1:
        return remedies[0]
    options: dict[str, Any] = {}
    for remedy in remedies:
        options = merged(options, remedy.options, keep_nulls=True)
    label = "; ".join(dict.fromkeys(remedy.label for remedy in remedies))
    return Remedy(label, options, remedies[0].part)


def in_list(value: Any) -> list[Any]:
    """Return the values of a query option as a list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def merged(document: Any, patch: Any, *, keep_nulls: bool = False) -> Any:
    """Apply a JSON merge patch (RFC 7396). With `keep_nulls`, combine two patches."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None and not keep_nulls:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value, keep_nulls=keep_nulls)
    return result
