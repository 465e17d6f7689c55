"""The cells of a tensor: which cells a datatype has, in JSON and as bytes."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic_core import from_json

from literati.suggestions import did_you_mean, nearest
from service.http.problems import pointer
from service.predict.decode.cells import Cells
from service.predict.layout import NONE, NUMBER_TYPES
from service.predict.row_errors import RowsError, row_error

Place = tuple[str | int, ...]  # the path of a tensor in the request


@dataclass(frozen=True, slots=True)
class Datatype:
    """A datatype of the Open Inference Protocol."""

    name: str
    types: frozenset[type]  # of its cells in JSON; null is a missing value
    words: str  # its cells in words
    dtype: np.dtype[Any] | None = None  # of its cells as bytes; None: texts, each after its length
    limits: tuple[int, int] | None = None
    rounded: bool = False  # JSON may have more digits than the datatype


def _integer(name: str, code: str) -> Datatype:
    dtype = np.dtype(code)
    limits = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    words = f"an integer from {limits[0]} to {limits[1]}"
    return Datatype(name, frozenset({int, NONE}), words, dtype, limits)


_INTEGERS = {
    **{f"INT{bits}": f"<i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"UINT{bits}": f"<u{bits // 8}" for bits in (8, 16, 32, 64)},
}
DATATYPES = {
    "BOOL": Datatype("BOOL", frozenset({bool, int, NONE}), "true or false", np.dtype("u1"), (0, 1)),
    **{name: _integer(name, code) for name, code in _INTEGERS.items()},
    "FP16": Datatype("FP16", NUMBER_TYPES, "a number", np.dtype("<f2"), rounded=True),
    "FP32": Datatype("FP32", NUMBER_TYPES, "a number", np.dtype("<f4"), rounded=True),
    "FP64": Datatype("FP64", NUMBER_TYPES, "a number", np.dtype("<f8")),
    "BYTES": Datatype("BYTES", frozenset({str, NONE}), "text"),
}


def _from_base64(text: str) -> str:
    return base64.b64decode(text, validate=True).decode()


_from_json = partial(from_json, allow_inf_nan=False)
# What MLServer's content types do to the texts of BYTES.
_DECODERS: dict[str, Callable[[str], Any] | None] = {
    "np": None,
    "pd": None,
    "str": None,
    "json": _from_json,
    "pd_json": _from_json,
    "base64": _from_base64,
}
JSON_CONTENT_TYPES = frozenset({"json", "pd_json"})  # their cells are those of JSON


def datatype_of(name: Any, where: Place) -> Datatype:
    """Return the datatype of this name, or raise RowsError."""
    found = DATATYPES.get(name) if type(name) is str else None
    if found is None:
        guess = did_you_mean(nearest(name, DATATYPES)) if type(name) is str else ""
        message = f"There is no such datatype.{guess} The datatypes are {', '.join(DATATYPES)}."
        raise row_error(pointer(*where, "datatype"), "UNKNOWN_DATATYPE", message)
    return found


def json_cells(kind: Datatype, cells: list[Any], width: int, where: Place) -> Cells:
    """Return the cells of an array of JSON as the datatype has them; raise RowsError if they do not fit."""
    types = set(map(type, cells))
    bad = None if types <= kind.types else [type(cell) not in kind.types for cell in cells]
    if bad is None and kind.limits is not None:
        low, high = kind.limits
        present = cells if NONE not in types else [cell for cell in cells if cell is not None]
        if present and not low <= min(present) <= max(present) <= high:
            bad = [cell is not None and not low <= cell <= high for cell in cells]
    if bad is not None:
        raise _wrong_cell(next(compress(range(len(cells)), bad)), kind, width, where)
    if kind.rounded:
        try:
            with np.errstate(over="ignore"):  # infinity has an error of its own
                return np.array(cells, kind.dtype)  # None becomes NaN
        except OverflowError:  # an integer that is too large has one, too
            pass
    return cells


def _wrong_cell(position: int, kind: Datatype, width: int, where: Place) -> RowsError:
    message = f"the datatype {kind.name} demands {kind.words}, or null if the value is missing."
    return row_error(pointer(*where, "data"), "TYPE", message, position // width + 1)


def binary_cells(kind: Datatype, data: bytes, count: int, where: Place) -> Cells:
    """Return the cells of bytes."""
    if kind.dtype is None:
        return _texts(data, count, where)
    if len(data) != count * kind.dtype.itemsize:
        message = f"The shape needs {count * kind.dtype.itemsize:,} bytes of {kind.name}."
        raise _wrong_size(message, where)
    array: npt.NDArray[Any] = np.frombuffer(data, kind.dtype)
    if kind.name != "BOOL":
        return array
    if array.max(initial=0) > 1:
        raise row_error(pointer(*where), "TYPE", "The bytes of BOOL must be 0 or 1.")
    return list(map(bool, array.tolist()))


def _texts(data: bytes, count: int, where: Place) -> list[Any]:
    """Return texts, each of which follows its length in four bytes."""
    cells: list[bytes] = []
    start = 0
    while start < len(data):
        end = start + 4
        if end <= len(data):
            end += struct.unpack_from("<I", data, start)[0]
        if end > len(data):
            raise _wrong_size("The bytes end within a text.", where)
        cells.append(data[start + 4 : end])
        start = end
    if len(cells) != count:
        raise _wrong_size(f"The shape needs {count:,} texts, but there are {len(cells):,}.", where)
    try:
        return [cell.decode() for cell in cells]
    except UnicodeDecodeError:
        raise row_error(pointer(*where), "ENCODING", "A text is not in UTF-8.") from None


def _wrong_size(message: str, where: Place) -> RowsError:
    return row_error(pointer(*where, "parameters", "binary_data_size"), "SIZE", message)


def decoded(cells: list[Any], content_type: Any, where: Place) -> list[Any]:
    """Return the texts of a BYTES tensor as its content type says; raise RowsError if it is not known."""
    if type(content_type) is not str or content_type not in _DECODERS:
        message = f"The content types of BYTES are {', '.join(_DECODERS)}."
        raise row_error(pointer(*where, "parameters", "content_type"), "UNKNOWN_CONTENT_TYPE", message)
    decode = _DECODERS[content_type]
    if decode is None:
        return cells
    try:
        return [None if cell is None else decode(cell) for cell in cells]
    except ValueError:
        raise row_error(pointer(*where, "data"), "ENCODING", f"A text is not {content_type}.") from None
