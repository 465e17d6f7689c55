"""Compute the size of a job's training table from the record of its dataset."""

from __future__ import annotations

from collections.abc import Iterator

from literati.search.engine_factory import TableSize
from worker.domain.datasets import ColumnInfo, Dataset
from worker.domain.parameters import Parameters
from worker.domain.validation import Validation, ValidationColumn
from worker.training.split_check import ClassTotals, given_class_weights


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
