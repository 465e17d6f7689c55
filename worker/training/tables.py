"""Load the table of a dataset for a job and split it into training and validation rows."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from worker.domain.datasets import Dataset, label_text
from worker.domain.validation import Validation, ValidationColumn, ValidationFraction

VALIDATION_WORDS = frozenset(
    {"validation", "valid", "val", "test", "testing", "holdout", "hold-out", "hold_out", "true", "yes", "1"}
)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class DatasetRows:
    """Rows in the form that `literati.Search` takes."""

    X: Any  # pyarrow.Table of the feature columns
    y: npt.NDArray[Any]  # labels as in the data
    weights: npt.NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def select(self, chosen: Mask) -> DatasetRows:
        weights = None if self.weights is None else self.weights[chosen]
        return DatasetRows(self.X.filter(pa.array(chosen)), self.y[chosen], weights)


def open_table(path: Path, dataset: Dataset) -> tuple[Any, npt.NDArray[np.float64] | None]:
    """Map the table from disk, so that unused columns take no memory. Return it and its weights."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    if dataset.weight is None:
        return table, None
    return table, table.column(dataset.weight).cast(pa.float64()).to_numpy()


def load(path: Path, dataset: Dataset) -> DatasetRows:
    """Return the rows of a dataset."""
    table, weights = open_table(path, dataset)
    features = [column.name for column in dataset.columns if column.role == "feature"]
    return DatasetRows(table.select(features), label_array(table.column(dataset.target)), weights)


def label_array(column: Any) -> npt.NDArray[Any]:
    """Return the labels as an array: numbers and booleans by type, text as Python strings."""
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy())
    codes, labels = coded_column(column)
    values = np.asarray(labels)
    if values.dtype.kind not in "biuf":
        values = np.array(labels, dtype=object)
    chosen: npt.NDArray[Any] = values[codes]
    return chosen


def coded_column(column: Any) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Return the codes of a categorical column, -1 for a missing cell, and its categories."""
    parts = column.unify_dictionaries().chunks
    codes = [part.indices.fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
    labels = parts[0].dictionary.to_pylist() if parts else []
    return np.concatenate([*codes, np.empty(0, dtype=np.int64)]).astype(np.int64), labels


def split(rows: DatasetRows, validation: Validation | None) -> tuple[DatasetRows, DatasetRows | None]:
    """Return training rows and validation rows, always the same ones.

    Raise ValueError if either part would be empty.
    """
    if validation is None:
        return rows, None
    if isinstance(validation, ValidationFraction):
        held = draw_by_class(rows, validation.fraction, validation.seed)
        if not held.any():
            raise ValueError(
                f"validation: a fraction of {validation.fraction:g} of {rows.n_rows} rows leaves no row for "
                "validation, because every class keeps a row for training; use a larger fraction"
            )
    else:
        if validation.column not in rows.X.column_names:
            raise ValueError(f"validation: {validation.column!r} is not one of the dataset's feature columns")
        held = validation_mask(rows.X.column(validation.column), validation)
        rows = replace(rows, X=rows.X.drop_columns([validation.column]))
    return rows.select(~held), rows.select(held)


def draw_by_class(data: DatasetRows, fraction: float, seed: int) -> Mask:
    """Draw the same share of every class, but never all of a class, nor a row without weight."""
    counted = np.ones(data.n_rows, dtype=bool) if data.weights is None else data.weights > 0
    rows = np.flatnonzero(counted)
    codes = np.unique(data.y[rows], return_inverse=True)[1]
    sizes = np.bincount(codes)
    quota = validation_counts(sizes, fraction)
    # The raw bits are the same in every version of NumPy; the numbers of its generators are not.
    keys = np.random.PCG64(seed).random_raw(len(rows))
    order = np.lexsort((keys, codes))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    held = np.zeros(data.n_rows, dtype=bool)
    held[rows[order[place < np.repeat(quota, sizes)]]] = True
    return held


def validation_counts(sizes: npt.NDArray[np.intp], fraction: float) -> npt.NDArray[np.intp]:
    """Return how many rows of each class are for validation, rounded so that their sum is right."""
    exact = fraction * sizes
    quota = np.floor(exact).astype(np.intp)
    more = round(fraction * int(sizes.sum())) - int(quota.sum())
    quota[np.lexsort((sizes, quota - exact))[:more]] += 1  # largest remainders, rarer class first
    capped: npt.NDArray[np.intp] = np.minimum(quota, sizes - 1)
    return capped


class SplitError(ValueError):
    """The validation of a job leaves no rows for training or none for validation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"validation: {message}")
        self.code = code
        self.message = message


def validation_mask(column: Any, validation: ValidationColumn) -> Mask:
    """Return which rows a column marks for validation (see `ValidationColumn`)."""
    name, value = validation.column, validation.value
    if pa.types.is_dictionary(column.type):
        codes, labels = coded_column(column)
        marks = [_is_mark(label) if value is None else same_value(label, value) for label in labels]
        held = np.array([*marks, False])[codes]  # -1, a missing cell, reads the last entry
        advice = "use `validation`, `valid`, `val`, `test` or `holdout`, or give a value with `value`"
    else:
        exact = column if pa.types.is_floating(column.type) else column.cast(pa.int64())
        numbers, known = exact.fill_null(0).to_numpy(), column.is_valid().to_numpy()
        held = known & ~np.isnan(numbers) & (numbers != 0 if value is None else numbers == _number(value))
        advice = "use true or 1, or give a value with `value`"
    if not held.any():
        which = "is marked for validation" if value is None else "has this value"
        advice = advice if value is None else "give a value that occurs"
        raise SplitError("NO_ROWS", f"no row of column {name!r} {which}; {advice}")
    if held.all():
        which = "marks every row" if value is None else "has this value in every row"
        raise SplitError("ALL_ROWS", f"column {name!r} {which}; no row is left to train on")
    return held


def same_value(label: Any, value: Any) -> bool:
    """Return whether a category is the value that a client gave. 3, 3.0 and "3" are the same."""
    if isinstance(label, str) or isinstance(value, str):
        return label_text(label) == label_text(value)
    return bool(label == value)


def _number(value: Any) -> float:
    """Return the value as a number; NaN, which equals nothing, if it is not one.

    Whole numbers are integers, so that numbers beyond 2^53 are compared exactly.
    """
    if isinstance(value, str):
        value = _parse_number(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return value if abs(value) <= sys.float_info.max else math.nan


def _parse_number(text: str) -> float:
    words = {"true": 1, "false": 0}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return math.nan


def _is_mark(label: Any) -> bool:
    return label.strip().lower() in VALIDATION_WORDS if isinstance(label, str) else bool(label)
