"""Count the rows of a node by class and by the value of the column that the node splits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.columns import Floats, Kind
from literati.data.schema import UNKNOWN, Column
from literati.tree.nodes import Split
from literati.tree.routing import goes_right
from service.nodes.node_sample import Codes, NodeSample
from service.nodes.schemas import (
    Branch,
    CategoryHistogram,
    CategoryRows,
    NumberBin,
    NumberHistogram,
    OtherCategories,
)

MAX_BINS = 40
MAX_CATEGORIES = 50
MAX_WHOLE = 2.0**52  # there is a floating-point number between smaller whole numbers


def histogram(sample: NodeSample, split: Split, column: Column) -> NumberHistogram | CategoryHistogram:
    """Count the rows by class and value."""
    assert sample.cells is not None
    if column.kind == "number":
        assert sample.cells.values is not None
        return _number_histogram(sample, split, sample.cells.values)
    if column.kind == "boolean":
        assert sample.cells.values is not None
        codes = np.nan_to_num(sample.cells.values, nan=-1.0).astype(np.intp)
        return _category_histogram(sample, split, "boolean", codes, [False, True], np.array([0.0, 1.0]))
    assert sample.cells.codes is not None
    known = {category: float(code) for code, category in enumerate(column.categories)}
    labels = list(sample.cells.labels)
    x = np.array([known.get(label, UNKNOWN) for label in labels], dtype=np.float64)
    return _category_histogram(sample, split, "category", sample.cells.codes.astype(np.intp), labels, x)


def _number_histogram(sample: NodeSample, split: Split, values: Floats) -> NumberHistogram:
    missing = np.isnan(values)
    known = values[~missing]
    edges = bin_edges(known, split.thresholds)
    n_bins = max(0, len(edges) - 1)
    groups = np.full(len(values), n_bins, dtype=np.intp)  # the last group is that of missing values
    groups[~missing] = np.searchsorted(edges[1:-1], known)  # a number at an edge belongs to the bin below it
    counts = list(zip(*sample.count(groups, n_bins + 1), strict=True))
    sides = goes_right(split, "number", edges[1:])  # no threshold lies within a bin
    bins = [
        NumberBin(low=low, high=high, **_branch(split, right, *count))
        for (low, high), right, count in zip(
            pairwise(edges.tolist()), sides.tolist(), counts[:-1], strict=True
        )
    ]
    missing_rows = Branch(**_branch(split, split.missing_right, *counts[-1]))
    return NumberHistogram(kind="number", bins=bins, missing=missing_rows)


def bin_edges(values: Floats, thresholds: tuple[float, ...], max_bins: int = MAX_BINS) -> Floats:
    """Return the edges of at most `max_bins` bins from the least to the greatest value.

    Every threshold that separates values is an edge. The bins between two thresholds have equal widths, or
    contain equally many whole numbers if all values are whole.
    """
    if not len(values):
        return np.empty(0)
    low, high = float(values.min()), float(values.max())
    marks = [low, *(threshold for threshold in thresholds if low <= threshold < high), high]
    whole = max(-low, high) < MAX_WHOLE and bool((values == np.rint(values)).all())
    spare = max(0, max_bins - (len(marks) - 1))
    edges = [low]
    for first, (start, end) in enumerate(pairwise(marks)):
        share = 0.0 if low == high else (end / 2 - start / 2) / (high / 2 - low / 2)  # without overflow
        pieces = 1 + math.floor(spare * min(1.0, share))
        inner = _whole_edges(start, end, pieces, first == 0) if whole else _equal_edges(start, end, pieces)
        edges += [edge for edge in inner if edges[-1] < edge < end]
        edges.append(end)
    return np.array(edges)


def _equal_edges(start: float, end: float, pieces: int) -> Iterator[float]:
    return (start * (1 - k / pieces) + end * (k / pieces) for k in range(1, pieces))


def _whole_edges(start: float, end: float, pieces: int, with_start: bool) -> Iterator[float]:
    """Yield edges between whole numbers, so that the bins contain equally many of them."""
    least = math.ceil(start) if with_start else math.floor(start) + 1
    greatest = math.floor(end)
    step = max(1, math.ceil((greatest - least + 1) / pieces))
    return (number - 0.5 for number in range(least + step, greatest + 1, step))


def _category_histogram(
    sample: NodeSample, split: Split, kind: Kind, codes: Codes, labels: list[Any], x: Floats
) -> CategoryHistogram:
    """Count the most frequent labels, and the others by side. `x` are the labels as the tree reads them."""
    right = goes_right(split, kind, x)
    frequencies = np.bincount(codes[codes >= 0], minlength=len(labels))
    order = np.argsort(-frequencies, kind="stable")
    order = order[frequencies[order] > 0]
    listed, others = order[:MAX_CATEGORIES], order[MAX_CATEGORIES:]
    group_of = np.full(len(labels) + 1, len(listed) + 2, dtype=np.intp)  # code -1 reads the last: missing
    group_of[listed] = np.arange(len(listed))
    group_of[others] = len(listed) + right[others]
    counts = list(zip(*sample.count(group_of[codes], len(listed) + 3), strict=True))
    categories = [
        CategoryRows(
            value=labels[code], seen=bool(x[code] >= 0), **_branch(split, bool(right[code]), *counts[group])
        )
        for group, code in enumerate(listed.tolist())
    ]
    other = [
        OtherCategories(categories=n, **_branch(split, side, *counts[len(listed) + side]))
        for side in (False, True)
        if (n := _count_side(right[others], side))
    ]
    missing = Branch(**_branch(split, split.missing_right, *counts[-1]))
    return CategoryHistogram(kind="category", categories=categories, other=other, missing=missing)


def _count_side(right: npt.NDArray[np.bool_], side: bool) -> int:
    return int(np.count_nonzero(right == side))


def _branch(split: Split, right: bool, rows: list[int], weights: list[float]) -> dict[str, Any]:
    return {
        "side": "right" if right else "left",
        "child": split.right if right else split.left,
        "rows": rows,
        "weights": weights,
    }
