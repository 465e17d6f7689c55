"""Read the header of a CSV: its encoding, its delimiter and the names of the columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from service.ingest.csv_errors import encoding_issue
from service.ingest.errors import IngestError, Issue, body_issue, column_issue, option_issue
from service.ingest.fixes import Fix, quoted, set_option
from service.ingest.options import Options, TableLimits

HEAD_BYTES = 1 << 20
MAX_NAME_LENGTH = 1024
DELIMITERS = (",", ";", "\t", "|")
EXPECTED_DELIMITER = "Expected one character that separates cells, such as , or ; or | or the word tab."
_DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Header:
    names: tuple[str, ...]
    delimiter: str
    blank_lines: int = 0  # before the header
    warnings: tuple[str, ...] = ()


def read_header(path: Path, charset: str, options: Options, limits: TableLimits) -> Header:
    text, complete = _read_start(path, charset)
    if not text.strip():
        raise IngestError(body_issue("EMPTY", "The file is empty; send a table with a header and rows."))
    given = options.delimiter
    delimiter = _guess_delimiter(text) if given is None else parse_delimiter(given)
    if delimiter is None:
        fixes = _delimiter_fixes(text)
        raise IngestError(option_issue("delimiter", "BAD_DELIMITER", EXPECTED_DELIMITER, *fixes))
    try:
        rows = (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
        cells = next(rows)
    except csv.Error:
        raise IngestError(_not_a_table("its first line is not a header")) from None
    if len(cells) == 1:
        fixes = [] if given is None else _delimiter_fixes(text)
        raise IngestError(_not_a_table(_one_column(text, given), *fixes))
    if complete and _is_empty(rows):
        raise IngestError(
            body_issue("NO_ROWS", "The file has a header but no rows of data; add at least one.")
        )
    warnings = []
    if given is None and delimiter != ",":
        name = _DELIMITER_NAMES[delimiter]
        warnings.append(f"Cells were read as separated by {name}; send `delimiter` if that is wrong.")
    warnings += _check_header([cell.strip() for cell in cells], options)
    names = column_names(cells)
    warnings += [
        f"Column {number} has no name and was named 'column_{number}'. If it only numbers the rows, leave it "
        f"out with drop=column_{number}."
        for number, cell in enumerate(cells, start=1)
        if not cell.strip()
    ]
    check_names(names, limits)
    blank_lines = len(text[: len(text) - len(text.lstrip("\r\n"))].splitlines())
    return Header(tuple(names), delimiter, blank_lines, tuple(warnings))


def column_names(cells: Sequence[str]) -> list[str]:
    """Return the names in a header. A column without a name is named after its position."""
    return [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, start=1)]


def check_names(names: Sequence[str], limits: TableLimits) -> None:
    """Check the column names of a table of any format: their number, their length and that they differ."""
    if len(names) > limits.max_columns:
        limit = f"the limit is {limits.max_columns:,} (LITERATI_MAX_COLUMNS)"
        message = f"The table has {len(names):,} columns; {limit}."
        raise IngestError(body_issue("TOO_MANY_COLUMNS", message))
    if any(len(name) > MAX_NAME_LENGTH for name in names):
        message = f"A column's name is longer than {MAX_NAME_LENGTH:,} characters; is the first row a header?"
        raise IngestError(body_issue("LONG_NAME", message))
    if "" in names:
        message = f"Column {list(names).index('') + 1} has no name; give it one."
        raise IngestError(body_issue("NO_NAME", message))
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise IngestError(
            *(
                column_issue(name, "DUPLICATE_COLUMN", f"Two columns are called {quoted(name)}; rename one.")
                for name in dict.fromkeys(twice)
            )
        )


def _read_start(path: Path, charset: str) -> tuple[str, bool]:
    """Return the start of the text with the header, and whether this is the whole file."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if charset == "utf-8":
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            message = "The file is UTF-16; save it as UTF-8, or send Content-Type: text/csv; charset=utf-16."
            raise IngestError(body_issue("NOT_UTF8", message))
        if b"\0" in head:
            message = "The file contains null bytes, so it is not text; send CSV as UTF-8 text."
            raise IngestError(body_issue("NOT_TEXT", message))
    codec = codecs.getincrementaldecoder("utf-8-sig" if charset == "utf-8" else charset)
    try:
        return codec().decode(head, final=len(head) < HEAD_BYTES), len(head) < HEAD_BYTES
    except UnicodeDecodeError as error:  # an error below the header may be in a column that is left out
        text = codec().decode(error.object[: error.start])
        if "\n" not in text.lstrip() and "\r" not in text.lstrip():
            raise IngestError(encoding_issue(path, charset)) from None
        return text, False


def _is_empty(rows: Iterator[list[str]]) -> bool:
    try:
        return next(rows, None) is None
    except csv.Error:  # a row that is too long for this reader
        return False


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that occurs most often in the first line, outside quotation marks."""
    line = next(line for line in text.splitlines() if line.strip())
    return max(DELIMITERS, key=_QUOTED.sub("", line).count)  # the first of equals: a comma if none occurs


def _delimiter_fixes(text: str) -> list[Fix]:
    """Return the fix that sets the delimiter of the first line, if there is one.

    Removing the option would not do: a media type of tab-separated values implies tabs.
    """
    found = _guess_delimiter(text)
    if found not in text:
        return []
    option = "tab" if found == "\t" else found
    return [set_option(f"Read cells separated by {_DELIMITER_NAMES[found]}", delimiter=option)]


def parse_delimiter(given: str) -> str | None:
    """Return the character that an option names, or None if it cannot separate cells."""
    delimiter = _DELIMITER_WORDS.get(given.lower(), given)
    allowed = len(delimiter) == 1 and delimiter.isascii() and not delimiter.isalnum()
    return delimiter if allowed and delimiter not in '"\r\n\0.-+' else None


def _not_a_table(reason: str, *fixes: Fix) -> Issue:
    message = f"This is not a table: {reason}. Send CSV: a header with the column names and one line per row."
    return body_issue("NOT_A_TABLE", message, *fixes)


def _one_column(text: str, given: str | None) -> str:
    start = text.lstrip()[:1]
    if start in "{[":
        return "it looks like JSON"
    if start == "<":
        return "it looks like HTML or XML"
    if given is not None:
        return "with this `delimiter` there is only one column"
    return "there is only one column (for cells separated by anything but , ; | or tabs, send `delimiter`)"


def _check_header(names: Sequence[str], options: Options) -> list[str]:
    """Raise IngestError if the header is data, and return a warning if it may be.

    A row of numbers is data, unless it only counts the columns, as pandas writes it.
    """
    numbers = sum(bool(_NUMBER.fullmatch(name)) for name in names)
    if 2 * numbers < len(names) or list(names) == [str(position) for position in range(len(names))]:
        return []
    if numbers < len(names) and options.target in names:
        return ["The first row looks like data; if it is, add a header line with the column names."]
    then = (
        "and name the column with the classes with ?target="
        if options.target is None
        else f"{quoted(options.target)} among them"
    )
    message = f"The first row looks like data: add a header line with the column names, {then}."
    raise IngestError(body_issue("NO_HEADER", message))
