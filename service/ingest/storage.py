"""Write a table to an Arrow file and compute its hash at the same time."""

from __future__ import annotations

import hashlib
import os
from typing import Any, BinaryIO

import pyarrow as pa


class _HashingFile:
    """A file object for Arrow that computes the SHA-256 of what is written."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()

    def close(self) -> None:
        self.closed = True  # the file itself stays open: the blob store takes it over

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


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
