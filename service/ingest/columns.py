"""Each column of an upload as the one kind it is: int64 or float64, boolean, or coded categories."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from worker.messages import DecimalSign

from . import numerals, text
from .coded import Coded, coded, stripped, without_nan
from .errors import Fault, IngestError, cell_fault, column_fault, shown
from .fixes import DECIMAL_COMMA, DECIMAL_POINT, Fix, take_as
from .hints import SAMPLE, Hint, likely_signs, perhaps_numbers
from .kinds import (
    dates_left_out,
    is_text,
    is_time,
    remedies,
    type_fault,
    unsupported,
    value_type,
)
from .options import Kind, TableLimits
from .raw import RawTable
from .target import target_values

EXACT = 1 << 53  # integers beyond are not all numbers that a tree can tell apart
_LARGEST = np.nextafter(2.0**63, 0)  # of the floating-point numbers that are 64-bit integers


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    array: Any  # pyarrow.ChunkedArray of int64, float64, bool or dictionary<int32, ...>, null where missing
    warnings: tuple[str, ...] = ()
    decimal: DecimalSign | None = None  # the sign that the numbers of a CSV have; None if they have none
    fixes: tuple[Fix, ...] = ()  # options that read the column in another way, if it may be meant so


@dataclass(frozen=True)
class LeftOut:
    """A column that nobody asked for and that cannot be learned from."""

    name: str
    warning: str


class Shaper:
    """Turns the raw columns into typed ones; IngestError where one cannot be."""

    def __init__(self, raw: RawTable, limits: TableLimits) -> None:
        self.plan = raw.plan
        self.spelt = raw.spelt
        self.spelling = raw.spelling
        self.limits = limits

    def shape(self, name: str, column: Any) -> Column | LeftOut:
        if is_time(value_type(column.type)) and self.plan.may_leave_out(name):
            return LeftOut(name, dates_left_out(name))
        fault = type_fault(name, column.type, self.plan)
        if fault is not None:
            raise IngestError(fault)
        try:
            return self._shaped(name, column, self.plan.kinds.get(name))
        except MemoryError:
            raise
        except pa.ArrowException:  # a rare type that Arrow can hold and not convert
            raise IngestError(unsupported(name, column.type, self.plan)) from None

    def _shaped(self, name: str, column: Any, wanted: Kind | None) -> Column | LeftOut:
        value = value_type(column.type)
        if pa.types.is_null(value):
            return _all_missing(name, len(column), wanted)
        if is_time(value):
            column, value = column.cast(pa.string()), pa.string()
        if is_text(value):
            return self._text(name, coded(column), wanted)
        if pa.types.is_dictionary(column.type) and wanted is None:
            wanted = "category"
        found = self._numeric(name, column.cast(value), wanted)
        if self.spelling is not None and pa.types.is_floating(value):
            return replace(found, decimal=self.spelling.decimal or ".")
        return found

    def _numeric(self, name: str, column: Any, wanted: Kind | None) -> Column:
        if wanted == "category":
            column = column if pa.types.is_boolean(column.type) else self._numbers(name, column).array
            return self._categories(name, coded(column))
        if wanted == "boolean" and not pa.types.is_boolean(column.type):
            return self._booleans(name, coded(self._numbers(name, column).array))
        if pa.types.is_boolean(column.type):
            if wanted == "number":
                return Column(name, "number", column.cast(pa.int64()))
            return Column(name, "boolean", column)
        return self._numbers(name, column)

    def _text(self, name: str, words: Coded, wanted: Kind | None) -> Column | LeftOut:
        if not pa.types.is_string(words.values.type):
            words = Coded(words.codes, words.values.cast(pa.string()))
        self._check_lengths(name, words)
        words, padded = stripped(words, () if self.spelling is None else self.spelling.nulls)
        notes = () if not padded else (_padding(name, padded),)
        if wanted == "number" or (wanted is None and name == self.plan.weight):
            return self._forced_numbers(name, words, notes)
        if wanted == "boolean":
            return self._booleans(name, words)
        if name == self.plan.target:
            values = target_values(name, words.values, spelt=name in self.spelt and wanted is None)
            if values is not None:
                kind: Kind = "boolean" if pa.types.is_boolean(values.type) else "number"
                return Column(name, kind, words.spread(values), notes)
            return Column(name, "category", words.array(), notes)
        if wanted is not None:
            if name in self.spelt and len(words.values) <= self.limits.max_categories:
                values = text.spelt_values(words.values.to_pylist())
                if values and type(values[0]) is int:
                    words = Coded(words.codes, pa.array(values, pa.int64()))
            return self._categories(name, words, notes)
        found = self._found_numbers(name, words, notes)
        if found is not None:
            return found
        if self.plan.may_leave_out(name) and text.look_like_dates(words.sample(SAMPLE)):
            return LeftOut(name, dates_left_out(name))
        quote = len(words.values) <= self.limits.max_categories  # errors show no cells
        hint = perhaps_numbers(name, words, self.spelling, quote=quote)
        return self._categories(name, words, notes, hint)

    def _found_numbers(self, name: str, words: Coded, notes: tuple[str, ...]) -> Column | None:
        """Numbers of a CSV that its reader does not take for any. Formats with types are believed."""
        if self.spelling is None or not len(words.values):
            return None
        style = self._style(numerals.possible_styles(words.values))
        if style is None:
            return None
        if style.words:
            notes = (
                *notes,
                f"Column {shown(name)} was read as numbers with {style.words}; types={name[:80]}:category "
                "takes it as text.",
            )
        values, bad = numerals.to_numbers(words.values, style)
        return None if bad is not None else self._spread_numbers(name, words, values, style, notes)

    def _forced_numbers(self, name: str, words: Coded, notes: tuple[str, ...]) -> Column:
        styles = numerals.possible_styles(words.values, zeros=True)
        style = self._style(styles)
        if style is None and styles:
            raise IngestError(self._ambiguous(name))
        if style is None:
            style, unread = numerals.closest(words.values, likely_signs(self.spelling))
        else:
            unread = []
        values, bad = numerals.to_numbers(words.values, style) if not unread else (None, unread[0])
        if bad is not None:
            row = words.first_row(bad)
            others = [] if name == self.plan.weight else [take_as(name, "category")]
            advice = "every weight must be one."
            if others:
                advice = (
                    "if that word means missing, name it with null_values, or take the column as categories."
                )
            message = f"Column {shown(name)} is not a number in row {row:,}; {advice}"
            fixes = remedies(name, self.plan, *others)[::-1]
            raise IngestError(cell_fault(row, name, "NOT_A_NUMBER", message, *fixes))
        return self._spread_numbers(name, words, values, style, notes)

    def _ambiguous(self, name: str) -> Fault:
        message = f"The commas in column {shown(name)} may be decimal signs, or stand between thousands"
        if self.spelling is None:  # there is no option for it
            return column_fault(name, "AMBIGUOUS_NUMBERS", f"{message}.", *remedies(name, self.plan))
        message = f"{message}; say which with decimal=, or decimal=."
        return column_fault(name, "AMBIGUOUS_NUMBERS", message, DECIMAL_COMMA, DECIMAL_POINT)

    def _spread_numbers(
        self, name: str, words: Coded, values: Any, style: numerals.Style, notes: tuple[str, ...]
    ) -> Column:
        floats = np.asarray(values)
        whole = bool((np.abs(floats) <= EXACT).all() and (floats == np.floor(floats)).all())
        if whole and len(floats):
            values = values.cast(pa.int64())
        column = self._numbers(name, words.spread(values))
        decimal = None if whole and style == numerals.PLAIN else style.decimal
        return Column(name, "number", column.array, (*notes, *column.warnings), decimal)

    def _style(self, styles: list[numerals.Style]) -> numerals.Style | None:
        if self.spelling is None:
            return numerals.decided(styles, None, None)
        return numerals.decided(styles, self.spelling.decimal, self.spelling.evidence)

    def _numbers(self, name: str, column: Any) -> Column:
        whole = pa.types.is_integer(column.type) or (
            pa.types.is_decimal(column.type) and column.type.scale <= 0
        )
        array = None
        if whole:
            with suppress(pa.ArrowInvalid):  # beyond 64 bits
                array = column.cast(pa.int64())
        if array is None:
            array = without_nan(numerals.nearest_doubles(column))
            self._refuse_infinity(name, array)
        return Column(name, "number", array, _lost_digits(name, array, whole=whole))

    def _refuse_infinity(self, name: str, array: Any) -> None:
        infinite = pa.compute.is_inf(array)
        row = pa.compute.index(infinite, True).as_py() + 1
        if row:
            message = (
                f"Column {shown(name)} is infinite in row {row:,}; numbers must be finite (leave the cell "
                "empty where the value is missing)."
            )
            raise IngestError(cell_fault(row, name, "INFINITE", message, *remedies(name, self.plan)))

    def _booleans(self, name: str, words: Coded) -> Column:
        known = text.as_booleans(words.sample(SAMPLE))
        if None in known or len(words.values) > SAMPLE:
            row = words.first_row(known.index(None) if None in known else SAMPLE)
            message = (
                f"Column {shown(name)} is neither true nor false in row {row:,}; as booleans true, false, "
                "yes, no, 1 and 0 are taken."
            )
            fix = take_as(name, "category")
            raise IngestError(cell_fault(row, name, "NOT_A_BOOLEAN", message, fix))
        return Column(name, "boolean", words.spread(pa.array(known, pa.bool_())))

    def _categories(
        self, name: str, words: Coded, notes: tuple[str, ...] = (), hint: Hint | None = None
    ) -> Column:
        notes = notes if hint is None else (*notes, hint.message)
        if len(words.values) > self.limits.max_categories:
            message = (
                f"Column {shown(name)} has {len(words.values):,} different values; as categories at most "
                f"{self.limits.max_categories:,} are taken (LITERATI_MAX_CATEGORIES). It looks like an id: "
                f"leave it out with drop={name[:80]}." + "".join(f" {note}" for note in notes)
            )
            raise IngestError(column_fault(name, "TOO_MANY_CATEGORIES", message, *remedies(name, self.plan)))
        return Column(name, "category", words.array(), notes, fixes=() if hint is None else hint.fixes)

    def _check_lengths(self, name: str, words: Coded) -> None:
        lengths = pa.compute.binary_length(words.values)
        longest = pa.compute.max(lengths).as_py() or 0
        if longest > self.limits.max_cell_bytes:
            row = words.first_row(pa.compute.index(lengths, longest).as_py())
            message = (
                f"A cell of column {shown(name)} in row {row:,} is {longest:,} bytes long; at most "
                f"{self.limits.max_cell_bytes:,} are taken (LITERATI_MAX_CELL_BYTES). Leave the column out "
                f"with drop={name[:80]}."
            )
            raise IngestError(cell_fault(row, name, "CELL_TOO_LONG", message, *remedies(name, self.plan)))


def _padding(name: str, padded: int) -> str:
    values = "1 of its values" if padded == 1 else f"{padded:,} of its values"
    return f"Column {shown(name)}: blanks around {values} were removed."


def _all_missing(name: str, rows: int, wanted: Kind | None) -> Column:
    kind = {"category": pa.dictionary(pa.int32(), pa.string()), "boolean": pa.bool_()}.get(
        wanted or "", pa.float64()
    )
    return Column(name, wanted or "number", pa.chunked_array([pa.nulls(rows, kind)]))


def _lost_digits(name: str, array: Any, *, whole: bool) -> tuple[str, ...]:
    """A warning about whole numbers that are different and that a tree cannot tell apart."""
    low, high = pa.compute.min_max(array).as_py().values()
    if low is None or max(-low, high) <= EXACT:
        return ()
    advice = f"If they are ids, leave the column out, or keep them exactly with types={name[:80]}:category."
    if pa.types.is_integer(array.type):
        distinct = np.unique(array.drop_null().to_numpy())
        rounded = distinct.astype(np.float64)
        if (np.clip(rounded, -_LARGEST, _LARGEST).astype(np.int64) == distinct).all():
            return ()  # all of them are floating-point numbers as well
        return (
            f"Column {shown(name)} holds whole numbers beyond 2^53, which a tree compares as floating-point "
            f"numbers: {len(np.unique(rounded)):,} of its {len(distinct):,} different values can be told "
            f"apart. {advice}",
        )
    if whole or bool(pa.compute.all(pa.compute.equal(pa.compute.floor(array), array)).as_py()):
        return (
            f"Column {shown(name)} holds whole numbers beyond 2^63, kept as floating-point numbers with "
            f"about 16 digits. {advice}",
        )
    return ()
