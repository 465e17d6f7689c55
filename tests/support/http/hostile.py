"""Hostile uploads: small files that decompress or claim to decompress to large ones."""

from __future__ import annotations

import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet


def _zigzag(number: int, size: int = 0) -> bytes:
    """Encode a number as in Thrift's compact protocol, padded to a length."""
    number <<= 1
    out = bytearray()
    while True:
        out.append(number & 127 | 128)
        number >>= 7
        if not number and len(out) >= size:
            out[-1] &= 127
            return bytes(out)


def _footer_changed(data: bytes, honest: int, claimed: int) -> bytes:
    length = struct.unpack("<I", data[-8:-4])[0]
    body, footer, end = data[: -8 - length], data[-8 - length : -8], data[-8:]
    written = _zigzag(honest)
    assert written in footer, "the number is not in the footer"
    return body + footer.replace(written, _zigzag(claimed, len(written))) + end


def _parquet(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(
        table, sink, compression="zstd", write_statistics=False, store_schema=False, **options
    )
    return sink.getvalue()


def long_words(columns: int, word_bytes: int, *, honest: bool = False) -> bytes:
    """Return Parquet with long words that compress well, and a footer that claims a small size."""
    word = "a" * word_bytes
    cells = {f"c{i}": pa.array([word, "b"]) for i in range(columns)}
    data = _parquet(pa.table({**cells, "label": ["x", "y"]}), dictionary_pagesize_limit=(1 << 31) - 1)
    if honest:
        return data
    size = pyarrow.parquet.ParquetFile(io.BytesIO(data)).metadata.row_group(0).total_byte_size
    return _footer_changed(data, size, 1000)


def many_rows(rows: int, columns: int = 1) -> bytes:
    """Return Parquet with one repeated number, which run-length encoding stores in a few bytes."""
    constant = pa.array([1.5]).take(pa.array([0] * rows, pa.int32()))
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1] * (rows // 2), pa.int8()), ["x", "y"])
    cells = {f"c{i}": constant for i in range(columns)}
    return _parquet(pa.table({**cells, "label": labels}), row_group_size=rows)


def claimed_rows(claimed: int) -> bytes:
    """Return Parquet with three rows, and a footer that claims more."""
    data = _parquet(pa.table({"x": [1, 2, 3], "label": ["a", "b", "a"]}))
    return _footer_changed(data, 3, claimed)


def arrow_streams() -> list[bytes]:
    """Return Arrow streams whose headers contradict their bodies."""
    table = pa.table({"x": pa.array(range(1000), pa.int64()), "label": ["a", "b"] * 500})
    plain, packed = (
        _stream(table),
        _stream(pa.table({"x": [0] * 1_000_000, "label": ["a"] * 1_000_000}), "zstd"),
    )
    (length,) = (place for place in _places(plain, struct.pack("<q", 1000))[:1])
    found = [plain[:-200], plain[:length] + struct.pack("<q", 1 << 40) + plain[length + 8 :]]
    found.append(plain[:length] + struct.pack("<q", -1) + plain[length + 8 :])
    for place in _places(packed, struct.pack("<q", 8_000_000)):  # the claimed size of a buffer
        found.append(packed[:place] + struct.pack("<q", 1 << 45) + packed[place + 8 :])
        found.append(packed[:place] + struct.pack("<q", 100) + packed[place + 8 :])
    return found


def _stream(table: Any, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _places(data: bytes, part: bytes) -> list[int]:
    places = []
    at = data.find(part)
    while at >= 0:
        places.append(at)
        at = data.find(part, at + 1)
    assert places
    return places
