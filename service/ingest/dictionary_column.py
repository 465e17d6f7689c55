"""Dictionary-encoded columns: each cell is a code, the index of one of the distinct values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

DICTIONARY = pa.dictionary(pa.int32(), pa.string())  # the Arrow type of text columns


@dataclass(frozen=True)
class DictionaryColumn:
    """A column as codes and its distinct values, in order of first occurrence. Every value occurs."""

    codes: npt.NDArray[np.int32]  # -1: missing
    values: Any  # pyarrow.Array

    def first_row(self, code: int) -> int:
        """Return the number of the first row with this code, counted from 1."""
        return int(np.argmax(self.codes == code)) + 1

    def counts(self) -> npt.NDArray[np.intp]:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def sample(self, size: int) -> list[Any]:
        values: list[Any] = self.values.slice(0, size).to_pylist()
        return values

    def with_values(self, values: Any) -> Any:
        """Return the decoded column, with these values in place of the distinct ones."""
        return pa.chunked_array([values.take(self._indices())])

    def array(self) -> Any:
        """Return the column as an Arrow dictionary array."""
        return pa.chunked_array([pa.DictionaryArray.from_arrays(self._indices(), self.values)])

    def _indices(self) -> Any:
        return pa.array(self.codes, mask=self.codes < 0)


def encode_column(column: Any) -> DictionaryColumn:
    """Encode a chunked array, which may be dictionary-encoded already."""
    if not pa.types.is_dictionary(column.type):
        return _from_arrow(column.dictionary_encode())
    found = _from_arrow(column)
    values = found.values
    distinct = pa.compute.count_distinct(values, mode="all").as_py() == len(values)
    nan = pa.types.is_floating(values.type) and pa.compute.any(pa.compute.is_nan(values)).as_py()
    if distinct and not nan and values.null_count == 0 and found.counts().all():
        return found
    return _from_arrow(without_nan(column.cast(column.type.value_type)).dictionary_encode())


def _from_arrow(column: Any) -> DictionaryColumn:
    parts = column.unify_dictionaries().chunks
    if not parts:
        return DictionaryColumn(np.empty(0, dtype=np.int32), pa.array([], column.type.value_type))
    codes = [part.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False) for part in parts]
    return DictionaryColumn(np.concatenate(codes), parts[0].dictionary)


def strip_values(column: DictionaryColumn, null_words: Collection[str]) -> tuple[DictionaryColumn, int]:
    """Strip whitespace from text values and return the number of values that changed.

    A stripped value may be one of `null_words`, which mean missing, or equal another value.
    """
    trimmed = pa.compute.utf8_trim_whitespace(column.values)
    changed = pa.compute.sum(pa.compute.not_equal(trimmed, column.values)).as_py() or 0
    if not changed:
        return column, 0
    if null_words:
        is_null = pa.compute.is_in(trimmed, value_set=pa.array(sorted(null_words), pa.string()))
        trimmed = pa.compute.if_else(is_null, pa.scalar(None, pa.string()), trimmed)
    return _from_arrow(column.with_values(trimmed).dictionary_encode()), changed


def without_nan(column: Any) -> Any:
    """Replace NaN by null: both mean that a number is missing."""
    if not pa.types.is_floating(column.type):
        return column
    nan = pa.compute.is_nan(column)
    if not pa.compute.any(nan).as_py():
        return column
    return pa.compute.if_else(nan, pa.scalar(None, column.type), column)
