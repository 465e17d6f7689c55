"""Read Parquet files, Arrow streams and Arrow files. Sizes are checked before anything is decompressed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from service.ingest.arrow_sizes import open_batches, total_sizes
from service.ingest.arrow_types import check_schema, dates_omitted, is_text, value_type
from service.ingest.csv_header import check_names
from service.ingest.errors import IngestError, body_issue, option_issue, too_much_memory
from service.ingest.fixes import set_option
from service.ingest.options import Options, Plan, TableLimits, make_plan
from service.ingest.tables import SourceTable
from service.ingest.text_views import TooLargeError, without_views

BATCH_ROWS = 1 << 17
CELL_BYTES = 8  # of a number; text is dictionary-encoded
DELTA_ROWS = 1 << 13  # of a delta-encoded column that are decoded at once
DELTA_ENCODINGS = frozenset({"DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"})


def read_parquet(path: Path, options: Options, limits: TableLimits) -> SourceTable:
    _reject_csv_options(options)
    with _arrow_errors("Parquet", limits), pa.OSFile(str(path)) as source:
        file = pyarrow.parquet.ParquetFile(source)
        plan, warnings = _plan(file.schema_arrow, options, limits)
        rows = file.metadata.num_rows
        check_rows(rows, limits)
        groups = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        _check_bytes(max(sum(groups), rows * len(plan.kept) * CELL_BYTES), limits)
        return SourceTable(_collect(parquet_parts(source, file, plan.kept), plan, limits), plan, warnings)


def parquet_parts(source: Any, file: Any, names: Sequence[str]) -> Iterator[Any]:
    """Yield the columns in parts. Text is dictionary-encoded, so that repeated words are stored once."""
    schema, columns = file.schema_arrow, list(names)
    text = [name for name in columns if is_text(schema.field(name).type)]
    deltas = _delta_encoded(file.metadata, text)
    file = pyarrow.parquet.ParquetFile(source, read_dictionary=[name for name in text if name not in deltas])
    for group in range(file.num_row_groups):
        if not deltas:
            yield file.read_row_group(group, columns=columns)
            continue
        # Arrow cannot read these encodings as dictionaries, so a few rows at a time are read as plain text.
        for batch in file.iter_batches(DELTA_ROWS, row_groups=[group], columns=columns):
            part = pa.Table.from_batches([batch])
            for name in deltas:
                position = part.schema.get_field_index(name)
                part = part.set_column(position, name, part.column(position).dictionary_encode())
            yield part


def _delta_encoded(metadata: Any, names: Sequence[str]) -> list[str]:
    """Return the text columns that are delta-encoded in some part of a Parquet file."""
    positions = {metadata.schema.column(i).path: i for i in range(metadata.num_columns)}
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    return [
        name
        for name in names
        if name in positions
        and any(DELTA_ENCODINGS & set(group.column(positions[name]).encodings) for group in groups)
    ]


def read_arrow(path: Path, options: Options, limits: TableLimits) -> SourceTable:
    """Read an Arrow stream or an Arrow file."""
    _reject_csv_options(options)
    with _arrow_errors("an Arrow stream or file", limits):
        with pa.memory_map(str(path)) as source:
            for total in total_sizes(source):
                check_rows(total.rows, limits)
                _check_bytes(total.bytes, limits)
        with pa.OSFile(str(path)) as source:
            schema, batches = open_batches(source)
            plan, warnings = _plan(schema, options, limits)
            parts = (pa.Table.from_batches([batch]).select(plan.kept) for batch in batches)
            return SourceTable(_collect(parts, plan, limits), plan, warnings)


@contextmanager
def _arrow_errors(what: str, limits: TableLimits) -> Iterator[None]:
    """Raise IngestError in place of Arrow's errors, whose messages may contain bytes of the file."""
    try:
        yield
    except IngestError:
        raise
    except (MemoryError, TooLargeError):
        raise IngestError(too_much_memory(limits.max_table_bytes)) from None
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError):
        message = f"The file cannot be read as {what}: it is damaged, truncated or in another format."
        raise IngestError(body_issue("UNREADABLE", message)) from None


def _plan(schema: Any, options: Options, limits: TableLimits) -> tuple[Plan, list[str]]:
    """Return the plan and the warnings about columns of dates, which are not read."""
    check_names(schema.names, limits)
    plan = make_plan(options, schema.names)
    types = {name: value_type(schema.field(name).type) for name in plan.kept}
    dates = [name for name, kind in types.items() if pa.types.is_temporal(kind) and plan.is_optional(name)]
    plan = plan.without(dates)
    check_schema(schema, plan)
    return plan, [dates_omitted(name) for name in dates]


def _collect(parts: Iterator[Any], plan: Plan, limits: TableLimits) -> Any:
    """Concatenate the parts after validating each, because a damaged file can have invalid ones."""
    tables: list[Any] = []
    small: list[Any] = []  # merged, because a table of many small batches is slow
    rows, size, small_rows = 0, 0, 0
    for part in parts:
        part.validate(full=True)
        rows += part.num_rows
        size += sum(_own_bytes(chunk) for column in part.columns for chunk in column.chunks)
        check_rows(rows, limits)
        _check_bytes(size, limits)
        part, text = without_views(part, limits.max_table_bytes - size)
        size += text
        small.append(part)
        small_rows += part.num_rows
        if small_rows >= BATCH_ROWS:
            tables.append(pa.concat_tables(small).combine_chunks())
            small, small_rows = [], 0
    if not rows:
        raise IngestError(body_issue("NO_ROWS", "The table has columns but no rows; send at least one."))
    tables += [pa.concat_tables(small).combine_chunks()] if small else []
    return pa.concat_tables(tables).select(plan.kept)


def _own_bytes(chunk: Any) -> int:
    """Return the size of a chunk without its dictionary, which batches share."""
    return int(chunk.indices.nbytes if pa.types.is_dictionary(chunk.type) else chunk.nbytes)


def check_rows(rows: int, limits: TableLimits) -> None:
    if rows > limits.max_rows:
        message = f"The table has {rows:,} rows; the limit is {limits.max_rows:,} (LITERATI_MAX_ROWS)."
        raise IngestError(body_issue("TOO_MANY_ROWS", message))


def _check_bytes(size: int, limits: TableLimits) -> None:
    if size > limits.max_table_bytes:
        limit = f"the limit is {limits.max_table_bytes:,} (LITERATI_MAX_TABLE_BYTES)"
        remedy = "Leave out columns with drop=, or send fewer rows."
        message = f"The table needs {size:,} bytes of memory; {limit}. {remedy}"
        raise IngestError(body_issue("TABLE_TOO_LARGE", message))


def _reject_csv_options(options: Options) -> None:
    issues = [
        option_issue(
            name,
            "CSV_ONLY",
            f"`{name}` is for CSV only; a file of this format needs no such option.",
            set_option(f"Remove `{name}`", **{name: None}),
        )
        for name in ("delimiter", "decimal", "null_values")
        if getattr(options, name) is not None
    ]
    if issues:
        raise IngestError(*issues)
