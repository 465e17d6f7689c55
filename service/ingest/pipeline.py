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
from service.ingest.errors import IngestError, Issue, damaged_compression, decompressed_too_large
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


def make_dataset(
    upload: Upload,
    options: Options,
    limits: TableLimits,
    blobs: Blobs,
    *,
    dataset_id: str,
    tenant: str,
    min_free_bytes: int = 0,
) -> Dataset:
    """Parse the upload and write it as a blob. Raise IngestError if the upload cannot be used."""
    try:
        with ThreadPoolExecutor(THREADS, "ingest") as pool, blobs.temporary_file() as draft:
            with _decompressed(upload, limits, min_free_bytes) as (path, file_format):
                file = SourceFile(path, file_format, upload.charset, limits, pool)
                parsed = _parse_or_find_fixes(file, options)
            table = parsed.table(dataset_id)
            check_spare(blobs.folder, table.nbytes, min_free_bytes)
            written = pool.submit(write_table, table, draft)  # while the columns are described
            columns = _describe_columns(parsed, pool)
            warnings = _warnings(parsed, columns)
            blob = blobs.commit(draft, written.result())
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
        raise IngestError(damaged_compression(str(error))) from None
    except TooLargeError:
        raise IngestError(decompressed_too_large(limits.max_upload_bytes)) from None


def _parse_or_find_fixes(file: SourceFile, options: Options) -> TypedTable:
    """Parse the file. If that fails, keep only the fixes of the error that work on the same file."""

    def error_with(options: Options) -> IngestError | None:
        try:
            parsed = parse_table(file, options)
            _warnings(parsed, _describe_columns(parsed, file.pool))
        except IngestError as error:
            return error.with_traceback(None)  # the traceback would keep the table in memory
        return None

    try:
        return parse_table(file, options)
    except IngestError as error:
        rejected = error.with_traceback(None)
    if file.path.stat().st_size <= MAX_RETRIED_BYTES:
        present = _identities(rejected)

        def remaining(fix: Fix) -> set[tuple[str, ...]]:
            error = error_with(with_fix(options, fix))
            # A fix that leads to an error without a fix does not help.
            return _identities(error) if error is None or error.fixes else present

        rejected.fixes = tried(rejected.fixes, present, remaining)
    raise rejected


def _identities(error: IngestError | None) -> set[tuple[str, ...]]:
    """Return the code and the column or option of every issue, without the row."""
    issues = () if error is None else error.issues
    return {(*(step for step in issue.location if isinstance(step, str)), issue.code) for issue in issues}


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
        message = "Every column except the target is constant or empty."
        raise IngestError(Issue(("body", "columns"), "NO_FEATURES", message))
    more = len(found) - MAX_WARNINGS
    return found if more <= 0 else [*found[:MAX_WARNINGS], f"And {more} more warnings."]


def _varies(info: ColumnInfo, rows: int) -> bool:
    distinct = info.distinct or 0
    return distinct > 1 or (distinct == 1 and 0 < info.missing < rows)
