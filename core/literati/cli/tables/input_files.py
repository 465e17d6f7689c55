"""Files that commands read: on disk, from standard input and pipes, compressed, and in any encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import BinaryIO, TextIO, cast

import click

from literati.cli.errors import InputError

STANDARD_INPUT = "-"
UTF_16 = "utf-16"
GZIP = b"\x1f\x8b"
PART_CHARACTERS = 1 << 20
_COLUMNAR = {b"PAR1": "Parquet", b"ARROW1": "Arrow file", b"\xff\xff\xff\xff": "Arrow stream"}
_NO_TABLES = {
    b"PK\x03\x04": "is an Excel workbook or a zip archive; save the table as CSV.",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; decompress it, or compress it with gzip.",
}


def shown_name(path: str) -> str:
    """Return the name of a file for messages."""
    return "Standard input" if path == STANDARD_INPUT else path


@contextmanager
def open_input(path: str) -> Iterator[BinaryIO]:
    """Open a file that can be read several times. What can be read only once, such as a pipe, is copied."""
    if _is_on_disk(path):
        with open(path, "rb") as file:
            yield file
        return
    if path == STANDARD_INPUT and sys.stdin is None:
        raise InputError("Standard input is closed; name a file.")
    with TemporaryFile() as copy:
        with click.open_file(path, "rb") as source:
            shutil.copyfileobj(source, copy)
        copy.seek(0)
        yield cast(BinaryIO, copy)


def columnar_format(file: BinaryIO) -> str | None:
    """Return the format of a table whose first bytes name one; None for everything else, such as a CSV."""
    return _by_first_bytes(file, _COLUMNAR)


@contextmanager
def open_text(file: BinaryIO, name: str, encoding: str | None) -> Iterator[TextIO]:
    """Read a file as text, also one that gzip compressed. Raise InputError if that is not possible.

    Without an encoding, the text is UTF-8, or UTF-16 if it begins with its byte order mark.
    """
    if (reason := _by_first_bytes(file, _NO_TABLES)) is not None:
        raise InputError(f"{name} {reason}")
    try:
        binary = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if _starts_with(file, GZIP) else file
        guess = _guess_encoding(binary)
        codec = codecs.lookup(encoding or guess).name
        if codec.startswith(guess):  # utf-16-le, for example: its byte order mark is not part of the text
            codec = guess
        with io.TextIOWrapper(binary, "utf-8-sig" if codec == "utf-8" else codec, newline="") as text:
            yield text
    except UnicodeError:
        if encoding is None:
            remedy = (
                "is not UTF-8 text; name its encoding, such as --encoding windows-1252, or save it as UTF-8."
            )
        else:
            remedy = f"is not text in the encoding {encoding}; choose another --encoding."
        raise InputError(f"{name} {remedy}") from None
    except (gzip.BadGzipFile, zlib.error, EOFError):
        raise InputError(f"{name} is not a complete gzip file; compress it again.") from None


@contextmanager
def file_to_send(path: str, encoding: str | None) -> Iterator[Path]:
    """Yield the path of a file for a server, which expects UTF-8: the given one, or a temporary copy."""
    with open_input(path) as source, NamedTemporaryFile(suffix=Path(path).suffix) as copy:
        if encoding is None and columnar_format(source) is None and _guess_encoding(source) == UTF_16:
            encoding = UTF_16
        if encoding is None and _is_on_disk(path):
            yield Path(path)
            return
        if encoding is None or columnar_format(source) is not None:
            shutil.copyfileobj(source, copy)
        else:
            with open_text(source, shown_name(path), encoding) as text:
                for part in iter(partial(text.read, PART_CHARACTERS), ""):
                    copy.write(part.encode())
        copy.flush()
        yield Path(copy.name)


def _is_on_disk(path: str) -> bool:
    return path != STANDARD_INPUT and os.path.isfile(path)


def _guess_encoding(binary: BinaryIO) -> str:
    utf_16 = any(_starts_with(binary, mark) for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return UTF_16 if utf_16 else "utf-8"


def _by_first_bytes(file: BinaryIO, table: dict[bytes, str]) -> str | None:
    return next((value for start, value in table.items() if _starts_with(file, start)), None)


def _starts_with(file: BinaryIO, start: bytes) -> bool:
    """Return whether a file starts with these bytes. The position is then its beginning."""
    file.seek(0)
    found = file.read(len(start))
    file.seek(0)
    return found == start
