"""What the batches of an Arrow stream or file unpack to, read from their headers before anything is unpacked.

A compressed buffer begins with its size when unpacked, and Arrow unpacks no more than that; so the sum of
those sizes is a true cap. Arrow's Python face does not show the headers, so the few fields needed are read
here from the FlatBuffers that Message.fbs describes (format 1.5).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .first_bytes import ARROW_FILE

_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # MessageHeader
_HEADER_TYPE, _HEADER = 1, 2  # fields of Message
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # fields of RecordBatch
_DATA = 1  # field of DictionaryBatch
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # fields of Footer
_BLOCK_BYTES = 24
_TAIL = struct.Struct("<i6s")  # of a file: the footer's length, and the same sign as at its beginning


@dataclass(frozen=True)
class PartSize:
    rows: int  # of a record batch; a dictionary has none
    unpacked_bytes: int


def unpacked_sizes(source: Any) -> Iterator[PartSize]:
    """Yield the size of every batch of the stream or file; ValueError where a header is no header."""
    for message in _file_messages(source) if is_file(source) else _stream_messages(source):
        try:
            part = _part(message.metadata.to_pybytes(), message.body)
        except (struct.error, IndexError) as error:
            raise ValueError("a message is damaged") from error
        if part is not None:
            yield part


def open_batches(source: Any) -> tuple[Any, Iterator[Any]]:
    """The schema of a stream or file, and its batches one after the other."""
    if is_file(source):
        file = pa.ipc.open_file(source)
        return file.schema, (file.get_batch(place) for place in range(file.num_record_batches))
    stream = pa.ipc.open_stream(source)
    return stream.schema, iter(stream)


def is_file(source: Any) -> bool:
    """Whether this is an Arrow file (Feather version 2 is one), not a stream."""
    start = source.read(len(ARROW_FILE))
    source.seek(0)
    return bool(start == ARROW_FILE)


def _stream_messages(source: Any) -> Iterator[Any]:
    messages = pa.ipc.MessageReader.open_stream(source)
    while True:
        try:
            yield messages.read_next_message()
        except StopIteration:
            return


def _file_messages(source: Any) -> Iterator[Any]:
    """The messages that the footer names, which are those that a reader of the file reads.

    Not all writers begin with a schema in a message of its own, so a file cannot be read as a stream.
    """
    size = source.size()
    try:
        source.seek(max(0, size - _TAIL.size))
        length, magic = _TAIL.unpack(source.read(_TAIL.size))
        if magic != ARROW_FILE or not 0 < length <= size - _TAIL.size:
            raise ValueError("the file has no footer")
        source.seek(size - _TAIL.size - length)
        data = source.read(length)
        footer = _Table(data, struct.unpack_from("<I", data)[0])
        offsets = [*footer.blocks(_DICTIONARIES), *footer.blocks(_RECORD_BATCHES)]
    except struct.error as error:
        raise ValueError("the footer is damaged") from error
    for offset in offsets:
        if not 0 <= offset < size:
            raise ValueError("a block lies outside its file")
        source.seek(offset)
        try:
            yield pa.ipc.read_message(source)
        except EOFError as error:
            raise ValueError("a block of the file is no message") from error


def _part(metadata: bytes, body: Any) -> PartSize | None:
    root = _Table(metadata, struct.unpack_from("<I", metadata)[0])
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
        size = sum(_unpacked(body, offset, length) for offset, length in header.pairs(_BUFFERS))
    if rows < 0:
        raise ValueError("a batch of the stream has a negative number of rows")
    return PartSize(rows, size)


def _unpacked(body: Any, offset: int, length: int) -> int:
    if length <= 0:
        return 0
    if length < 8 or offset < 0 or offset + length > body.size:
        raise ValueError("a buffer of the stream lies outside its message")
    declared = int(struct.unpack("<q", body.slice(offset, 8).to_pybytes())[0])
    if declared < -1:
        raise ValueError("a buffer of the stream has a negative size")
    return length if declared == -1 else declared  # -1: stored as it is


class _Table:
    """A FlatBuffers table: a vtable of offsets, and the fields."""

    def __init__(self, data: bytes, position: int) -> None:
        self.data = data
        self.position = position
        self.vtable = position - struct.unpack_from("<i", data, position)[0]

    def _field(self, index: int) -> int | None:
        entry = 4 + 2 * index
        if self.vtable < 0 or entry + 2 > struct.unpack_from("<H", self.data, self.vtable)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, self.vtable + entry)[0]
        return self.position + offset if offset else None

    def scalar(self, index: int, form: str) -> int:
        place = self._field(index)
        return 0 if place is None else int(struct.unpack_from(form, self.data, place)[0])

    def table(self, index: int) -> _Table | None:
        place = self._field(index)
        if place is None:
            return None
        return _Table(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def blocks(self, index: int) -> Iterator[int]:
        """The offsets of a vector of Blocks, structs of three words that begin with theirs."""
        place = self._field(index)
        if place is None:
            return
        start = place + struct.unpack_from("<I", self.data, place)[0]
        for i in range(struct.unpack_from("<I", self.data, start)[0]):
            yield struct.unpack_from("<q", self.data, start + 4 + _BLOCK_BYTES * i)[0]

    def pairs(self, index: int) -> Iterator[tuple[int, int]]:
        """A vector of structs of two int64."""
        place = self._field(index)
        if place is None:
            return
        start = place + struct.unpack_from("<I", self.data, place)[0]
        for i in range(struct.unpack_from("<I", self.data, start)[0]):
            yield struct.unpack_from("<qq", self.data, start + 4 + 16 * i)
