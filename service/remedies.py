"""Remedies that a problem carries: changes to a request with which it works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Remedy:
    """A change to the query options of a request, or to its JSON body.

    Query options are replaced, the body is merged (RFC 7396); null takes back what was sent.
    """

    label: str  # for a button
    options: dict[str, Any]
    part: Literal["query", "body"] = "query"


def in_body(label: str, *path: str, value: Any) -> Remedy:
    """The remedy that sets one field of the body."""
    options: Any = value
    for name in reversed(path):
        options = {name: options}
    return Remedy(label, options, "body")


def together(groups: Sequence[Sequence[Remedy]]) -> tuple[Remedy, ...]:
    """The remedies of one fault in the body; of several faults one for all, if each has one."""
    if len(groups) <= 1:
        return tuple(groups[0]) if groups else ()
    if not all(groups):
        return ()
    first = [group[0] for group in groups]
    options: dict[str, Any] = {}
    for remedy in first:
        options = merged(options, remedy.options, keep_nulls=True)
    return (Remedy("; ".join(dict.fromkeys(remedy.label for remedy in first)), options, "body"),)


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
