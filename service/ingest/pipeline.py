"""An upload to a dataset: read, shape, check, describe, write; a file on disk in, a record and a blob out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from literati.cores import usable_cores
from service.remedies import tried
from worker.blobs import Blobs
from worker.messages import ClassInfo, ColumnInfo, CsvStyle, Dataset, ReadingOptions

from .columnar import read_arrow, read_parquet
from .columns import Column, LeftOut, Shaper
from .delimited import read_csv
from .errors import (
    Fault,
    IngestError,
    body_fault,
    damaged_packing,
    too_many_rows,
    unpacks_to_too_much,
)
from .first_bytes import START_BYTES, Form, checked_form
from .fixes import Fix, as_options
from .kinds import useful_fixes
from .options import Options, Plan, TableLimits, with_fix
from .packing import Coding, DamagedError, TooLargeError, unpacked_file
from .profile import Role, describe, oddities
from .raw import RawTable
from .spare_disk import check_spare
from .storage import write_table
from .target import checked_weights, classes

MOST_WARNINGS = 50
MOST_FIXES = 50
FEW_ROWS = 10
TRIED_BYTES = 64 << 20  # of a file that is read again to try the remedies for what is wrong with it
THREADS = min(4, usable_cores())
_READERS: dict[Form, Callable[[Path, str, Options, TableLimits], RawTable]] = {
    "csv": read_csv,
    "tsv": lambda path, charset, options, limits: read_csv(
        path, charset, replace(options, delimiter=options.delimiter or "tab"), limits
    ),
    "parquet": lambda path, _, options, limits: read_parquet(path, options, limits),
    "arrow": lambda path, _, options, limits: read_arrow(path, options, limits),
}


@dataclass(frozen=True)
class Upload:
    """A file as it was received."""

    path: Path
    form: Form | None  # None: its first bytes decide
    charset: str
    sha256: str
    size: int
    coding: Coding | None = None  # as its Content-Encoding says


@dataclass(frozen=True)
class Parsed:
    """A table that can be learned from."""

    plan: Plan
    columns: tuple[Column, ...]
    classes: list[ClassInfo]
    warnings: list[str]
    csv_style: CsvStyle | None = None
    fixes: tuple[Fix, ...] = ()  # for what the warnings say

    @property
    def rows(self) -> int:
        return len(self.columns[0].array)

    def table(self, dataset_id: str) -> Any:
        """As it is stored. The id makes every dataset's file its own: deleting one leaves the others."""
        arrays = {column.name: column.array for column in self.columns}
        return pa.table(arrays).replace_schema_metadata({"literati.dataset": dataset_id})


def make_dataset(
    upload: Upload,
    options: Options,
    limits: TableLimits,
    blobs: Blobs,
    *,
    dataset_id: str,
    tenant: str,
    spare_disk_bytes: int = 0,
) -> Dataset:
    """The blob is safe on disk when this returns; IngestError if the upload is no good."""
    try:
        with ThreadPoolExecutor(THREADS, "ingest") as pool, blobs.draft() as draft:
            with _unpacked(upload, limits, spare_disk_bytes) as (path, form):
                parsed = _parsed(path, form, upload.charset, options, limits, pool)
            table = parsed.table(dataset_id)
            check_spare(blobs.folder, table.nbytes, spare_disk_bytes)
            # The disk works while the columns are described.
            written = pool.submit(write_table, table, draft)
            columns = _described(parsed, pool)
            warnings = _warnings(parsed, columns)
            blob = blobs.adopt(draft, written.result())
            stored = draft.seek(0, os.SEEK_END)
    finally:
        pa.default_memory_pool().release_unused()
    return Dataset(
        id=dataset_id,
        tenant=tenant,
        name=options.name,
        sha256=upload.sha256,
        blob=blob,
        bytes=upload.size,
        stored_bytes=stored,
        rows=parsed.rows,
        target=parsed.plan.target,
        weight=parsed.plan.weight,
        dropped=list(parsed.plan.dropped),
        columns=columns,
        classes=parsed.classes,
        warnings=warnings,
        fixes=_reading_options(parsed.fixes, options),
        csv_style=parsed.csv_style,
        created_at=datetime.now(UTC),
    )


@contextmanager
def _unpacked(upload: Upload, limits: TableLimits, spare: int) -> Iterator[tuple[Path, Form]]:
    """The upload without its packing, and what it is then."""
    try:
        with unpacked_file(upload.path, upload.coding, limits.max_upload_bytes, spare) as path:
            with path.open("rb") as file:
                start = file.read(START_BYTES)
            yield path, checked_form(upload.form, start)
    except DamagedError as error:
        raise IngestError(damaged_packing(str(error))) from None
    except TooLargeError:
        raise IngestError(unpacks_to_too_much(limits.max_upload_bytes)) from None


def _parsed(
    path: Path, form: Form, charset: str, options: Options, limits: TableLimits, pool: ThreadPoolExecutor
) -> Parsed:
    """As `parse`, but the fixes of an error are those that work: each is tried on the same file."""

    def wrong(options: Options) -> IngestError | None:
        try:
            parsed = parse(path, form, charset, options, limits, pool)
            _warnings(parsed, _described(parsed, pool))
        except IngestError as error:
            return error.with_traceback(None)  # which would hold on to the table
        return None

    try:
        return parse(path, form, charset, options, limits, pool)
    except IngestError as error:
        refused = error.with_traceback(None)
    if path.stat().st_size <= TRIED_BYTES:
        present = _places(refused)

        def left(fix: Fix) -> set[tuple[str, ...]]:
            again = wrong(with_fix(options, fix))
            # A remedy that leads to something for which there is none leads nowhere.
            return _places(again) if again is None or again.fixes else present

        refused.fixes = tried(refused.fixes, present, left)
    raise refused


def _places(error: IngestError | None) -> set[tuple[str, ...]]:
    """What is wrong with which column or option; in which row does not matter."""
    faults = () if error is None else error.faults
    return {(*(step for step in fault.place if isinstance(step, str)), fault.code) for fault in faults}


def _described(parsed: Parsed, pool: ThreadPoolExecutor) -> list[ColumnInfo]:
    return list(pool.map(lambda column: describe(column, _role(column, parsed.plan)), parsed.columns))


def parse(
    path: Path, form: Form, charset: str, options: Options, limits: TableLimits, pool: ThreadPoolExecutor
) -> Parsed:
    raw = _READERS[form](path, charset, options, limits)
    if raw.table.num_rows > limits.max_rows:
        raise IngestError(too_many_rows(raw.table.num_rows, limits.max_rows))
    columns, left_out = _shaped(raw, limits, pool)
    plan = raw.plan.without([entry.name for entry in left_out])
    warnings = [*raw.warnings, *(entry.warning for entry in left_out)]
    if len(columns) == 1 + (plan.weight is not None):
        raise IngestError(_only_dates(plan, options))
    by_name = {column.name: column for column in columns}
    weights = None
    if raw.plan.weight is not None:
        weight = by_name[raw.plan.weight]
        weights = checked_weights(weight.name, weight.array, weight.kind)
    found = classes(raw.plan.target, by_name[raw.plan.target].array, weights)
    fixes = (*raw.fixes, *(fix for column in columns for fix in column.fixes))
    return Parsed(plan, columns, found, warnings, _csv_style(raw, columns, options), fixes)


def _reading_options(fixes: Sequence[Fix], options: Options) -> list[ReadingOptions]:
    """The different remedies, as changes to the options of the upload."""
    found: list[ReadingOptions] = []
    for fix in fixes:
        entry = ReadingOptions(label=fix.label, options=as_options(fix, options.drop, options.types))
        if entry not in found:
            found.append(entry)
        if len(found) == MOST_FIXES:
            break
    return found


def _csv_style(raw: RawTable, columns: Sequence[Column], options: Options) -> CsvStyle | None:
    """How the CSV was read; None if it is none."""
    if raw.spelling is None:
        return None
    usual = raw.spelling.evidence
    features = [column for column in columns if _role(column, raw.plan) == "feature"]
    return CsvStyle(
        decimal=usual,
        columns={
            column.name: column.decimal
            for column in features
            if column.decimal is not None and column.decimal != usual
        },
        null_words=None if options.null_values is None else sorted(set(options.null_values)),
    )


def _only_dates(plan: Plan, options: Options) -> Fault:
    """The fault of a table from which all other columns were left out."""
    dates = [name for name in plan.dropped if name not in options.drop]
    message = "Besides the target there are only dates or times, which are left out; take each as a word?"
    fix = Fix("Take the dates as categories", types=dict.fromkeys(dates, "category"))
    return body_fault("NO_FEATURES", message, fix)


def _shaped(
    raw: RawTable, limits: TableLimits, pool: ThreadPoolExecutor
) -> tuple[tuple[Column, ...], list[LeftOut]]:
    """All columns, or everything that is wrong with them. A raw column is freed once it has its shape."""
    shaper = Shaper(raw, limits)
    table, raw.table = raw.table, None
    waiting = dict(zip(table.column_names, table.columns, strict=True))
    names = table.column_names
    del table
    faults: list[Fault] = []

    def shape(name: str) -> Column | LeftOut | None:
        try:
            return shaper.shape(name, waiting.pop(name))
        except IngestError as error:
            faults.extend(error.faults)
            return None

    shaped = list(pool.map(shape, names))
    if faults:
        places = {name: place for place, name in enumerate(names)}
        faults.sort(key=lambda fault: places.get(str(fault.place[-1]), -1))
        raise IngestError(*faults, fixes=useful_fixes(faults, raw.plan))
    columns = tuple(entry for entry in shaped if isinstance(entry, Column))
    return columns, [entry for entry in shaped if isinstance(entry, LeftOut)]


def _role(column: Column, plan: Plan) -> Role:
    if column.name == plan.target:
        return "target"
    return "weight" if column.name == plan.weight else "feature"


def _warnings(parsed: Parsed, columns: list[ColumnInfo]) -> list[str]:
    found = list(parsed.warnings)
    if parsed.rows < FEW_ROWS:
        found.append(f"The table has only {parsed.rows} rows; a tree learned from so few says little.")
    for column, info in zip(parsed.columns, columns, strict=True):
        found += [*column.warnings, *oddities(info, parsed.rows)]
    if all(info.role != "feature" or not _varies(info, parsed.rows) for info in columns):
        raise IngestError(
            Fault(("body", "columns"), "NO_FEATURES", "Every column but the target is constant or empty.")
        )
    more = len(found) - MOST_WARNINGS
    return found if more <= 0 else [*found[:MOST_WARNINGS], f"And {more} more warnings."]


def _varies(info: ColumnInfo, rows: int) -> bool:
    distinct = info.distinct or 0
    return distinct > 1 or (distinct == 1 and 0 < info.missing < rows)
