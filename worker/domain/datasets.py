"""Datasets: their columns, classes and how their CSV file was read."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from worker.domain.base import FrozenModel

DecimalSign = Literal[".", ","]


class CsvStyle(FrozenModel):
    """How the CSV file of a dataset spells values. Rows to predict are read in the same way."""

    decimal: DecimalSign | None = None  # of columns not listed in `columns`; None if it is not known
    columns: dict[str, DecimalSign] = {}  # columns with another decimal sign
    null_words: list[str] | None = None  # the client's words for a missing cell; None for the default words

    def decimal_of(self, column: str) -> DecimalSign | None:
        return self.columns.get(column, self.decimal)


class Histogram(FrozenModel):
    """The distribution of a column's known numbers. A bin includes its left edge, the last bin both edges."""

    edges: list[float]  # one more than counts
    counts: list[int]


class ColumnInfo(FrozenModel):
    """A stored column of a dataset. Dropped columns are not stored."""

    name: str
    type: Literal["number", "boolean", "category"]
    role: Literal["feature", "target", "weight"]
    missing: int
    distinct: int | None = None  # the number of distinct values, without missing cells
    minimum: float | None = None
    maximum: float | None = None
    histogram: Histogram | None = None  # of a column of numbers
    categories: list[Any] | None = None  # of other columns: the 100 most frequent values
    category_counts: list[int] | None = None  # the number of rows with each of these values


class ClassInfo(FrozenModel):
    label: Any  # as in the data: text, number or boolean
    count: int


class ReadingOptions(FrozenModel):
    """Upload options that read a dataset in another way."""

    label: str  # the text of a button
    options: dict[str, Any]  # the complete new value of each option; None removes an option


class _DatasetFields(FrozenModel):
    id: str
    tenant: str
    name: str | None = None
    notes: str | None = None
    sha256: str  # of the uploaded bytes
    bytes: int  # the size of the upload
    rows: int
    target: str
    weight: str | None = None
    created_at: datetime


class DatasetSummary(_DatasetFields):
    """A dataset in a list."""

    n_columns: int
    n_classes: int


class Dataset(_DatasetFields):
    """The complete record of a dataset. The table itself is a blob."""

    blob: str  # the parsed table in the blob store, an Arrow file
    stored_bytes: int = 0  # the size of the blob
    dropped: list[str] = []
    columns: list[ColumnInfo]
    classes: list[ClassInfo]
    warnings: list[str] = []
    fixes: list[ReadingOptions] = []  # other ways to read the upload, for what the warnings say
    csv_style: CsvStyle | None = None  # None if the upload was no CSV file, or version 0.1.0 stored it

    @property
    def summary(self) -> DatasetSummary:
        shared = {name: value for name, value in self if name in _DatasetFields.model_fields}
        return DatasetSummary(**shared, n_columns=len(self.columns), n_classes=len(self.classes))


def label_text(label: Any) -> str:
    """Return a class label as a JSON key: booleans as in JSON, everything else as `str` spells it."""
    return str(label).lower() if isinstance(label, bool) else str(label)
