"""Encode the nodes of a tree, which hold values, as nodes of the engine, which hold codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from literati._engine._tree_writer import NODE_DTYPE
from literati.data.table import Poll, TrainingTable
from literati.tree.nodes import Node, Split
from literati.tree.routing import leaves_by_numpy
from literati.tree.tree_builder import Rows, Sides


def encode_nodes(
    nodes: tuple[Node, ...], table: TrainingTable, max_changepoints: int, poll: Poll | None = None
) -> npt.NDArray[Any] | None:
    """Return the engine's nodes of a tree that divides the table's rows in the same way, in preorder.

    Return None if a split is none of the engine's: if it sends all rows to one side, or if no feature of the
    table makes it with at most `max_changepoints` change points, as for a set of one-hot categories.
    """
    leaves = leaves_by_numpy(nodes, table.schema, table.column_values, table.n_rows, poll)
    encoder = _NodeEncoder(nodes, table, max_changepoints, leaves)
    return np.concatenate(encoder.encoded) if encoder.grow(0, np.arange(table.n_rows)) else None


@dataclass
class _NodeEncoder:
    """Append the nodes of the engine to `encoded`, in preorder."""

    nodes: tuple[Node, ...]
    table: TrainingTable
    max_changepoints: int
    leaves: npt.NDArray[np.int32]  # index of each row's leaf
    encoded: list[npt.NDArray[Any]] = field(default_factory=list)

    def grow(self, index: int, rows: Rows) -> bool:
        """Append the subtree of a node and return whether it can be encoded. Recursion is at most 64 deep."""
        record = np.zeros(1, dtype=NODE_DTYPE)
        for name in ("feature", "left", "right"):
            record[name] = -1
        self.encoded.append(record)
        split = self.nodes[index].split
        if split is None:
            return True
        # In preorder, everything from the right child on is in the right subtree.
        goes_right = self.leaves[rows] >= split.right
        for j, feature in enumerate(self.table.features):
            if feature.column == split.column and (found := self._changes(j, split, rows, goes_right)):
                changepoints, missing_right, swapped = found
                break
        else:
            return False
        record["feature"], record["n_changepoints"] = j, len(changepoints)
        record["changepoints"][0, : len(changepoints)] = changepoints
        record["missing_right"] = missing_right
        parts = [(split.left, rows[~goes_right]), (split.right, rows[goes_right])]
        for side, (child, below) in zip(("left", "right"), parts[::-1] if swapped else parts, strict=True):
            record[side] = len(self.encoded)
            if not self.grow(child, below):
                return False
        return True

    def _changes(
        self, j: int, split: Split, rows: Rows, goes_right: Sides
    ) -> tuple[npt.NDArray[Any], bool, bool] | None:
        """Return the change points of a feature, the side of missing values, and whether sides are swapped.

        The engine sends the lowest code to the left. Return None if no such change points exist.
        """
        codes = self.table.codes[j][rows]
        missing = codes < 0
        right, left = (np.unique(codes[~missing & side]) for side in (goes_right, ~goes_right))
        present = np.sort(np.concatenate([left, right]))
        if (present[1:] == present[:-1]).any():
            return None
        sides = np.isin(present, right)
        swapped = bool(sides.any() and sides[0])
        changepoints = present[1:][sides[1:] != sides[:-1]]
        missing_right = bool(goes_right[missing][0]) if missing.any() else split.missing_right
        if not len(changepoints):  # only the rows without a value are on the other side
            if not missing.any() or not len(present) or missing_right == swapped:
                return None
            changepoints = np.array([len(self.table.values[j])])
        if len(changepoints) > self.max_changepoints:
            return None
        return changepoints, missing_right != swapped, swapped
