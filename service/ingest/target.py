"""Check the target column and the weights, and count the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from literati.data.table import MAX_CLASSES
from literati.data.weights import MAX_WEIGHT
from literati.data.words import are_numbers, parse_exact
from service.ingest.errors import IngestError, Issue, cell_issue, column_issue
from service.ingest.fixes import quoted, read_column_as, without_weights
from service.ingest.number_style import to_doubles
from service.ingest.tables import Column
from worker.domain.datasets import ClassInfo
from worker.training.job_check import MIN_WEIGHT

_SAMPLE = 1000


def target_values(name: str, words: Any, *, is_csv: bool) -> Any | None:
    """Return the labels of a CSV as integers, booleans or floats if writing those gives the same text.

    Return None if the labels are text. Raise IngestError if there are too many, or if they are fractions.
    """
    if len(words) > MAX_CLASSES:
        sample = words.slice(0, _SAMPLE).to_pylist()
        if is_csv and all(are_numbers(sample)) and any(float(word) % 1 for word in sample):
            raise IngestError(_regression(name, len(words)))
        raise IngestError(_too_many(name, len(words)))
    if not is_csv:
        return None
    found = words.to_pylist()
    values = parse_exact(found)
    if values and not isinstance(values[0], str):
        return pa.array(values)
    if values and all(are_numbers(found)):
        floats = [float(word) for word in found]
        if any(number % 1 for number in floats):
            raise IngestError(_regression(name, len(words)))
        if [repr(number) for number in floats] == found:
            return pa.array(floats, pa.float64())
    return None


def classes(name: str, labels: Any, weights: npt.NDArray[Any] | None) -> list[ClassInfo]:
    """Return the sorted classes with their row counts. Raise IngestError if there are fewer than two."""
    if labels.null_count:
        row = pc.index(labels.is_null(), True).as_py() + 1
        others = "" if labels.null_count == 1 else f", and {labels.null_count - 1:,} more rows"
        message = (
            f"Row {row:,} has no label in the target {quoted(name)}{others}; remove such rows. If a word "
            "such as NA is a class, list the words for missing cells in null_values."
        )
        raise IngestError(cell_issue(row, name, "MISSING_LABEL", message))
    if pa.types.is_floating(labels.type) and pc.any(pc.not_equal(labels, pc.floor(labels))).as_py():
        raise IngestError(_regression(name, len(labels.unique())))
    counted = pc.value_counts(labels)
    found = list(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))
    if len(found) > MAX_CLASSES:
        raise IngestError(_too_many(name, len(found)))
    learned = len(found)
    if weights is not None and not weights.all():
        learned = len(labels.filter(pa.array(weights > 0)).unique())
    if learned < 2:
        where = "" if len(found) < 2 else " among the rows with a weight above zero"
        message = f"The target {quoted(name)} has only one class{where}; at least two are needed."
        raise IngestError(column_issue(name, "ONE_CLASS", message))
    return [ClassInfo(label=label, count=count) for label, count in sorted(found, key=lambda pair: pair[0])]


def checked_weights(column: Column) -> npt.NDArray[np.float64]:
    """Return the weights; raise IngestError if they are not usable."""
    name, kind, array = column.name, column.kind, column.array
    fix = without_weights(name)
    if kind != "number":
        message = f"The weight {quoted(name)} must be a column of numbers; this one holds {kind} values."
        raise IngestError(column_issue(name, "BAD_WEIGHT", message, fix))
    if array.null_count:
        row = pc.index(array.is_null(), True).as_py() + 1
        message = f"Row {row:,} has no weight in {quoted(name)}; every row needs one (0 ignores the row)."
        raise IngestError(cell_issue(row, name, "MISSING_WEIGHT", message, fix))
    weights = np.asarray(to_doubles(array))
    if (weights < 0).any():
        row = int(np.argmax(weights < 0)) + 1
        message = f"The weight in row {row:,} of {quoted(name)} is negative; expected 0 or more."
        raise IngestError(cell_issue(row, name, "NEGATIVE_WEIGHT", message, fix))
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if MIN_WEIGHT <= total <= MAX_WEIGHT:
        return weights
    message = f"The sum of the weights in {quoted(name)} is above {MAX_WEIGHT:g}; use a larger unit."
    if total < MIN_WEIGHT:
        message = f"The sum of the weights in {quoted(name)} is below {MIN_WEIGHT:g}; use a smaller unit."
    if not weights.any():
        message = f"Every weight in {quoted(name)} is 0; at least one must be above 0."
    raise IngestError(column_issue(name, "BAD_WEIGHT", message, fix))


def _regression(name: str, found: int) -> Issue:
    message = (
        f"The target {quoted(name)} holds fractions, as in regression, but only classes can be predicted. "
        f"Group it into classes first, or send types={name[:80]}:category if its numbers are classes."
    )
    fixes = [read_column_as(name, "category")] if found <= MAX_CLASSES else []
    return column_issue(name, "CONTINUOUS_TARGET", message, *fixes)


def _too_many(name: str, found: int) -> Issue:
    message = (
        f"The target {quoted(name)} has {found:,} classes; the limit is {MAX_CLASSES:,}. It looks like an id "
        "or a number; choose the column that holds the classes."
    )
    return column_issue(name, "TOO_MANY_CLASSES", message)
