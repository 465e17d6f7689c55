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
    rows: Sequence[Any],
    keys: Sequence[Any],
    layout: Layout,
    where: Where,
    unreadable: dict[str, int | None],
    *,
    no_booleans: bool = False,
) -> Floats | None:
    """The matrix of rows whose cells are found by key; `keys` go with the layout's fields.

    None if columns that no split uses cannot be read: they are added to `unreadable`, each with the number of
    the first such row, from 1.
    """
    key = {entry.place: key for entry, key in zip(layout.fields, keys, strict=True)}
    judge = _Judge(layout, where)
    flat = _flat(rows, [key[entry.place] for entry in layout.numbers])
    block = _floats(flat, no_booleans)
    if block is None:
        block = np.zeros(len(flat))
        for i, cell in enumerate(flat):
            row, number = divmod(i, len(layout.numbers))
            judge.look(cell, row, layout.numbers[number])
            if len(judge.errors) >= MOST_ERRORS:
                break
    block = block.reshape(len(rows), len(layout.numbers))
    if len(layout.numbers) == layout.width and judge.content:
        return block
    matrix = layout.empty_matrix(len(rows))
    matrix[:, layout.number_places] = block
    for entry in layout.others:
        cells = list(map(itemgetter(key[entry.place]), rows))
        matrix[:, entry.place] = _others(cells, entry, judge)
    refuse(judge.errors)
    unreadable.update(judge.unreadable)
    return matrix if judge.content else None


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


def _others(cells: list[Any], entry: Field, judge: _Judge) -> Floats:
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
        judge.look(cell, row, entry)
        if len(judge.errors) >= MOST_ERRORS:
            break
    return np.zeros(len(cells))


class _Judge:
    """What is wrong with cells: errors where the tree uses their column."""

    def __init__(self, layout: Layout, where: Where) -> None:
        self.used = layout.used
        self.where = where
        self.errors: list[FieldError] = []
        self.unreadable: dict[str, int] = {}  # other columns, with the number of the first such row

    @property
    def content(self) -> bool:
        return not self.errors and not self.unreadable

    def look(self, cell: Any, row: int, entry: Field) -> None:
        found = _fault(cell, entry)
        if found is None:
            return
        if entry.place in self.used:
            code, message = found
            self.errors.append(FieldError(self.where(row, entry.place), code, f"{entry.name}: {message}"))
        else:
            self.unreadable.setdefault(entry.name, row + 1)


def _fault(cell: Any, entry: Field) -> tuple[str, str] | None:
    """A code and a message, if the cell is none of this column."""
    fits = type(cell) in entry.types
    if fits and entry.kind == "boolean":
        fits = cell in (0, 1, None)
    if not fits:
        return "TYPE", f"expected {entry.expected}, or null where the value is missing."
    if entry.kind == "number" and type(cell) is int and abs(cell) > MAX_FLOAT:
        return "TOO_LARGE", "an integer beyond what a number can hold."
    return None
