"""Parse the rows of a CSV into an Arrow table with the column types of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from literati.data.words import FALSE_WORDS, NULL_WORDS, TRUE_WORDS
from service.http.problems import FieldError, pointer
from service.http.remedies import Remedy
from service.ingest.csv_errors import find_ragged_row
from service.ingest.dictionary_column import DICTIONARY, DictionaryColumn, encode_column, strip_values
from service.ingest.fixes import DECIMAL_COMMA, DECIMAL_POINT
from service.ingest.number_style import (
    PLAIN,
    NumberStyle,
    choose_style,
    closest_style,
    common_decimal,
    possible_styles,
    to_numbers,
)
from service.predict.decode.table_rows import wrong_cell
from service.predict.layout import Field, Layout
from service.predict.row_errors import MAX_ERRORS, MalformedError, RowsError, raise_errors
from worker.domain.datasets import CsvStyle, DecimalSign

MIN_THREAD_BYTES = 1 << 20  # a larger body is parsed in several threads
_TRUE, _FALSE = (
    [change_case(word) for word in sorted(words) for change_case in (str, str.upper, str.title)]
    for words in (TRUE_WORDS, FALSE_WORDS)
)
BOOLEANS = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}
_TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "category": DICTIONARY}


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """The CSV options of a request. The others are detected, or as in the training data."""

    delimiter: str | None = None  # None: the one that gives most columns of the model
    decimal: DecimalSign | None = None
    null_words: frozenset[str] | None = None
    charset: str = "utf-8"


class CsvTable:
    """A CSV with its header and the types of its columns."""

    def __init__(
        self,
        body: bytes,
        header: list[str],
        delimiter: str,
        layout: Layout,
        options: CsvOptions,
        style: CsvStyle,
    ) -> None:
        """Prepare to read the body. `style` is that of the CSV that the model was trained on."""
        self.body = body
        self.header = header
        self.delimiter = delimiter
        self.layout = layout
        self.decimal = options.decimal
        self.style = style
        words = NULL_WORDS if style.null_words is None else style.null_words
        self.null_words = frozenset({"", *(words if options.null_words is None else options.null_words)})
        self.read_as: dict[str, str] = {}  # columns that are not plain numbers, and their style in words
        self.unreadable: dict[str, int | None] = {}  # columns that are ignored, with the first such row
        self.types = dict.fromkeys(header, pa.string())
        self.types.update({entry.name: _TYPES[entry.kind] for entry in layout.fields})

    def read(self) -> Any:
        """Return the Arrow table; raise RowsError if cells do not fit the model."""
        signs = [self.style.decimal_of(entry.name) for entry in self.layout.numbers]
        if self.decimal is not None or "," not in signs:
            try:
                return self._parse(self.types)
            except pa.ArrowInvalid:
                pass  # not all cells are plain numbers
        return self._read_by_style()

    def _read_by_style(self) -> Any:
        """Read numbers and booleans as text, then convert each column in the style of its cells."""
        typed = [entry for entry in self.layout.fields if entry.kind != "category"]
        names = [entry.name for entry in typed]
        others = [name for name in self.header if name not in set(names)]
        types = self.types | dict.fromkeys(names, DICTIONARY)
        try:
            text = self._parse(types, names, text_can_be_null=True) if names else None
            rest = self._parse(self.types, others) if others else pa.table({})
        except pa.ArrowInvalid:
            raise self._diagnose() from None
        if text is None:
            return rest
        columns = dict(zip(rest.column_names, rest.columns, strict=True))
        words = {name: strip_values(encode_column(text.column(name)), self.null_words)[0] for name in names}
        styles = self._styles({entry.name: words[entry.name] for entry in self.layout.numbers})
        errors: list[FieldError] = []
        ambiguous: list[str] = []
        for entry in typed:
            column = words[entry.name]
            columns[entry.name] = pa.nulls(text.num_rows)
            if entry.name in styles and styles[entry.name] is None:
                if entry.index in self.layout.used:
                    ambiguous.append(entry.name)
                else:
                    self.unreadable[entry.name] = None
                continue
            values, bad = self._convert(entry, column.values, styles.get(entry.name))
            if not bad:
                columns[entry.name] = column.with_values(values)
                continue
            rows = np.flatnonzero(np.isin(column.codes, bad))
            if entry.index in self.layout.used:
                errors += [wrong_cell(row, entry) for row in rows[:MAX_ERRORS].tolist()]
            else:
                self.unreadable[entry.name] = int(rows[0]) + 1
        raise_errors(errors)
        if ambiguous:
            raise _ambiguous(ambiguous)
        return pa.table(columns)

    def _convert(self, entry: Field, words: Any, style: NumberStyle | None) -> tuple[Any, list[int]]:
        """Return the words as numbers or booleans, and the positions of the words that are neither."""
        if entry.kind == "boolean":
            cells = [BOOLEANS.get(word) for word in words.to_pylist()]
            return pa.array(cells, pa.bool_()), [i for i, cell in enumerate(cells) if cell is None]
        bad: list[int] = []
        if style is None:
            trained_comma = self.style.decimal_of(entry.name) == ","
            style, bad = closest_style(words, self.decimal or (",." if trained_comma else ".,"))
        values, first = (None, None) if bad else to_numbers(words, style)
        if style.words and values is not None:
            self.read_as[entry.name] = style.words
        return values, bad if first is None else [first]

    def _styles(self, words: Mapping[str, DictionaryColumn]) -> dict[str, NumberStyle | None]:
        """Return the number style of each column; None if it is ambiguous.

        Columns that are not all numbers are left out.
        """
        possible = {name: possible_styles(column.values, zeros=True) for name, column in words.items()}
        clear = [choose_style(styles, self.decimal, None) for styles in possible.values()]
        signs = {style.decimal for style in clear if style is not None and style != PLAIN}
        detected = next(iter(signs)) if len(signs) == 1 else "." if self.delimiter == "," else None
        # The style of the training data applies to all columns, unless one of them contradicts it.
        trained = {name: self.style.decimal_of(name) for name in words}
        if all(common_decimal(possible[name]) in (None, sign) for name, sign in trained.items() if sign):
            known = {name: sign or detected for name, sign in trained.items()}
        else:
            known = dict.fromkeys(words, detected)
        found: dict[str, NumberStyle | None] = {}
        for name, styles in possible.items():
            style = choose_style(styles, self.decimal, known[name]) if len(words[name].values) else PLAIN
            if style is not None or (styles and self.decimal is None):
                found[name] = style
        return found

    def _parse(
        self,
        types: dict[str, Any],
        only: list[str] | None = None,
        *,
        text_can_be_null: bool = False,
        threads: bool = True,
    ) -> Any:
        return arrow_csv.read_csv(
            pa.BufferReader(self.body),
            read_options=arrow_csv.ReadOptions(
                use_threads=threads and len(self.body) >= MIN_THREAD_BYTES,
                block_size=max(MIN_THREAD_BYTES, len(self.body) // 16),
                column_names=list(types),
                skip_rows_after_names=1,
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=b'"' in self.body
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types,
                null_values=list(self.null_words),
                include_columns=only,
                # False for category columns: which words are null depends on the categories.
                strings_can_be_null=text_can_be_null,
                true_values=_TRUE,
                false_values=_FALSE,
                decimal_point=self.decimal or ".",
            ),
        )

    def _diagnose(self) -> MalformedError:
        """Parse again in a single thread, because only then Arrow's errors name the row."""
        try:
            self._parse(dict.fromkeys(self.header, pa.string()), threads=False)
        except pa.ArrowInvalid as error:
            if ragged := find_ragged_row(str(error)):
                where = pointer("body", "rows", ragged.row - 1)
                field_error = FieldError(where, "RAGGED_ROW", ragged.message)
                return MalformedError(f"The body is not valid CSV. {ragged.message}", [field_error])
        return MalformedError("The body is not valid CSV: a row or a cell cannot be read, or is not UTF-8.")


def _ambiguous(names: list[str]) -> RowsError:
    message = "The commas in this column may be decimal signs or thousands separators; send `decimal`."
    errors = [FieldError(pointer("body", name), "AMBIGUOUS_NUMBERS", message) for name in names]
    fixes = [Remedy(fix.label, fix.options) for fix in (DECIMAL_COMMA, DECIMAL_POINT)]
    return RowsError(f"{names[0]}: {message}", errors, fixes)
