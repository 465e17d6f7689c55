"""The first line of a CSV: its encoding, its delimiter, the names of its columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import Fault, IngestError, body_fault, column_fault, option_fault, shown
from .fixes import Fix, set_option
from .options import Options, TableLimits

HEAD_BYTES = 1 << 20
LONGEST_NAME = 1024
DELIMITERS = (",", ";", "\t", "|")
DELIMITER_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_DELIMITER_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Header:
    names: tuple[str, ...]
    delimiter: str
    blank_lines: int = 0  # before it
    warnings: tuple[str, ...] = ()


def read_header(path: Path, charset: str, options: Options, limits: TableLimits) -> Header:
    text, whole = _head(path, charset)
    if not text.strip():
        raise IngestError(body_fault("EMPTY", "The file is empty; send a table with a header and rows."))
    given = options.delimiter
    delimiter = _guess(text) if given is None else _checked_delimiter(given, text)
    try:
        rows = (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
        cells = next(rows)
    except csv.Error:
        raise IngestError(_no_table("Its first line is no header")) from None
    if len(cells) == 1:
        fixes = [] if given is None else _delimiter_fixes(text)
        raise IngestError(_no_table(_one_column(text, given), *fixes))
    if whole and _ended(rows):
        raise IngestError(body_fault("NO_ROWS", "There is a header and no row of data below it."))
    warnings = []
    if given is None and delimiter != ",":
        name = _DELIMITER_NAMES[delimiter]
        warnings.append(f"Cells were taken to be separated by {name}; `delimiter` says otherwise.")
    names = [cell.strip() for cell in cells]
    warnings += _data_for_names(names, options)
    for place, name in enumerate(names, start=1):
        if not name:
            names[place - 1] = f"column_{place}"
            warnings.append(
                f"Column {place} has no name and is called 'column_{place}'; if it only numbers the rows, "
                f"leave it out with drop=column_{place}."
            )
    check_names(names, limits)
    blank_lines = len(text[: len(text) - len(text.lstrip("\r\n"))].splitlines())
    return Header(tuple(names), delimiter, blank_lines, tuple(warnings))


def check_names(names: Sequence[str], limits: TableLimits) -> None:
    """For every format: not too many, none twice, none absurd."""
    if len(names) > limits.max_columns:
        most = f"at most {limits.max_columns:,} are taken (LITERATI_MAX_COLUMNS)"
        message = f"The table has {len(names):,} columns; {most}."
        raise IngestError(body_fault("TOO_MANY_COLUMNS", message))
    if any(len(name) > LONGEST_NAME for name in names):
        message = f"A column's name is longer than {LONGEST_NAME:,} characters; is the first row a header?"
        raise IngestError(body_fault("LONG_NAME", message))
    if "" in names:
        message = f"Column {list(names).index('') + 1} has no name; give it one."
        raise IngestError(body_fault("NO_NAME", message))
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise IngestError(
            *(
                column_fault(name, "DUPLICATE_COLUMN", f"Two columns are called {shown(name)}; rename one.")
                for name in dict.fromkeys(twice)
            )
        )


def _head(path: Path, charset: str) -> tuple[str, bool]:
    """Text with the header in it, and whether it is all there is."""
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if charset == "utf-8":
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            message = "The file is UTF-16; save it as UTF-8, or send Content-Type: text/csv; charset=utf-16."
            raise IngestError(body_fault("NOT_UTF8", message))
        if b"\0" in head:
            message = "The file holds zero bytes, so it is no text; send CSV as UTF-8 text."
            raise IngestError(body_fault("NOT_TEXT", message))
    codec = codecs.getincrementaldecoder("utf-8-sig" if charset == "utf-8" else charset)
    try:
        return codec().decode(head, final=len(head) < HEAD_BYTES), len(head) < HEAD_BYTES
    except UnicodeDecodeError as error:  # below the header it may be in a column that is left out
        text = codec().decode(error.object[: error.start])
        if "\n" not in text.lstrip() and "\r" not in text.lstrip():
            raise IngestError(bad_encoding(path, charset)) from None
        return text, False


def bad_encoding(path: Path, charset: str) -> Fault:
    """Where the bytes stop to be text of this encoding."""
    decoder = codecs.getincrementaldecoder(charset)()
    position, line = 0, 1
    with path.open("rb") as file:
        while True:
            block = file.read(HEAD_BYTES)
            held = len(decoder.getstate()[0])
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                offset = error.start - held
                line += block[: max(0, offset)].count(b"\n")
                advice = (
                    "save the file as UTF-8, or say what it is, for example "
                    "Content-Type: text/csv; charset=windows-1252"
                )
                place = f"(byte {position + offset:,} of the file)"
                message = f"Line {line:,} is not {charset.upper()} {place}; {advice}."
                return Fault(("body", "lines", line), "BAD_ENCODING", message)
            if not block:
                message = f"The file cannot be read as {charset.upper()}; save it as UTF-8."
                return body_fault("BAD_ENCODING", message)
            position += len(block)
            line += block.count(b"\n")


def _ended(rows: Iterator[list[str]]) -> bool:
    try:
        return next(rows, None) is None
    except csv.Error:  # a row that is too long for this reader
        return False


def _guess(text: str) -> str:
    """The one that occurs most often in the first line, outside quotation marks."""
    line = next(line for line in text.splitlines() if line.strip())
    bare = _QUOTED.sub("", line)
    return max(DELIMITERS, key=bare.count)  # the first of equals: a comma if there is none


def _delimiter_fixes(text: str) -> list[Fix]:
    """The delimiter that the first line speaks for, if any.

    It is named, because to leave it open means tabs where the media type says so.
    """
    found = _guess(text)
    if found not in text:
        return []
    option = "tab" if found == "\t" else found
    return [set_option(f"Read with {_DELIMITER_NAMES[found]} between the cells", delimiter=option)]


def _checked_delimiter(given: str, text: str) -> str:
    delimiter = DELIMITER_WORDS.get(given.lower(), given)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0.-+':
        message = "Expected one character that parts the cells, such as , or ; or | or the word tab."
        raise IngestError(option_fault("delimiter", "BAD_DELIMITER", message, *_delimiter_fixes(text)))
    return delimiter


def _no_table(found: str, *fixes: Fix) -> Fault:
    message = f"This is not a table: {found}. Send CSV: a header with the columns' names, then a line a row."
    return body_fault("NOT_A_TABLE", message, *fixes)


def _one_column(text: str, given: str | None) -> str:
    start = text.lstrip()[:1]
    if start in "{[":
        return "it looks like JSON"
    if start == "<":
        return "it looks like HTML or XML"
    if given is not None:
        return "with this `delimiter` there is only one column"
    return "there is only one column (cells may be separated by , ; | or tabs; `delimiter` names another)"


def _data_for_names(names: Sequence[str], options: Options) -> list[str]:
    """A first row of numbers is data, unless it just counts the columns as pandas does; others may be."""
    numbers = sum(bool(_NUMBER.fullmatch(name)) for name in names)
    if 2 * numbers < len(names) or list(names) == [str(place) for place in range(len(names))]:
        return []
    if numbers < len(names) and options.target in names:
        return ["The first row looks like data; if it is, add a header line with the columns' names."]
    then = (
        "and say with ?target= which column holds the classes"
        if options.target is None
        else f"{shown(options.target)} among them"
    )
    message = f"The first row looks like data: add a header line with the columns' names, {then}."
    raise IngestError(body_fault("NO_HEADER", message))
