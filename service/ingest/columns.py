"""Convert the columns of a source table to typed columns: numbers, booleans or categories."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from literati.data.words import as_booleans, look_like_dates, parse_exact
from service.ingest import arrow_types, dictionary_column, number_style
from service.ingest.dictionary_column import DictionaryColumn, encode_column
from service.ingest.errors import IngestError, Issue, cell_issue, column_issue
from service.ingest.fixes import DECIMAL_COMMA, DECIMAL_POINT, Kind, quoted, read_column_as
from service.ingest.hints import SAMPLE, Hint, likely_signs, number_hint
from service.ingest.number_style import NumberStyle
from service.ingest.options import TableLimits
from service.ingest.tables import Column, OmittedColumn, SourceTable
from service.ingest.target import target_values

_MAX_EXACT = 1 << 53  # larger integers are not all floating-point numbers
_MAX_INT64_DOUBLE = np.nextafter(2.0**63, 0)  # the largest floating-point number that is a 64-bit integer


class ColumnConverter:
    """Converts source columns to typed columns; raises IngestError if that is not possible."""

    def __init__(self, source: SourceTable, limits: TableLimits) -> None:
        self.plan = source.plan
        self.text_columns = source.text_columns
        self.csv_format = source.csv_format
        self.limits = limits

    def convert(self, name: str, column: Any) -> Column | OmittedColumn:
        if pa.types.is_temporal(arrow_types.value_type(column.type)) and self.plan.is_optional(name):
            return OmittedColumn(name, arrow_types.dates_omitted(name))
        issue = arrow_types.type_issue(name, column.type, self.plan)
        if issue is not None:
            raise IngestError(issue)
        try:
            return self._convert(name, column, self.plan.kinds.get(name))
        except MemoryError:
            raise
        except pa.ArrowException:  # a rare type that Arrow can hold but not convert
            raise IngestError(arrow_types.unsupported(name, column.type, self.plan)) from None

    def _convert(self, name: str, column: Any, kind: Kind | None) -> Column | OmittedColumn:
        value = arrow_types.value_type(column.type)
        if pa.types.is_null(value):
            return _empty_column(name, len(column), kind)
        if pa.types.is_temporal(value):
            column, value = column.cast(pa.string()), pa.string()
        if arrow_types.is_text(value):
            return self._convert_text(name, encode_column(column), kind)
        if pa.types.is_dictionary(column.type) and kind is None:
            kind = "category"
        found = self._convert_numeric(name, column.cast(value), kind)
        if self.csv_format is not None and pa.types.is_floating(value):
            return replace(found, decimal=self.csv_format.decimal or ".")
        return found

    def _convert_numeric(self, name: str, column: Any, kind: Kind | None) -> Column:
        if pa.types.is_boolean(column.type):
            if kind == "category":
                return self._categories(name, encode_column(column))
            if kind == "number":
                return Column(name, "number", column.cast(pa.int64()))
            return Column(name, "boolean", column)
        numbers = self._numbers(name, column)
        if kind == "category":
            return self._categories(name, encode_column(numbers.array))
        return self._booleans(name, encode_column(numbers.array)) if kind == "boolean" else numbers

    def _convert_text(self, name: str, words: DictionaryColumn, kind: Kind | None) -> Column | OmittedColumn:
        words = replace(words, values=words.values.cast(pa.string()))
        self._check_lengths(name, words)
        null_words = () if self.csv_format is None else self.csv_format.null_words
        words, changed = dictionary_column.strip_values(words, null_words)
        warnings = () if not changed else (_strip_warning(name, changed),)
        if kind == "number" or (kind is None and name == self.plan.weight):
            return self._required_numbers(name, words, warnings)
        if kind == "boolean":
            return self._booleans(name, words, warnings)
        if name == self.plan.target:
            values = target_values(name, words.values, is_csv=name in self.text_columns and kind is None)
            if values is not None:
                found: Kind = "boolean" if pa.types.is_boolean(values.type) else "number"
                return Column(name, found, words.with_values(values), warnings)
            return Column(name, "category", words.array(), warnings)
        if kind is not None:
            if name in self.text_columns and len(words.values) <= self.limits.max_categories:
                values = parse_exact(words.values.to_pylist())
                if values and type(values[0]) is int:
                    words = replace(words, values=pa.array(values, pa.int64()))
            return self._categories(name, words, warnings)
        numbers = self._detected_numbers(name, words, warnings)
        if numbers is not None:
            return numbers
        if self.plan.is_optional(name) and look_like_dates(words.sample(SAMPLE)):
            return OmittedColumn(name, arrow_types.dates_omitted(name))
        quote = len(words.values) <= self.limits.max_categories  # an error must not quote cells
        hint = number_hint(name, words, self.csv_format, quote=quote)
        return self._categories(name, words, warnings, hint)

    def _detected_numbers(
        self, name: str, words: DictionaryColumn, warnings: tuple[str, ...]
    ) -> Column | None:
        """Return text of a CSV as numbers if it is written in a number style that Arrow does not read."""
        if self.csv_format is None or not len(words.values):
            return None
        style = self._style(number_style.possible_styles(words.values))
        if style is None:
            return None
        if style.words:
            warnings = (
                *warnings,
                f"Column {quoted(name)} was read as numbers with {style.words}. Send "
                f"types={name[:80]}:category to read it as text.",
            )
        values, bad = number_style.to_numbers(words.values, style)
        return None if bad is not None else self._text_as_numbers(name, words, values, style, warnings)

    def _required_numbers(self, name: str, words: DictionaryColumn, warnings: tuple[str, ...]) -> Column:
        """Return text as numbers; raise IngestError if a value is not a number."""
        styles = number_style.possible_styles(words.values, zeros=True)
        style = self._style(styles)
        if style is None and styles:
            raise IngestError(self._ambiguous(name))
        unread: list[int] = []
        if style is None:
            style, unread = number_style.closest_style(words.values, likely_signs(self.csv_format))
        values, bad = number_style.to_numbers(words.values, style) if not unread else (None, unread[0])
        if bad is not None:
            row = words.first_row(bad)
            others = [] if name == self.plan.weight else [read_column_as(name, "category")]
            advice = "Every weight must be a number."
            if others:
                advice = (
                    "If the word means missing, add it to null_values; else read the column as categories."
                )
            message = f"Column {quoted(name)} is not a number in row {row:,}. {advice}"
            fixes = arrow_types.column_fixes(name, self.plan, *others)[::-1]
            raise IngestError(cell_issue(row, name, "NOT_A_NUMBER", message, *fixes))
        return self._text_as_numbers(name, words, values, style, warnings)

    def _ambiguous(self, name: str) -> Issue:
        message = f"The commas in column {quoted(name)} may be decimal signs or thousands separators."
        fixes = arrow_types.column_fixes(name, self.plan)
        if self.csv_format is not None:  # only CSV has an option for it
            message = f"{message} Send decimal=, or decimal=. to decide."
            fixes = (DECIMAL_COMMA, DECIMAL_POINT)
        return column_issue(name, "AMBIGUOUS_NUMBERS", message, *fixes)

    def _text_as_numbers(
        self, name: str, words: DictionaryColumn, values: Any, style: NumberStyle, warnings: tuple[str, ...]
    ) -> Column:
        floats = np.asarray(values)
        whole = bool((np.abs(floats) <= _MAX_EXACT).all() and (floats == np.floor(floats)).all())
        if whole and len(floats):
            values = values.cast(pa.int64())
        column = self._numbers(name, words.with_values(values))
        decimal = None if whole and style == number_style.PLAIN else style.decimal
        return replace(column, warnings=(*warnings, *column.warnings), decimal=decimal)

    def _numbers(self, name: str, column: Any) -> Column:
        """Return the column as int64 if it holds integers of 64 bits, else as float64."""
        kind = column.type
        whole = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0)
        array = None
        if whole:
            with suppress(pa.ArrowInvalid):  # beyond 64 bits
                array = column.cast(pa.int64())
        if array is None:
            array = dictionary_column.without_nan(number_style.to_doubles(column))
            self._check_finite(name, array)
        return Column(name, "number", array, _precision_warnings(name, array, whole=whole))

    def _check_finite(self, name: str, array: Any) -> None:
        row = pa.compute.index(pa.compute.is_inf(array), True).as_py() + 1
        if row:
            message = (
                f"Column {quoted(name)} is infinite in row {row:,}; numbers must be finite. Leave the cell "
                "empty if the value is missing."
            )
            fixes = arrow_types.column_fixes(name, self.plan)
            raise IngestError(cell_issue(row, name, "INFINITE", message, *fixes))

    def _style(self, styles: list[NumberStyle]) -> NumberStyle | None:
        if self.csv_format is None:
            return number_style.choose_style(styles, None, None)
        return number_style.choose_style(styles, self.csv_format.decimal, self.csv_format.detected_decimal)

    def _booleans(self, name: str, words: DictionaryColumn, warnings: tuple[str, ...] = ()) -> Column:
        known = as_booleans(words.sample(SAMPLE))
        if None in known or len(words.values) > SAMPLE:
            row = words.first_row(known.index(None) if None in known else SAMPLE)
            message = (
                f"Column {quoted(name)} is neither true nor false in row {row:,}. Booleans are written as "
                "true, false, yes, no, 1 or 0."
            )
            fix = read_column_as(name, "category")
            raise IngestError(cell_issue(row, name, "NOT_A_BOOLEAN", message, fix))
        return Column(name, "boolean", words.with_values(pa.array(known, pa.bool_())), warnings)

    def _categories(
        self, name: str, words: DictionaryColumn, warnings: tuple[str, ...] = (), hint: Hint | None = None
    ) -> Column:
        warnings = warnings if hint is None else (*warnings, hint.message)
        if len(words.values) > self.limits.max_categories:
            message = (
                f"Column {quoted(name)} has {len(words.values):,} different values; the limit for categories "
                f"is {self.limits.max_categories:,} (LITERATI_MAX_CATEGORIES). If it is an id, leave it out "
                f"with drop={name[:80]}." + "".join(f" {warning}" for warning in warnings)
            )
            fixes = arrow_types.column_fixes(name, self.plan)
            raise IngestError(column_issue(name, "TOO_MANY_CATEGORIES", message, *fixes))
        return Column(name, "category", words.array(), warnings, fixes=() if hint is None else hint.fixes)

    def _check_lengths(self, name: str, words: DictionaryColumn) -> None:
        lengths = pa.compute.binary_length(words.values)
        max_length = pa.compute.max(lengths).as_py() or 0
        if max_length > self.limits.max_cell_bytes:
            row = words.first_row(pa.compute.index(lengths, max_length).as_py())
            message = (
                f"A cell of column {quoted(name)} in row {row:,} has {max_length:,} bytes; the limit is "
                f"{self.limits.max_cell_bytes:,} (LITERATI_MAX_CELL_BYTES). Leave the column out with "
                f"drop={name[:80]}."
            )
            fixes = arrow_types.column_fixes(name, self.plan)
            raise IngestError(cell_issue(row, name, "CELL_TOO_LONG", message, *fixes))


def _strip_warning(name: str, changed: int) -> str:
    values = "1 of its values" if changed == 1 else f"{changed:,} of its values"
    return f"Column {quoted(name)}: spaces around {values} were removed."


def _empty_column(name: str, rows: int, kind: Kind | None) -> Column:
    """Return a column in which every cell is missing."""
    kind = kind or "number"
    types = {"number": pa.float64(), "boolean": pa.bool_(), "category": dictionary_column.DICTIONARY}
    return Column(name, kind, pa.chunked_array([pa.nulls(rows, types[kind])]))


def _precision_warnings(name: str, array: Any, *, whole: bool) -> tuple[str, ...]:
    """Warn about different whole numbers that are equal as floating-point numbers."""
    low, high = pa.compute.min_max(array).as_py().values()
    if low is None or max(-low, high) <= _MAX_EXACT:
        return ()
    advice = f"If they are ids, leave the column out, or keep them exactly with types={name[:80]}:category."
    if pa.types.is_integer(array.type):
        distinct = np.unique(array.drop_null().to_numpy())
        rounded = distinct.astype(np.float64)
        limit = _MAX_INT64_DOUBLE
        if (np.clip(rounded, -limit, limit).astype(np.int64) == distinct).all():
            return ()
        return (
            f"Column {quoted(name)} holds whole numbers beyond 2^53, which a tree compares as floating-point "
            f"numbers: {len(np.unique(rounded)):,} of its {len(distinct):,} different values can be "
            f"distinguished. {advice}",
        )
    if whole or bool(pa.compute.all(pa.compute.equal(pa.compute.floor(array), array)).as_py()):
        return (
            f"Column {quoted(name)} holds whole numbers beyond 2^63, stored as floating-point numbers with "
            f"about 16 digits. {advice}",
        )
    return ()
