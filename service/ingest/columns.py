"""Each column of an upload as the one kind it is: int64 or float64, boolean, or coded categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from . import text
from .coded import Coded, coded, without_nan
from .errors import IngestError, cell_fault, column_fault, shown
from .kinds import dates_fault, is_text, is_time, type_fault, unsupported
from .options import Kind, TableLimits
from .raw import RawTable
from .target import target_values

SAMPLE = 1000  # words looked at to tell what a column of text means
EXACT = 1 << 53  # integers beyond are not all numbers that a tree can tell apart
_MOSTLY = 0.8  # share of a column's words that are numbers, where text was probably not meant


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    array: Any  # pyarrow.ChunkedArray of int64, float64, bool or dictionary<int32, ...>, null where missing
    warnings: tuple[str, ...] = ()


class Shaper:
    """Turns the raw columns into typed ones; IngestError where one cannot be."""

    def __init__(self, raw: RawTable, limits: TableLimits) -> None:
        self.plan = raw.plan
        self.spelt = raw.spelt
        self.decimal = raw.decimal
        self.limits = limits

    def shape(self, name: str, column: Any) -> Column:
        wanted = self.plan.kinds.get(name)
        fault = type_fault(name, column.type, wanted)
        if fault is not None:
            raise IngestError(fault)
        try:
            return self._shaped(name, column, wanted)
        except MemoryError:
            raise
        except pa.ArrowException:  # a rare type that Arrow can hold and not convert
            raise IngestError(unsupported(name, column.type)) from None

    def _shaped(self, name: str, column: Any, wanted: Kind | None) -> Column:
        value = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_null(value):
            return _all_missing(name, len(column), wanted)
        if is_time(value):
            column, value = column.cast(pa.string()), pa.string()
        if pa.types.is_string_view(value):
            column = column.cast(pa.string())
        if is_text(value):
            return self._text(name, coded(column), wanted)
        if pa.types.is_dictionary(column.type) and wanted is None:
            wanted = "category"
        return self._numeric(name, column.cast(value), wanted)

    def _numeric(self, name: str, column: Any, wanted: Kind | None) -> Column:
        if wanted == "category":
            column = column if pa.types.is_boolean(column.type) else _numbers(name, column).array
            return self._categories(name, coded(column))
        if wanted == "boolean" and not pa.types.is_boolean(column.type):
            return _booleans(name, coded(_numbers(name, column).array))
        if pa.types.is_boolean(column.type):
            if wanted == "number":
                return Column(name, "number", column.cast(pa.int64()))
            return Column(name, "boolean", column)
        return _numbers(name, column)

    def _text(self, name: str, words: Coded, wanted: Kind | None) -> Column:
        if not pa.types.is_string(words.values.type):
            words = Coded(words.codes, words.values.cast(pa.string()))
        self._check_lengths(name, words)
        if wanted == "number":
            return _parsed_numbers(name, words, self.decimal)
        if wanted == "boolean":
            return _booleans(name, words)
        if name == self.plan.target:
            values = target_values(name, words.values, spelt=name in self.spelt and wanted is None)
            if values is not None:
                kind: Kind = "boolean" if pa.types.is_boolean(values.type) else "number"
                return Column(name, kind, words.spread(values))
            return Column(name, "category", words.array())
        if wanted is None:
            self._check_words(name, words)
        elif name in self.spelt and len(words.values) <= self.limits.max_categories:
            values = text.spelt_values(words.values.to_pylist())
            if values and type(values[0]) is int:
                words = Coded(words.codes, pa.array(values, pa.int64()))
        return self._categories(name, words, self._hint(name, words) if wanted is None else ())

    def _categories(self, name: str, words: Coded, hints: tuple[str, ...] = ()) -> Column:
        if len(words.values) > self.limits.max_categories:
            message = (
                f"Column {shown(name)} has {len(words.values):,} different values; as categories at most "
                f"{self.limits.max_categories:,} are taken (LITERATI_MAX_CATEGORIES). It looks like an id: "
                f"leave it out with drop={name[:80]}." + "".join(f" {hint}" for hint in hints)
            )
            raise IngestError(column_fault(name, "TOO_MANY_CATEGORIES", message))
        return Column(name, "category", words.array(), hints)

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
            raise IngestError(cell_fault(row, name, "CELL_TOO_LONG", message))

    def _check_words(self, name: str, words: Coded) -> None:
        if text.look_like_dates(words.sample(SAMPLE)):
            raise IngestError(dates_fault(name))

    def _hint(self, name: str, words: Coded) -> tuple[str, ...]:
        """A column of numbers with a few cells that are none is text to the reader: say so."""
        sample = words.sample(SAMPLE)
        if self.decimal == "." and text.have_decimal_commas(sample):
            return (f"Column {shown(name)} is text; for numbers with a decimal comma say decimal=,",)
        numbers = text.are_numbers(sample)
        if len(sample) < 5 or sum(numbers) < _MOSTLY * len(sample):
            return ()
        first = numbers.index(False) if not all(numbers) else text.to_numbers(words.values, self.decimal)[1]
        if first is None:
            return ()
        row = words.first_row(first)
        return (
            f"Column {shown(name)} is text because its cell in row {row:,} is not a number; if such a cell "
            "means missing, say which word it is with null_values.",
        )


def _all_missing(name: str, rows: int, wanted: Kind | None) -> Column:
    kind = {"category": pa.dictionary(pa.int32(), pa.string()), "boolean": pa.bool_()}.get(
        wanted or "", pa.float64()
    )
    return Column(name, wanted or "number", pa.chunked_array([pa.nulls(rows, kind)]))


def _numbers(name: str, column: Any) -> Column:
    warnings: tuple[str, ...] = ()
    whole = pa.types.is_integer(column.type) or (pa.types.is_decimal(column.type) and column.type.scale <= 0)
    if whole:
        try:
            array = column.cast(pa.int64())
        except pa.ArrowInvalid:  # beyond 64 bits
            whole = False
    if not whole:
        array = without_nan(column.cast(pa.float64(), safe=False))
        _refuse_infinity(name, array)
    low, high = pa.compute.min_max(array).as_py().values()
    if low is not None and (pa.types.is_integer(column.type) or whole) and max(-low, high) > EXACT:
        warnings = (
            f"Column {shown(name)} holds integers beyond 2^53, of which the last digits are lost; "
            "if they are ids, leave the column out.",
        )
    return Column(name, "number", array, warnings)


def _refuse_infinity(name: str, array: Any) -> None:
    infinite = pa.compute.is_inf(array)
    row = pa.compute.index(infinite, True).as_py() + 1
    if row:
        message = (
            f"Column {shown(name)} is infinite in row {row:,}; numbers must be finite (leave the cell empty "
            "where the value is missing)."
        )
        raise IngestError(cell_fault(row, name, "INFINITE", message))


def _parsed_numbers(name: str, words: Coded, decimal: str) -> Column:
    values, bad = text.to_numbers(words.values, decimal)
    if bad is not None:
        row = words.first_row(bad)
        message = (
            f"Column {shown(name)} is not a number in row {row:,}; if that word means missing, name it with "
            "null_values, or take the column as categories."
        )
        raise IngestError(cell_fault(row, name, "NOT_A_NUMBER", message))
    floats = np.asarray(values)
    if len(floats) and (np.abs(floats) <= EXACT).all() and (floats == np.floor(floats)).all():
        values = values.cast(pa.int64())
    return _numbers(name, words.spread(values))


def _booleans(name: str, words: Coded) -> Column:
    known = text.as_booleans(words.sample(SAMPLE))
    if None in known or len(words.values) > SAMPLE:
        row = words.first_row(known.index(None) if None in known else SAMPLE)
        message = (
            f"Column {shown(name)} is neither true nor false in row {row:,}; as booleans true, false, yes, "
            "no, 1 and 0 are taken."
        )
        raise IngestError(cell_fault(row, name, "NOT_A_BOOLEAN", message))
    return Column(name, "boolean", words.spread(pa.array(known, pa.bool_())))
