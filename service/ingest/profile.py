"""What a client wants to know of each column: missing cells, range, distinct values, how they spread."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from worker.messages import ColumnInfo, Histogram

from .columns import Column
from .errors import shown

BINS = 20
TOP = 100
_TOP_BYTES = 16_384  # of the top categories' text, so that a record stays small
_COUNTED_RANGE = 1 << 16  # integers in a range this small are counted, not sorted: ten times as fast
_ID_NAME = re.compile(
    r"(?i)(.*[_\W])?(id|ids|uuid|guid|key|index|rowid|row_?number)|.*Id|__index_level_\d+__|column_1"
)
_FEW_ROWS = 20  # too few to tell an id by

Role = Literal["feature", "target", "weight"]


def describe(column: Column, role: Role) -> ColumnInfo:
    array = column.array
    common: dict[str, Any] = {
        "name": column.name,
        "type": column.kind,
        "role": role,
        "missing": array.null_count,
    }
    if column.kind != "number":
        values, counts = _frequencies(array)
        return ColumnInfo(
            **common, distinct=len(counts), categories=values, category_counts=counts[: len(values)].tolist()
        )
    numbers = array.drop_null().to_numpy(zero_copy_only=False) if array.null_count else array.to_numpy()
    if not len(numbers):
        return ColumnInfo(**common, distinct=0)
    distinct, below = _distinct(numbers)
    return ColumnInfo(
        **common,
        distinct=len(distinct),
        minimum=float(distinct[0]),
        maximum=float(distinct[-1]),
        histogram=_histogram(distinct, below),
    )


def _frequencies(array: Any) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The top values, and the counts of all of them, the most frequent first."""
    if pa.types.is_dictionary(array.type):
        codes = array.indices.drop_null().to_numpy()
        counts = np.bincount(codes, minlength=len(array.dictionary))
        order = np.argsort(-counts, kind="stable")
        values = array.dictionary.take(pa.array(order[:TOP])).to_pylist()
    else:
        true, known = array.true_count, len(array) - array.null_count
        pairs = sorted(((n, v) for v, n in ((False, known - true), (True, true)) if n), reverse=True)
        return [value for _, value in pairs], np.array([count for count, _ in pairs], dtype=np.int64)
    sizes = np.cumsum([len(value.encode()) if isinstance(value, str) else 8 for value in values])
    return values[: max(1, int(np.searchsorted(sizes, _TOP_BYTES)))], counts[order].astype(np.int64)


def _distinct(numbers: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """The distinct numbers in order, and how many cells lie below each; one more for all of them."""
    if numbers.dtype.kind == "i":
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < _COUNTED_RANGE:
            counts = np.bincount((numbers - low).astype(np.int32), minlength=high - low + 1)
            places = np.flatnonzero(counts)
            return places + low, np.concatenate(([0], np.cumsum(counts[places])))
    arranged = np.sort(numbers)
    first = np.empty(len(arranged), dtype=bool)
    first[0] = True
    np.not_equal(arranged[1:], arranged[:-1], out=first[1:])
    places = np.flatnonzero(first)
    return arranged[places], np.append(places, len(arranged))


def _histogram(distinct: npt.NDArray[Any], below: npt.NDArray[np.intp]) -> Histogram:
    low, high = float(distinct[0]), float(distinct[-1])
    if low == high:
        return Histogram(edges=[low, high], counts=[int(below[-1])])
    if distinct.dtype.kind == "i" and high - low < BINS:  # a bin for each whole number
        edges = np.arange(low, high + 2) - 0.5
    else:
        share = np.arange(BINS + 1) / BINS
        edges = low * (1 - share) + high * share  # high - low may be beyond the largest float
        edges[-1] = high
    inner = below[np.searchsorted(distinct, edges[1:-1])]
    counts = np.diff(inner, prepend=0, append=below[-1])
    return Histogram(edges=edges.tolist(), counts=counts.tolist())


def oddities(info: ColumnInfo, rows: int) -> list[str]:
    """What is no error and still worth a sentence."""
    if info.role == "target":
        return []
    name = shown(info.name)
    if info.missing == rows:
        return [f"Column {name} has no value at all and is not used."] if info.role == "feature" else []
    if info.distinct == 1 and info.missing == 0 and info.role == "feature":
        return [f"Column {name} has the same value in every row and is not used."]
    if rows < _FEW_ROWS or info.role != "feature" or info.distinct != rows:
        return []
    whole = info.type == "number" and info.maximum is not None and info.minimum is not None
    counter = whole and (info.maximum or 0) - (info.minimum or 0) == rows - 1
    if info.type == "category" or counter or (whole and _ID_NAME.fullmatch(info.name)):
        return [
            f"Column {name} is different in every row and looks like an id, from which nothing general is "
            f"learned; leave it out with drop={info.name[:80]}."
        ]
    return []
