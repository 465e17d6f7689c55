"""Rows as the kernel reads them, with a way back to what was sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .layout import Floats, Layout


@dataclass(frozen=True, slots=True)
class Batch:
    matrix: Floats  # C order; one column per column of the model
    layout: Layout  # by which the rows were read: without the columns that they lack
    ignored: list[str]  # columns that the model does not know
    cell: Callable[[int, int], Any]  # row and place of a column -> the cell as sent
    where: Callable[[int, int], str]  # row and place of a column -> a pointer into the body
    read_as: Mapping[str, str] = field(default_factory=dict)  # columns whose numbers are not written plainly
    # Columns that no split uses and that cannot be read, with the first such row (from 1) if known.
    unreadable: Mapping[str, int | None] = field(default_factory=dict)
