"""Decode the rows of an Arrow stream, an Arrow file or a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet

from service.ingest.arrow_sizes import open_batches, total_sizes
from service.ingest.columnar import parquet_parts
from service.ingest.text_views import TooLargeError, decoded_bytes, without_views
from service.predict.decode.table_rows import read_table
from service.predict.layout import Batch, Layout
from service.predict.row_errors import MalformedError, RowsError, column_positions, row_error, too_many_rows

MAX_BYTES = 1 << 29  # decompressed: a compressed stream can be a thousand times smaller


def read_arrow(body: bytes, layout: Layout, max_rows: int) -> Batch:
    with _arrow_errors("an Arrow stream or file"):
        for total in total_sizes(pa.BufferReader(body)):
            if total.rows > max_rows:
                raise too_many_rows("/body", max_rows)
            if total.bytes > MAX_BYTES:
                raise _too_large()
        schema, batches = open_batches(pa.BufferReader(body))
        table = pa.Table.from_batches(list(batches), schema)
        if decoded_bytes(table) > MAX_BYTES:  # validating them would take long
            raise _too_large()
        table.validate(full=True)  # Arrow does not check offsets when it reads cells
        table, _ = without_views(table, MAX_BYTES)
    return read_table(table, layout, max_rows)


def read_parquet(body: bytes, layout: Layout, max_rows: int) -> Batch:
    """Read the columns that the model has.

    The memory that this needs is not known in advance, so it runs in a sandbox process.
    """
    with _arrow_errors("a Parquet file"):
        source = pa.BufferReader(body)
        file = pyarrow.parquet.ParquetFile(source)
        if file.metadata.num_rows > max_rows:
            raise too_many_rows("/body", max_rows)
        groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > MAX_BYTES:
            raise _too_large()
        names = file.schema_arrow.names
        column_positions(names, "body")
        known = [name for name in names if name in layout.by_name]
        parts = list(parquet_parts(source, file, known))
        table = pa.concat_tables(parts) if parts else file.schema_arrow.empty_table().select(known)
        table.validate(full=True)
    # The other columns are added without their cells, so that a warning names them.
    for name in names:
        if name not in layout.by_name:
            table = table.append_column(name, pa.nulls(table.num_rows))
    return read_table(table, layout, max_rows)


@contextmanager
def _arrow_errors(what: str) -> Iterator[None]:
    """Raise RowsError in place of Arrow's errors, whose messages may contain bytes of the body."""
    try:
        yield
    except RowsError:
        raise
    except TooLargeError:
        raise _too_large() from None
    except (pa.ArrowException, OSError, ValueError):
        raise MalformedError(f"The body cannot be read as {what}; it is damaged or truncated.") from None


def _too_large() -> RowsError:
    message = f"The decompressed body is larger than {MAX_BYTES:,} bytes; send the rows in several requests."
    return row_error("/body", "TOO_LARGE", message)
