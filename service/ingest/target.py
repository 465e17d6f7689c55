"""The target column: its labels as the data spells them, its classes; and the weights beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from literati.table import MAX_CLASSES, MAX_WEIGHT
from worker.messages import ClassInfo
from worker.split_check import MIN_WEIGHT

from . import text
from .errors import Fault, IngestError, cell_fault, column_fault, shown
from .fixes import take_as, without_weights

_SAMPLE = 1000


def target_values(name: str, words: Any, *, spelt: bool) -> Any | None:
    """Labels read as text, as integers, booleans or floats if that is exactly how they are spelt."""
    if len(words) > MAX_CLASSES:
        sample = words.slice(0, _SAMPLE).to_pylist()
        if spelt and all(text.are_numbers(sample)) and any(float(word) % 1 for word in sample):
            raise IngestError(_regression(name, len(words)))
        raise IngestError(_too_many(name, len(words)))
    if not spelt:
        return None
    found = words.to_pylist()
    values = text.spelt_values(found)
    if values and not isinstance(values[0], str):
        return pa.array(values)
    if values and all(text.are_numbers(found)):
        floats = [float(word) for word in found]
        if any(number % 1 for number in floats):
            raise IngestError(_regression(name, len(words)))
        if [repr(number) for number in floats] == found:
            return pa.array(floats, pa.float64())
    return None


def classes(name: str, labels: Any, weights: npt.NDArray[Any] | None) -> list[ClassInfo]:
    """The classes in order, with their rows; IngestError where nothing can be learned from them."""
    if labels.null_count:
        row = pa.compute.index(labels.is_null(), True).as_py() + 1
        others = "" if labels.null_count == 1 else f", and {labels.null_count - 1:,} more rows"
        message = (
            f"Row {row:,} has no label in the target {shown(name)}{others}; leave such rows out. If a word "
            "such as NA is a class, name the words for missing cells with null_values."
        )
        raise IngestError(cell_fault(row, name, "MISSING_LABEL", message))
    if (
        pa.types.is_floating(labels.type)
        and pa.compute.any(pa.compute.not_equal(labels, pa.compute.floor(labels))).as_py()
    ):
        raise IngestError(_regression(name, len(labels.unique())))
    counted = pa.compute.value_counts(labels)
    found = list(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))
    if len(found) > MAX_CLASSES:
        raise IngestError(_too_many(name, len(found)))
    learned = len(found)
    if weights is not None and not weights.all():
        learned = len(labels.filter(pa.array(weights > 0)).unique())
    if learned < 2:
        where = "" if len(found) < 2 else " among the rows that weigh more than zero"
        message = f"The target {shown(name)} has only one class{where}; two or more are needed to learn from."
        raise IngestError(column_fault(name, "ONE_CLASS", message))
    return [ClassInfo(label=label, count=count) for label, count in sorted(found, key=lambda pair: pair[0])]


def checked_weights(name: str, column: Any, kind: str) -> npt.NDArray[np.float64]:
    fix = without_weights(name)
    if kind != "number":
        message = f"The weight {shown(name)} must be a column of numbers; this one holds {kind} values."
        raise IngestError(column_fault(name, "BAD_WEIGHT", message, fix))
    if column.null_count:
        row = pa.compute.index(column.is_null(), True).as_py() + 1
        message = f"Row {row:,} has no weight in {shown(name)}; every row needs one, 0 to leave it out."
        raise IngestError(cell_fault(row, name, "MISSING_WEIGHT", message, fix))
    weights = np.asarray(column.cast(pa.float64()))
    if (weights < 0).any():
        row = int(np.argmax(weights < 0)) + 1
        message = f"The weight in row {row:,} of {shown(name)} is negative; expected 0 or more."
        raise IngestError(cell_fault(row, name, "NEGATIVE_WEIGHT", message, fix))
    if not weights.any():
        message = f"Every weight in {shown(name)} is 0, so no row counts; expected some above 0."
        raise IngestError(column_fault(name, "BAD_WEIGHT", message, fix))
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if total > MAX_WEIGHT:
        message = f"The weights in {shown(name)} add up to more than {MAX_WEIGHT:g}; use a larger unit."
        raise IngestError(column_fault(name, "BAD_WEIGHT", message, fix))
    if total < MIN_WEIGHT:
        message = f"The weights in {shown(name)} add up to less than {MIN_WEIGHT:g}; use a smaller unit."
        raise IngestError(column_fault(name, "BAD_WEIGHT", message, fix))
    return weights


def _regression(name: str, found: int) -> Fault:
    message = (
        f"The target {shown(name)} holds fractions, which looks like a number to predict (regression); this "
        f"learns classes. Group it into classes first, or say types={name[:80]}:category if "
        "its numbers are classes."
    )
    fixes = [take_as(name, "category")] if found <= MAX_CLASSES else []
    return column_fault(name, "CONTINUOUS_TARGET", message, *fixes)


def _too_many(name: str, found: int) -> Fault:
    message = (
        f"The target {shown(name)} has {found:,} classes; at most {MAX_CLASSES:,} are taken. "
        "It looks like an id or a number; name the column that holds the classes."
    )
    return column_fault(name, "TOO_MANY_CLASSES", message)
