"""Parse a file into a typed table: read it, convert its columns, check the target and the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from service.ingest.arrow_types import useful_fixes
from service.ingest.columnar import check_rows, read_arrow, read_parquet
from service.ingest.columns import ColumnConverter
from service.ingest.csv_reader import read_csv
from service.ingest.errors import IngestError, Issue, body_issue
from service.ingest.file_format import FileFormat
from service.ingest.fixes import Fix
from service.ingest.options import Options, Plan, TableLimits
from service.ingest.tables import Column, OmittedColumn, SourceTable
from service.ingest.target import checked_weights, classes
from worker.domain.datasets import ClassInfo, CsvStyle

_READERS: dict[FileFormat, Callable[[Path, str, Options, TableLimits], SourceTable]] = {
    "csv": read_csv,
    "tsv": lambda path, charset, options, limits: read_csv(
        path, charset, replace(options, delimiter=options.delimiter or "tab"), limits
    ),
    "parquet": lambda path, _, options, limits: read_parquet(path, options, limits),
    "arrow": lambda path, _, options, limits: read_arrow(path, options, limits),
}


@dataclass(frozen=True)
class SourceFile:
    """An uncompressed file and how to read it."""

    path: Path
    format: FileFormat
    charset: str
    limits: TableLimits
    pool: ThreadPoolExecutor  # converts the columns in parallel


@dataclass(frozen=True)
class TypedTable:
    """A table that a tree can be trained on."""

    plan: Plan
    columns: tuple[Column, ...]
    classes: list[ClassInfo]
    warnings: list[str]
    csv_style: CsvStyle | None = None
    fixes: tuple[Fix, ...] = ()  # options that read ambiguous columns in another way

    @property
    def rows(self) -> int:
        return len(self.columns[0].array)

    def table(self, dataset_id: str) -> Any:
        """Return the Arrow table to store. The id makes the file of every dataset different."""
        arrays = {column.name: column.array for column in self.columns}
        return pa.table(arrays).replace_schema_metadata({"literati.dataset": dataset_id})


def parse_table(file: SourceFile, options: Options) -> TypedTable:
    """Read the file with these options; raise IngestError if it cannot be used."""
    source = _READERS[file.format](file.path, file.charset, options, file.limits)
    check_rows(source.table.num_rows, file.limits)
    columns, omitted = _convert_columns(source, file)
    plan = source.plan.without([column.name for column in omitted])
    warnings = [*source.warnings, *(column.warning for column in omitted)]
    if len(columns) == 1 + (plan.weight is not None):
        raise IngestError(_only_dates(plan, options))
    by_name = {column.name: column for column in columns}
    weights = None if plan.weight is None else checked_weights(by_name[plan.weight])
    found = classes(plan.target, by_name[plan.target].array, weights)
    fixes = (*source.fixes, *(fix for column in columns for fix in column.fixes))
    return TypedTable(plan, columns, found, warnings, _csv_style(source, columns, options), fixes)


def _convert_columns(source: SourceTable, file: SourceFile) -> tuple[tuple[Column, ...], list[OmittedColumn]]:
    """Convert all columns, or raise IngestError with the issues of all of them.

    Each source column is released as soon as it has been converted.
    """
    converter = ColumnConverter(source, file.limits)
    table, source.table = source.table, None
    pending = dict(zip(table.column_names, table.columns, strict=True))
    del table

    def convert(name: str) -> Column | OmittedColumn | IngestError:
        try:
            return converter.convert(name, pending.pop(name))
        except IngestError as error:
            return error.with_traceback(None)  # the traceback would keep the column in memory

    converted = list(file.pool.map(convert, list(pending)))
    issues = [issue for found in converted if isinstance(found, IngestError) for issue in found.issues]
    if issues:
        raise IngestError(*issues, fixes=useful_fixes(issues, source.plan))
    columns = tuple(column for column in converted if isinstance(column, Column))
    return columns, [column for column in converted if isinstance(column, OmittedColumn)]


def _only_dates(plan: Plan, options: Options) -> Issue:
    """Return the issue of a table in which every column but the target was left out."""
    dates = [name for name in plan.dropped if name not in options.drop]
    message = "Besides the target there are only dates or times, which are left out. Read them as categories?"
    fix = Fix("Read the dates as categories", types=dict.fromkeys(dates, "category"))
    return body_issue("NO_FEATURES", message, fix)


def _csv_style(source: SourceTable, columns: Sequence[Column], options: Options) -> CsvStyle | None:
    """Return how the CSV was read; None if the file is not CSV."""
    if source.csv_format is None:
        return None
    usual = source.csv_format.detected_decimal
    return CsvStyle(
        decimal=usual,
        columns={
            column.name: column.decimal
            for column in columns
            if source.plan.role(column.name) == "feature" and column.decimal not in (None, usual)
        },
        null_words=None if options.null_values is None else sorted(set(options.null_values)),
    )
