"""Compare the predictions of rows with their true classes.

All rows of a leaf get the same prediction, so the scores follow from the rows of each leaf and true class. A
sandbox process counts them, and `service.predict.scores` computes the scores of the counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from literati import ShapeTree
from literati.data.labels import plain
from literati.data.schema import UNKNOWN, Column, EncodedRows, Schema
from literati.data.table import MAX_CLASSES
from literati.data.weights import MAX_WEIGHT
from service.http.problems import FieldError, pointer
from service.predict.layout import Batch, Floats, Layout
from service.predict.row_errors import raise_errors, row_error
from service.predict.row_warnings import RowWarning, find_warnings, shown

Codes = npt.NDArray[np.intp]
MAX_NAMED_CLASSES = 5  # in a message
_MAX = sys.float_info.max


@dataclass(frozen=True, slots=True)
class ScoreColumns:
    """The columns of the rows with the true class and, if there is one, with the weight."""

    target: str
    weight: str | None = None


@dataclass(frozen=True)
class Outcomes:
    """The rows of a body, counted by leaf and true class."""

    rows: int  # in the body
    without_target: int  # rows that are not counted, because their true class is missing
    unknown: list[Any]  # true classes that the model does not know
    leaves: list[int]  # one entry for each combination that occurs
    classes: list[int]  # index of the true class among the tree's classes and then `unknown`
    counts: list[int]
    weights: list[float]
    squared_weights: float  # sum over all counted rows

    def to_json(self) -> bytes:
        return _OUTCOMES.dump_json(self)

    @staticmethod
    def from_json(data: bytes) -> Outcomes:
        return _OUTCOMES.validate_json(data)


_OUTCOMES = TypeAdapter(Outcomes)


class ScoredLayout:
    """The columns of a model, extended by those that scoring needs."""

    def __init__(self, tree: ShapeTree, layout: Layout, columns: ScoreColumns) -> None:
        schema = list(tree.schema.columns)
        self.target = len(schema)
        schema.append(Column(columns.target, "category", tuple(plain(label) for label in tree.classes)))
        self.weight: int | None = None
        options = {columns.target: "target"}
        if columns.weight is not None:
            places = {column.name: place for place, column in enumerate(tree.schema.columns)}
            self.weight = places.get(columns.weight)
            if self.weight is None:
                self.weight = len(schema)
                schema.append(Column(columns.weight, "number", minimum=-_MAX, maximum=_MAX))
                options[columns.weight] = "weight"
            else:  # a column of the model, which must be read even if it was constant in training
                column = schema[self.weight]
                if column.constant:
                    column = replace(column, constant=False, minimum=-_MAX, maximum=_MAX)
                schema[self.weight] = column
        needed = {self.target} if self.weight is None else {self.target, self.weight}
        self.added = frozenset(options)
        self.layout = Layout(Schema(tuple(schema), tree.schema.named), layout.used | needed, options=options)


def count_outcomes(tree: ShapeTree, scored: ScoredLayout, batch: Batch) -> tuple[Outcomes, list[RowWarning]]:
    """Count the rows, and return the warnings about the columns of the model.

    Raise RowsError if the true classes or weights cannot be used.
    """
    warnings = [warning for warning in find_warnings(batch) if warning["column"] not in scored.added]
    y, unknown = _true_classes(tree, scored, batch)
    weights = _weights(scored, batch)
    counted = y >= 0
    if not counted.any():
        name = batch.layout.by_index[scored.target].name
        message = f"No row has a class in the target {shown(name)!r}; scores need at least one."
        raise row_error(pointer("body", name), "NO_CLASSES", message)
    leaves = tree.apply(EncodedRows(batch.matrix, {}, ()))[counted]
    y = y[counted]
    weights = None if weights is None else weights[counted]
    n_labels = len(tree.classes) + len(unknown)
    cells, group = np.unique(leaves.astype(np.intp) * n_labels + y, return_inverse=True)
    counts = np.bincount(group)
    sums: Floats = np.bincount(group, weights).astype(np.float64)
    _check_sums(tree, scored, batch, sums, cells % n_labels)
    return (
        Outcomes(
            rows=len(batch.matrix),
            without_target=int(np.count_nonzero(~counted)),
            unknown=unknown,
            leaves=(cells // n_labels).tolist(),
            classes=(cells % n_labels).tolist(),
            counts=counts.tolist(),
            weights=sums.tolist(),
            squared_weights=float(len(y) if weights is None else (weights**2).sum()),
        ),
        warnings,
    )


def _true_classes(tree: ShapeTree, scored: ScoredLayout, batch: Batch) -> tuple[Codes, list[Any]]:
    """Return the code of each row's class, -1 if it is missing, and the classes unknown to the model."""
    entry = batch.layout.by_index[scored.target]
    cells = batch.matrix[:, scored.target]
    y = np.full(len(cells), -1, dtype=np.intp)
    known = cells >= 0
    y[known] = cells[known].astype(np.intp)
    codes: dict[Any, int] = {}
    for row in np.flatnonzero(cells == UNKNOWN).tolist():
        label = entry.normalize(batch.cell(row, scored.target))
        y[row] = codes.setdefault(label, len(tree.classes) + len(codes))
        if len(codes) > MAX_CLASSES:
            message = (
                f"The target {shown(entry.name)!r} has more than {MAX_CLASSES:,} classes that the model does "
                "not know. Name the column of the true classes with `target`."
            )
            raise row_error(pointer("body", entry.name), "TOO_MANY_CLASSES", message)
    return y, list(codes)


def _weights(scored: ScoredLayout, batch: Batch) -> Floats | None:
    """Return the weights of the rows; raise RowsError if one is missing or negative."""
    if scored.weight is None:
        return None
    place = scored.weight
    weights: Floats = batch.matrix[:, place]
    wrong = np.flatnonzero(~(weights >= 0))  # a missing weight is NaN
    raise_errors(_weight_errors(batch, place, wrong.tolist()))
    return weights


def _weight_errors(batch: Batch, place: int, rows: list[int]) -> Iterator[FieldError]:
    name = shown(batch.layout.by_index[place].name)
    for row in rows:
        missing = bool(np.isnan(batch.matrix[row, place]))
        code = "MISSING_WEIGHT" if missing else "NEGATIVE_WEIGHT"
        what = "is missing" if missing else "is negative"
        message = f"The weight in {name!r} {what}; expected 0 or more (0 ignores the row)."
        yield FieldError(batch.pointer(row, place), code, message, row + 1)


def _check_sums(tree: ShapeTree, scored: ScoredLayout, batch: Batch, sums: Floats, classes: Codes) -> None:
    """Raise RowsError if the weights are too large, or if no row with a weight has a class of the model."""
    total = float(sums.sum())
    if scored.weight is not None and not 0 < total <= MAX_WEIGHT:
        name = batch.layout.by_index[scored.weight].name
        message = f"The sum of the weights in {shown(name)!r} is above {MAX_WEIGHT:g}; use a larger unit."
        if total == 0:
            message = f"Every weight in {shown(name)!r} is 0; at least one must be above 0."
        raise row_error(pointer("body", name), "BAD_WEIGHT", message)
    if not sums[classes < len(tree.classes)].any():
        name = batch.layout.by_index[scored.target].name
        known = ", ".join(repr(shown(plain(label))) for label in tree.classes[:MAX_NAMED_CLASSES])
        more = ", ..." if len(tree.classes) > MAX_NAMED_CLASSES else ""
        message = (
            f"No row has a class that the model knows in the target {shown(name)!r}. The model knows {known}"
            f"{more}. Name the column of the true classes with `target`."
        )
        raise row_error(pointer("body", name), "UNKNOWN_CLASSES", message)
