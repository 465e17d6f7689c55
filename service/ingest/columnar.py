"""Parquet, Arrow streams and Arrow files to an Arrow table; sizes are checked before anything is unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from .arrow_sizes import open_batches, unpacked_sizes
from .errors import IngestError, body_fault, option_fault, too_many_rows, too_much_memory
from .fixes import set_option
from .header import check_names
from .kinds import check_schema, dates_left_out, is_text, is_time, value_type
from .options import Options, Plan, TableLimits, plan
from .raw import RawTable
from .views import TooLargeError, without_views

BATCH_ROWS = 1 << 17
CELL_BYTES = 8  # of a number; text is kept coded
DELTA_ROWS = 1 << 13  # whose text is unpacked at once, where it has to be
DELTA_ENCODINGS = frozenset({"DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"})


def read_parquet(path: Path, options: Options, limits: TableLimits) -> RawTable:
    _refuse_csv_options(options)
    with _readable("Parquet", limits), pa.OSFile(str(path)) as source:
        file = pyarrow.parquet.ParquetFile(source)
        found, warnings = _plan(file.schema_arrow, options, limits)
        rows = file.metadata.num_rows
        _check_rows(rows, limits)
        groups = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        _check_bytes(max(sum(groups), rows * len(found.kept) * CELL_BYTES), limits)
        table = _gathered(parquet_parts(source, file, found.kept), limits)
    return RawTable(_select(table, found), found, warnings)


def parquet_parts(source: Any, file: Any, names: Sequence[str]) -> Iterator[Any]:
    """The columns part by part, text coded: a word that is repeated a million times is not unpacked."""
    schema, columns = file.schema_arrow, list(names)
    text = [name for name in columns if is_text(schema.field(name).type)]
    deltas = _delta_encoded(file.metadata, text)
    file = pyarrow.parquet.ParquetFile(source, read_dictionary=[name for name in text if name not in deltas])
    for group in range(file.num_row_groups):
        if not deltas:
            yield file.read_row_group(group, columns=columns)
            continue
        # Arrow cannot decode these encodings into codes, so their text stands cell by cell for a moment.
        for batch in file.iter_batches(DELTA_ROWS, row_groups=[group], columns=columns):
            part = pa.Table.from_batches([batch])
            for name in deltas:
                place = part.schema.get_field_index(name)
                part = part.set_column(place, name, part.column(place).dictionary_encode())
            yield part


def _delta_encoded(metadata: Any, names: Sequence[str]) -> list[str]:
    """The text columns that are delta-encoded anywhere in a Parquet file."""
    if not names or not metadata.num_row_groups:
        return []
    first = metadata.row_group(0)
    places = {first.column(place).path_in_schema: place for place in range(first.num_columns)}
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    return [
        name
        for name in names
        if name in places
        and any(DELTA_ENCODINGS & set(group.column(places[name]).encodings) for group in groups)
    ]


def read_arrow(path: Path, options: Options, limits: TableLimits) -> RawTable:
    """Read an Arrow stream or an Arrow file."""
    _refuse_csv_options(options)
    with _readable("an Arrow stream or file", limits):
        with pa.memory_map(str(path)) as source:
            rows, unpacked = 0, 0
            for part in unpacked_sizes(source):
                rows += part.rows
                unpacked += part.unpacked_bytes
                _check_rows(rows, limits)
                _check_bytes(unpacked, limits)
        with pa.OSFile(str(path)) as source:
            schema, batches = open_batches(source)
            found, warnings = _plan(schema, options, limits)
            parts = (pa.Table.from_batches([batch]).select(found.kept) for batch in batches)
            table = _gathered(parts, limits)
    return RawTable(_select(table, found), found, warnings)


@contextmanager
def _readable(what: str, limits: TableLimits) -> Iterator[None]:
    try:
        yield
    except IngestError:
        raise
    except (MemoryError, TooLargeError):
        raise IngestError(too_much_memory(limits.max_table_bytes)) from None
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError):
        # Arrow's own words would show bytes of the file; what to do is the same for all of them.
        message = f"The file cannot be read as {what}: it is damaged, cut short, or something else."
        raise IngestError(body_fault("UNREADABLE", message)) from None


def _plan(schema: Any, options: Options, limits: TableLimits) -> tuple[Plan, list[str]]:
    """What is kept, and warnings about columns of dates, which are not even read."""
    check_names(schema.names, limits)
    found = plan(options, schema.names)
    dates = [
        name
        for name in found.kept
        if is_time(value_type(schema.field(name).type)) and found.may_leave_out(name)
    ]
    found = found.without(dates)
    check_schema(schema, found)
    return found, [dates_left_out(name) for name in dates]


def _gathered(parts: Iterator[Any], limits: TableLimits) -> Any | None:
    """The parts one below the other; each is checked for what a damaged file could make it claim."""
    tables: list[Any] = []
    small: list[Any] = []  # a thousand little batches would stay a thousand
    rows, size, held = 0, 0, 0
    for part in parts:
        part.validate(full=True)
        rows += part.num_rows
        size += sum(_own_bytes(chunk) for column in part.columns for chunk in column.chunks)
        _check_rows(rows, limits)
        _check_bytes(size, limits)
        part, text = without_views(part, limits.max_table_bytes - size)
        size += text
        small.append(part)
        held += part.num_rows
        if held >= BATCH_ROWS:
            tables.append(pa.concat_tables(small).combine_chunks())
            small, held = [], 0
    tables += [pa.concat_tables(small).combine_chunks()] if small else []
    return pa.concat_tables(tables) if tables else None


def _own_bytes(chunk: Any) -> int:
    """Batches share their dictionaries, so those do not count again and again."""
    return int(chunk.indices.nbytes if pa.types.is_dictionary(chunk.type) else chunk.nbytes)


def _select(table: Any | None, found: Plan) -> Any:
    if table is None or table.num_rows == 0:
        raise IngestError(body_fault("NO_ROWS", "The table has columns and no row."))
    return table.select(found.kept)


def _check_rows(rows: int, limits: TableLimits) -> None:
    if rows > limits.max_rows:
        raise IngestError(too_many_rows(rows, limits.max_rows))


def _check_bytes(size: int, limits: TableLimits) -> None:
    if size > limits.max_table_bytes:
        most = f"at most {limits.max_table_bytes:,} are taken (LITERATI_MAX_TABLE_BYTES)"
        message = f"The table takes {size:,} bytes in memory; {most}."
        raise IngestError(body_fault("TABLE_TOO_LARGE", message))


def _refuse_csv_options(options: Options) -> None:
    faults = [
        option_fault(
            name,
            "CSV_ONLY",
            f"`{name}` is for CSV only; this format says it by itself.",
            set_option(f"Leave `{name}` to the file", **{name: None}),
        )
        for name in ("delimiter", "decimal", "null_values")
        if getattr(options, name) is not None
    ]
    if faults:
        raise IngestError(*faults)
