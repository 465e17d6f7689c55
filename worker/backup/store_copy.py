"""Copy the content of the store at one point in time, as a replica receives it.

The command SYNC makes the server fork and send an RDB file. This works over every kind of connection, and the
server does not write the file to its own disk first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Any

import redis

from worker.backup.folder import BackupError

RECEIVE_SECONDS = 60.0  # the server sends at least an empty line every second
_MARK_BYTES = 40
_VERSION = re.compile(rb"\xfa.(valkey|redis)-ver.(\d+(?:\.\d+)+)", re.DOTALL)
_REMEDY = (
    "Give the user the rights `+sync +psync +replconf` (docs/deployment.md). A managed Redis usually has no "
    "SYNC: use the snapshots of its provider for the store, and copy the blobs after the snapshot was taken."
)


def copy_store(client: redis.Redis, file: IO[bytes]) -> str:
    """Write the content of the store to a file. Return the server that sent it, such as `redis 7.0.15`."""
    pool: Any = client.connection_pool
    connection: Any = pool.get_connection()
    try:
        for option in (("capa", "eof"), ("rdb-only", "1")):
            _set_option(connection, option)
        connection.send_command("SYNC")
        stream = _Stream(connection)
        header = stream.line()
        if header.startswith(b"-"):
            raise BackupError(f"The server refused to send its data ({header[1:].decode()}). {_REMEDY}")
        first = b""
        for block in stream.blocks(header):
            first += block[: 512 - len(first)]
            file.write(block)
    except redis.exceptions.NoPermissionError as error:
        raise BackupError(f"The server refused to send its data ({error}). {_REMEDY}") from None
    finally:
        connection.disconnect()
        pool.release(connection)
    version = _VERSION.search(first)
    if version is None:
        raise BackupError("The server sent something that is not the data of Redis or Valkey.")
    return f"{version[1].decode()} {version[2].decode()}"


def _set_option(connection: Any, option: tuple[str, str]) -> None:
    connection.send_command("REPLCONF", *option)
    try:
        connection.read_response()
    except redis.exceptions.NoPermissionError:
        raise
    except redis.ResponseError:
        pass  # an older server does not have the option and works without it


class _Stream:
    """The bytes that follow SYNC, which are not an answer of the protocol."""

    def __init__(self, connection: Any) -> None:
        self._socket = connection._sock
        self._socket.settimeout(RECEIVE_SECONDS)
        self._pending = b""

    def _receive(self) -> bytes:
        try:
            if data := self._socket.recv(1 << 18):
                return bytes(data)
            reason = "the connection was closed"
        except OSError as error:
            reason = str(error)
        raise BackupError(f"The store stopped sending its data ({reason}); make the backup again.")

    def line(self) -> bytes:
        """Return the next line that is not empty. Empty ones keep the connection alive."""
        while True:
            line, end, rest = self._pending.partition(b"\n")
            if not end:
                self._pending += self._receive()
                continue
            self._pending = rest
            if line.strip():
                return line.strip()

    def blocks(self, header: bytes) -> Iterator[bytes]:
        """Yield the file that `header` announces: by its length, or by a mark that follows it."""
        if not header.startswith(b"$"):
            raise BackupError("The server did not answer SYNC with its data.")
        if header.startswith(b"$EOF:"):
            yield from self._until(header[5 : 5 + _MARK_BYTES])
            return
        left = int(header[1:])
        while left:
            block = (self._pending or self._receive())[:left]
            self._pending = b""
            left -= len(block)
            yield block

    def _until(self, mark: bytes) -> Iterator[bytes]:
        data = self._pending
        while not data.endswith(mark):
            yield data[: -len(mark)]
            data = data[-len(mark) :] + self._receive()
        yield data[: -len(mark)]
