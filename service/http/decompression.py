"""Unpack gzip and zstd, in blocks and never beyond a limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from .spare_disk import check_spare

Coding = Literal["gzip", "zstd"]
MAGIC: dict[Coding, bytes] = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
CODINGS: dict[str, Coding] = {"gzip": "gzip", "x-gzip": "gzip", "zstd": "zstd"}  # by Content-Encoding
MAX_LAYERS = 2  # a packed file may be sent with a Content-Encoding on top
BLOCK_BYTES = 1 << 20
UNPACKED = "-unpacked"  # ends the name of a copy beside an upload


class DamagedError(ValueError):
    """The bytes are not what they are said to be packed with, or are cut short."""


class TooLargeError(ValueError):
    """The bytes unpack to more than the limit."""


def coding_of(start: bytes) -> Coding | None:
    """What the first bytes of a file say it is packed with."""
    return next((coding for coding, magic in MAGIC.items() if start.startswith(magic)), None)


def unpacked_bytes(data: bytes, declared: Coding | None, most: int) -> bytes:
    """The data without its Content-Encoding and without the packing that its first bytes name."""
    for _ in range(MAX_LAYERS):
        coding = declared or coding_of(data)
        if coding is None:
            break
        with pa.BufferReader(data) as source:
            data = b"".join(_blocks(source, coding, most))
        declared = None
    return data


@contextmanager
def unpacked_file(path: Path, declared: Coding | None, most: int, spare: int) -> Iterator[Path]:
    """The file, or an unpacked copy of it beside it for as long as it is needed."""
    copies: list[Path] = []
    try:
        for _ in range(MAX_LAYERS):
            with path.open("rb") as file:
                coding = declared or coding_of(file.read(BLOCK_BYTES))
            if coding is None:
                break
            copy = path.with_name(path.name + UNPACKED)
            copies.append(copy)
            with pa.OSFile(str(path)) as source, copy.open("wb") as target:
                for block in _blocks(source, coding, most):
                    check_spare(copy.parent, len(block), spare)
                    target.write(block)
            path, declared = copy, None
        yield path
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)


def forget_copies(path: Path) -> None:
    """Delete what a process that was killed has left beside an upload."""
    for copy in path.parent.glob(f"{path.name}-*"):
        copy.unlink(missing_ok=True)


def _blocks(source: Any, coding: Coding, most: int) -> Iterator[bytes]:
    size = 0
    try:
        with pa.CompressedInputStream(source, coding) as stream:
            while block := stream.read(BLOCK_BYTES):
                size += len(block)
                if size > most:
                    raise TooLargeError
                yield block
    except (OSError, pa.ArrowException) as error:
        raise DamagedError(coding) from error
