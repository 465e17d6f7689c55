"""Decompress gzip and zstd in blocks, up to a limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from service.http.spare_disk import check_spare

Coding = Literal["gzip", "zstd"]
MAGIC: dict[Coding, bytes] = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
CODINGS: dict[str, Coding] = {"gzip": "gzip", "x-gzip": "gzip", "zstd": "zstd"}  # by Content-Encoding
MAX_LAYERS = 2  # a compressed file may be sent with a Content-Encoding
BLOCK_BYTES = 1 << 20
SUFFIX = "-unpacked"  # of the decompressed copy of an upload


class DamagedError(ValueError):
    """The data is damaged, truncated or not compressed as declared."""


class TooLargeError(ValueError):
    """The decompressed data exceeds the limit."""


def coding_of(start: bytes) -> Coding | None:
    """Return the compression that the first bytes of a file indicate."""
    return next((coding for coding, magic in MAGIC.items() if start.startswith(magic)), None)


def unpacked_bytes(data: bytes, declared: Coding | None, max_bytes: int) -> bytes:
    """Return the data without its Content-Encoding and without the compression of the file itself."""
    for _ in range(MAX_LAYERS):
        coding = declared or coding_of(data)
        if coding is None:
            break
        with pa.BufferReader(data) as source:
            data = b"".join(_blocks(source, coding, max_bytes))
        declared = None
    return data


@contextmanager
def unpacked_file(path: Path, declared: Coding | None, max_bytes: int, spare: int) -> Iterator[Path]:
    """Provide the file, or a decompressed copy beside it that exists while the context lasts."""
    copies: list[Path] = []
    try:
        for _ in range(MAX_LAYERS):
            with path.open("rb") as file:
                coding = declared or coding_of(file.read(BLOCK_BYTES))
            if coding is None:
                break
            copy = path.with_name(path.name + SUFFIX)
            copies.append(copy)
            with pa.OSFile(str(path)) as source, copy.open("wb") as target:
                for block in _blocks(source, coding, max_bytes):
                    check_spare(copy.parent, len(block), spare)
                    target.write(block)
            path, declared = copy, None
        yield path
    finally:
        for copy in copies:
            copy.unlink(missing_ok=True)


def forget_copies(path: Path) -> None:
    """Delete the copies that a killed process has left beside an upload."""
    for copy in path.parent.glob(f"{path.name}-*"):
        copy.unlink(missing_ok=True)


def _blocks(source: Any, coding: Coding, max_bytes: int) -> Iterator[bytes]:
    size = 0
    try:
        with pa.CompressedInputStream(source, coding) as stream:
            while block := stream.read(BLOCK_BYTES):
                size += len(block)
                if size > max_bytes:
                    raise TooLargeError
                yield block
    except (OSError, pa.ArrowException) as error:
        raise DamagedError(coding) from error
