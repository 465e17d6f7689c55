"""Remedies that a problem carries: changes to a request with which it works."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal, TypeVar

MOST_FIXES = 10  # in one answer
_MOST_TRIED = 30


@dataclass(frozen=True)
class Remedy:
    """A change to the query options of a request, or to its JSON body.

    Query options are replaced, the body is merged (RFC 7396); null takes back what was sent.
    """

    label: str  # for a button
    options: dict[str, Any]
    part: Literal["query", "body"] = "query"


def in_query(label: str, **options: Sequence[str] | None) -> Remedy:
    """The remedy that gives options of the query these values; None takes one back."""
    plain = {
        name: values if values is None else values[0] if len(values) == 1 else list(values)
        for name, values in options.items()
    }
    return Remedy(label, plain)


def in_body(label: str, *path: str, value: Any) -> Remedy:
    """The remedy that sets one field of the body."""
    options: Any = value
    for name in reversed(path):
        options = {name: options}
    return Remedy(label, options, "body")


Place = str  # of an error: its pointer
Candidate = TypeVar("Candidate")
Fault = TypeVar("Fault", bound=Hashable)


def working(
    groups: Sequence[Sequence[Remedy]], faults: Collection[Place], left: Callable[[Remedy], Collection[Place]]
) -> tuple[Remedy, ...]:
    """Return the remedies that work, found out by trying them; see `tried`.

    There is a group of remedies for each fault. Of one fault all remedies that work are returned. Several
    faults get one remedy for all: the first combination that works, if each of them has a remedy.
    """
    if not groups or not all(groups):
        return ()
    return tried(map(_joined, product(*groups)), faults, left, MOST_FIXES if len(groups) == 1 else 1)


def tried(
    candidates: Iterable[Candidate],
    faults: Collection[Fault],
    left: Callable[[Candidate], Collection[Fault]],
    most: int = MOST_FIXES,
) -> tuple[Candidate, ...]:
    """Return the remedies with which the request passes the check that refused it.

    `left` says what the check still finds wrong when a remedy is applied. If no remedy leaves nothing, those
    are returned that leave none of the present faults: what is left then is seen only without these.
    """
    whole: list[Candidate] = []
    others: list[Candidate] = []
    for candidate in islice(candidates, _MOST_TRIED):
        remaining = left(candidate)
        if not remaining:
            whole.append(candidate)
        elif not set(faults).intersection(remaining):
            others.append(candidate)
        if len(whole) == most:
            break
    return tuple((whole or others)[:most])


def _joined(remedies: Sequence[Remedy]) -> Remedy:
    if len(remedies) == 1:
        return remedies[0]
    options: dict[str, Any] = {}
    for remedy in remedies:
        options = merged(options, remedy.options, keep_nulls=True)
    label = "; ".join(dict.fromkeys(remedy.label for remedy in remedies))
    return Remedy(label, options, remedies[0].part)


def in_list(value: Any) -> list[Any]:
    """The values of an option of the query, which may be one or a list of them."""
    return value if isinstance(value, list) else [] if value is None else [value]


def merged(document: Any, patch: Any, *, keep_nulls: bool = False) -> Any:
    """Apply a JSON merge patch (RFC 7396). With `keep_nulls` the document is a patch itself."""
    if not isinstance(patch, dict):
        return patch
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None and not keep_nulls:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value, keep_nulls=keep_nulls)
    return result
