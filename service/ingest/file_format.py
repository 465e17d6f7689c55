"""Recognise the format of a file by its first bytes."""

from __future__ import annotations

from typing import Literal

from .errors import IngestError, body_fault

Form = Literal["csv", "tsv", "parquet", "arrow"]
START_BYTES = 16
ARROW_STREAM = b"\xff\xff\xff\xff"
ARROW_FILE = b"ARROW1"
PARQUET = b"PAR1"
_MAGIC: tuple[tuple[bytes, Form | None, str], ...] = (
    (PARQUET, "parquet", "a Parquet file; send it as Content-Type: application/vnd.apache.parquet"),
    (ARROW_STREAM, "arrow", "an Arrow stream; send it as Content-Type: application/vnd.apache.arrow.stream"),
    (ARROW_FILE, "arrow", "an Arrow file; send it as Content-Type: application/vnd.apache.arrow.file"),
    (b"FEA1", None, "a Feather file of version 1; write it as version 2, which is an Arrow file"),
    (b"\x1f\x8b", None, "packed with gzip more than twice; unpack it first"),
    (b"\x28\xb5\x2f\xfd", None, "packed with zstd more than twice; unpack it first"),
    (b"BZh", None, "packed with bzip2; unpack it, or pack it with gzip or zstd"),
    (b"\xfd7zXZ\0", None, "packed with xz; unpack it, or pack it with gzip or zstd"),
    (b"PK\x03\x04", None, "a zip archive or an Excel workbook; unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", None, "an old Excel workbook; save the sheet as CSV"),
    (b"%PDF", None, "a PDF; send a table"),
    (b"SQLite format 3\0", None, "an SQLite database; write a table of it as CSV"),
)


def checked_form(form: Form | None, start: bytes) -> Form:
    """The declared form, or the one that the first bytes say; IngestError where they contradict it."""
    for magic, found, advice in _MAGIC:
        if start.startswith(magic):
            if found is not None and form in (None, found):
                return found
            raise IngestError(body_fault("OTHER_FORMAT", f"This is {advice}."))
    return form or "csv"
