"""Find the leaf of each row: with the compiled kernel, and in NumPy as an independent check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from literati._predict._leaves import NODE_DTYPE, route
from literati.data.columns import Floats, Kind
from literati.data.schema import Schema
from literati.data.table import Poll
from literati.tree.nodes import Node, Split

Leaves = npt.NDArray[np.int32]


@dataclass(frozen=True)
class FlatTree:
    """A tree as the arrays that the kernel reads."""

    records: npt.NDArray[Any]
    thresholds: Floats
    sides: npt.NDArray[np.uint8]

    def leaves(self, matrix: Floats) -> Leaves:
        """Return the index of each row's leaf."""
        out = np.empty(len(matrix), dtype=np.int32)
        route(matrix, self.records, self.thresholds, self.sides, out)
        return out


def flatten(nodes: tuple[Node, ...], schema: Schema) -> FlatTree:
    """Return the arrays of a tree for the kernel."""
    records = np.zeros(len(nodes), dtype=NODE_DTYPE)
    thresholds: list[float] = []
    sides: list[bool] = []
    for record, node in zip(records, nodes, strict=True):
        split = node.split
        if split is None:
            record["column"] = -1
            continue
        categories = schema.columns[split.column].categories
        record["column"], record["left"], record["right"] = split.column, split.left, split.right
        record["missing_right"], record["unknown_right"] = split.missing_right, split.unknown_right
        if schema.columns[split.column].kind == "category":
            record["is_category"], record["start"], record["length"] = True, len(sides), len(categories)
            right = set(split.right_categories)
            sides.extend(code in right for code in range(len(categories)))
        else:
            record["start"], record["length"] = len(thresholds), len(split.thresholds)
            thresholds.extend(split.thresholds)
    return FlatTree(records, np.array(thresholds, dtype=np.float64), np.array(sides, dtype=np.uint8))


def leaves_by_numpy(
    nodes: tuple[Node, ...],
    schema: Schema,
    cells: Callable[[int, npt.NDArray[np.intp]], Floats],
    n_rows: int,
    poll: Poll | None = None,
) -> Leaves:
    """Return the index of each row's leaf, without code of the kernel or the search. This is slow.

    `poll` is called at every node.
    """
    leaves = np.zeros(n_rows, dtype=np.int32)
    waiting = [(0, np.arange(n_rows))]
    while waiting:
        if poll is not None:
            poll()
        index, rows = waiting.pop()
        split = nodes[index].split
        if split is None:
            leaves[rows] = index
            continue
        right = goes_right(split, schema.columns[split.column].kind, cells(split.column, rows))
        waiting += [(split.left, rows[~right]), (split.right, rows[right])]
    return leaves


def goes_right(split: Split, kind: Kind, x: Floats) -> npt.NDArray[np.bool_]:
    """Return which cells of the split's column go right. `kind` is that of the column."""
    if kind == "category":
        right = np.isin(x, split.right_categories)
        right[x < 0] = split.unknown_right
    else:
        right = np.zeros(len(x), dtype=bool)
        for threshold in split.thresholds:
            right ^= x > threshold
    right[np.isnan(x)] = split.missing_right
    return right
