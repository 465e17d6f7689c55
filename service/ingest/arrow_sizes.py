"""Read the decompressed sizes of Arrow batches from their headers, before anything is decompressed.

A compressed buffer begins with its decompressed size, and Arrow never writes more than that; so the sum of
these sizes is an upper bound. PyArrow does not offer the headers, so the few fields that are needed are read
from the FlatBuffers that Message.fbs describes (format 1.5).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa

from service.ingest.file_format import ARROW_FILE

_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # MessageHeader
_HEADER_TYPE, _HEADER = 1, 2  # fields of Message
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # fields of RecordBatch
_DATA = 1  # field of DictionaryBatch
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # fields of Footer
_BLOCK = "<q16x"  # a struct that starts with an offset
_BUFFER = "<qq"  # a struct of an offset and a length
_TAIL = struct.Struct("<i6s")  # the end of a file: the footer's length and the magic bytes


class Size(NamedTuple):
    """The number of rows and of decompressed bytes."""

    rows: int  # 0 for a dictionary
    bytes: int


def total_sizes(source: Any) -> Iterator[Size]:
    """Yield the total size up to each batch of the stream or file."""
    return accumulate(
        batch_sizes(source), lambda total, size: Size(total.rows + size.rows, total.bytes + size.bytes)
    )


def batch_sizes(source: Any) -> Iterator[Size]:
    """Yield the size of every batch of the stream or file. Raise ValueError if a header is damaged."""
    stream_messages = pa.ipc.MessageReader.open_stream
    for message in _file_messages(source) if is_file(source) else stream_messages(source):
        try:
            size = _batch_size(message.metadata.to_pybytes(), message.body)
        except (struct.error, IndexError) as error:
            raise ValueError("a message is damaged") from error
        if size is not None:
            yield size


def open_batches(source: Any) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a stream or file, and an iterator over its batches."""
    if is_file(source):
        file = pa.ipc.open_file(source)
        return file.schema, map(file.get_batch, range(file.num_record_batches))
    stream = pa.ipc.open_stream(source)
    return stream.schema, iter(stream)


def is_file(source: Any) -> bool:
    """Return whether this is an Arrow file (or a Feather file of version 2) and not a stream."""
    start = source.read(len(ARROW_FILE))
    source.seek(0)
    return bool(start == ARROW_FILE)


def _file_messages(source: Any) -> Iterator[Any]:
    """Yield the messages that the footer lists, which are those that Arrow reads.

    Not all writers start with a schema message, so a file cannot be read as a stream.
    """
    size = source.size()
    try:
        source.seek(max(0, size - _TAIL.size))
        length, magic = _TAIL.unpack(source.read(_TAIL.size))
        if magic != ARROW_FILE or not 0 < length <= size - _TAIL.size:
            raise ValueError("the file has no footer")
        source.seek(size - _TAIL.size - length)
        footer = _Table(source.read(length))
        blocks = [*footer.structs(_DICTIONARIES, _BLOCK), *footer.structs(_RECORD_BATCHES, _BLOCK)]
    except struct.error as error:
        raise ValueError("the footer is damaged") from error
    for (offset,) in blocks:
        if not 0 <= offset < size:
            raise ValueError("a block is outside the file")
        source.seek(offset)
        try:
            yield pa.ipc.read_message(source)
        except EOFError as error:
            raise ValueError("a block of the file is not a message") from error


def _batch_size(metadata: bytes, body: Any) -> Size | None:
    """Return the size of a record batch or a dictionary; None for another message."""
    root = _Table(metadata)
    kind = root.scalar(_HEADER_TYPE, "<B")
    header = root.table(_HEADER)
    if kind == _DICTIONARY_BATCH and header is not None:
        header = header.table(_DATA)
    elif kind != _RECORD_BATCH:
        return None
    if header is None:
        raise ValueError("a message of the stream has no header")
    rows = header.scalar(_LENGTH, "<q") if kind == _RECORD_BATCH else 0
    size = body.size if body is not None else 0
    if header.table(_COMPRESSION) is not None:
        size = sum(_buffer_size(body, offset, length) for offset, length in header.structs(_BUFFERS, _BUFFER))
    if rows < 0:
        raise ValueError("a batch of the stream has a negative number of rows")
    return Size(rows, size)


def _buffer_size(body: Any, offset: int, length: int) -> int:
    if length <= 0:
        return 0
    if length < 8 or offset < 0 or offset + length > body.size:
        raise ValueError("a buffer of the stream is outside its message")
    declared = int(struct.unpack("<q", body.slice(offset, 8).to_pybytes())[0])
    if declared < -1:
        raise ValueError("a buffer of the stream has a negative size")
    return length if declared == -1 else declared  # -1: not compressed


class _Table:
    """A FlatBuffers table: a vtable of offsets, followed by the fields."""

    def __init__(self, data: bytes, reference: int = 0) -> None:
        """Open the table that the offset at the position `reference` refers to."""
        self.data = data
        self.position = reference + self._read("<I", reference)
        self.vtable = self.position - self._read("<i", self.position)

    def _read(self, form: str, position: int) -> int:
        return int(struct.unpack_from(form, self.data, position)[0])

    def _field(self, index: int) -> int | None:
        entry = 4 + 2 * index
        if self.vtable < 0 or entry + 2 > self._read("<H", self.vtable):
            return None
        offset = self._read("<H", self.vtable + entry)
        return self.position + offset if offset else None

    def scalar(self, index: int, form: str) -> int:
        field = self._field(index)
        return 0 if field is None else self._read(form, field)

    def table(self, index: int) -> _Table | None:
        field = self._field(index)
        return None if field is None else _Table(self.data, field)

    def structs(self, index: int, form: str) -> Iterator[tuple[int, ...]]:
        """Yield the structs of a vector."""
        field = self._field(index)
        if field is not None:
            start = field + self._read("<I", field)
            for i in range(self._read("<I", start)):
                yield struct.unpack_from(form, self.data, start + 4 + struct.calcsize(form) * i)
