"""A dataset's table for a job: mapped from disk, parted into features, labels and weights, and split."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .messages import Dataset, Validation, ValidationColumn, ValidationFraction, label_text

HELD_BACK = frozenset(
    {"validation", "valid", "val", "test", "testing", "holdout", "hold-out", "hold_out", "true", "yes", "1"}
)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Loaded:
    """Rows as `literati.Search` takes them."""

    X: Any  # pyarrow.Table of the feature columns
    y: npt.NDArray[Any]  # labels as the data spells them
    weights: npt.NDArray[np.float64] | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def rows(self, chosen: Mask) -> Loaded:
        return Loaded(
            self.X.filter(pa.array(chosen)),
            self.y[chosen],
            None if self.weights is None else self.weights[chosen],
        )

    def without(self, column: str) -> Loaded:
        return Loaded(self.X.drop_columns([column]), self.y, self.weights)


def load(path: Path, dataset: Dataset) -> Loaded:
    """The table is mapped, not read: what no one looks at costs no memory."""
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    features = [column.name for column in dataset.columns if column.role == "feature"]
    weights = None
    if dataset.weight is not None:
        weights = table.column(dataset.weight).cast(pa.float64()).to_numpy()
    return Loaded(table.select(features), label_array(table.column(dataset.target)), weights)


def label_array(column: Any) -> npt.NDArray[Any]:
    """The labels as NumPy has them: numbers and booleans by type, text as Python strings."""
    if not pa.types.is_dictionary(column.type):
        return np.asarray(column.to_numpy())
    codes, labels = coded_column(column)
    spelt = np.asarray(labels)
    if spelt.dtype.kind not in "biuf":
        spelt = np.empty(len(labels), dtype=object)
        spelt[:] = labels
    chosen: npt.NDArray[Any] = spelt[codes]
    return chosen


def coded_column(column: Any) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Codes into the categories; -1 is missing."""
    parts = column.unify_dictionaries().chunks
    codes = [part.indices.fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
    labels = parts[0].dictionary.to_pylist() if parts else []
    return np.concatenate([*codes, np.empty(0, dtype=np.int64)]).astype(np.int64), labels


def split(loaded: Loaded, validation: Validation | None) -> tuple[Loaded, Loaded | None]:
    """Training rows and validation rows, always the same ones; ValueError if either is empty."""
    if validation is None:
        return loaded, None
    if isinstance(validation, ValidationFraction):
        held = _drawn_by_class(loaded, validation.fraction, validation.seed)
        if not held.any():
            raise ValueError(
                f"validation: a fraction of {validation.fraction:g} of {loaded.n_rows} rows leaves no row to "
                "validate with; every class needs a row to learn from"
            )
    else:
        if validation.column not in loaded.X.column_names:
            raise ValueError(f"validation: {validation.column!r} is not one of the dataset's feature columns")
        held = marked(loaded.X.column(validation.column), validation)
        loaded = loaded.without(validation.column)
    return loaded.rows(~held), loaded.rows(held)


def _drawn_by_class(loaded: Loaded, fraction: float, seed: int) -> Mask:
    """The same share of every class; at least one row of each stays. Rows without weight are never drawn."""
    counted = np.ones(loaded.n_rows, dtype=bool) if loaded.weights is None else loaded.weights > 0
    rows = np.flatnonzero(counted)
    codes = np.unique(loaded.y[rows], return_inverse=True)[1]
    sizes = np.bincount(codes)
    quota = quotas(sizes, fraction)
    # Raw bits stay the same in every version of NumPy, unlike what its generators make of them.
    keys = np.random.PCG64(seed).random_raw(len(rows))
    order = np.lexsort((keys, codes))
    place = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    held = np.zeros(loaded.n_rows, dtype=bool)
    held[rows[order[place < np.repeat(quota, sizes)]]] = True
    return held


def quotas(sizes: npt.NDArray[np.intp], fraction: float) -> npt.NDArray[np.intp]:
    """How many rows of each class, rounded such that the sum is right."""
    exact = fraction * sizes
    quota = np.floor(exact).astype(np.intp)
    more = round(fraction * int(sizes.sum())) - int(quota.sum())
    quota[np.lexsort((sizes, quota - exact))[:more]] += 1  # the largest remainders; the rarer of two alike
    capped: npt.NDArray[np.intp] = np.minimum(quota, sizes - 1)
    return capped


class SplitError(ValueError):
    """The column does not part the rows into some for training and some for validation."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"validation: {message}")
        self.code = code
        self.message = message


def marked(column: Any, validation: ValidationColumn) -> Mask:
    """The rows whose cell marks them for validation (see `ValidationColumn`); a missing cell does not."""
    name, value = validation.column, validation.value
    if pa.types.is_dictionary(column.type):
        codes, labels = coded_column(column)
        marks = [_marks(label) if value is None else same_value(label, value) for label in labels]
        held = np.array([*marks, False])[codes]  # -1 reads the last: missing
        expected = "say `validation`, `valid`, `val`, `test` or `holdout`, or name a value with `value`"
    else:
        exact = column if pa.types.is_floating(column.type) else column.cast(pa.int64())
        numbers, known = exact.fill_null(0).to_numpy(), column.is_valid().to_numpy()
        held = known & ~np.isnan(numbers) & (numbers != 0 if value is None else numbers == _number(value))
        expected = "say true or 1, or name a value with `value`"
    if not held.any():
        which = "is marked for validation" if value is None else "has this value"
        advice = expected if value is None else "name one that occurs"
        raise SplitError("NO_ROWS", f"no row of column {name!r} {which}; {advice}")
    if held.all():
        which = "marks every row" if value is None else "has this value in every row"
        raise SplitError("ALL_ROWS", f"column {name!r} {which}; none is left to train on")
    return held


def same_value(label: Any, value: Any) -> bool:
    """Whether a category is the value that a client names: 3 is 3.0, and "3" names it too."""
    if isinstance(label, str) or isinstance(value, str):
        return label_text(label) == label_text(value)
    return bool(label == value)


def _number(value: Any) -> float:
    """The value as a number or boolean column has it; NaN, which equals nothing, where it is none.

    Whole numbers are integers, so that those beyond 2^53 are compared exactly.
    """
    if isinstance(value, str):
        value = _spelt_number(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    return value if abs(value) <= sys.float_info.max else math.nan


def _spelt_number(text: str) -> float:
    words = {"true": 1, "false": 0}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return math.nan


def _marks(label: Any) -> bool:
    return label.strip().lower() in HELD_BACK if isinstance(label, str) else bool(label)
