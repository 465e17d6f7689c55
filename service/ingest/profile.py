"""Describe a column: missing cells, range, distinct values, and a histogram or category counts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from service.ingest.fixes import quoted
from service.ingest.options import Role
from service.ingest.tables import Column
from worker.domain.datasets import ColumnInfo, Histogram

BINS = 20
MAX_CATEGORIES = 100  # that are listed
_MAX_CATEGORY_BYTES = 16_384  # of the listed categories' text, so that the stored record stays small
_MAX_COUNTED_RANGE = 1 << 16  # integers in a smaller range are counted: ten times faster than sorting
_ID_NAME = re.compile(
    r"(?i)(.*[_\W])?(id|ids|uuid|guid|key|index|rowid|row_?number)|.*Id|__index_level_\d+__|column_1"
)
_FEW_ROWS = 20  # too few to recognise an id


def describe(column: Column, role: Role) -> ColumnInfo:
    array = column.array
    profile = _number_profile(array) if column.kind == "number" else _category_profile(array)
    return ColumnInfo(name=column.name, type=column.kind, role=role, missing=array.null_count, **profile)


def _category_profile(array: Any) -> dict[str, Any]:
    """Return the number of distinct values, and the most frequent ones with their counts."""
    if pa.types.is_dictionary(array.type):
        chunk = array.chunk(0)  # a category column has one chunk
        frequencies = np.bincount(chunk.indices.drop_null().to_numpy(), minlength=len(chunk.dictionary))
        order = np.argsort(-frequencies, kind="stable")[:MAX_CATEGORIES]
        values = chunk.dictionary.take(pa.array(order)).to_pylist()
        sizes = np.cumsum([len(value.encode()) if isinstance(value, str) else 8 for value in values])
        values = values[: max(1, int(np.searchsorted(sizes, _MAX_CATEGORY_BYTES)))]
        distinct, counts = len(frequencies), frequencies[order[: len(values)]].tolist()
    else:
        true, known = pa.compute.sum(array).as_py() or 0, len(array) - array.null_count
        pairs = sorted(((n, v) for v, n in ((False, known - true), (True, true)) if n), reverse=True)
        distinct, values, counts = len(pairs), [v for _, v in pairs], [n for n, _ in pairs]
    return {"distinct": distinct, "categories": values, "category_counts": counts}


def _number_profile(array: Any) -> dict[str, Any]:
    """Return range, number of distinct values and histogram, by counting or by one sort."""
    numbers = (array.drop_null() if array.null_count else array).to_numpy()
    if not len(numbers):
        return {"distinct": 0}
    low, high = numbers.min(), numbers.max()
    whole = numbers.dtype.kind == "i"
    if whole and int(high) - int(low) < _MAX_COUNTED_RANGE:
        counts = np.bincount((numbers - low).astype(np.int32))
        offsets = np.flatnonzero(counts)
        values, below = offsets + low, np.concatenate(([0], np.cumsum(counts[offsets])))
        distinct = len(values)
    else:
        values = np.sort(numbers)
        distinct = 1 + int(np.count_nonzero(values[1:] != values[:-1]))
        below = None
    edges = _edges(float(low), float(high), whole)
    inner = np.searchsorted(values, edges[1:-1])
    if below is not None:
        inner = below[inner]
    counted = np.diff(inner, prepend=0, append=len(numbers))
    histogram = Histogram(edges=edges.tolist(), counts=counted.tolist())
    return {"distinct": distinct, "minimum": float(low), "maximum": float(high), "histogram": histogram}


def _edges(low: float, high: float, whole: bool) -> npt.NDArray[np.float64]:
    if low == high:
        return np.array([low, high])
    if whole and high - low < BINS:  # one bin for each whole number
        return np.arange(low, high + 2) - 0.5
    share = np.arange(BINS + 1) / BINS
    edges = low * (1 - share) + high * share  # high - low may overflow
    edges[-1] = high
    return edges


def column_warnings(info: ColumnInfo, rows: int) -> list[str]:
    """Return the warnings about a column that is probably not useful."""
    name = quoted(info.name)
    if info.role == "target":
        if rows < _FEW_ROWS or 2 * (info.distinct or 0) <= rows:
            return []
        return [f"The target {name} has {info.distinct:,} classes in {rows:,} rows; is it the right column?"]
    if info.missing == rows:
        return [f"Column {name} is empty and is not used."] if info.role == "feature" else []
    if info.distinct == 1 and info.missing == 0 and info.role == "feature":
        return [f"Column {name} has the same value in every row and is not used."]
    if rows < _FEW_ROWS or info.role != "feature" or info.distinct != rows:
        return []
    whole = info.type == "number" and info.maximum is not None and info.minimum is not None
    counter = whole and (info.maximum or 0) - (info.minimum or 0) == rows - 1
    if info.type == "category" or counter or (whole and _ID_NAME.fullmatch(info.name)):
        return [
            f"Column {name} is different in every row and looks like an id, which does not help to predict "
            f"other rows; leave it out with drop={info.name[:80]}."
        ]
    return []
