"""Build the nodes of a tree, which hold values, from the nodes of the engine, which hold codes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.table import Poll, TrainingTable
from literati.errors import SearchInvariantError
from literati.tree.nodes import Node, Settings, Split

Rows = npt.NDArray[np.intp]
Sides = npt.NDArray[np.bool_]


def build_nodes(
    encoded: npt.NDArray[Any], table: TrainingTable, settings: Settings, poll: Poll | None = None
) -> tuple[Node, ...]:
    """Return the nodes in preorder. Thresholds, counts and costs are computed from the training rows."""
    builder = _NodeBuilder(encoded, table, settings, poll)
    builder.grow(0, np.arange(table.n_rows), 0)
    return tuple(builder.nodes)


def leaf_node(table: TrainingTable, rows: Rows, bound: float, proven: bool) -> Node:
    """Return a leaf with the counts, the label and the error of these rows."""
    weights = None if table.weights is None else table.weights[rows]
    counts = np.bincount(table.y[rows], weights, minlength=len(table.classes)).tolist()
    label = counts.index(max(counts))
    error = math.fsum(count for k, count in enumerate(counts) if k != label)
    return Node(len(rows), tuple(map(float, counts)), label, error, error, bound, proven)


def missing_sides(
    table: TrainingTable, rows: Rows, missing: Sides, goes_right: Sides
) -> tuple[bool, bool, bool]:
    """Return `missing_right`, `missing_seen` and `unknown_right` of a split that sends the rows this way."""
    weights = np.ones(len(rows)) if table.weights is None else table.weights[rows]
    mostly_right = bool(weights[goes_right].sum() > weights[~goes_right].sum())
    seen = bool(missing.any())
    return bool(goes_right[missing][0]) if seen else mostly_right, seen, mostly_right


def dividing_cuts(
    values: npt.NDArray[Any], cuts: Iterable[Any], is_above: Callable[..., Any]
) -> tuple[dict[tuple[Any, Any], Any], bool]:
    """Return the cuts that divide the values, and whether an odd number of cuts lie below all values.

    The keys are the nearest values below and above a cut. Two cuts without a value between them cancel, and a
    cut above every value does nothing.
    """
    dividing: dict[tuple[Any, Any], Any] = {}
    flipped = False
    for cut in cuts:
        above = is_above(values, cut)
        if len(values) and above.all():
            flipped = not flipped
        elif above.any():  # sorting would take most of the time with a million rows
            gap = (values[~above].max().item(), values[above].min().item())
            if dividing.pop(gap, None) is None:
                dividing[gap] = cut
    return dividing, flipped


@dataclass
class _NodeBuilder:
    """Append the nodes of a tree to `nodes`, in preorder."""

    encoded: npt.NDArray[Any]
    table: TrainingTable
    settings: Settings
    poll: Poll | None
    nodes: list[Node] = field(default_factory=list)

    def grow(self, index: int, rows: Rows, depth: int) -> Node:
        """Append the subtree of an engine node and return its root. Recursion is at most 12 deep."""
        if self.poll is not None:
            self.poll()
        if not len(rows) or depth > self.settings.max_depth:
            raise SearchInvariantError("the search returned a node that is empty or too deep")
        record = self.encoded[index]
        place = len(self.nodes)
        self.nodes.append(leaf_node(self.table, rows, float(record["lower_bound"]), bool(record["proven"])))
        if record["feature"] >= 0:
            split, goes_right = self._split(record, rows)
            left = self.grow(split.left, rows[~goes_right], depth + 1)
            second = len(self.nodes)
            right = self.grow(split.right, rows[goes_right], depth + 1)
            cost = self.settings.penalty(split.changepoints) + left.cost + right.cost
            split = replace(split, left=place + 1, right=second)
            self.nodes[place] = replace(self.nodes[place], cost=cost, split=split)
        return self.nodes[place]

    def _split(self, record: Any, rows: Rows) -> tuple[Split, Sides]:
        """Return the split with the children of the engine's node, and whether it sends each row right."""
        feature = self.table.features[record["feature"]]
        codes = self.table.codes[record["feature"]][rows]
        changepoints = record["changepoints"][: record["n_changepoints"]]
        missing = codes < 0
        goes_right = np.where(missing, bool(record["missing_right"]), _odd(changepoints, codes))
        children = (int(record["left"]), int(record["right"]))
        column = self.table.schema.columns[feature.column]
        thresholds: tuple[float, ...] = ()
        right: tuple[int, ...] = ()
        charged = max(1, len(changepoints))
        if column.kind == "category":
            right = self._right_categories(record["feature"], changepoints)
        else:
            values = self.table.values[record["feature"]]
            gaps, flipped = dividing_cuts(codes[~missing], changepoints, np.greater_equal)
            thresholds = tuple(_middle(float(values[low]), float(values[high])) for low, high in sorted(gaps))
            charged = max(1, len(thresholds))
            if flipped:  # every known value is past an odd number of change points: swap the children
                goes_right, children = ~goes_right, children[::-1]
        sides = missing_sides(self.table, rows, missing, goes_right)
        return Split(feature.column, thresholds, right, charged, *sides, *children), goes_right

    def _right_categories(self, j: int, changepoints: npt.NDArray[np.int32]) -> tuple[int, ...]:
        feature = self.table.features[j]
        right = np.flatnonzero(_odd(changepoints, np.arange(len(self.table.values[j]))))
        if feature.category is None:
            return tuple(int(code) for code in right)
        chosen = {bool(code) for code in right}  # one-hot: 1 is the category itself, 0 every other
        n_categories = len(self.table.schema.columns[feature.column].categories)
        return tuple(k for k in range(n_categories) if (k == feature.category) in chosen)


def _odd(changepoints: npt.NDArray[np.int32], codes: npt.NDArray[Any]) -> Sides:
    """Return whether an odd number of change points is at or below each code."""
    return (np.searchsorted(changepoints, codes, side="right") & 1).astype(bool)


def _middle(low: float, high: float) -> float:
    """Return a number t with low <= t < high, half-way if floating point allows it."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low
