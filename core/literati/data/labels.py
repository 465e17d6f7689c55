"""Class labels and categories: convert them to class indices, and to JSON and back."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from literati._encode._objects import factorize
from literati.data.arrow import dictionary_codes

MAX_TUPLE_DEPTH = 8  # of tuples inside tuples
MISSING_TYPES = ("NAType", "NaTType")  # of pandas, by name


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or NA, without an import of the frame libraries."""
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in MISSING_TYPES


def plain(value: Any) -> Any:
    """Return the Python scalar of a NumPy scalar, and any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def ordered(labels: Iterable[Hashable]) -> list[Any]:
    """Return the distinct labels, sorted, or in order of appearance if they cannot be compared."""
    distinct: list[Any] = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def to_json(label: Any) -> dict[str, Any]:
    """Return a label with its type, so that 1, "1", 1.0 and True stay different."""
    label = plain(label)
    if isinstance(label, tuple):
        return {"type": "tuple", "value": [to_json(part) for part in label]}
    for kind in (bool, int, float, str):
        if type(label) is kind:
            if isinstance(label, float) and not math.isfinite(label):
                raise TypeError(f"the label {label!r} cannot be written as JSON")
            return {"type": kind.__name__, "value": label}
    raise TypeError(
        f"the label {label!r} of type {type(label).__name__} cannot be written as JSON; "
        "expected a bool, int, float, str or a tuple of these"
    )


def from_json(entry: object, depth: int = 0) -> Hashable:
    """Return the label that `to_json` wrote. Raise ValueError for anything else."""
    if not isinstance(entry, dict) or set(entry) != {"type", "value"}:
        raise ValueError("expected labels that are objects with exactly the fields 'type' and 'value'")
    kind, value = entry["type"], entry["value"]
    if kind == "tuple" and isinstance(value, list) and depth < MAX_TUPLE_DEPTH:
        return tuple(from_json(part, depth + 1) for part in value)
    if kind == "float" and type(value) in (int, float) and math.isfinite(value):
        return float(value)
    for scalar in (bool, int, str):
        if kind == scalar.__name__ and type(value) is scalar:
            return value
    raise ValueError("expected labels of type bool, int, float, str or tuple, with a value of that type")


def object_array(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a one-dimensional object array. Unlike `np.array`, this does not unpack tuples."""
    return np.fromiter(labels, dtype=object, count=len(labels))


def _arrow_objects(column: Any) -> npt.NDArray[Any]:
    """Return the cells of an Arrow column as Python objects. Equal cells are one object."""
    if len(column) == 0:
        return object_array([])
    try:
        codes, dictionary = dictionary_codes(column)
    except NotImplementedError:  # lists and other types that Arrow cannot compare
        return object_array(column.to_pylist())
    cells: npt.NDArray[Any] = object_array([*dictionary.to_pylist(), None])[codes]
    return cells


def as_vector(values: Any, name: str) -> npt.NDArray[Any]:
    """Return an argument of labels or weights as a one-dimensional NumPy array."""
    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow":
        return _arrow_objects(values)
    if module in ("pandas", "polars"):
        array = np.asarray(values.to_numpy())
    elif isinstance(values, list | tuple) and any(
        issubclass(cell_type, tuple) for cell_type in set(map(type, values))
    ):
        array = object_array(values)
    else:
        array = np.asarray(values)
        if isinstance(values, list | tuple) and array.dtype.kind in "US" and array.ndim == 1:
            array = object_array(values)  # NumPy made text of the numbers of a mixed list
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # a slow import that is rarely needed

        warnings.warn(
            f"A column-vector {name} was passed when a 1d array was expected. Please change the shape of "
            f"{name} to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"{name} should be a 1d array, got an array of shape {array.shape} instead")
    return array


def encode(y: Any) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return class indices and the sorted classes. Raise an error for missing or fractional labels."""
    if y is None:
        raise ValueError("y: this classifier requires y to be passed, but the target y is None")
    array = as_vector(y, "y")
    if array.dtype.kind == "O":
        return _encode_objects(array)
    if array.dtype.kind not in "biufUS":
        raise ValueError(f"Unknown label type: y has dtype {array.dtype}; expected numbers, text or objects")
    if array.dtype.kind == "f":
        _refuse_continuous(array)
        array = array.astype(np.float64) if array.dtype.itemsize > 8 else array
    classes, codes = np.unique(array, return_inverse=True)
    return codes.astype(np.int32), classes


def _refuse_continuous(array: npt.NDArray[Any]) -> None:
    if np.isnan(array).any():
        raise ValueError("Input y contains NaN: every row needs a label")
    if np.isinf(array).any():
        raise ValueError("Input y contains infinity: labels must be finite")
    if (array != np.floor(array)).any():
        raise ValueError(
            "Unknown label type: continuous. y holds fractions, like the target of a regression; "
            "if these are classes, pass them as text or as an object array"
        )


def _encode_objects(array: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    cells = array.tolist()
    try:
        codes, distinct = factorize(cells)
    except TypeError:
        _refuse_missing(cells)
        _refuse_unhashable(cells)
        raise
    _refuse_missing(distinct)
    found = [plain(label) for label in distinct]
    classes = ordered(found)
    index = {label: code for code, label in enumerate(classes)}
    codes = np.array([index[label] for label in found], dtype=np.int32)[codes]
    if {type(label) for label in classes} in ({int}, {bool}):
        typed = np.asarray(classes)
        if typed.dtype.kind in "biu":  # integers of more than 64 bits stay objects
            return codes, typed
    return codes, object_array(classes)


def _refuse_unhashable(labels: Iterable[Any]) -> None:
    for label in labels:
        try:
            hash(label)
        except TypeError:
            raise TypeError(
                f"Unknown label type: y holds a {type(label).__name__}; expected hashable labels"
            ) from None


def _refuse_missing(labels: Iterable[Any]) -> None:
    if any(is_missing(label) for label in labels):
        raise ValueError("Input y contains NaN or None: every row needs a label")
