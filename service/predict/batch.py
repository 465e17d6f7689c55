"""Decoded rows: the matrix for the predict kernel, and access to the cells of the request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from service.predict.layout import Floats, Layout


@dataclass(frozen=True, slots=True)
class Batch:
    """The decoded rows of a request."""

    matrix: Floats  # C order; one column per column of the model
    layout: Layout  # without the columns that the rows lack
    ignored: list[str]  # columns that the model does not have
    cell: Callable[[int, int], Any]  # row and column index -> the cell of the request
    pointer: Callable[[int, int], str]  # row and column index -> a JSON pointer to the cell
    read_as: Mapping[str, str] = field(default_factory=dict)  # number styles by column
    # Unused columns that cannot be read, with the number of the first such row (from 1) if it is known.
    unreadable: Mapping[str, int | None] = field(default_factory=dict)
