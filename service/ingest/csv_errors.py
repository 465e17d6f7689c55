"""Errors of CSV files: rows of a wrong length, text in another encoding."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from service.ingest.errors import Issue, body_issue

_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class RaggedRow:
    """A row that has more or fewer cells than the header."""

    row: int  # counted from 1, the first row of data
    message: str


def find_ragged_row(error: str, lines_above: int = 1) -> RaggedRow | None:
    """Return the row that an error of Arrow's reader is about.

    `lines_above` is the number of lines before the first row of data.
    """
    found = _RAGGED.search(error)
    if found is None:
        return None
    row, expected, cells = (int(number) for number in found.groups())
    row -= lines_above
    counted = "1 cell" if cells == 1 else f"{cells:,} cells"
    return RaggedRow(row, f"Row {row:,} has {counted}, but the header has {expected:,}.")


def encoding_issue(path: Path, charset: str) -> Issue:
    """Return the issue of a file that is not text of this encoding, with its first wrong line."""
    decoder = codecs.getincrementaldecoder(charset)()
    position, line = 0, 1
    with path.open("rb") as file:
        while True:
            block = file.read(_BLOCK_BYTES)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                offset = error.start - pending
                line += block[: max(0, offset)].count(b"\n")
                message = (
                    f"Line {line:,} is not {charset.upper()} (byte {position + offset:,} of the file). Save "
                    "the file as UTF-8, or name its encoding, for example Content-Type: text/csv; "
                    "charset=windows-1252."
                )
                return Issue(("body", "lines", line), "BAD_ENCODING", message)
            if not block:
                message = f"The file cannot be read as {charset.upper()}; save it as UTF-8."
                return body_issue("BAD_ENCODING", message)
            position += len(block)
            line += block.count(b"\n")
