"""How large the training table of a job will be, told from the record of its dataset."""

from __future__ import annotations

from collections.abc import Iterator

from literati.engines import TableSize

from .messages import ColumnInfo, Dataset, Parameters, Validation, ValidationColumn
from .split_check import ClassTotals, class_factors


def training_size(
    dataset: Dataset, totals: ClassTotals, parameters: Parameters, validation: Validation | None
) -> TableSize:
    """Return the size of the table that a job searches on. The table may be smaller, but never larger.

    Rows and classes are counted. A column may have fewer different values among the training rows than in the
    whole dataset, which only the table itself can tell.
    """
    left_out = validation.column if isinstance(validation, ValidationColumn) else None
    learned = totals.training_rows * (class_factors(totals.labels, parameters.class_weight) > 0)
    rows = int(learned.sum())
    one_hot = parameters.categories == "one_hot"
    columns = [column for column in dataset.columns if column.role == "feature" and column.name != left_out]
    return TableSize(
        rows=rows,
        cardinalities=[values for column in columns for values in _features(column, rows, one_hot)],
        classes=int((learned > 0).sum()),
        weighted=dataset.weight is not None or parameters.class_weight is not None,
    )


def _features(column: ColumnInfo, rows: int, one_hot: bool) -> Iterator[int]:
    """The different values of each feature that a column becomes; a constant column becomes none."""
    values = rows if column.distinct is None else min(column.distinct, rows)
    if values == 0 or (values == 1 and column.missing == 0):
        return
    if column.type == "category" and one_hot and values > 1:
        yield from [2] * values
    else:
        yield values
