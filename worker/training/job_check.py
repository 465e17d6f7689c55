"""Check a job against its dataset before it is accepted: its validation, class weights and table size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from literati.data.weights import MAX_WEIGHT
from literati.search.engine_factory import TableSize
from worker.domain.datasets import ColumnInfo, Dataset, label_text
from worker.domain.parameters import Parameters
from worker.domain.validation import Validation, ValidationColumn, ValidationFraction
from worker.training import tables
from worker.training.tables import SplitError

Totals = npt.NDArray[np.float64]  # by class
MIN_WEIGHT = 2.0**-30  # of all rows together; the cost of a tree is checked to 1e-9
MAX_LISTED_VALUES = 20


class ClassWeightError(ValueError):
    """Nothing can be learned with these class weights."""


@dataclass(frozen=True)
class ClassTotals:
    """The number of training rows and validation rows of each class, and the weight of the former.

    Training rows of weight 0 are not counted.
    """

    labels: list[str]  # in the form of `label_text`
    training: Totals
    training_rows: npt.NDArray[np.intp]
    validation_rows: npt.NDArray[np.intp]


class SplitColumns:
    """The columns of a dataset that determine a split."""

    def __init__(self, dataset: Dataset, path: Path) -> None:
        self.table, self.weights = tables.open_table(path, dataset)
        target = self.table.column(dataset.target)
        coded = target if pa.types.is_dictionary(target.type) else target.dictionary_encode()
        self.codes, labels = tables.coded_column(coded)
        self.labels = [label_text(label) for label in labels]

    def totals(self, validation: Validation | None) -> ClassTotals:
        """Count the classes of both parts. Raise SplitError if one of the parts is empty."""
        weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        held = np.zeros(len(self.codes), dtype=bool)
        if isinstance(validation, ValidationColumn):
            held = tables.validation_mask(self.table.column(validation.column), validation)
        training: Totals = self._count(~held, weights).astype(np.float64)
        training_rows = self._count(~held & (weights > 0))
        validation_rows = self._count(held)
        if isinstance(validation, ValidationFraction):
            validation_rows = drawn_counts(training_rows, validation)
            training_rows = training_rows - validation_rows
        return ClassTotals(self.labels, training, training_rows, validation_rows)

    def _count(self, rows: tables.Mask, weights: Totals | None = None) -> npt.NDArray[Any]:
        """Return the number of rows of each class, or their total weight."""
        chosen = None if weights is None else weights[rows]
        return np.bincount(self.codes[rows], chosen, minlength=len(self.labels))

    def values(self, column: str) -> list[Any]:
        """Return the sorted distinct values of a column; nothing if there are many."""
        found = self.table.column(column).unique().drop_null()
        if len(found) > MAX_LISTED_VALUES:
            return []
        values = sorted(found.to_pylist())
        return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]

    def needs_value(self, column: str) -> bool:
        """Return whether a column holds numbers other than 0 and 1, which do not mark rows by themselves."""
        cells = self.table.column(column)
        if pa.types.is_dictionary(cells.type):
            try:
                return bool({float(label) for label in tables.coded_column(cells)[1]} - {0.0, 1.0})
            except ValueError:  # a category is not a number
                return False
        numbers = cells.drop_null().to_numpy()
        return bool(((numbers != 0) & (numbers != 1)).any())


def recorded_totals(dataset: Dataset, validation: ValidationFraction | None) -> ClassTotals:
    """Return the totals of a dataset without weights from its record, without reading the table."""
    sizes = np.array([entry.count for entry in dataset.classes])
    held = np.zeros(len(sizes), dtype=np.intp) if validation is None else drawn_counts(sizes, validation)
    labels = [label_text(entry.label) for entry in dataset.classes]
    return ClassTotals(labels, sizes.astype(np.float64), sizes - held, held)


def drawn_counts(sizes: npt.NDArray[np.intp], validation: ValidationFraction) -> npt.NDArray[np.intp]:
    """Return how many rows of each class are drawn for validation. Raise SplitError if there are none."""
    held = tables.validation_counts(sizes, validation.fraction)
    if not held.any():
        message = "the fraction is too small: no row would be left for validation; use a larger fraction"
        raise SplitError("TOO_SMALL", message)
    return held


def check_classes(totals: ClassTotals, class_weight: Mapping[str, float] | str | None) -> None:
    """Raise an error unless at least two classes, and all classes to be scored, have training rows."""
    factors = given_class_weights(totals.labels, class_weight)
    with np.errstate(over="ignore"):
        weights = totals.training * factors
    if np.count_nonzero(totals.training) < 2:
        raise SplitError("ONE_CLASS", "only one class is left to train on; two or more are needed")
    if np.count_nonzero(weights) < 2:
        raise ClassWeightError("At most one class weighs more than 0; two or more are needed.")
    if not float(weights.sum()) <= MAX_WEIGHT:
        raise ClassWeightError(f"With these weights the rows weigh more than {MAX_WEIGHT:g} together.")
    if not isinstance(class_weight, str) and float(weights.sum()) < MIN_WEIGHT:
        raise ClassWeightError(f"With these weights the rows weigh less than {MIN_WEIGHT:g} together.")
    untrained = [
        label
        for label, weight, held in zip(totals.labels, weights, totals.validation_rows, strict=True)
        if held and not weight
    ]
    if untrained:
        names = ", ".join(map(repr, untrained[:5]))
        raise SplitError(
            "UNTRAINED_CLASS", f"no training row has the class {names}, but validation rows have it"
        )


def given_class_weights(labels: Sequence[Any], class_weight: Mapping[Any, float] | str | None) -> Totals:
    """Return the weight that a client gave for each class; 1 for classes without one."""
    if not isinstance(class_weight, Mapping):
        return np.ones(len(labels))
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def training_size(
    dataset: Dataset, totals: ClassTotals, parameters: Parameters, validation: Validation | None
) -> TableSize:
    """Return an upper bound of the size of the table that a job searches on.

    Rows and classes are exact. A column may have fewer distinct values among the training rows than in the
    whole dataset.
    """
    omitted = validation.column if isinstance(validation, ValidationColumn) else None
    rows_by_class = totals.training_rows * (given_class_weights(totals.labels, parameters.class_weight) > 0)
    rows = int(rows_by_class.sum())
    one_hot = parameters.categories == "one_hot"
    columns = [column for column in dataset.columns if column.role == "feature" and column.name != omitted]
    return TableSize(
        rows=rows,
        cardinalities=[values for column in columns for values in _features(column, rows, one_hot)],
        classes=int((rows_by_class > 0).sum()),
        weighted=dataset.weight is not None or parameters.class_weight is not None,
    )


def _features(column: ColumnInfo, rows: int, one_hot: bool) -> Iterator[int]:
    """Yield the number of distinct values of each feature of a column. A constant column has no feature."""
    values = rows if column.distinct is None else min(column.distinct, rows)
    if values == 0 or (values == 1 and column.missing == 0):
        return
    if column.type == "category" and one_hot and values > 1:
        yield from [2] * values
    else:
        yield values
