"""Read columns of text as the numbers and booleans of a model, in the style of their cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from literati.data.words import FALSE_WORDS, TRUE_WORDS
from service.http.problems import FieldError, pointer
from service.http.remedies import Remedy
from service.ingest.dictionary_column import DictionaryColumn, encode_column, strip_values
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
from service.predict.row_errors import MAX_ERRORS, RowsError, raise_errors
from worker.domain.datasets import CsvStyle, DecimalSign

TRUE_TEXTS, FALSE_TEXTS = (
    [change_case(word) for word in sorted(words) for change_case in (str, str.upper, str.title)]
    for words in (TRUE_WORDS, FALSE_WORDS)
)
BOOLEANS = {**dict.fromkeys(TRUE_TEXTS, True), **dict.fromkeys(FALSE_TEXTS, False)}


class TextColumns:
    """Columns of numbers and booleans that come as text, of a CSV or of tensors."""

    def __init__(
        self,
        layout: Layout,
        style: CsvStyle,
        null_words: frozenset[str],
        *,
        decimal: DecimalSign | None = None,
        usual_decimal: DecimalSign | None = None,
        has_options: bool = True,
    ) -> None:
        """Prepare to read columns of the layout. `style` is that of the CSV that the model was trained on.

        The request demands the sign `decimal`, if it has this option. `usual_decimal` is used if neither the
        cells nor the training data show the sign.
        """
        self.layout = layout
        self.style = style
        self.null_words = null_words
        self.decimal = decimal
        self.usual_decimal = usual_decimal
        self.has_options = has_options
        self.read_as: dict[str, str] = {}  # columns that are not plain numbers, and their style in words
        self.unreadable: dict[str, int | None] = {}  # columns that are ignored, with the first such row

    def read(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return Arrow columns of text as float64 or Boolean; raise RowsError if cells do not fit the model.

        Unused columns that cannot be read are left out.
        """
        words = {
            name: strip_values(encode_column(column), self.null_words)[0] for name, column in columns.items()
        }
        styles = self._styles({name: words[name] for name in words if self._field(name).kind == "number"})
        found: dict[str, Any] = {}
        errors: list[FieldError] = []
        ambiguous: list[str] = []
        for name, column in words.items():
            entry = self._field(name)
            if name in styles and styles[name] is None:
                if entry.index in self.layout.used:
                    ambiguous.append(name)
                else:
                    self.unreadable[name] = None
                continue
            values, bad = self._convert(entry, column.values, styles.get(name))
            if not bad:
                found[name] = column.with_values(values)
                continue
            rows = np.flatnonzero(np.isin(column.codes, bad))
            if entry.index in self.layout.used:
                errors += [wrong_cell(row, entry) for row in rows[:MAX_ERRORS].tolist()]
            else:
                self.unreadable[name] = int(rows[0]) + 1
        raise_errors(errors)
        if ambiguous:
            raise self._ambiguous(ambiguous)
        return found

    def _field(self, name: str) -> Field:
        return self.layout.by_name[name]

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
        trained = {name: self.style.decimal_of(name) for name in words}
        if self.decimal is None and "," not in trained.values() and all(map(_is_plain, words.values())):
            return dict.fromkeys(words, PLAIN)
        possible = {name: possible_styles(column.values, zeros=True) for name, column in words.items()}
        clear = [choose_style(styles, self.decimal, None) for styles in possible.values()]
        signs = {style.decimal for style in clear if style is not None and style != PLAIN}
        detected = next(iter(signs)) if len(signs) == 1 else self.usual_decimal
        # The style of the training data applies to all columns, unless one of them contradicts it.
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

    def _ambiguous(self, names: list[str]) -> RowsError:
        remedy = "write numbers without separators and with a decimal point"
        message = "The commas in this column may be decimal signs or thousands separators; "
        message += "send `decimal`." if self.has_options else f"{remedy}."
        errors = [FieldError(pointer("body", name), "AMBIGUOUS_NUMBERS", message) for name in names]
        fixes = [Remedy(fix.label, fix.options) for fix in (DECIMAL_COMMA, DECIMAL_POINT)]
        return RowsError(f"{names[0]}: {message}", errors, fixes if self.has_options else ())


def _is_plain(column: DictionaryColumn) -> bool:
    """Return whether Arrow reads all words as numbers, which is fast."""
    try:
        column.values.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
