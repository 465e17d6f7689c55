"""A CSV piece by piece: cut between rows, each piece with its types, and the types that fit them all.

Arrow reads a whole file too, but holds its text until the last row has been seen, because it may have to read
a column anew. Here no more than one piece is held.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

CODED = pa.dictionary(pa.int32(), pa.string())  # text
_TRIES = 1000


class NoCutError(ValueError):
    """No place between two rows was found."""


def segments(path: Path, *, quoted: bool, size: int) -> Iterator[memoryview]:
    """Whole rows, at most `size` bytes of them at a time. Each piece lies where the one before it lay."""
    buffer = bytearray(size)
    filled = 0
    with path.open("rb") as file, memoryview(buffer) as view:
        while read := file.readinto(view[filled:]):
            filled += read
            if filled == size:
                place = _cut(buffer, quoted)
                yield view[:place]
                filled -= place
                view[:filled] = buffer[place:]
        if filled:
            yield view[:filled]


def _cut(data: bytearray, quoted: bool) -> int:
    """After the last line break that is not inside quotation marks."""
    sign = b"\n" if b"\n" in data else b"\r"
    place = len(data)
    inside = data.count(b'"') % 2 if quoted else 0
    for _ in range(_TRIES):
        before = data.rfind(sign, 0, place)
        if before < 0:
            break
        inside ^= data.count(b'"', before, place) % 2 if quoted else 0
        if not inside:
            return before + 1
        place = before
    raise NoCutError("no line break between rows")


def joined(one: Any, other: Any) -> Any:
    """The type that holds the cells of both: text, where they have nothing in common."""
    if one == other or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    return pa.float64() if {one, other} == {pa.int64(), pa.float64()} else CODED


def fits(column: Any, kind: Any) -> bool:
    """Whether the cells of a piece can become this type without reading them again."""
    return bool(kind != CODED or column.type == CODED or pa.types.is_null(column.type))


@contextmanager
def as_utf8(path: Path, charset: str) -> Iterator[Path]:
    """The file, or a copy in UTF-8 beside it for as long as it is needed; UnicodeDecodeError if it is not."""
    if charset == "utf-8":
        yield path
        return
    copy = path.with_name(path.name + "-utf8")
    try:
        decoder = codecs.getincrementaldecoder(charset)()
        with path.open("rb") as source, copy.open("wb") as target:
            while block := source.read(1 << 20):
                target.write(decoder.decode(block).encode())
            target.write(decoder.decode(b"", final=True).encode())
        yield copy
    finally:
        copy.unlink(missing_ok=True)
