"""Look at a split and at class weights before a job is accepted: is there anything to learn and to score?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from literati.table import MAX_WEIGHT

from .messages import Dataset, Validation, ValidationColumn, ValidationFraction, label_text
from .tables import Mask, SplitError, coded_column, marked, quotas

Totals = npt.NDArray[np.float64]  # by class
MIN_WEIGHT = 2.0**-30  # of all rows together: a tree's cost is checked up to 1e-9
FEW_VALUES = 20  # of a column, that are looked at one by one


class UselessWeightsError(ValueError):
    """With these class weights nothing can be learned."""


@dataclass(frozen=True)
class ClassTotals:
    """The weight and the rows of each class among the training rows, and its rows among the validation rows.

    Rows that weigh nothing are not counted among the training rows.
    """

    labels: list[str]  # as `label_text` spells them
    training: Totals
    training_rows: npt.NDArray[np.intp]
    held_rows: npt.NDArray[np.intp]


class Rows:
    """The columns of a dataset that decide about a split, read when they are needed."""

    def __init__(self, dataset: Dataset, path: Path) -> None:
        self.dataset = dataset
        table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        self.codes, self.labels = _codes(table.column(dataset.target))
        self.weights: Totals | None = None
        if dataset.weight is not None:
            self.weights = table.column(dataset.weight).cast(pa.float64()).to_numpy()
        self.table = table

    def totals(self, validation: Validation | None) -> ClassTotals:
        """SplitError where the split leaves nothing on one of its sides."""
        weights = np.ones(len(self.codes)) if self.weights is None else self.weights
        held = np.zeros(len(self.codes), dtype=bool)
        if isinstance(validation, ValidationColumn):
            held = marked(self.table.column(validation.column), validation)
        training: Totals = self._counted(~held, weights).astype(np.float64)
        training_rows = self._counted(~held & (weights > 0))
        held_rows = self._counted(held)
        if isinstance(validation, ValidationFraction):
            held_rows = drawn(training_rows, validation)
            training_rows = training_rows - held_rows
        return ClassTotals(self.labels, training, training_rows, held_rows)

    def _counted(self, rows: Mask, weights: Totals | None = None) -> npt.NDArray[Any]:
        """The rows of each class, or their weights."""
        chosen = None if weights is None else weights[rows]
        return np.bincount(self.codes[rows], chosen, minlength=len(self.labels))

    def values(self, column: str) -> list[Any]:
        """The different values of a column in order, if they are few."""
        found = self.table.column(column).unique().drop_null()
        if len(found) > FEW_VALUES:
            return []
        values = sorted(found.to_pylist())
        return [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]

    def needs_value(self, column: str) -> bool:
        """Whether a column holds numbers other than 0 and 1: the number of a fold says nothing by itself."""
        cells = self.table.column(column)
        if pa.types.is_dictionary(cells.type):
            found = [_as_number(label) for label in coded_column(cells)[1]]
            return None not in found and not {0.0, 1.0}.issuperset(found)
        numbers = cells.drop_null().to_numpy()
        return bool(((numbers != 0) & (numbers != 1)).any())


def _as_number(label: Any) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def recorded_totals(dataset: Dataset, validation: ValidationFraction | None) -> ClassTotals:
    """Of a dataset without weights, for which its record is enough."""
    sizes = np.array([entry.count for entry in dataset.classes])
    held = np.zeros(len(sizes), dtype=np.intp) if validation is None else drawn(sizes, validation)
    labels = [label_text(entry.label) for entry in dataset.classes]
    return ClassTotals(labels, sizes.astype(np.float64), sizes - held, held)


def drawn(sizes: npt.NDArray[np.intp], validation: ValidationFraction) -> npt.NDArray[np.intp]:
    """How many rows of each class are drawn for validation; SplitError if there are none."""
    held = quotas(sizes, validation.fraction)
    if not held.any():
        message = "so small a fraction keeps no row for validation; every class needs a row to learn from"
        raise SplitError("TOO_SMALL", message)
    return held


def check_classes(totals: ClassTotals, class_weight: Mapping[str, float] | str | None) -> None:
    """SplitError or UselessWeightsError unless two classes are left to learn, and all that are scored."""
    factors = class_factors(totals.labels, class_weight)
    with np.errstate(over="ignore"):
        weights = totals.training * factors
    if np.count_nonzero(totals.training) < 2:
        raise SplitError("ONE_CLASS", "only one class is left to train on; two or more are needed")
    if np.count_nonzero(weights) < 2:
        raise UselessWeightsError("At most one class weighs more than 0; two or more are needed.")
    if not float(weights.sum()) <= MAX_WEIGHT:
        raise UselessWeightsError(f"With these weights the rows weigh more than {MAX_WEIGHT:g} together.")
    if not isinstance(class_weight, str) and float(weights.sum()) < MIN_WEIGHT:
        raise UselessWeightsError(f"With these weights the rows weigh less than {MIN_WEIGHT:g} together.")
    strangers = [
        label
        for label, weight, held in zip(totals.labels, weights, totals.held_rows, strict=True)
        if held and not weight
    ]
    if strangers:
        names = ", ".join(map(repr, strangers[:5]))
        raise SplitError("UNTRAINED_CLASS", f"no training row has the class {names}, which is to be scored")


def class_factors(labels: list[str], class_weight: Mapping[str, float] | str | None) -> Totals:
    """The weights of the classes as they are given; 1 for the others."""
    if not isinstance(class_weight, Mapping):
        return np.ones(len(labels))
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


def _codes(column: Any) -> tuple[npt.NDArray[np.int64], list[str]]:
    if pa.types.is_dictionary(column.type):
        codes, labels = coded_column(column)
        return codes, [label_text(label) for label in labels]
    coded = pa.chunked_array([column.combine_chunks()]) if column.num_chunks != 1 else column
    encoded = coded.dictionary_encode().chunk(0)
    codes = encoded.indices.to_numpy().astype(np.int64)
    return codes, [label_text(label) for label in encoded.dictionary.to_pylist()]
