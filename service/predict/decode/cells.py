"""Encode cells that are Python objects as the numbers that the predict kernel reads."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.schema import UNKNOWN
from service.http.problems import FieldError
from service.predict.layout import FINITE_TYPES, NUMBER_TYPES, Field, Floats, Layout
from service.predict.row_errors import MAX_ERRORS, raise_errors

MAX_FLOAT = int(np.finfo(np.float64).max)

Pointer = Callable[[int, int], str]  # row and column index -> JSON pointer
Cells = list[Any] | npt.NDArray[Any]  # of a column; an array has numbers, of which NaN is missing


def encode_objects(
    rows: Sequence[Any],
    keys: Sequence[Any],
    layout: Layout,
    pointer: Pointer,
    unreadable: dict[str, int | None],
    *,
    no_booleans: bool = False,
) -> Floats | None:
    """Return the matrix of the rows; `keys` are the keys of the layout's fields in each row.

    Return None if unused columns cannot be read. They are added to `unreadable`, each with the number of the
    first such row, counted from 1.
    """
    key = {entry.index: key for entry, key in zip(layout.fields, keys, strict=True)}
    flat = _flat(rows, [key[entry.index] for entry in layout.numbers])
    block = to_floats(flat, no_booleans)
    width = len(layout.numbers)
    checker = _CellChecker(layout, pointer)
    if block is None:
        checker.check_all((cell, i // width, layout.numbers[i % width]) for i, cell in enumerate(flat))
        block = np.zeros(len(flat))
    block = block.reshape(len(rows), width)
    return _matrix(
        block, lambda entry: list(map(itemgetter(key[entry.index]), rows)), layout, checker, unreadable
    )


def encode_columns(
    columns: Mapping[int, Cells],
    n_rows: int,
    layout: Layout,
    pointer: Pointer,
    unreadable: dict[str, int | None],
) -> Floats | None:
    """Return the matrix of columns, by the indices of the layout's fields; see `encode_objects`."""
    checker = _CellChecker(layout, pointer)
    numbers = [columns[entry.index] for entry in layout.numbers]
    if numbers and all(isinstance(cells, np.ndarray) for cells in numbers):
        block = np.stack(numbers, axis=1)
    else:
        flat = list(chain.from_iterable(map(_as_list, numbers)))
        found = to_floats(flat, no_booleans=False)
        if found is None:
            checker.check_all((cell, i % n_rows, layout.numbers[i // n_rows]) for i, cell in enumerate(flat))
            found = np.zeros(len(flat))
        block = np.ascontiguousarray(found.reshape(len(numbers), n_rows).T)
    return _matrix(block, lambda entry: _as_list(columns[entry.index]), layout, checker, unreadable)


def _matrix(
    numbers: Floats,
    cells: Callable[[Field], list[Any]],
    layout: Layout,
    checker: _CellChecker,
    unreadable: dict[str, int | None],
) -> Floats | None:
    """Return the matrix of the number columns and of the cells of the other fields."""
    if len(layout.numbers) == layout.width and checker.ok:
        return numbers
    matrix = layout.empty_matrix(len(numbers))
    matrix[:, layout.number_indices] = numbers
    for entry in layout.others:
        matrix[:, entry.index] = _encode_others(cells(entry), entry, checker)
    raise_errors(checker.errors)
    unreadable.update(checker.unreadable)
    return matrix if checker.ok else None


def _as_list(cells: Cells) -> list[Any]:
    return cells if isinstance(cells, list) else cells.tolist()


def _flat(rows: Sequence[Any], keys: list[Any]) -> list[Any]:
    """Return the cells of all number columns, row by row, to convert them in one call."""
    if not keys:
        return []
    if keys == list(range(len(rows[0]))):  # arrays with exactly these columns in this order
        return list(chain.from_iterable(rows))
    cells = map(itemgetter(*keys), rows)
    return list(cells) if len(keys) == 1 else list(chain.from_iterable(cells))


def to_floats(flat: list[Any], no_booleans: bool) -> Floats | None:
    """Return the cells as floats; None if one is not a number, or an integer that is too large.

    `struct` takes a third of NumPy's time, but accepts true as 1; NumPy accepts text as well.
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


def _encode_others(cells: list[Any], entry: Field, checker: _CellChecker) -> Floats:
    """Encode the cells of a category or boolean column."""
    types = set(map(type, cells))
    if entry.kind == "category" and str in types and str not in entry.types:
        cells = list(map(entry.normalize, cells))  # text such as "20" for categories that are numbers
        types = set(map(type, cells))
    if types <= entry.types:
        if entry.kind == "category":
            codes = np.fromiter(map(entry.codes.get, cells, repeat(UNKNOWN)), np.float64, len(cells))
            if str in types:
                for row in np.flatnonzero(codes == UNKNOWN).tolist():
                    codes[row] = entry.codes.get(entry.normalize(cells[row]), UNKNOWN)
            return codes
        if set(cells) <= {0, 1, None}:
            return np.array(cells, dtype=np.float64)
    checker.check_all((cell, row, entry) for row, cell in enumerate(cells))
    return np.zeros(len(cells))


class _CellChecker:
    """Collects errors of cells in used columns, and unused columns that cannot be read."""

    def __init__(self, layout: Layout, pointer: Pointer) -> None:
        self.used = layout.used
        self.pointer = pointer
        self.errors: list[FieldError] = []
        self.unreadable: dict[str, int] = {}  # with the number of the first such row

    @property
    def ok(self) -> bool:
        return not self.errors and not self.unreadable

    def check_all(self, cells: Iterable[tuple[Any, int, Field]]) -> None:
        """Check cells with their rows and fields, until there are enough errors for a response."""
        for cell, row, entry in cells:
            self.check(cell, row, entry)
            if len(self.errors) >= MAX_ERRORS:
                break

    def check(self, cell: Any, row: int, entry: Field) -> None:
        found = _cell_error(cell, entry)
        if found is None:
            return
        if entry.index in self.used:
            code, message = found
            where = self.pointer(row, entry.index)
            self.errors.append(FieldError(where, code, f"{entry.name}: {message}", row + 1))
        else:
            self.unreadable.setdefault(entry.name, row + 1)


def _cell_error(cell: Any, entry: Field) -> tuple[str, str] | None:
    """Return the code and the message of a cell that does not fit its column, else None."""
    fits = type(cell) in entry.types
    if fits and entry.kind == "boolean":
        fits = cell in (0, 1, None)
    if not fits:
        return "TYPE", f"expected {entry.expected}, or null if the value is missing."
    if entry.kind == "number" and type(cell) is int and abs(cell) > MAX_FLOAT:
        return "TOO_LARGE", "the integer is too large for a floating-point number."
    return None
