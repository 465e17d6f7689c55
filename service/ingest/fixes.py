"""Fixes for the errors of an upload: changes to its options with which the same bytes can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["number", "boolean", "category"]
MAX_COLUMNS = 100  # per fix
MAX_NAME_LENGTH = 80  # in a message


@dataclass(frozen=True)
class Fix:
    """A change to the options of an upload."""

    label: str  # the text of a button
    drop: tuple[str, ...] = ()  # columns to leave out
    keep: tuple[str, ...] = ()  # columns to remove from `drop`
    types: dict[str, Kind] = field(default_factory=dict)  # columns and their new types
    untyped: tuple[str, ...] = ()  # columns to remove from `types`
    options: dict[str, Any] = field(default_factory=dict)  # other options; None removes one


def quoted(name: str) -> str:
    """Return a column's name for a message, in quotation marks and shortened if it is long."""
    return repr(name if len(name) <= MAX_NAME_LENGTH else name[: MAX_NAME_LENGTH - 1] + "…")


def leave_out(name: str) -> Fix:
    return Fix(f"Leave out {quoted(name)}", drop=(name,))


def read_column_as(name: str, kind: Kind) -> Fix:
    words: dict[Kind, str] = {"number": "numbers", "boolean": "true or false", "category": "categories"}
    return Fix(f"Read {quoted(name)} as {words[kind]}", types={name: kind})


def without_weights(name: str) -> Fix:
    return Fix(f"Train without the weights in {quoted(name)}", drop=(name,), options={"weight": None})


def set_option(label: str, **options: Any) -> Fix:
    return Fix(label, options=options)


WITHOUT_WEIGHTS = set_option("Train without weights", weight=None)
DECIMAL_COMMA = set_option("Read with a decimal comma", decimal=",")
DECIMAL_POINT = set_option("Read with a decimal point; commas separate thousands", decimal=".")


def combined(groups: Sequence[Sequence[Fix]]) -> tuple[Fix, ...]:
    """Return the fixes of a single issue, or one fix for several issues if each of them has one."""
    if len(groups) == 1:
        return tuple(groups[0])
    if not groups or len(groups) > MAX_COLUMNS or not all(groups):
        return ()
    first = list({id(fix): fix for fix in (group[0] for group in groups)}.values())
    options: dict[str, Any] = {}
    for fix in first:
        if any(options.get(name, value) != value for name, value in fix.options.items()):
            return ()  # they contradict each other
        options |= fix.options
    dropped = [name for fix in first for name in fix.drop]
    if len(dropped) == len(first) and not options:
        labels = [f"Leave out {', '.join(quoted(name) for name in dropped)}"]
    else:
        labels = list(dict.fromkeys(fix.label for fix in first))
    return (
        Fix(
            "; ".join(labels),
            drop=tuple(dict.fromkeys(dropped)),
            keep=tuple(dict.fromkeys(name for fix in first for name in fix.keep)),
            types={name: kind for fix in first for name, kind in fix.types.items()},
            untyped=tuple(dict.fromkeys(name for fix in first for name in fix.untyped)),
            options=options,
        ),
    )


def as_options(fix: Fix, drop: Iterable[str], types: Iterable[str]) -> dict[str, Any]:
    """Return the options that the fix changes, each with its complete new value; None removes an option.

    `drop` and `types` are the options of the request.
    """
    changed: dict[str, Any] = dict(fix.options)
    if fix.drop or fix.keep:
        left = _without(drop, {*fix.drop, *fix.keep}, lambda item: item)
        changed["drop"] = [*left, *fix.drop] or None
    types = list(types)
    left = _without(types, {*fix.drop, *fix.types, *fix.untyped}, lambda item: item.rpartition(":")[0])
    if fix.types or left != types:
        changed["types"] = [*left, *(f"{name}:{kind}" for name, kind in fix.types.items())] or None
    return changed


def _without(items: Iterable[str], names: set[str], name_of: Callable[[str], str]) -> list[str]:
    """Return the items of an option without these columns. An item may hold several, separated by commas."""
    kept: list[str] = []
    for item in items:
        if name_of(item) in names:
            continue
        parts = item.split(",")
        left = [part for part in parts if name_of(part).strip() not in names]
        kept += [item] if len(left) == len(parts) else left
    return kept
