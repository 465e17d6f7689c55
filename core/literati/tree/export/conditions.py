"""Conditions of splits that the exports share."""

from __future__ import annotations

from literati.data.schema import UNKNOWN, Column
from literati.tree.nodes import Split

MAX_EXACT = 1 << 53  # larger integers are not all exact as doubles


class ExportError(ValueError):
    """A tree that a format cannot express exactly."""


def right_ranges(split: Split) -> list[tuple[float | None, float | None]]:
    """Return the intervals (above, up to) of the numbers that go right."""
    return [(above, up_to) for above, up_to, right in split.intervals() if right]


def boolean_sides(split: Split) -> tuple[bool, bool]:
    """Return whether false goes right and whether true goes right."""
    false, true = (sum(value > threshold for threshold in split.thresholds) % 2 == 1 for value in (0.0, 1.0))
    return false, true


def code_sides(column: Column, split: Split) -> tuple[list[int], list[int]]:
    """Return the codes of categories that go left and right; one of them has the code of unknown ones."""
    right = set(split.right_categories)
    sides: tuple[list[int], list[int]] = ([], [])
    for code in range(len(column.categories)):
        sides[code in right].append(code)
    sides[split.unknown_right].append(int(UNKNOWN))
    return sides
