"""Rows in CSV with a header: each column is parsed as what the model knows it to be."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute
from pyarrow import csv as arrow_csv

from service.errors import FieldError, pointer
from service.ingest.coded import Coded, coded, stripped
from service.ingest.fixes import DECIMAL_COMMA, DECIMAL_POINT
from service.ingest.header import DELIMITERS, HEAD_BYTES
from service.ingest.numerals import PLAIN, Style, decided, possible_styles, to_numbers
from service.ingest.options import NULL_WORDS
from service.ingest.text import FALSE_WORDS, TRUE_WORDS
from service.remedies import Remedy

from .batch import Batch
from .faults import MOST_ERRORS, MalformedError, RowsError, absent, positions, refuse, refuse_absent
from .layout import Field, Layout, spelt_number
from .table_rows import Spell, read_table, wrong_cell

MANY_BYTES = 1 << 20  # from here on several threads parse
SPACES = " \t"
TRUE, FALSE = (
    [spell(word) for word in sorted(words) for spell in (str, str.upper, str.title)]
    for words in (TRUE_WORDS, FALSE_WORDS)
)
CODED = pa.dictionary(pa.int32(), pa.string())
TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "category": CODED}


@dataclass(frozen=True, slots=True)
class CsvOptions:
    delimiter: str | None = None  # None: the one with which most columns are the model's
    decimal: str | None = None  # None: a point, or what the numbers are written with
    nulls: frozenset[str] = frozenset({"", *NULL_WORDS})


def read_csv(body: bytes, layout: Layout, max_rows: int, options: CsvOptions) -> Batch:
    header, delimiter = _header(body, layout, options.delimiter)
    at = positions(header, lambda position: pointer("body", "header", position))
    layout = layout.lacking(at.__contains__)
    refuse_absent([absent("/body/header", entry.name) for entry in layout.fields if entry.name not in at])
    types = dict.fromkeys(header, pa.string())  # of what the model does not know, any cell will do
    types.update({entry.name: TYPES[entry.kind] for entry in layout.fields})
    read_as: dict[str, str] = {}
    try:
        table = _parse(body, delimiter, options, types)
    except pa.ArrowInvalid:
        table, read_as = _as_written(body, delimiter, options, layout, types)
    spell: Spell = lambda text, entry: _label(text, entry, options)  # noqa: E731
    return read_table(table, layout, max_rows, spell=spell, read_as=read_as)


def _as_written(
    body: bytes, delimiter: str, options: CsvOptions, layout: Layout, types: dict[str, Any]
) -> tuple[Any, dict[str, str]]:
    """The table with its numbers read as they are written, and the columns where that is in no plain way.

    RowsError that names the cells where it cannot be.
    """
    names = [entry.name for entry in layout.numbers]
    arrays: dict[str, Any] = {}
    try:
        text = _parse(body, delimiter, options, types | dict.fromkeys(names, CODED), only=names)
        words = {name: stripped(coded(text.column(name)), options.nulls)[0] for name in names}
        styles = _styles(words, options, delimiter)
        plain = Style(options.decimal or ".", "")  # reads some odd numbers too, such as inf
        arrays = {
            name: words[name].spread(numbers)
            for name in names
            if (numbers := to_numbers(words[name].values, styles.get(name, plain))[0]) is not None
            and (name in styles or _keeps_to(options.decimal, words[name].values))
        }
        if unread := [name for name in names if name not in arrays]:
            if options.decimal is None:
                _refuse_ambiguous(unread, words)
            _refuse_cells(body, delimiter, options, layout, list(types), arrays)
        table = _parse(body, delimiter, options, types | dict.fromkeys(names, pa.string()))
    except pa.ArrowInvalid as error:
        _refuse_cells(body, delimiter, options, layout, list(types), arrays)
        raise _malformed(error) from None
    for name, array in arrays.items():
        table = table.set_column(table.column_names.index(name), name, array)
    return table, {name: style.words for name, style in styles.items() if style.words}


def _keeps_to(decimal: str | None, words: Any) -> bool:
    """Whether no word has a point where the decimal sign is a comma."""
    return decimal != "," or not pa.compute.any(pa.compute.match_substring(words, ".")).as_py()


def _refuse_ambiguous(names: list[str], words: dict[str, Coded]) -> None:
    """Raise if these columns are numbers all the same, but their commas may mean two things."""
    if not all(possible_styles(words[name].values, zeros=True) for name in names):
        return
    message = "The commas in this column may be decimal signs, or stand between thousands; say `decimal`."
    errors = [FieldError(pointer("body", name), "AMBIGUOUS_NUMBERS", message) for name in names]
    fixes = [Remedy(fix.label, fix.options) for fix in (DECIMAL_COMMA, DECIMAL_POINT)]
    raise RowsError(f"{names[0]}: {message}", errors, fixes)


def _styles(words: dict[str, Coded], options: CsvOptions, delimiter: str) -> dict[str, Style]:
    """How the numbers of each column are written, where that can be told."""
    possible = {name: possible_styles(column.values, zeros=True) for name, column in words.items()}
    clear = [decided(styles, options.decimal, None) for styles in possible.values()]
    signs = {style.decimal for style in clear if style is not None and style != PLAIN}
    evidence = next(iter(signs)) if len(signs) == 1 else "." if delimiter == "," else None
    found = {
        name: decided(styles, options.decimal, evidence) if len(words[name].values) else PLAIN
        for name, styles in possible.items()
    }
    return {name: style for name, style in found.items() if style is not None}


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


def _parse(
    body: bytes,
    delimiter: str,
    options: CsvOptions,
    types: dict[str, Any],
    only: list[str] | None = None,
    *,
    threads: bool = True,
) -> Any:
    return arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(
            use_threads=threads and len(body) >= MANY_BYTES,
            block_size=max(MANY_BYTES, len(body) // 16),
            column_names=list(types),
            skip_rows_after_names=1,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in body),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            null_values=list(options.nulls),
            include_columns=only,
            # Which text of a category column means null depends on its categories.
            strings_can_be_null=only is not None,
            true_values=TRUE,
            false_values=FALSE,
            decimal_point=options.decimal or ".",
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
    return spelt_number(text, text) if int in entry.types else text


def _refuse_cells(
    body: bytes,
    delimiter: str,
    options: CsvOptions,
    layout: Layout,
    header: list[str],
    readable: Collection[str] = (),
) -> None:
    """Say which cells cannot be read. The parser names one, and echoes it."""
    try:
        # Without threads: only then the parser knows the number of a row.
        table = _parse(body, delimiter, options, dict.fromkeys(header, pa.string()), threads=False)
    except pa.ArrowInvalid as error:
        raise _malformed(error) from None
    errors: list[FieldError] = []
    for entry in layout.fields:
        if entry.kind != "category" and entry.name not in readable:
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
    if options.decimal == "," and "." in text:
        return False
    try:
        pa.scalar(text.replace(options.decimal or ".", ".")).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _malformed(error: Exception) -> MalformedError:
    """What the parser says of the rows' lengths; its other words echo the body."""
    found = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
    if found is None:
        words = "a row or a cell cannot be read, or is not UTF-8"
        return MalformedError(f"The body is not CSV that can be read: {words}.")
    row = int(found[1]) - 1  # the header is the first
    cells = "1 cell" if found[3] == "1" else f"{found[3]} cells"
    message = f"Row {row:,} has {cells}, the header {found[2]}."
    where = pointer("body", "rows", row - 1)
    return MalformedError(
        f"The body is not CSV that can be read. {message}", [FieldError(where, "RAGGED_ROW", message)]
    )
