"""Read the rows of a dataset that reach a node of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from literati import ShapeTree
from literati.data.columns import Floats, RawColumn
from literati.data.columns import open_table as open_columns
from literati.data.labels import plain
from literati.data.schema import encode_column
from literati.tree.routing import goes_right
from service.nodes.schemas import Part
from worker.domain.datasets import Dataset
from worker.domain.jobs import SweepPlace
from worker.domain.validation import ColumnFolds, Validation, ValidationColumn
from worker.training.folds import split_for_sweep
from worker.training.tables import DatasetRows, coded_column, label_array, open_table, split

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True)
class RowSplit:
    """How a job splits the rows of its dataset: by its own validation, or by its place in a sweep."""

    validation: Validation | None
    sweep: SweepPlace | None = None

    @property
    def holds_out(self) -> bool:
        """Whether the job holds out rows."""
        place = self.sweep
        return self.validation is not None or (
            place is not None and (place.fold is not None or place.test is not None)
        )

    @property
    def columns(self) -> list[str]:
        """The columns that mark rows."""
        if isinstance(self.validation, ValidationColumn):
            return [self.validation.column]
        if self.sweep is not None and isinstance(self.sweep.folds, ColumnFolds):
            return [self.sweep.folds.column]
        return []

    def split(self, rows: DatasetRows) -> tuple[DatasetRows, DatasetRows | None]:
        """Return the training rows and the held-out rows."""
        if self.sweep is not None:
            return split_for_sweep(rows, self.sweep)
        return split(rows, self.validation)


@dataclass(frozen=True)
class TrainingData:
    """The table of a job's dataset, and how the job split its rows."""

    dataset: Dataset
    path: Path
    row_split: RowSplit


@dataclass(frozen=True)
class NodeSample:
    """The rows that reach a node."""

    y: Codes  # indices into the tree's classes
    weights: Floats | None  # None if every row weighs 1
    cells: RawColumn | None  # of the column that the node splits; None for a leaf
    n_classes: int

    def count(self, groups: Codes, n_groups: int) -> tuple[list[list[int]], list[list[float]]]:
        """Return the number and the weight of the rows by group and class."""
        cells, shape = groups * self.n_classes + self.y, (n_groups, self.n_classes)
        size = n_groups * self.n_classes
        rows = np.bincount(cells, minlength=size).reshape(shape)
        weights = rows if self.weights is None else np.bincount(cells, self.weights, size).reshape(shape)
        return rows.tolist(), weights.astype(np.float64).tolist()


def read_sample(data: TrainingData, part: Part, tree: ShapeTree, node: int) -> NodeSample:
    """Read the columns that the splits on the way to the node use, and follow the rows to it."""
    steps = path_to(tree, node)
    own = tree.nodes[node].split
    used = {split.column for split, _ in steps} | (set() if own is None else {own.column})
    names = [tree.schema.columns[column].name for column in sorted(used)]
    rows, labels = _part(data, part, names)
    index = {plain(label): code for code, label in enumerate(tree.classes)}
    y = np.array([index.get(label, -1) for label in labels], dtype=np.intp)[rows.y]
    counted = y >= 0 if rows.weights is None else (y >= 0) & (rows.weights > 0)
    chosen = np.flatnonzero(counted)
    cells: dict[int, RawColumn] = {}
    if len(chosen) and names:
        table = open_columns(rows.X.select(names))
        cells = {column: table.read(place, names[place]) for place, column in enumerate(sorted(used))}
        encoded: dict[int, Floats] = {}
        for split_, right in steps:
            column = tree.schema.columns[split_.column]
            if split_.column not in encoded:
                encoded[split_.column], _ = encode_column(column, cells[split_.column])
            x = encoded[split_.column][chosen]
            chosen = chosen[goes_right(split_, column.kind, x) == right]
    weights = None if rows.weights is None else rows.weights[chosen]
    shown = None if own is None else _take(cells.get(own.column), chosen)
    return NodeSample(y[chosen], weights, shown, len(tree.classes))


def path_to(tree: ShapeTree, node: int) -> list[tuple[Any, bool]]:
    """Return the splits from the root to the parent of a node, and whether the path goes right at each."""
    parents: dict[int, tuple[int, bool]] = {}
    for index, parent in enumerate(tree.nodes):
        if parent.split is not None:
            parents[parent.split.left] = index, False
            parents[parent.split.right] = index, True
    steps = []
    while node in parents:
        node, right = parents[node]
        steps.append((tree.nodes[node].split, right))
    return steps[::-1]


def _part(data: TrainingData, part: Part, names: list[str]) -> tuple[DatasetRows, list[Any]]:
    """Return these columns of a part of the rows, and the labels of the classes.

    `y` has the index of each row's label. The labels are sorted, so that `split` draws the same rows as for
    the job, which sorts the labels themselves; sorting a million texts would take seconds.
    """
    table, weights = open_table(data.path, data.dataset)
    y, labels = _label_codes(table.column(data.dataset.target))
    rows = DatasetRows(table.select([*names, *data.row_split.columns]), y, weights)
    if part == "all" or not data.row_split.holds_out:
        return rows, labels
    train, held_out = data.row_split.split(rows)
    if part == "train":
        return train, labels
    return rows.select(np.zeros(len(y), dtype=bool)) if held_out is None else held_out, labels


def _label_codes(column: Any) -> tuple[Codes, list[Any]]:
    """Return the index of each row's label, and the sorted labels."""
    if not pa.types.is_dictionary(column.type):
        labels, codes = np.unique(label_array(column), return_inverse=True)
        return codes.astype(np.intp), labels.tolist()
    codes, found = coded_column(column)
    order = sorted(range(len(found)), key=found.__getitem__)
    ranks = np.empty(len(found), dtype=np.intp)
    ranks[order] = np.arange(len(found))
    return ranks[codes], [found[index] for index in order]


def _take(cells: RawColumn | None, rows: Codes) -> RawColumn:
    """Return these rows of a column; an empty column if no row is counted."""
    if cells is None:
        return RawColumn("number", np.empty(0), np.empty(0, dtype=np.int32))
    values = None if cells.values is None else cells.values[rows]
    codes = None if cells.codes is None else cells.codes[rows]
    return RawColumn(cells.kind, values, codes, cells.labels)
