"""The columns that a model knows, and the encoding of rows for prediction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.columns import Floats, Kind, RawColumn, open_table, shown_names
from literati.data.ranks import rank

UNKNOWN = -1.0  # code of a category that training did not see


@dataclass(frozen=True)
class Column:
    """A column of the training data, as a model describes it."""

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()  # of kind "category": in the order of their codes
    minimum: float | None = None  # of kind "number": range of the training rows
    maximum: float | None = None
    constant: bool = False  # no split uses a constant column


@dataclass(frozen=True)
class EncodedRows:
    """Rows for the predict kernel. Missing values are NaN, categories are codes or `UNKNOWN`."""

    matrix: Floats  # C order, one column per column of the schema
    unknown: Mapping[str, tuple[Hashable, ...]]  # categories that training did not see, by column
    ignored: tuple[str, ...]  # columns that the model does not have


@dataclass(frozen=True)
class Schema:
    """The columns of a model, in training order."""

    columns: tuple[Column, ...]
    named: bool  # whether the training data had column names

    def encode(self, data: Any) -> EncodedRows:
        """Encode rows. Columns are matched by name if both have names, and by position otherwise."""
        table = open_table(data)
        if self.named and table.names is not None:
            places, ignored = self._places(table.names)
        else:
            if table.n_columns != len(self.columns):
                raise ValueError(
                    f"X has {table.n_columns} features, but LiteratiClassifier is expecting "
                    f"{len(self.columns)} features as input"
                )
            places, ignored = list(range(table.n_columns)), ()
        if table.matrix is not None and all(c.kind == "number" or c.constant for c in self.columns):
            return EncodedRows(self._numbers(table.matrix), {}, ignored)
        matrix = np.empty((table.n_rows, len(self.columns)))
        unknown: dict[str, tuple[Hashable, ...]] = {}
        for index, (column, place) in enumerate(zip(self.columns, places, strict=True)):
            if column.constant:
                matrix[:, index] = np.nan
                continue
            matrix[:, index], unseen = encode_column(column, table.read(place, column.name))
            if unseen:
                unknown[column.name] = unseen
        return EncodedRows(matrix, unknown, ignored)

    def _places(self, names: tuple[str, ...]) -> tuple[list[int], tuple[str, ...]]:
        at = {name: place for place, name in enumerate(names)}
        known = dict.fromkeys(column.name for column in self.columns)
        if absent := [name for name in known if name not in at]:
            raise ValueError(
                "X: The feature names should match those that were passed during fit.\n"
                f"Feature names seen at fit time, yet now missing: {shown_names(absent)}"
            )
        return [at[name] for name in known], tuple(name for name in names if name not in known)

    def _numbers(self, array: npt.NDArray[Any]) -> Floats:
        matrix = np.ascontiguousarray(array, dtype=np.float64)
        if array.dtype.kind == "f" and np.isinf(matrix).any():
            for index, column in enumerate(self.columns):
                if not column.constant:
                    check_finite(matrix[:, index], column.name)
        return matrix


def check_finite(values: Floats, name: str) -> None:
    """Raise ValueError if a column contains infinity."""
    if np.isinf(values).any():
        raise ValueError(f"X: column {name!r} contains infinity; expected finite numbers (NaN where missing)")


def encode_column(column: Column, raw: RawColumn) -> tuple[Floats, tuple[Hashable, ...]]:
    """Return the cells as the model encodes them, and the categories that training did not see."""
    if column.kind == "category":
        return _encode_category(column, raw)
    if raw.values is None:
        assert raw.codes is not None
        if (raw.codes >= 0).any():
            raise TypeError(
                f"X: column {column.name!r} holds text or categories such as {raw.labels[0]!r}; "
                f"expected {column.kind}s as in training"
            )
        return np.full(len(raw.codes), np.nan), ()
    if column.kind == "boolean" and not np.isin(raw.values[~np.isnan(raw.values)], (0.0, 1.0)).all():
        raise ValueError(f"X: column {column.name!r} was boolean in training; expected booleans, 0 or 1")
    check_finite(raw.values, column.name)
    return raw.values, ()


def _encode_category(column: Column, raw: RawColumn) -> tuple[Floats, tuple[Hashable, ...]]:
    if raw.values is not None:
        known = ~np.isnan(raw.values)
        if known.any() and all(isinstance(category, str) for category in column.categories):
            raise TypeError(
                f"X: column {column.name!r} holds {raw.kind}s; expected categories such as "
                f"{column.categories[0]!r} as in training"
            )
        codes, distinct = rank(raw.values)
        raw = RawColumn("category", codes=codes, labels=distinct.tolist())
    assert raw.codes is not None
    index = {category: float(code) for code, category in enumerate(column.categories)}
    lookup = np.array([*(index.get(label, UNKNOWN) for label in raw.labels), np.nan])
    unseen = tuple(label for label in raw.labels if label not in index)
    return lookup[raw.codes], unseen  # code -1 reads the last entry, NaN
