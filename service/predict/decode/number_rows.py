"""Decode JSON that contains only numbers, without creating a Python object for every cell.

This is the fast path for models whose columns are all numbers. For any other body it returns None, and
`json_rows` decodes the body or reports its errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from pydantic_core import from_json

from literati._predict._number_json import numbers_in_arrays, numbers_in_records
from service.http.problems import pointer
from service.predict.layout import Batch, Floats, Layout
from service.predict.outputs import Wanted

_SPACE = rb"[ \t\n\r]*"
_RECORDS = re.compile(rb'\s*{\s*"records"\s*:\s*'.replace(rb"\s*", _SPACE))
# Names with brackets or escapes do not match.
_ARRAYS = re.compile(rb'\s*{\s*"columns"\s*:\s*(\[[^][{}\\]*\])\s*,\s*"data"\s*:\s*'.replace(rb"\s*", _SPACE))
_END = re.compile(rb"\s*}\s*".replace(rb"\s*", _SPACE))


def read_numbers(body: bytes, layout: Layout, max_rows: int) -> Batch | None:
    """Decode the body if it contains only numbers."""
    head = _RECORDS.match(body)
    if head is not None:
        whole = _records(body, head.end(), layout, max_rows)
        if whole is not None or layout.used_only is layout:
            return whole
        return _records(body, head.end(), layout.used_only, max_rows)
    head = _ARRAYS.match(body)
    return None if head is None else _arrays(body, head[1], head.end(), layout, max_rows)


def _records(body: bytes, start: int, layout: Layout, max_rows: int) -> Batch | None:
    names = layout.plain_names
    if not names:
        return None
    rows = _count(body, b"}") - 1
    if not _is_possible(rows, len(names), max_rows, body):
        return None
    found = numbers_in_records(body, start, rows, names)
    if found is None or not _END.fullmatch(body, found[1]):
        return None

    def cell_pointer(row: int, index: int) -> str:
        return pointer("body", "records", row, layout.by_index[index].name)

    return Batch(_matrix(found[0], None, layout), layout, [], _no_cell, cell_pointer)


def _arrays(body: bytes, names: bytes, start: int, layout: Layout, max_rows: int) -> Batch | None:
    try:
        columns: Any = from_json(names)
    except ValueError:
        return None
    positions = {name: position for position, name in enumerate(columns) if type(name) is str}
    layout = layout.without_absent(positions.__contains__)
    rows = _count(body, b"]", start) - 1
    if (
        not layout.plain_names
        or len(positions) < len(columns)
        or not positions.keys() >= layout.by_name.keys()
        or not _is_possible(rows, len(columns), max_rows, body)
    ):
        return None
    found = numbers_in_arrays(body, start, rows, len(columns))
    if found is None or not _END.fullmatch(body, found[1]):
        return None
    keys = [positions[entry.name] for entry in layout.fields]

    def cell_pointer(row: int, index: int) -> str:
        return pointer("body", "data", row, positions[layout.by_index[index].name])

    ignored = [name for name in positions if name not in layout.names]
    return Batch(_matrix(found[0], keys, layout), layout, ignored, _no_cell, cell_pointer)


class Match(NamedTuple):
    """How the columns of a matrix of numbers are read."""

    layout: Layout  # without the columns that are absent
    keys: list[int]  # the position of each field
    ignored: list[str]  # columns that the model does not have
    is_matrix: bool  # the request has one tensor with all columns of the model, in their order


def match_columns(names: Sequence[str] | None, layout: Layout) -> Match | None:
    """Return how columns of numbers with these names are read, or None if they do not fit the model.

    Without names they are all columns of the model in their order.
    """
    if names is None:
        return Match(layout, [entry.index for entry in layout.fields], [], is_matrix=True)
    positions = {name: position for position, name in enumerate(names)}
    layout = layout.without_absent(positions.__contains__)
    if len(positions) < len(names) or not positions.keys() >= layout.by_name.keys():
        return None
    ignored = [name for name in names if name not in layout.names]
    return Match(layout, [positions[entry.name] for entry in layout.fields], ignored, is_matrix=False)


def read_matrix(numbers: Floats, match: Match, wanted: Wanted) -> Batch:
    """Return the rows of a matrix, of which each column is a tensor or a column of a tensor."""
    layout = match.layout

    def cell_pointer(row: int, index: int) -> str:
        return pointer("body", "rows", row, layout.by_index[index].name)

    matrix = _matrix(numbers, match.keys, layout)
    return Batch(matrix, layout, match.ignored, _no_cell, cell_pointer, wanted=wanted)


def _count(body: bytes, character: bytes, start: int = 0) -> int:
    """Count a character like `bytes.count`, which takes three times as long for frequent characters."""
    return int(np.count_nonzero(np.frombuffer(body, np.uint8, offset=start) == ord(character)))


def _is_possible(rows: int, width: int, max_rows: int, body: bytes) -> bool:
    """Return whether the body is long enough for its cells, which take two bytes or more.

    They are allocated before they are read.
    """
    return 0 < rows <= max_rows and 2 * rows * width <= len(body)


def _matrix(numbers: Floats, keys: list[int] | None, layout: Layout) -> Floats:
    """Return the numbers in the order of the model's columns, with zeros for constant columns.

    `keys` are the columns of the numbers that are fields; None if all are, in their order.
    """
    if keys is not None and keys != list(range(numbers.shape[1])):
        numbers = numbers[:, keys]
    if len(layout.fields) == layout.width:
        return numbers if numbers.flags.c_contiguous else numbers.copy()
    matrix = layout.empty_matrix(len(numbers))
    matrix[:, layout.number_indices] = numbers
    return matrix


def _no_cell(row: int, index: int) -> NoReturn:
    raise LookupError("cells are only needed for categories")
