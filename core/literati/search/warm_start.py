"""Warm start: refit a tree of other rows or other parameters to the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from literati.data.columns import Kind
from literati.data.schema import Column, Schema
from literati.data.table import TrainingTable
from literati.tree.nodes import Node, Settings, Split
from literati.tree.tree_builder import Rows, Sides, dividing_cuts, leaf_node, missing_sides


def refit_nodes(
    nodes: tuple[Node, ...], schema: Schema, table: TrainingTable, settings: Settings
) -> tuple[Node, ...]:
    """Return the nodes of a tree with the counts, labels and costs that they have on the table's rows.

    A split that sends all rows to one side is left out. One that is too deep, has more change points or fewer
    rows in an interval than allowed, or saves less than its penalty becomes a leaf. Raise ValueError if the
    table lacks a column.
    """
    refitter = _Refitter(nodes, schema, _places(nodes, schema, table.schema), table, settings)
    refitter.grow(0, np.arange(table.n_rows), 0)
    return tuple(refitter.grown)


def _places(nodes: tuple[Node, ...], schema: Schema, target: Schema) -> dict[int, int]:
    """Return the index in the table of each column that the tree uses."""
    at = {column.name: place for place, column in enumerate(target.columns)}
    places: dict[int, int] = {}
    for split in (node.split for node in nodes if node.split is not None):
        column = schema.columns[split.column]
        place = at.get(column.name, -1) if schema.named and target.named else split.column
        if not 0 <= place < len(target.columns):
            raise ValueError(f"tree: it needs the column {column.name!r}, which the data does not have")
        if target.columns[place].kind != column.kind and not target.columns[place].constant:
            raise ValueError(
                f"tree: the column {column.name!r} is a {column.kind} in the tree "
                f"and a {target.columns[place].kind} in the data"
            )
        places[split.column] = place
    return places


@dataclass
class _Refitter:
    """Append the refitted nodes to `grown`, in preorder."""

    nodes: tuple[Node, ...]
    schema: Schema
    places: dict[int, int]
    table: TrainingTable
    settings: Settings
    grown: list[Node] = field(default_factory=list)

    def grow(self, index: int, rows: Rows, depth: int) -> Node:
        """Append the subtree and return its root. Trees are at most 64 deep, so recursion is safe."""
        leaf = leaf_node(self.table, rows, 0.0, False)
        leaf = replace(leaf, proven=leaf.error == 0)
        place = len(self.grown)
        self.grown.append(leaf)
        split = self.nodes[index].split
        if split is None or leaf.error == 0:
            return leaf
        shape, goes_right, shortest = self._route(split, rows)
        if goes_right.all() or not goes_right.any():
            del self.grown[place:]
            return self.grow(shape.right if goes_right[0] else shape.left, rows, depth)
        settings = self.settings
        if depth >= settings.max_depth or shape.changepoints > settings.max_changepoints:
            return leaf
        if shortest < settings.min_samples_leaf:
            return leaf
        left = self.grow(shape.left, rows[~goes_right], depth + 1)
        second = len(self.grown)
        right = self.grow(shape.right, rows[goes_right], depth + 1)
        cost = settings.penalty(shape.changepoints) + left.cost + right.cost
        if cost >= leaf.cost:
            del self.grown[place + 1 :]
            return leaf
        self.grown[place] = replace(leaf, cost=cost, split=replace(shape, left=place + 1, right=second))
        return self.grown[place]

    def _route(self, split: Split, rows: Rows) -> tuple[Split, Sides, int]:
        """Return the split with the table's column and categories, and whether it sends each row right.

        The last result is the number of rows in its shortest interval.
        """
        place = self.places[split.column]
        kind = self.schema.columns[split.column].kind
        cells = self._cells(place, kind, rows)
        missing = np.isnan(cells)
        goes_right = np.full(len(rows), split.missing_right)
        children = (split.left, split.right)
        thresholds: tuple[float, ...] = ()
        categories: tuple[int, ...] = ()
        if kind == "category":
            right = _right_categories(
                split, self.schema.columns[split.column], self.table.schema.columns[place]
            )
            known = cells[~missing].astype(np.intp)
            goes_right[~missing] = right[known]
            categories = tuple(np.flatnonzero(right).tolist())
            charged = self._changes(place, right, np.unique(known))
            intervals = self._interval_of(charged, right, np.unique(known))[known]
        else:
            gaps, flipped = dividing_cuts(cells[~missing], split.thresholds, np.greater)
            thresholds = tuple(sorted(gaps.values()))
            goes_right[~missing] = np.logical_xor.reduce([cells[~missing] > t for t in split.thresholds])
            charged = len(thresholds)
            intervals = np.searchsorted(thresholds, cells[~missing])  # the number of thresholds below
            if flipped:  # known values begin on the right: swap the children
                goes_right, children = ~goes_right, children[::-1]
        sides = missing_sides(self.table, rows, missing, goes_right)
        shortest = int(np.bincount(intervals, minlength=charged + 1).min())
        if charged == 0:  # only missing values go to the other side
            shortest = min(shortest, int(np.count_nonzero(missing)))
        return Split(place, thresholds, categories, max(1, charged), *sides, *children), goes_right, shortest

    def _cells(self, place: int, kind: Kind, rows: Rows) -> npt.NDArray[np.float64]:
        """Return the cells of a column. A constant column has no codes; one without values has no kind."""
        column = self.table.schema.columns[place]
        if not column.constant:
            return self.table.column_values(place, rows)
        values = {"number": column.minimum, "category": 0.0 if column.categories else None, "boolean": 0.0}
        value = values[column.kind] if column.kind == kind else None
        return np.full(len(rows), np.nan if value is None else value)

    @staticmethod
    def _interval_of(charged: int, sides: Sides, present: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the interval of each category that the rows have: its side, or its run of one side."""
        interval: npt.NDArray[np.intp] = sides.astype(np.intp)
        changes = np.diff(sides[present])
        if len(present) and charged == np.count_nonzero(changes):  # else one category against all
            interval[present] = np.append(0, np.cumsum(changes))
        return interval

    def _changes(self, place: int, sides: Sides, present: npt.NDArray[np.intp]) -> int:
        """Return the number of change points that the objective counts for a set of categories."""
        right = int(np.count_nonzero(sides[present]))
        one_hot = any(f.column == place and f.category is not None for f in self.table.features)
        if one_hot and 1 in (right, len(present) - right):
            return 1
        return int(np.count_nonzero(np.diff(sides[present])))


def _right_categories(split: Split, column: Column, target: Column) -> Sides:
    """Return for each category of the table whether the tree sends it right."""
    right = {column.categories[code] for code in split.right_categories}
    known = set(column.categories)
    goes = [category in right if category in known else split.unknown_right for category in target.categories]
    return np.array(goes or [split.unknown_right], dtype=bool)
