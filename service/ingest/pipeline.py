"""Make a dataset of an upload: decompress, parse, describe and write it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from literati.cores import usable_cores
from service.http.decompression import Coding, DamagedError, TooLargeError, unpacked_file
from service.http.remedies import tried
from service.http.spare_disk import check_spare
from service.ingest.errors import TOO_LARGE, IngestError, Issue, body_issue
from service.ingest.file_format import START_BYTES, FileFormat, detect_format
from service.ingest.fixes import Fix, as_options
from service.ingest.options import Options, TableLimits, with_fix
from service.ingest.parse_table import SourceFile, TypedTable, parse_table
from service.ingest.profile import column_warnings, describe
from service.ingest.storage import write_table
from worker.blobs.local import Blobs
from worker.domain.datasets import ColumnInfo, Dataset, ReadingOptions

MAX_WARNINGS = 50
MAX_FIXES = 50
FEW_ROWS = 10
MAX_RETRIED_BYTES = 64 << 20  # the fixes for a larger file are not tried
THREADS = min(4, usable_cores())


@dataclass(frozen=True)
class Upload:
    """A file as it was received."""

    path: Path
    format: FileFormat | None  # None: detect it by the first bytes
    charset: str
    sha256: str
    size: int
    coding: Coding | None = None  # its Content-Encoding


@dataclass(frozen=True)
class ParseTask:
    """An upload, and what is needed to make a dataset of it."""

    upload: Upload
    options: Options
    limits: TableLimits
    blobs: Path  # the folder of the blob store
    dataset_id: str
    tenant: str
    seconds: float
    min_free_bytes: int


def make_dataset(task: ParseTask) -> Dataset:
    """Parse the upload and write it as a blob. Raise IngestError if the upload cannot be used."""
    upload, options, blobs = task.upload, task.options, Blobs(task.blobs)
    try:
        with ThreadPoolExecutor(THREADS, "ingest") as pool, blobs.temporary_file() as draft:
            with _decompressed(upload, task.limits, task.min_free_bytes) as (path, file_format):
                file = SourceFile(path, file_format, upload.charset, task.limits, pool)
                parsed = _parse_or_find_fixes(file, options)
            table = parsed.table(task.dataset_id)
            check_spare(blobs.folder, table.nbytes, task.min_free_bytes)
            written = pool.submit(write_table, table, draft)  # while the columns are described
            columns = _describe_columns(parsed, pool)
            warnings = _warnings(parsed, columns)
            blob = blobs.commit(draft, written.result())
            stored = draft.seek(0, os.SEEK_END)
    finally:
        pa.default_memory_pool().release_unused()
    return Dataset(
        id=task.dataset_id,
        tenant=task.tenant,
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
def _decompressed(
    upload: Upload, limits: TableLimits, min_free_bytes: int
) -> Iterator[tuple[Path, FileFormat]]:
    """Yield the decompressed file and its format."""
    try:
        with unpacked_file(upload.path, upload.coding, limits.max_upload_bytes, min_free_bytes) as path:
            with path.open("rb") as file:
                start = file.read(START_BYTES)
            yield path, detect_format(upload.format, start)
    except DamagedError as error:
        message = f"The body cannot be decompressed with {error}: it is damaged, truncated or not {error}."
        raise IngestError(body_issue("UNREADABLE", message)) from None
    except TooLargeError:
        limit = f"the limit of {limits.max_upload_bytes:,} bytes (LITERATI_MAX_UPLOAD_BYTES)"
        raise IngestError(body_issue(TOO_LARGE, f"The decompressed body is larger than {limit}.")) from None


def _parse_or_find_fixes(file: SourceFile, options: Options) -> TypedTable:
    """Parse the file. If that fails, keep only the fixes of the error that work on the same file."""
    try:
        return parse_table(file, options)
    except IngestError as error:
        rejected = error.with_traceback(None)  # the traceback would keep the table in memory
    if file.path.stat().st_size <= MAX_RETRIED_BYTES:
        present = _identities(rejected)

        def remaining(fix: Fix) -> set[tuple[str, ...]]:
            try:
                parsed = parse_table(file, with_fix(options, fix))
                _warnings(parsed, _describe_columns(parsed, file.pool))
            except IngestError as error:  # a fix that leads to an error without a fix does not help
                return _identities(error) if error.fixes else present
            return set()

        rejected.fixes = tried(rejected.fixes, present, remaining)
    raise rejected


def _identities(error: IngestError) -> set[tuple[str, ...]]:
    """Return the code and the column or option of every issue, without the row."""
    return {(*(step for step in i.location if isinstance(step, str)), i.code) for i in error.issues}


def _describe_columns(parsed: TypedTable, pool: ThreadPoolExecutor) -> list[ColumnInfo]:
    return list(pool.map(lambda column: describe(column, parsed.plan.role(column.name)), parsed.columns))


def _reading_options(fixes: Sequence[Fix], options: Options) -> list[ReadingOptions]:
    """Return the distinct fixes as changes to the options of the upload."""
    found: list[ReadingOptions] = []
    for fix in fixes:
        entry = ReadingOptions(label=fix.label, options=as_options(fix, options.drop, options.types))
        if entry not in found:
            found.append(entry)
        if len(found) == MAX_FIXES:
            break
    return found


def _warnings(parsed: TypedTable, columns: list[ColumnInfo]) -> list[str]:
    found = list(parsed.warnings)
    if parsed.rows < FEW_ROWS:
        found.append(f"The table has only {parsed.rows} rows; a tree trained on so few is not reliable.")
    for column, info in zip(parsed.columns, columns, strict=True):
        found += [*column.warnings, *column_warnings(info, parsed.rows)]
    if not any(info.role == "feature" and _varies(info, parsed.rows) for info in columns):
        message = (
            "Every column except the target is constant or empty; add a column that differs between rows."
        )
        raise IngestError(Issue(("body", "columns"), "NO_FEATURES", message))
    more = len(found) - MAX_WARNINGS
    return found if more <= 0 else [*found[:MAX_WARNINGS], f"And {more} more warnings."]


def _varies(info: ColumnInfo, rows: int) -> bool:
    distinct = info.distinct or 0
    return distinct > 1 or (distinct == 1 and 0 < info.missing < rows)
