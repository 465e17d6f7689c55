"""Parquet and Arrow streams to an Arrow table; sizes are checked before anything is unpacked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from .arrow_sizes import unpacked_sizes
from .errors import IngestError, body_fault, option_fault, too_many_rows, too_much_memory
from .header import check_names
from .kinds import check_schema, is_text
from .options import Options, Plan, TableLimits, plan
from .raw import RawTable

BATCH_ROWS = 1 << 17
CELL_BYTES = 8  # of a number; text is kept coded


def read_parquet(path: Path, options: Options, limits: TableLimits) -> RawTable:
    _refuse_csv_options(options)
    with _readable("Parquet", limits), pa.OSFile(str(path)) as source:
        file = pyarrow.parquet.ParquetFile(source)
        schema = file.schema_arrow
        found = _plan(schema, options, limits)
        rows = file.metadata.num_rows
        _check_rows(rows, limits)
        groups = [file.metadata.row_group(i).total_byte_size for i in range(file.num_row_groups)]
        _check_bytes(max(sum(groups), rows * len(found.kept) * CELL_BYTES), limits)
        # A word that is repeated a million times takes a few bytes in the file and must not be unpacked.
        coded = [name for name in found.kept if is_text(schema.field(name).type)]
        file = pyarrow.parquet.ParquetFile(source, read_dictionary=coded)
        table = _gathered(
            (file.read_row_group(i, columns=list(found.kept)) for i in range(file.num_row_groups)),
            limits,
        )
    return RawTable(_select(table, found), found, frozenset(), ".", [])


def read_arrow(path: Path, options: Options, limits: TableLimits) -> RawTable:
    _refuse_csv_options(options)
    with _readable("an Arrow stream", limits):
        with pa.memory_map(str(path)) as source:
            rows, unpacked = 0, 0
            for part in unpacked_sizes(source):
                rows += part.rows
                unpacked += part.unpacked_bytes
                _check_rows(rows, limits)
                _check_bytes(unpacked, limits)
        with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as reader:
            schema = reader.schema
            found = _plan(schema, options, limits)
            table = _gathered((pa.Table.from_batches([batch]).select(found.kept) for batch in reader), limits)
    return RawTable(_select(table, found), found, frozenset(), ".", [])


@contextmanager
def _readable(what: str, limits: TableLimits) -> Iterator[None]:
    try:
        yield
    except IngestError:
        raise
    except MemoryError:
        raise IngestError(too_much_memory(limits.max_table_bytes)) from None
    except (pa.ArrowException, OSError, ValueError, UnicodeDecodeError):
        # Arrow's own words would show bytes of the file; what to do is the same for all of them.
        message = f"The file cannot be read as {what}: it is damaged, cut short, or something else."
        raise IngestError(body_fault("UNREADABLE", message)) from None


def _plan(schema: Any, options: Options, limits: TableLimits) -> Plan:
    check_names(schema.names, limits)
    found = plan(options, schema.names)
    check_schema(schema, found)
    return found


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
        option_fault(name, "CSV_ONLY", f"`{name}` is for CSV only; this format says it by itself.")
        for name in ("delimiter", "decimal", "null_values")
        if getattr(options, name) is not None
    ]
    if faults:
        raise IngestError(*faults)
