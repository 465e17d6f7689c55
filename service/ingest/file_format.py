"""Detect the format of a file by its first bytes."""

from __future__ import annotations

from typing import Literal

from service.ingest.errors import IngestError, body_issue

FileFormat = Literal["csv", "tsv", "parquet", "arrow"]
START_BYTES = 16
ARROW_STREAM = b"\xff\xff\xff\xff"
ARROW_FILE = b"ARROW1"
PARQUET = b"PAR1"
_MAGIC: tuple[tuple[bytes, FileFormat | None, str], ...] = (
    (PARQUET, "parquet", "a Parquet file; send it as Content-Type: application/vnd.apache.parquet"),
    (ARROW_STREAM, "arrow", "an Arrow stream; send it as Content-Type: application/vnd.apache.arrow.stream"),
    (ARROW_FILE, "arrow", "an Arrow file; send it as Content-Type: application/vnd.apache.arrow.file"),
    (b"FEA1", None, "a Feather file of version 1; write it as version 2, which is an Arrow file"),
    (b"\x1f\x8b", None, "compressed with gzip more than twice; decompress it first"),
    (b"\x28\xb5\x2f\xfd", None, "compressed with zstd more than twice; decompress it first"),
    (b"BZh", None, "compressed with bzip2; decompress it, or use gzip or zstd"),
    (b"\xfd7zXZ\0", None, "compressed with xz; decompress it, or use gzip or zstd"),
    (b"PK\x03\x04", None, "a zip archive or an Excel workbook; unzip it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", None, "an old Excel workbook; save the sheet as CSV"),
    (b"%PDF", None, "a PDF; send a table"),
    (b"SQLite format 3\0", None, "an SQLite database; export a table as CSV"),
)


def detect_format(declared: FileFormat | None, start: bytes) -> FileFormat:
    """Return the declared format, or the one that the first bytes show.

    Raise IngestError if the first bytes contradict the declared format or show one that cannot be read.
    """
    for magic, found, advice in _MAGIC:
        if start.startswith(magic):
            if found is not None and declared in (None, found):
                return found
            raise IngestError(body_issue("OTHER_FORMAT", f"This is {advice}."))
    return declared or "csv"
