"""Remedies for what is wrong with an upload: options that, sent with the same bytes again, work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["number", "boolean", "category"]
MAX_COLUMNS = 100  # in one remedy; more are not a matter of a button
_LONGEST_NAME = 80


@dataclass(frozen=True)
class Fix:
    """A change to the options of an upload."""

    label: str  # for a button
    drop: tuple[str, ...] = ()  # columns to leave out
    keep: tuple[str, ...] = ()  # columns not to leave out after all
    types: dict[str, Kind] = field(default_factory=dict)  # columns to take as something else
    untyped: tuple[str, ...] = ()  # columns to give no type after all
    options: dict[str, Any] = field(default_factory=dict)  # other options; None takes one back


def shown(name: str) -> str:
    """A column's name in a sentence."""
    return repr(name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…")


def leave_out(name: str) -> Fix:
    return Fix(f"Leave out {shown(name)}", drop=(name,))


def take_as(name: str, kind: Kind) -> Fix:
    words: dict[Kind, str] = {"number": "numbers", "boolean": "true or false", "category": "categories"}
    return Fix(f"Take {shown(name)} as {words[kind]}", types={name: kind})


def without_weights(name: str) -> Fix:
    return Fix(f"Learn without the weights in {shown(name)}", drop=(name,), options={"weight": None})


def set_option(label: str, **options: Any) -> Fix:
    return Fix(label, options=options)


LEARN_WITHOUT_WEIGHTS = set_option("Learn without weights", weight=None)
DECIMAL_COMMA = set_option("Read with decimal comma", decimal=",")
DECIMAL_POINT = set_option("Read with decimal point, commas part thousands", decimal=".")


def combined(groups: Sequence[Sequence[Fix]]) -> tuple[Fix, ...]:
    """The remedies of one fault; of several faults one for all, if each has one."""
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
        labels = [f"Leave out {', '.join(shown(name) for name in dropped)}"]
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
    """The options that the remedy sets, each with its whole new value; None where one is taken back.

    `drop` and `types` are those of the request, as they were sent.
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
    """The items of an option without those of these columns; an item may be several with commas between."""
    kept: list[str] = []
    for item in items:
        if name_of(item) in names:
            continue
        parts = item.split(",")
        left = [part for part in parts if name_of(part).strip() not in names]
        kept += [item] if len(left) == len(parts) else left
    return kept
