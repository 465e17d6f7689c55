"""Rows in CSV with a header: each column is parsed as what the model knows it to be."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from service.errors import FieldError, pointer
from service.ingest.coded import Coded, coded, stripped
from service.ingest.fixes import DECIMAL_COMMA, DECIMAL_POINT
from service.ingest.header import DELIMITERS, HEAD_BYTES
from service.ingest.numerals import (
    PLAIN,
    Style,
    clear_sign,
    closest,
    decided,
    possible_styles,
    to_numbers,
)
from service.ingest.options import NULL_WORDS
from service.ingest.text import FALSE_WORDS, TRUE_WORDS
from service.remedies import Remedy
from worker.messages import CsvStyle, DecimalSign

from .batch import Batch
from .faults import MOST_ERRORS, MalformedError, RowsError, absent, positions, refuse, refuse_absent
from .layout import Field, Layout, spelt_number
from .table_rows import Spell, read_table, wrong_cell

MANY_BYTES = 1 << 20  # from here on several threads parse
TRUE, FALSE = (
    [spell(word) for word in sorted(words) for spell in (str, str.upper, str.title)]
    for words in (TRUE_WORDS, FALSE_WORDS)
)
TRUTH = {**dict.fromkeys(TRUE, True), **dict.fromkeys(FALSE, False)}
CODED = pa.dictionary(pa.int32(), pa.string())
TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "category": CODED}
UNKNOWN_STYLE = CsvStyle()


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """What a request says of its CSV. The rest is found out, or is as it was in the training data."""

    delimiter: str | None = None  # None: the one with which most columns are the model's
    decimal: DecimalSign | None = None
    null_words: frozenset[str] | None = None
    charset: str = "utf-8"


def read_csv(
    body: bytes, layout: Layout, max_rows: int, options: CsvOptions, style: CsvStyle = UNKNOWN_STYLE
) -> Batch:
    """`style` is that of the CSV that the model was trained on."""
    body = _text(body, options.charset)
    header, delimiter = _header(body, layout, options.delimiter)
    at = positions(header, lambda position: pointer("body", "header", position))
    layout = layout.lacking(at.__contains__)
    refuse_absent([absent("/body/header", entry.name) for entry in layout.fields if entry.name not in at])
    reader = _Reader(body, header, delimiter, layout, options, style)
    table = reader.plain_table() if reader.may_be_plain else None
    if table is None:
        table = reader.written_table()
    spell: Spell = lambda text, entry: _label(text, entry, reader.nulls)  # noqa: E731
    return read_table(
        table, layout, max_rows, spell=spell, read_as=reader.read_as, unreadable=reader.unreadable
    )


def _text(body: bytes, charset: str) -> bytes:
    """The body in UTF-8 from its header on: as in an upload, blank lines may come before it."""
    if charset != "utf-8":
        try:
            body = body.decode(charset).encode()
        except UnicodeError:
            raise MalformedError(f"The body is not text in {charset}, as its Content-Type says.") from None
    return body.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")


class _Reader:
    """Of the rows below a header."""

    def __init__(
        self,
        body: bytes,
        header: list[str],
        delimiter: str,
        layout: Layout,
        options: CsvOptions,
        style: CsvStyle,
    ) -> None:
        self.body = body
        self.header = header
        self.delimiter = delimiter
        self.layout = layout
        self.decimal = options.decimal
        self.style = style
        words = NULL_WORDS if style.null_words is None else style.null_words
        self.nulls = frozenset({"", *(words if options.null_words is None else options.null_words)})
        self.read_as: dict[str, str] = {}  # columns whose numbers are not written plainly
        self.unreadable: dict[str, int | None] = {}  # columns that are left aside, with the first such row
        self.types = dict.fromkeys(header, pa.string())  # of what the model does not know, any cell will do
        self.types.update({entry.name: TYPES[entry.kind] for entry in layout.fields})

    @property
    def may_be_plain(self) -> bool:
        """Whether numbers that can be read with the decimal point are meant so."""
        signs = (self.style.decimal_of(entry.name) for entry in self.layout.numbers)
        return self.decimal is not None or "," not in signs

    def plain_table(self) -> Any | None:
        """The table, if its cells can be read at once, with one decimal sign and without thousands."""
        try:
            return self._parse(self.types)
        except pa.ArrowInvalid:
            return None

    def written_table(self) -> Any:
        """The table with its numbers read as they are written. RowsError names the cells that are none."""
        typed = [entry for entry in self.layout.fields if entry.kind != "category"]
        names = [entry.name for entry in typed]
        others = [name for name in self.header if name not in set(names)]
        try:
            text = self._parse(self.types | dict.fromkeys(names, CODED), names, nulls=True) if names else None
            rest = self._parse(self.types, others) if others else pa.table({})
        except pa.ArrowInvalid:
            raise self._diagnosis() from None
        if text is None:
            return rest
        columns = dict(zip(rest.column_names, rest.columns, strict=True))
        words = {name: stripped(coded(text.column(name)), self.nulls)[0] for name in names}
        styles = self._styles({entry.name: words[entry.name] for entry in self.layout.numbers})
        errors: list[FieldError] = []
        ambiguous: list[str] = []
        for entry in typed:
            column = words[entry.name]
            columns[entry.name] = pa.nulls(text.num_rows)
            if entry.name in styles and styles[entry.name] is None:
                if entry.place in self.layout.used:
                    ambiguous.append(entry.name)
                else:
                    self.unreadable[entry.name] = None
                continue
            values, bad = self._values(entry, column.values, styles.get(entry.name))
            if bad:
                self._complain(entry, np.flatnonzero(np.isin(column.codes, bad)), errors)
            else:
                columns[entry.name] = column.spread(values)
        refuse(errors[:MOST_ERRORS])
        if ambiguous:
            raise _ambiguous(ambiguous)
        return pa.table(columns)

    def _complain(self, entry: Field, rows: Any, errors: list[FieldError]) -> None:
        """About cells that cannot be read: an error if the tree uses the column."""
        if entry.place in self.layout.used:
            errors += [wrong_cell(row, entry) for row in rows[:MOST_ERRORS].tolist()]
        else:
            self.unreadable[entry.name] = int(rows[0]) + 1

    def _values(self, entry: Field, words: Any, style: Style | None) -> tuple[Any, list[int]]:
        """The cells that these words are, or the places of the words that are none."""
        if entry.kind == "boolean":
            cells = [TRUTH.get(word) for word in words.to_pylist()]
            return pa.array(cells, pa.bool_()), [place for place, cell in enumerate(cells) if cell is None]
        bad: list[int] = []
        if style is None:
            style, bad = closest(words, self._signs(entry.name))
        values, first = (None, None) if bad else to_numbers(words, style)
        if style.words and values is not None:
            self.read_as[entry.name] = style.words
        return values, bad if first is None else [first]

    def _signs(self, name: str) -> str:
        """The decimal signs that may be meant, the likelier one first."""
        return self.decimal or (",." if self.style.decimal_of(name) == "," else ".,")

    def _styles(self, words: Mapping[str, Coded]) -> dict[str, Style | None]:
        """How the numbers of each column are written; None where that may mean two things.

        Columns that are not all numbers are left out.
        """
        possible = {name: possible_styles(column.values, zeros=True) for name, column in words.items()}
        clear = [decided(styles, self.decimal, None) for styles in possible.values()]
        signs = {style.decimal for style in clear if style is not None and style != PLAIN}
        evidence = next(iter(signs)) if len(signs) == 1 else "." if self.delimiter == "," else None
        # The style of the training data holds unless a column cannot be written so: then all rows are taken
        # to be written in another way.
        trained = {name: self.style.decimal_of(name) for name in words}
        if all(clear_sign(possible[name]) in (None, sign) for name, sign in trained.items() if sign):
            known = {name: sign or evidence for name, sign in trained.items()}
        else:
            known = dict.fromkeys(words, evidence)
        found: dict[str, Style | None] = {}
        for name, styles in possible.items():
            style = decided(styles, self.decimal, known[name]) if len(words[name].values) else PLAIN
            if style is not None or (styles and self.decimal is None):
                found[name] = style
        return found

    def _parse(
        self,
        types: dict[str, Any],
        only: list[str] | None = None,
        *,
        nulls: bool = False,
        threads: bool = True,
    ) -> Any:
        return arrow_csv.read_csv(
            pa.BufferReader(self.body),
            read_options=arrow_csv.ReadOptions(
                use_threads=threads and len(self.body) >= MANY_BYTES,
                block_size=max(MANY_BYTES, len(self.body) // 16),
                column_names=list(types),
                skip_rows_after_names=1,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=b'"' in self.body
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                null_values=list(self.nulls),
                include_columns=only,
                # Which text of a category column means null depends on its categories.
                strings_can_be_null=nulls,
                true_values=TRUE,
                false_values=FALSE,
                decimal_point=self.decimal or ".",
            ),
        )

    def _diagnosis(self) -> MalformedError:
        """Read again without threads: only then the parser knows the number of a row."""
        try:
            self._parse(dict.fromkeys(self.header, pa.string()), threads=False)
        except pa.ArrowInvalid as error:
            return _malformed(error)
        return _malformed(None)


def _ambiguous(names: list[str]) -> RowsError:
    message = "The commas in this column may be decimal signs, or stand between thousands; say `decimal`."
    errors = [FieldError(pointer("body", name), "AMBIGUOUS_NUMBERS", message) for name in names]
    fixes = [Remedy(fix.label, fix.options) for fix in (DECIMAL_COMMA, DECIMAL_POINT)]
    return RowsError(f"{names[0]}: {message}", errors, fixes)


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


def _label(text: str | None, entry: Field, nulls: frozenset[str]) -> Any:
    """What the model may know a text as: itself, a number or a boolean; None where it means missing."""
    if text is None or text in entry.index:
        return text
    if text in nulls:
        return None
    if bool in entry.types and text in TRUTH:
        return TRUTH[text]
    return spelt_number(text, text) if int in entry.types else text


def _malformed(error: Exception | None) -> MalformedError:
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
