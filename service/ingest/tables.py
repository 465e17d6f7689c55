"""The table that every file format is read into, and the typed columns of a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service.ingest.fixes import Fix, Kind
from service.ingest.options import Plan
from worker.domain.datasets import DecimalSign


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV writes numbers and missing cells."""

    decimal: DecimalSign | None  # the decimal sign in the options of the upload
    detected_decimal: DecimalSign | None  # the decimal sign detected in the file
    null_words: frozenset[str]  # words for a missing cell
    has_default_nulls: bool = True  # the options of the upload name no null words


@dataclass
class SourceTable:
    """The kept columns with the types of the file."""

    table: Any  # pyarrow.Table
    plan: Plan
    warnings: list[str]
    text_columns: frozenset[str] = frozenset()  # columns that were read as text, whatever they contain
    fixes: tuple[Fix, ...] = ()  # options that read ambiguous columns in another way
    csv_format: CsvFormat | None = None  # None: the file is not CSV and has types of its own


@dataclass(frozen=True)
class Column:
    """A column with its type."""

    name: str
    kind: Kind
    array: Any  # pyarrow.ChunkedArray of int64, float64, bool or dictionary<int32, ...>, null where missing
    warnings: tuple[str, ...] = ()
    decimal: DecimalSign | None = None  # the decimal sign of its numbers in a CSV; None if they have none
    fixes: tuple[Fix, ...] = ()  # options that read an ambiguous column in another way


@dataclass(frozen=True)
class OmittedColumn:
    """A column that is left out, because it holds dates and no option asks for it."""

    name: str
    warning: str
