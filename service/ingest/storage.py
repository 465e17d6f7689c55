"""Write a table to an Arrow file and compute its hash at the same time."""

from __future__ import annotations

import hashlib
import io
import os
from typing import Any, BinaryIO

import pyarrow as pa


class _HashingFile(io.RawIOBase):
    """Computes the SHA-256 of what is written to a file, which stays open for the blob store."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.file.write(data)


def write_table(table: Any, file: BinaryIO) -> str:
    """Write the table and return the file's SHA-256.

    The file is not compressed, because jobs map it into memory and lz4 makes writing take five times as long.
    """
    sink = _HashingFile(file)
    with pa.PythonFile(sink, mode="w") as target, pa.ipc.new_file(target, table.schema) as writer:
        writer.write_table(table)
    file.flush()
    os.fsync(file.fileno())  # in this thread, parallel to other work; the blob store's own fsync is then fast
    return sink.digest.hexdigest()
