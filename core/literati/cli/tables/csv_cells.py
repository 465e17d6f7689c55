"""Read the cells of a CSV as text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO, TextIO

from literati.cli.errors import InputError
from literati.cli.tables.input_files import open_text

CHUNK_ROWS = 1 << 16
HEAD_CHARACTERS = 1 << 20
_SEPARATOR = "\0"  # between packed cells; a text file does not contain it
_NOT_TEXT = "contains null bytes, so it is not text; expected a CSV."
_DELIMITERS = (",", ";", "\t", "|")
_DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_QUOTED = re.compile(r'"[^"]*"')
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")


class CsvCells:
    """The cells of a CSV by column. They are kept joined, which takes no more memory than the file."""

    def __init__(self, file: BinaryIO, name: str, delimiter: str | None, encoding: str | None) -> None:
        self.name = name  # of the file, in messages
        self.n_rows = 0
        self._given_delimiter = None if delimiter is None else _checked_delimiter(delimiter)
        with open_text(file, name, encoding) as text:
            self._read(text)

    def words(self, column: int, chunks: int | None = None) -> list[str]:
        """Return the cells of a column, or those of its first chunks."""
        return [word for chunk in islice(self._chunks[column], chunks) for word in chunk.split(_SEPARATOR)]

    def _read(self, file: TextIO) -> None:
        start = file.read(HEAD_CHARACTERS)
        if not start.strip():
            raise InputError(f"{self.name} is empty; expected a header line and rows.")
        if _SEPARATOR in start:
            raise InputError(f"{self.name} {_NOT_TEXT}")
        delimiter = self._given_delimiter or _guess_delimiter(start)
        file.seek(0)
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            self.names = self._header(rows)
            self._chunks: list[list[str]] = [[] for _ in self.names]
            while self._read_chunk(rows):
                pass
        except csv.Error as error:
            raise InputError(
                f"{self.name}, line {rows.line_num:,}: {error}; check the quotation marks there and above."
            ) from None
        if not self.n_rows:
            raise InputError(f"{self.name} has a header but no rows of data; add at least one.")

    def _header(self, rows: Iterator[list[str]]) -> tuple[str, ...]:
        cells = [cell.strip() for cell in next(row for row in rows if row)]
        names = tuple(cell or f"column_{number}" for number, cell in enumerate(cells, start=1))
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{self.name}: two columns are called {twice!r}; rename one.")
        if names[0][0] in "{[<" and len(names) == 1:
            raise InputError(f"{self.name} looks like JSON, HTML or XML; expected a CSV with a header line.")
        counted = [str(position) for position in range(len(names))]  # as pandas writes it
        if all(map(_NUMBER.fullmatch, cells)) and cells != counted:
            raise InputError(
                f"{self.name}: the first row looks like data; add a header line with the column names."
            )
        return names

    def _read_chunk(self, rows: Iterator[list[str]]) -> bool:
        """Read some rows. Return whether there may be more."""
        taken = list(islice(rows, CHUNK_ROWS))
        found = [row for row in taken if row]  # blank lines are skipped
        for number, row in enumerate(found, start=self.n_rows + 1):
            if len(row) != len(self.names):
                raise InputError(
                    f"{self.name}: row {number:,} has {len(row)} cells and the header {len(self.names)}; put "
                    "text that contains the delimiter or a line break in quotation marks."
                )
        self.n_rows += len(found)
        if found:
            for chunks, cells in zip(self._chunks, zip(*found, strict=True), strict=True):
                chunks.append(_SEPARATOR.join(cells))
                if chunks[-1].count(_SEPARATOR) >= len(cells):
                    raise InputError(f"{self.name} {_NOT_TEXT}")
        return len(taken) == CHUNK_ROWS


def _checked_delimiter(given: str) -> str:
    delimiter = _DELIMITER_WORDS.get(given.lower(), given)
    if len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"\r\n\0.-+':
        raise InputError(
            f"--delimiter: expected one sign such as , or ; or | or the word tab, got {given!r}."
        )
    return delimiter


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that occurs most often in the first line, outside quotation marks."""
    line = next(line for line in text.splitlines() if line.strip())
    return max(_DELIMITERS, key=_QUOTED.sub("", line).count)  # the first of equals: a comma if none occurs
