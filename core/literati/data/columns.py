"""Read columns of NumPy arrays, sequences, and pandas, polars or Arrow tables.

The frame libraries are not imported; their objects are used through their methods. Columns of numbers and
booleans are read as float64 with NaN for missing values, columns of categories as codes into labels.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from literati._encode._objects import FLOAT, MISSING, NUMBER, OTHER, TEXT, TIME, ObjectReader
from literati.data.arrow import dictionary_codes
from literati.data.labels import MISSING_TYPES, is_missing, plain

Kind = Literal["number", "boolean", "category"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RawColumn:
    """One column as read: `values` for numbers and booleans, `codes` into `labels` for categories."""

    kind: Kind
    values: Floats | None = None  # NaN is missing
    codes: npt.NDArray[np.int32] | None = None  # -1 is missing
    labels: Sequence[Hashable] = ()

    def take(self, rows: npt.NDArray[np.intp]) -> RawColumn:
        """Return the column with these rows only."""
        values = None if self.values is None else self.values[rows]
        return replace(self, values=values, codes=None if self.codes is None else self.codes[rows])


@dataclass(frozen=True)
class ColumnTable:
    """A table of columns that are already read, for files that no frame library has opened."""

    n_rows: int
    columns: Mapping[str, RawColumn]

    def take(self, rows: npt.NDArray[np.intp]) -> ColumnTable:
        """Return the table with these rows only."""
        return ColumnTable(len(rows), {name: column.take(rows) for name, column in self.columns.items()})


@dataclass(frozen=True)
class RawTable:
    """Columns that are read one at a time, so that no second copy of all data is made."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None  # None if the columns have no names
    read: Callable[[int, str], RawColumn]  # by position and the name for error messages
    matrix: npt.NDArray[Any] | None = None  # the data, if it is one array of numbers


def open_table(data: Any) -> RawTable:
    """Open a table. Raise ValueError or TypeError if it is not of a supported type."""
    if isinstance(data, ColumnTable):
        columns = list(data.columns.values())
        return _frame((data.n_rows, len(columns)), list(data.columns), lambda i, name: columns[i])
    module = type(data).__module__.partition(".")[0]
    if module == "scipy" or hasattr(data, "toarray"):
        raise TypeError("X: sparse data is not supported; pass a dense array, for example X.toarray()")
    if module == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns"):
        return _frame(data.shape, list(data.columns), lambda i, name: _read_pandas(data.iloc[:, i], name))
    if module == "polars" and hasattr(data, "get_columns"):
        return _frame(data.shape, data.columns, lambda i, name: _read_polars(data[data.columns[i]], name))
    if module == "polars" and hasattr(data, "collect"):
        raise TypeError("X: a polars LazyFrame holds no rows yet; pass X.collect()")
    if module == "pyarrow" and hasattr(data, "schema") and hasattr(data, "column"):
        shape = (data.num_rows, data.num_columns)
        return _frame(shape, data.schema.names, lambda i, name: _read_arrow(data.column(i), name))
    return _array(data)


def _frame(shape: tuple[int, int], names: list[Any], read: Callable[[int, str], RawColumn]) -> RawTable:
    _check_shape(shape)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError("X: column names must be all text or all not text; got a mixture")
    if not any(texts):  # pandas numbers unnamed columns: these are positions
        return RawTable(*shape, None, read)
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"X: column names must differ; {name!r} occurs more than once")
    return RawTable(*shape, tuple(str(name) for name in names), read)


def _check_shape(shape: tuple[int, ...]) -> None:
    for axis, what in ((1, "feature"), (0, "sample")):
        if shape[axis] == 0:
            raise ValueError(
                f"X: Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )


def _array(data: Any) -> RawTable:
    try:
        array = np.asarray(data)
        if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
            array = np.asarray(data, dtype=object)  # NumPy converts the numbers of a mixed list to text
    except ValueError as error:
        raise ValueError(f"X: rows must all have the same number of columns ({error})") from None
    if array.ndim == 0:
        raise ValueError(
            "X: expected a two-dimensional array or a pandas, polars or Arrow table, "
            f"got {type(data).__name__}"
        )
    if array.ndim != 2:
        hint = (
            " Reshape your data either using X.reshape(-1, 1) if it has a single feature or "
            "X.reshape(1, -1) if it is a single row."
        )
        raise ValueError(
            f"X: Expected 2D array, got {array.ndim}D array instead.{hint if array.ndim == 1 else ''}"
        )
    _check_shape(array.shape)
    if array.dtype.kind == "c":
        raise ValueError("X: Complex data not supported")
    if array.dtype.kind not in "biufUO":
        raise TypeError(
            f"X: expected numbers, booleans, text or objects, got an array of dtype {array.dtype}"
        )
    numeric = array if array.dtype.kind in "iuf" else None
    n_rows, n_columns = array.shape
    return RawTable(n_rows, n_columns, None, lambda i, name: _read_vector(array[:, i], name), numeric)


def _read_vector(vector: npt.NDArray[Any], name: str) -> RawColumn:
    if vector.dtype.kind in "biuf":
        return RawColumn("boolean" if vector.dtype.kind == "b" else "number", vector.astype(np.float64))
    return read_objects(vector.tolist(), name)


def read_objects(cells: list[Any], name: str) -> RawColumn:
    """Read a column of Python objects. Its kind follows from the types of its cells."""
    reader = ObjectReader(_what_is).read(cells)
    types = reader.types  # of the cells that are not missing
    if not types:
        return _all_missing(cells)
    if all(issubclass(t, str) for t in types):
        if reader.error is not None:
            raise reader.error
        return RawColumn("category", codes=reader.codes, labels=reader.labels)
    for t in types:
        if not issubclass(t, _NUMBER_TYPES):
            if issubclass(t, str):
                raise TypeError(
                    f"X: column {name!r} holds text and numbers; expected one of the two "
                    "(None or NaN where a value is missing)"
                )
            raise TypeError(  # in the words that scikit-learn's checks expect
                f"X: column {name!r}: argument must be a string column or a number column, not {t.__name__!r}"
            )
    if isinstance(reader.error, OverflowError):
        raise ValueError(f"X: column {name!r} holds an integer too large for a float")
    if reader.error is not None:
        raise reader.error
    boolean = all(issubclass(t, bool | np.bool_) for t in types)
    return RawColumn("boolean" if boolean else "number", reader.values)


def _all_missing(cells: Sized) -> RawColumn:
    return RawColumn("number", np.full(len(cells), np.nan))


_NUMBER_TYPES = (bool, np.bool_, int, float, np.integer, np.floating, Decimal, Fraction)


def _what_is(cell_type: type) -> int:
    """Return what the type of a cell says about it; `is_missing` is the same for one cell."""
    if issubclass(cell_type, float | np.floating):
        return FLOAT
    if issubclass(cell_type, np.datetime64 | np.timedelta64):
        return TIME
    if cell_type is type(None) or cell_type.__name__ in MISSING_TYPES:
        return MISSING
    if issubclass(cell_type, str):
        return TEXT
    return NUMBER if issubclass(cell_type, _NUMBER_TYPES) else OTHER


def _coded(codes: npt.NDArray[Any], labels: list[Any], name: str) -> RawColumn:
    """Read a dictionary-encoded column. Labels that do not occur are dropped."""
    recode = np.full(len(labels) + 1, -1, dtype=np.int32)
    recode[codes] = 0  # code -1, a missing cell, marks the last entry
    used = np.flatnonzero(recode[:-1] == 0)
    kept = [plain(labels[index]) for index in used.tolist()]
    if any(is_missing(label) for label in kept):
        raise TypeError(f"X: column {name!r} has a missing value among its categories")
    for label in kept:
        if not isinstance(label, str | bool | int | float):
            raise TypeError(
                f"X: column {name!r}: a category must be a string, a number or a boolean, "
                f"not {type(label).__name__!r}"
            )
    recode[used] = np.arange(len(used), dtype=np.int32)
    recode[-1] = -1
    return RawColumn("category", codes=recode[codes], labels=kept)


def _read_pandas(series: Any, name: str) -> RawColumn:
    dtype = series.dtype
    if hasattr(series, "cat") and hasattr(dtype, "categories"):
        return _coded(series.cat.codes.to_numpy(), list(dtype.categories), name)
    kind = getattr(dtype, "kind", "O")
    if kind in "biuf":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return RawColumn("boolean" if kind == "b" else "number", values)
    if kind == "c":
        raise ValueError("X: Complex data not supported")
    if kind in "mM":
        raise TypeError(_no_dates(name, dtype))
    if getattr(dtype, "type", None) is str:
        codes, labels = series.factorize()  # labels in order of appearance, -1 for a missing cell
        if len(labels) == 0:
            return _all_missing(series)
        return RawColumn("category", codes=codes.astype(np.int32), labels=labels.tolist())
    return read_objects(series.to_numpy(dtype=object).tolist(), name)


def _read_polars(series: Any, name: str) -> RawColumn:
    dtype = str(series.dtype)
    if dtype == "Boolean" or series.dtype.is_numeric():
        values = series.to_numpy().astype(np.float64)  # None is converted to NaN
        return RawColumn("boolean" if dtype == "Boolean" else "number", values)
    if dtype.startswith(("String", "Categorical", "Enum", "Null")):
        return _all_missing(series) if series.null_count() == len(series) else _read_polars_text(series)
    if dtype.startswith("Object"):
        return read_objects(series.to_list(), name)
    raise TypeError(_no_dates(name, dtype))


def _read_polars_text(series: Any) -> RawColumn:
    """Read text or categories with labels in order of appearance. Not every cell is missing."""
    polars = sys.modules["polars"]
    if series.dtype == polars.String:
        series = series.cast(polars.Categorical)
    physical = series.to_physical().cast(polars.Int64)
    codes = physical.fill_null(-1).to_numpy()
    n_rows = len(codes)
    first = np.full(int(physical.max()) + 2, n_rows)  # first row of each code; the last entry is of code -1
    first[codes[::-1]] = np.arange(n_rows - 1, -1, -1)  # of a repeated index, the last value stays
    used = np.flatnonzero(first[:-1] < n_rows)
    used = used[np.argsort(first[used])]
    recode = np.full(len(first), -1, dtype=np.int32)
    recode[used] = np.arange(len(used), dtype=np.int32)
    return RawColumn("category", codes=recode[codes], labels=series.gather(first[used]).to_list())


def _read_arrow(column: Any, name: str) -> RawColumn:
    kind = str(column.type)
    if kind == "null":
        return _all_missing(column)
    if kind.startswith(("bool", "int", "uint", "float", "double", "halffloat", "decimal")):
        values = np.array(column.cast("float64", safe=False))  # integers above 2^53 are rounded
        return RawColumn("boolean" if kind == "bool" else "number", values)
    if kind.startswith(("string", "large_string", "utf8", "large_utf8", "dictionary")):
        codes, labels = dictionary_codes(column)
        return _coded(codes, labels.to_pylist(), name)
    raise TypeError(_no_dates(name, kind))


def _no_dates(name: str, dtype: object) -> str:
    return (
        f"X: column {name!r} has type {dtype}; expected numbers, booleans, text or categories "
        "(convert dates to numbers first)"
    )


def shown_names(names: Sequence[str]) -> str:
    """Return at most five names for a message."""
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
