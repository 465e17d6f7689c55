"""JSON rows of a model that has numbers only, read without a Python object a cell.

Most bodies of such models are as plain as this reader wants them. For any other it answers None: `json_rows`
reads it, or says what is wrong with it.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as np
from pydantic_core import from_json

from literati._number_json import numbers_in_arrays, numbers_in_records
from service.errors import pointer

from .batch import Batch
from .layout import Floats, Layout

_SPACE = rb"[ \t\n\r]*"
_RECORDS = re.compile(rb'\s*{\s*"records"\s*:\s*'.replace(rb"\s*", _SPACE))
# Names with brackets or escapes in them are not looked for.
_ARRAYS = re.compile(rb'\s*{\s*"columns"\s*:\s*(\[[^][{}\\]*\])\s*,\s*"data"\s*:\s*'.replace(rb"\s*", _SPACE))
_END = re.compile(rb"\s*}\s*".replace(rb"\s*", _SPACE))


def read_numbers(body: bytes, layout: Layout, max_rows: int) -> Batch | None:
    head = _RECORDS.match(body)
    if head is not None:
        whole = _records(body, head.end(), layout, max_rows)
        if whole is not None or layout.used_only is layout:
            return whole
        return _records(body, head.end(), layout.used_only, max_rows)
    head = _ARRAYS.match(body)
    return None if head is None else _arrays(body, head[1], head.end(), layout, max_rows)


def _records(body: bytes, at: int, layout: Layout, max_rows: int) -> Batch | None:
    names = layout.plain_names
    if not names:
        return None
    rows = _count(body, b"}") - 1
    if not _is_sensible(rows, len(names), max_rows, body):
        return None
    found = numbers_in_records(body, at, rows, names)
    if found is None or not _END.fullmatch(body, found[1]):
        return None

    def where(row: int, place: int) -> str:
        return pointer("body", "records", row, layout.by_place[place].name)

    return Batch(_matrix(found[0], None, layout), layout, [], _no_cell, where)


def _arrays(body: bytes, names: bytes, at: int, layout: Layout, max_rows: int) -> Batch | None:
    try:
        columns: Any = from_json(names)
    except ValueError:
        return None
    places = {name: place for place, name in enumerate(columns) if type(name) is str}
    layout = layout.lacking(places.__contains__)
    rows = _count(body, b"]", at) - 1
    if (
        not layout.plain_names
        or len(places) < len(columns)
        or not places.keys() >= layout.by_name.keys()
        or not _is_sensible(rows, len(columns), max_rows, body)
    ):
        return None
    found = numbers_in_arrays(body, at, rows, len(columns))
    if found is None or not _END.fullmatch(body, found[1]):
        return None
    keys = [places[entry.name] for entry in layout.fields]

    def where(row: int, place: int) -> str:
        return pointer("body", "data", row, places[layout.by_place[place].name])

    ignored = [name for name in places if name not in layout.names]
    return Batch(_matrix(found[0], keys, layout), layout, ignored, _no_cell, where)


def _count(body: bytes, sign: bytes, start: int = 0) -> int:
    """As `bytes.count`, which takes three times as long where the sign is found often."""
    return int(np.count_nonzero(np.frombuffer(body, np.uint8, offset=start) == ord(sign)))


def _is_sensible(rows: int, width: int, max_rows: int, body: bytes) -> bool:
    """Room is made for this many cells before they are read, and each takes two bytes at least."""
    return 0 < rows <= max_rows and 2 * rows * width <= len(body)


def _matrix(numbers: Floats, keys: list[int] | None, layout: Layout) -> Floats:
    """In the model's order, with room for its constant columns."""
    if keys is not None and keys != list(range(numbers.shape[1])):
        numbers = numbers[:, keys]
    if len(layout.fields) == layout.width:
        return numbers if numbers.flags.c_contiguous else numbers.copy()
    matrix = layout.empty_matrix(len(numbers))
    matrix[:, layout.number_places] = numbers
    return matrix


def _no_cell(row: int, place: int) -> NoReturn:
    raise LookupError("only categories are asked for as they were sent")
