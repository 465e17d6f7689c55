"""Split a CSV into segments of whole rows, and find the types that fit all segments.

Arrow can read the whole file, but then keeps its text in memory until the last row has been read, in case a
column must be read again. Reading segments keeps the text of only one segment.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from service.ingest.dictionary_column import DICTIONARY

_MAX_LINE_BREAKS = 1000


class RowTooLongError(ValueError):
    """A segment has no end of a row."""


def segments(path: Path, *, quoted: bool, size: int) -> Iterator[memoryview]:
    """Yield segments of whole rows of at most `size` bytes. A segment overwrites the one before it."""
    buffer = bytearray(size)
    filled = 0
    with path.open("rb") as file, memoryview(buffer) as view:
        while read := file.readinto(view[filled:]):
            filled += read
            if filled == size:
                end = _last_row_end(buffer, quoted)
                yield view[:end]
                filled -= end
                view[:filled] = buffer[end:]
        if filled:
            yield view[:filled]


def _last_row_end(data: bytearray, quoted: bool) -> int:
    """Return the offset after the last line break that is not inside quotation marks."""
    line_break = b"\n" if b"\n" in data else b"\r"
    end = len(data)
    inside = data.count(b'"') % 2 if quoted else 0
    for _ in range(_MAX_LINE_BREAKS):
        before = data.rfind(line_break, 0, end)
        if before < 0:
            break
        inside ^= data.count(b'"', before, end) % 2 if quoted else 0
        if not inside:
            return before + 1
        end = before
    raise RowTooLongError("no line break between rows")


def common_type(one: Any, other: Any) -> Any:
    """Return the Arrow type that can hold the cells of both types: text if they have nothing in common."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    return pa.float64() if {one, other} == {pa.int64(), pa.float64()} else DICTIONARY


def can_cast(column: Any, kind: Any) -> bool:
    """Return whether the cells of a segment can be cast to this type without reading them again."""
    return bool(kind != DICTIONARY or column.type == DICTIONARY or pa.types.is_null(column.type))


@contextmanager
def as_utf8(path: Path, charset: str) -> Iterator[Path]:
    """Yield the file or, for another charset, a temporary copy in UTF-8. May raise UnicodeDecodeError."""
    if charset == "utf-8":
        yield path
        return
    copy = path.with_name(path.name + "-utf8")
    try:
        with (
            path.open(encoding=charset, newline="") as source,
            copy.open("w", encoding="utf-8", newline="") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
        yield copy
    finally:
        copy.unlink(missing_ok=True)
