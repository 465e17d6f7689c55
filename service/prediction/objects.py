"""Cells that are Python objects, to the kernel's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from literati.table import UNKNOWN
from service.errors import FieldError

from .faults import MOST_ERRORS, refuse
from .layout import NUMBER_TYPES, Field, Floats, Layout

MAX_FLOAT = int(np.finfo(np.float64).max)

Where = Callable[[int, int], str]  # row and place -> pointer


def encode_objects(rows: Sequence[Any], keys: Sequence[Any], layout: Layout, where: Where) -> Floats:
    """The matrix of rows whose cells are found by key; `keys` go with the layout's fields."""
    key = {entry.place: key for entry, key in zip(layout.fields, keys, strict=True)}
    errors: list[FieldError] = []
    numbers = _numbers(rows, [key[entry.place] for entry in layout.numbers], layout, where, errors)
    if len(layout.numbers) == layout.width and not errors:
        return numbers
    matrix = layout.empty_matrix(len(rows))
    matrix[:, layout.number_places] = numbers
    for entry in layout.others:
        cells = list(map(itemgetter(key[entry.place]), rows))
        matrix[:, entry.place] = _others(cells, entry, where, errors)
    refuse(errors)
    return matrix


def _numbers(
    rows: Sequence[Any], keys: list[Any], layout: Layout, where: Where, errors: list[FieldError]
) -> Floats:
    """All number columns as one flat list: one call of NumPy, however many columns there are."""
    if not keys:
        return np.empty((len(rows), 0))
    cells = map(itemgetter(*keys), rows)
    flat = list(cells) if len(keys) == 1 else list(chain.from_iterable(cells))
    if set(map(type, flat)) <= NUMBER_TYPES:
        try:
            return np.array(flat, dtype=np.float64).reshape(len(rows), len(keys))  # None becomes NaN
        except OverflowError:  # an integer beyond every float
            pass
    for i, cell in enumerate(flat):
        entry = layout.numbers[i % len(keys)]
        _judge(cell, i // len(keys), entry, where, errors)
        if len(errors) >= MOST_ERRORS:
            break
    return np.zeros((len(rows), len(keys)))


def _others(cells: list[Any], entry: Field, where: Where, errors: list[FieldError]) -> Floats:
    if set(map(type, cells)) <= entry.types:
        if entry.kind == "category":
            return np.fromiter(map(entry.index.get, cells, repeat(UNKNOWN)), np.float64, len(cells))
        if set(cells) <= {0, 1, None}:
            return np.array(cells, dtype=np.float64)
    for row, cell in enumerate(cells):
        _judge(cell, row, entry, where, errors)
        if len(errors) >= MOST_ERRORS:
            break
    return np.zeros(len(cells))


def _judge(cell: Any, row: int, entry: Field, where: Where, errors: list[FieldError]) -> None:
    fits = type(cell) in entry.types
    if fits and entry.kind == "boolean":
        fits = cell in (0, 1, None)
    if not fits:
        message = f"{entry.name}: expected {entry.expected}, or null where the value is missing."
        errors.append(FieldError(where(row, entry.place), "TYPE", message))
    elif entry.kind == "number" and type(cell) is int and abs(cell) > MAX_FLOAT:
        message = f"{entry.name}: an integer beyond what a number can hold."
        errors.append(FieldError(where(row, entry.place), "TOO_LARGE", message))
