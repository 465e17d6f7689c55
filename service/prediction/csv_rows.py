"""Rows in CSV with a header: each column is parsed as what the model knows it to be."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.errors import FieldError, pointer
from service.ingest.header import DELIMITERS, HEAD_BYTES
from service.ingest.options import NULL_WORDS
from service.ingest.text import FALSE_WORDS, TRUE_WORDS

from .batch import Batch
from .faults import MOST_ERRORS, MalformedError, absent, positions, refuse, refuse_absent
from .layout import Field, Layout
from .table_rows import read_table, wrong_cell

MANY_BYTES = 1 << 20  # from here on several threads parse
SPACES = " \t"
INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
TRUE, FALSE = (
    [spell(word) for word in sorted(words) for spell in (str, str.upper, str.title)]
    for words in (TRUE_WORDS, FALSE_WORDS)
)
TYPES = {
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "category": pa.dictionary(pa.int32(), pa.string()),
}


@dataclass(frozen=True, slots=True)
class CsvOptions:
    delimiter: str | None = None  # None: the one with which most columns are the model's
    decimal: str = "."
    nulls: frozenset[str] = frozenset({"", *NULL_WORDS})


def read_csv(body: bytes, layout: Layout, max_rows: int, options: CsvOptions) -> Batch:
    header, delimiter = _header(body, layout, options.delimiter)
    at = positions(header, lambda position: pointer("body", "header", position))
    layout = layout.lacking(at.__contains__)
    refuse_absent([absent("/body/header", entry.name) for entry in layout.fields if entry.name not in at])
    types = dict.fromkeys(header, pa.string())  # of what the model does not know, any cell will do
    types.update({entry.name: TYPES[entry.kind] for entry in layout.fields})
    try:
        table = _parse(body, delimiter, options, types)
    except pa.ArrowInvalid as error:
        _refuse_cells(body, delimiter, options, layout, header)
        raise _malformed(error) from None
    return read_table(table, layout, max_rows, spell=lambda text, entry: _label(text, entry, options))


def _header(body: bytes, layout: Layout, delimiter: str | None) -> tuple[list[str], str]:
    """The names in the first row, and the delimiter."""
    head = body[:HEAD_BYTES]
    if len(body) > HEAD_BYTES and b"\n" not in head and b"\r" not in head:
        raise MalformedError(f"The first row is longer than {HEAD_BYTES:,} bytes; expected a header.")
    found: tuple[list[str], str] = [], ","
    most = -1
    for candidate in DELIMITERS if delimiter is None else [delimiter]:
        try:
            text = io.TextIOWrapper(io.BytesIO(head), "utf-8-sig", newline="")
            cells = next(csv.reader(text, delimiter=candidate), [])
        except (UnicodeDecodeError, csv.Error):
            raise MalformedError("The body is not CSV in UTF-8: its first row cannot be read.") from None
        # As datasets are read: a column without a name has one all the same.
        names = [cell.strip() or f"column_{place}" for place, cell in enumerate(cells, start=1)]
        known = sum(name in layout.by_name for name in names)
        if known > most:
            found, most = (names, candidate), known
    if not found[0]:
        raise MalformedError("The body is empty; expected CSV with a header.")
    return found


def _parse(body: bytes, delimiter: str, options: CsvOptions, types: dict[str, Any]) -> Any:
    return arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(
            use_threads=len(body) >= MANY_BYTES,
            block_size=max(MANY_BYTES, len(body) // 16),
            column_names=list(types),
            skip_rows_after_names=1,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in body),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            null_values=list(options.nulls),
            strings_can_be_null=False,  # which text of a category column means null depends on its categories
            true_values=TRUE,
            false_values=FALSE,
            decimal_point=options.decimal,
        ),
    )


def _label(text: str | None, entry: Field, options: CsvOptions) -> Any:
    """What the model may know a text as: itself, a number or a boolean; None where it means missing."""
    if text is None or text in entry.index:
        return text
    if text in options.nulls:
        return None
    if bool in entry.types and text in TRUE + FALSE:
        return text in TRUE
    if int not in entry.types:
        return text
    if INTEGER.fullmatch(text.strip(SPACES)):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def _refuse_cells(
    body: bytes, delimiter: str, options: CsvOptions, layout: Layout, header: list[str]
) -> None:
    """Say which cells cannot be read. The parser names one, and echoes it."""
    try:
        table = _parse(body, delimiter, options, dict.fromkeys(header, pa.string()))
    except pa.ArrowInvalid as error:
        raise _malformed(error) from None
    errors: list[FieldError] = []
    for entry in layout.fields:
        if entry.kind != "category":
            for row, text in enumerate(table.column(entry.name).to_pylist()):
                if not _is_readable(text.strip(SPACES), entry, options):
                    errors.append(wrong_cell(row, entry))
                    if len(errors) >= MOST_ERRORS:
                        refuse(errors)
    refuse(errors)


def _is_readable(text: str, entry: Field, options: CsvOptions) -> bool:
    if text in options.nulls:
        return True
    if entry.kind == "boolean":
        return text in TRUE + FALSE
    try:
        pa.scalar(text.replace(options.decimal, ".")).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _malformed(error: Exception) -> MalformedError:
    """What the parser says of the rows' lengths; its other words echo the body."""
    found = re.search(r"Expected (\d+) columns, got (\d+)", str(error))
    words = "a row or a cell cannot be read, or is not UTF-8"
    if found:
        words = f"a row has {found[2]} cells where the header has {found[1]}"
    return MalformedError(f"The body is not CSV that can be read: {words}.")
