"""A table to disk: one Arrow file, hashed as it is written."""

from __future__ import annotations

import hashlib
import os
from typing import Any, BinaryIO

import pyarrow as pa


class _Hashing:
    """A file for Arrow to write to; the digest grows with it, so that nothing is read again."""

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
        self.closed = True  # the file goes on: it is still to be given to the blob store

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def write_table(table: Any, file: BinaryIO) -> str:
    """The SHA-256 of what was written. Not compressed: jobs map the file, lz4 takes five times as long."""
    sink = _Hashing(file)
    with pa.PythonFile(sink, mode="w") as target, pa.ipc.new_file(target, table.schema) as writer:
        writer.write_table(table)
    file.flush()
    os.fsync(file.fileno())  # here, beside other work; the blob store's own is quick then
    return sink.digest.hexdigest()
