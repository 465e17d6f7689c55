"""Build the nodes of a tree, which hold values, from the nodes of the engine, which hold codes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.table import TrainingTable
from literati.errors import SearchInvariantError
from literati.tree.nodes import Node, Settings, Split

Rows = npt.NDArray[np.intp]


def build_nodes(
    encoded: npt.NDArray[Any],
    table: TrainingTable,
    settings: Settings,
    poll: Callable[[], None] | None = None,
) -> tuple[Node, ...]:
    """Return the nodes in preorder. Thresholds, counts and costs are computed from the training rows."""
    nodes: list[Node | None] = []
    _NodeBuilder(encoded, table, settings, nodes, poll).grow(0, np.arange(table.n_rows), 0)
    return tuple(node for node in nodes if node is not None)


class _NodeBuilder:
    """Append the nodes of a tree to `nodes`, in preorder."""

    def __init__(
        self,
        encoded: npt.NDArray[Any],
        table: TrainingTable,
        settings: Settings,
        nodes: list[Node | None],
        poll: Callable[[], None] | None,
    ) -> None:
        self.poll = poll
        self.encoded = encoded
        self.table = table
        self.settings = settings
        self.nodes = nodes

    def grow(self, index: int, rows: Rows, depth: int) -> Node:
        """Append the subtree of an engine node and return its root. Recursion is at most 12 deep."""
        if self.poll is not None:
            self.poll()
        if not len(rows) or depth > self.settings.max_depth:
            raise SearchInvariantError("the search returned a node that is empty or too deep")
        record = self.encoded[index]
        place = len(self.nodes)
        self.nodes.append(None)
        weights = None if self.table.weights is None else self.table.weights[rows]
        counts = np.bincount(self.table.y[rows], weights, minlength=len(self.table.classes))
        label = int(np.argmax(counts))
        error = math.fsum(count for k, count in enumerate(counts.tolist()) if k != label)
        split: Split | None = None
        cost = error
        if record["feature"] >= 0:
            shape, goes_right, children = self._split(record, rows)
            first = len(self.nodes)
            left = self.grow(children[0], rows[~goes_right], depth + 1)
            second = len(self.nodes)
            right = self.grow(children[1], rows[goes_right], depth + 1)
            split = replace(shape, left=first, right=second)
            cost = self.settings.penalty(split.changepoints) + left.cost + right.cost
        node = Node(
            rows=len(rows),
            counts=tuple(float(count) for count in counts),
            label=label,
            error=error,
            cost=cost,
            bound=float(record["lower_bound"]),
            proven=bool(record["proven"]),
            split=split,
        )
        self.nodes[place] = node
        return node

    def _split(self, record: Any, rows: Rows) -> tuple[Split, npt.NDArray[np.bool_], tuple[int, int]]:
        """Return the split, whether it sends each row right, and the indices of the engine's children."""
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
            thresholds, flipped = _thresholds(changepoints, codes[~missing], values)
            charged = max(1, len(thresholds))
            if flipped:  # every known value is past an odd number of change points: swap the children
                goes_right, children = ~goes_right, children[::-1]
        weights = np.ones(len(rows)) if self.table.weights is None else self.table.weights[rows]
        mostly_right = bool(weights[goes_right].sum() > weights[~goes_right].sum())
        seen = bool(missing.any())
        missing_right = bool(goes_right[missing][0]) if seen else mostly_right
        split = Split(feature.column, thresholds, right, charged, missing_right, seen, mostly_right, -1, -1)
        return split, goes_right, children

    def _right_categories(self, j: int, changepoints: npt.NDArray[np.int32]) -> tuple[int, ...]:
        feature = self.table.features[j]
        right = np.flatnonzero(_odd(changepoints, np.arange(len(self.table.values[j]))))
        if feature.category is None:
            return tuple(int(code) for code in right)
        chosen = {bool(code) for code in right}  # one-hot: 1 is the category itself, 0 every other
        everyone = range(len(self.table.schema.columns[feature.column].categories))
        return tuple(k for k in everyone if (k == feature.category) in chosen)


def _odd(changepoints: npt.NDArray[np.int32], codes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return (np.searchsorted(changepoints, codes, side="right") & 1).astype(bool)


def _thresholds(
    changepoints: npt.NDArray[np.int32], codes: npt.NDArray[np.int32], values: npt.NDArray[np.float64]
) -> tuple[tuple[float, ...], bool]:
    """Return the thresholds between the node's values, and whether an odd number of them lie below all.

    Two change points without a value between them cancel, and one above every value does nothing.
    """
    # (nearest code below, nearest code above) of an odd number of change points
    gaps: set[tuple[int, int]] = set()
    flipped = False
    for position in changepoints.tolist():
        above = codes >= position
        if above.all():
            flipped = not flipped
        elif above.any():  # sorting would take most of the time with a million rows
            gaps ^= {(int(codes[~above].max()), int(codes[above].min()))}
    middles = [_middle(float(values[low]), float(values[high])) for low, high in sorted(gaps)]
    return tuple(middles), flipped and len(codes) > 0


def _middle(low: float, high: float) -> float:
    """Return a number t with low <= t < high, half-way if floating point allows it."""
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low
