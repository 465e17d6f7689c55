"""Cells that are Python objects, to the kernel's numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from literati.table import UNKNOWN
from service.errors import FieldError

from .faults import MOST_ERRORS, refuse
from .layout import FINITE_TYPES, NUMBER_TYPES, Field, Floats, Layout

MAX_FLOAT = int(np.finfo(np.float64).max)

Where = Callable[[int, int], str]  # row and place -> pointer


def encode_objects(
    rows: Sequence[Any], keys: Sequence[Any], layout: Layout, where: Where, *, no_booleans: bool = False
) -> Floats:
    """The matrix of rows whose cells are found by key; `keys` go with the layout's fields."""
    key = {entry.place: key for entry, key in zip(layout.fields, keys, strict=True)}
    errors: list[FieldError] = []
    flat = _flat(rows, [key[entry.place] for entry in layout.numbers])
    block = _floats(flat, no_booleans)
    if block is None:
        block = np.zeros(len(flat))
        for i, cell in enumerate(flat):
            row, number = divmod(i, len(layout.numbers))
            _judge(cell, row, layout.numbers[number], where, errors)
            if len(errors) >= MOST_ERRORS:
                break
    block = block.reshape(len(rows), len(layout.numbers))
    if len(layout.numbers) == layout.width and not errors:
        return block
    matrix = layout.empty_matrix(len(rows))
    matrix[:, layout.number_places] = block
    for entry in layout.others:
        cells = list(map(itemgetter(key[entry.place]), rows))
        matrix[:, entry.place] = _others(cells, entry, where, errors)
    refuse(errors)
    return matrix


def _flat(rows: Sequence[Any], keys: list[Any]) -> list[Any]:
    """The cells of all number columns, row by row: one conversion, however many columns there are."""
    if not keys:
        return []
    if keys == list(range(len(rows[0]))):  # arrays with these columns in this order and no others
        return list(chain.from_iterable(rows))
    cells = map(itemgetter(*keys), rows)
    return list(cells) if len(keys) == 1 else list(chain.from_iterable(cells))


def _floats(flat: list[Any], no_booleans: bool) -> Floats | None:
    """None if something is not a number, or an integer beyond every float.

    `struct` takes a third of NumPy's time and no text, but it takes true for 1; NumPy reads text as numbers.
    """
    if no_booleans:
        try:
            return np.frombuffer(struct.pack(f"{len(flat)}d", *flat))
        except struct.error:  # null, text, or too large
            pass
    types = set(map(type, flat))
    try:
        if types <= FINITE_TYPES:
            return np.frombuffer(struct.pack(f"{len(flat)}d", *flat))
        if types <= NUMBER_TYPES:
            return np.array(flat, dtype=np.float64)  # None becomes NaN
    except (struct.error, OverflowError):
        pass
    return None


def _others(cells: list[Any], entry: Field, where: Where, errors: list[FieldError]) -> Floats:
    types = set(map(type, cells))
    if entry.kind == "category" and str in types and str not in entry.types:
        cells = list(map(entry.known, cells))  # "20" where the categories are numbers
        types = set(map(type, cells))
    if types <= entry.types:
        if entry.kind == "category":
            codes = np.fromiter(map(entry.index.get, cells, repeat(UNKNOWN)), np.float64, len(cells))
            if str in types:
                for row in np.flatnonzero(codes == UNKNOWN).tolist():
                    codes[row] = entry.index.get(entry.known(cells[row]), UNKNOWN)
            return codes
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
