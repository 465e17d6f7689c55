"""Rows in an Arrow stream."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from service.ingest.arrow_sizes import unpacked_sizes

from .batch import Batch
from .faults import MalformedError, RowsError, refused, too_many_rows
from .layout import Layout
from .table_rows import read_table

FILE_MAGIC = b"ARROW1"
MOST_BYTES = 1 << 29  # unpacked: a compressed stream can be a thousand times larger than it comes


def read_arrow(body: bytes, layout: Layout, max_rows: int) -> Batch:
    if body.startswith(FILE_MAGIC):
        raise MalformedError("The body is an Arrow file; expected an Arrow stream.")
    try:
        _check_sizes(body, max_rows)
        with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
            table = stream.read_all()
        table.validate(full=True)  # offsets that point outside their buffer would be followed
    except RowsError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        raise MalformedError("The body is not an Arrow stream that can be read.") from None
    return read_table(table, layout, max_rows)


def _check_sizes(body: Any, max_rows: int) -> None:
    rows, size = 0, 0
    for part in unpacked_sizes(pa.py_buffer(body)):
        rows += part.rows
        size += part.unpacked_bytes
        if rows > max_rows:
            raise too_many_rows("/body", max_rows)
        if size > MOST_BYTES:
            detail = f"The stream unpacks to more than {MOST_BYTES:,} bytes; send it in parts."
            raise refused("/body", "TOO_LARGE", detail)
