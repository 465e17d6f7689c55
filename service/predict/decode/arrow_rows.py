"""Rows in an Arrow stream, an Arrow file or a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from service.errors import pointer
from service.ingest.arrow_sizes import open_batches, unpacked_sizes
from service.ingest.columnar import parquet_parts
from service.ingest.views import TooLargeError, viewed_bytes, without_views

from .batch import Batch
from .faults import MalformedError, RowsError, positions, refused, too_many_rows
from .layout import Layout
from .table_rows import read_table

MOST_BYTES = 1 << 29  # unpacked: a compressed stream can be a thousand times larger than it comes


def read_arrow(body: bytes, layout: Layout, max_rows: int) -> Batch:
    with _readable("an Arrow stream or file"):
        _check_sizes(body, max_rows)
        schema, batches = open_batches(pa.BufferReader(body))
        table = pa.Table.from_batches(list(batches), schema)
        if viewed_bytes(table) > MOST_BYTES:  # to look at all of them takes long
            raise _too_large()
        table.validate(full=True)  # offsets that point outside their buffer would be followed
        table, _ = without_views(table, MOST_BYTES)
    return read_table(table, layout, max_rows)


def read_parquet(body: bytes, layout: Layout, max_rows: int) -> Batch:
    """Read the columns that the model knows.

    How much memory this takes is not known beforehand, so it is for a process apart.
    """
    with _readable("a Parquet file"):
        source = pa.BufferReader(body)
        file = pyarrow.parquet.ParquetFile(source)
        if file.metadata.num_rows > max_rows:
            raise too_many_rows("/body", max_rows)
        groups = [file.metadata.row_group(place) for place in range(file.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > MOST_BYTES:
            raise _too_large()
        names = file.schema_arrow.names
        positions(names, lambda position: pointer("body", position))
        known = [name for name in names if name in layout.by_name]
        parts = list(parquet_parts(source, file, known))
        table = pa.concat_tables(parts) if parts else file.schema_arrow.empty_table().select(known)
        table.validate(full=True)
    # Of what the model does not know, only the names are wanted.
    for name in names:
        if name not in layout.by_name:
            table = table.append_column(name, pa.nulls(table.num_rows))
    return read_table(table, layout, max_rows)


@contextmanager
def _readable(what: str) -> Iterator[None]:
    try:
        yield
    except RowsError:
        raise
    except TooLargeError:
        raise _too_large() from None
    except (pa.ArrowException, OSError, ValueError):
        raise MalformedError(f"The body is not {what} that can be read.") from None


def _check_sizes(body: Any, max_rows: int) -> None:
    rows, size = 0, 0
    for part in unpacked_sizes(pa.BufferReader(body)):
        rows += part.rows
        size += part.unpacked_bytes
        if rows > max_rows:
            raise too_many_rows("/body", max_rows)
        if size > MOST_BYTES:
            raise _too_large()


def _too_large() -> RowsError:
    return refused(
        "/body", "TOO_LARGE", f"The body unpacks to more than {MOST_BYTES:,} bytes; send it in parts."
    )
