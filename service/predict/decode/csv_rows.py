"""Decode rows in CSV with a header. Each column is parsed as its type in the model."""

from __future__ import annotations

import codecs
import csv
import io
from typing import Any

from service.ingest.csv_header import DELIMITERS, HEAD_BYTES, column_names
from service.predict.decode.csv_table import CsvOptions, CsvTable
from service.predict.decode.table_rows import read_table
from service.predict.decode.text_columns import BOOLEANS
from service.predict.layout import Batch, Field, Layout, parse_number
from service.predict.row_errors import MalformedError
from worker.domain.datasets import CsvStyle

_NO_STYLE = CsvStyle()


def read_csv(
    body: bytes, layout: Layout, max_rows: int, options: CsvOptions, style: CsvStyle = _NO_STYLE
) -> Batch:
    """Decode the rows. `style` is that of the CSV that the model was trained on."""
    body = _as_utf8(body, options.charset)
    header, delimiter = _read_header(body, layout, options.delimiter)
    layout, _ = layout.matched(header, "body", "header")
    csv_table = CsvTable(body, header, delimiter, layout, options, style)
    return read_table(
        csv_table.read(),
        layout,
        max_rows,
        parse_label=lambda text, entry: parse_label(text, entry, csv_table.null_words),
        read_as=csv_table.read_as,
        unreadable=csv_table.unreadable,
    )


def _as_utf8(body: bytes, charset: str) -> bytes:
    """Return the body in UTF-8, without a byte order mark and blank lines before the header."""
    if charset != "utf-8":
        try:
            body = body.decode(charset).encode()
        except UnicodeError:
            raise MalformedError(f"The body is not text in {charset}, its declared charset.") from None
    return body.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")


def _read_header(body: bytes, layout: Layout, delimiter: str | None) -> tuple[list[str], str]:
    """Return the names in the first row and the delimiter that gives most columns of the model."""
    head = body[:HEAD_BYTES]
    if len(body) > HEAD_BYTES and b"\n" not in head and b"\r" not in head:
        raise MalformedError(f"The first row is longer than {HEAD_BYTES:,} bytes; expected a header.")
    found: tuple[list[str], str] = [], ","
    max_known = -1
    for candidate in DELIMITERS if delimiter is None else [delimiter]:
        try:
            text = io.TextIOWrapper(io.BytesIO(head), "utf-8-sig", newline="")
            names = column_names(next(csv.reader(text, delimiter=candidate), []))
        except (UnicodeDecodeError, csv.Error):
            raise MalformedError("The body is not CSV in UTF-8: its first row cannot be read.") from None
        known = sum(name in layout.by_name for name in names)
        if known > max_known:
            found, max_known = (names, candidate), known
    if not found[0]:
        raise MalformedError("The body is empty; expected CSV with a header.")
    return found


def parse_label(text: str | None, entry: Field, null_words: frozenset[str]) -> Any:
    """Return the text as a category, a boolean or a number of the model, or None if it means missing."""
    if text is None or text in entry.codes:
        return text
    if text in null_words:
        return None
    if bool in entry.types and text in BOOLEANS:
        return BOOLEANS[text]
    return parse_number(text, text) if int in entry.types else text
