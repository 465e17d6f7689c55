"""Columns as codes into their distinct values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute


@dataclass(frozen=True)
class Coded:
    """Every value occurs, none is missing, none stands there twice; in order of first occurrence."""

    codes: npt.NDArray[np.int32]  # -1 is missing
    values: Any  # pyarrow.Array

    def first_row(self, code: int) -> int:
        """The first row, from 1, that has this code."""
        return int(np.argmax(self.codes == code)) + 1

    def counts(self) -> npt.NDArray[np.intp]:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def sample(self, most: int) -> list[Any]:
        values: list[Any] = self.values.slice(0, most).to_pylist()
        return values

    def spread(self, values: Any) -> Any:
        """A column with these values, as many as there are codes, in place of the coded ones."""
        return pa.chunked_array([values.take(self._indices())])

    def array(self) -> Any:
        """As Arrow keeps categories."""
        return pa.chunked_array([pa.DictionaryArray.from_arrays(self._indices(), self.values)])

    def _indices(self) -> Any:
        return pa.array(self.codes, mask=self.codes < 0)


def coded(column: Any) -> Coded:
    """Of a chunked array, dictionary-encoded or not."""
    if not pa.types.is_dictionary(column.type):
        return _coded(column.dictionary_encode())
    found = _coded(column)
    values = found.values
    distinct = pa.compute.count_distinct(values, mode="all").as_py() == len(values)
    nan = pa.types.is_floating(values.type) and pa.compute.any(pa.compute.is_nan(values)).as_py()
    if distinct and not nan and values.null_count == 0 and found.counts().all():
        return found
    return _coded(without_nan(column.cast(column.type.value_type)).dictionary_encode())


def _coded(column: Any) -> Coded:
    parts = column.unify_dictionaries().chunks
    if not parts:
        return Coded(np.empty(0, dtype=np.int32), pa.array([], column.type.value_type))
    codes = [part.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
    return Coded(np.concatenate(codes), parts[0].dictionary)


def stripped(words: Coded, nulls: Collection[str]) -> tuple[Coded, int]:
    """Text without blanks around it, and how many of its values had some.

    `nulls` are words that mean missing; without blanks a value may be one of them, or like another one.
    """
    trimmed = pa.compute.utf8_trim_whitespace(words.values)
    changed = pa.compute.sum(pa.compute.not_equal(trimmed, words.values)).as_py() or 0
    if not changed:
        return words, 0
    if nulls:
        gone = pa.compute.is_in(trimmed, value_set=pa.array(sorted(nulls), pa.string()))
        trimmed = pa.compute.if_else(gone, pa.scalar(None, pa.string()), trimmed)
    column = words.spread(trimmed)
    return _coded(column.dictionary_encode()), changed


def without_nan(column: Any) -> Any:
    """NaN is a missing number like any other."""
    if not pa.types.is_floating(column.type):
        return column
    nan = pa.compute.is_nan(column)
    if not pa.compute.any(nan).as_py():
        return column
    return pa.compute.if_else(nan, pa.scalar(None, column.type), column)
