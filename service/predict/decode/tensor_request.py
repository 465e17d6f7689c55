"""Parse a request of the Open Inference Protocol: its tensors, and the outputs that it asks for.

The cells of a tensor are in the JSON, or they are bytes after it (the extension `binary_tensor_data`).
"""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from literati.suggestions import did_you_mean, nearest
from service.http.problems import pointer
from service.predict.decode.cells import Cells
from service.predict.decode.datatypes import (
    JSON_CONTENT_TYPES,
    Place,
    binary_cells,
    datatype_of,
    decoded,
    json_cells,
)
from service.predict.decode.json_rows import check_repeated_fields
from service.predict.decode.protocol_json import check_form, form, parse_object
from service.predict.layout import NONE, NUMBER_TYPES
from service.predict.outputs import ALL, ALL_BINARY, OUTPUTS, Output, Wanted
from service.predict.row_errors import MalformedError, RowsError, row_error

_REQUEST = form("inputs", "id outputs parameters")
_TENSOR = form("name shape datatype", "data parameters")
_OUTPUT = form("name", "parameters")
_PLAIN_FIELDS = ("name", "shape", "datatype", "data")
_plain_fields = itemgetter(*_PLAIN_FIELDS)
_EVERYTHING = Wanted(ALL)
MAX_SIZE = 1 << 64  # of a dimension; the protocol demands it
_NOT_SUPPORTED = ("classification", "shared_memory_region")  # Triton's parameters of an output


class Tensor(NamedTuple):
    """A tensor of one column, or of a matrix of all columns."""

    name: str
    rows: int
    width: int
    cells: Cells  # row by row
    is_text: bool  # false for texts that are JSON: they are decoded


class NumberTensors(NamedTuple):
    """Tensors of 64-bit numbers that have the same shape."""

    names: tuple[str, ...]
    rows: int
    width: int
    cells: list[Any]  # numbers and None: tensor by tensor, row by row

    def split(self) -> list[Tensor]:
        size = self.rows * self.width
        parts = [self.cells[place * size : (place + 1) * size] for place in range(len(self.names))]
        return [
            Tensor(name, self.rows, self.width, part, is_text=False)
            for name, part in zip(self.names, parts, strict=True)
        ]


class InferenceRequest(NamedTuple):
    tensors: list[Tensor] | NumberTensors
    wanted: Wanted
    is_plain: bool  # nothing but tensors of numbers and names of outputs


def parse_request(body: bytes, head_bytes: int | None) -> InferenceRequest:
    """Parse a request, whose JSON has `head_bytes` bytes if bytes of tensors follow it."""
    head = body if head_bytes is None else body[:head_bytes]
    if len(head) < (head_bytes or 0):
        raise MalformedError("The body is shorter than its header Inference-Header-Content-Length says.")
    document = check_form(parse_object(head), _REQUEST, "body")
    inputs = _entries(document["inputs"], "inputs")
    numbers = _number_tensors(inputs) if head_bytes is None else None
    if numbers is not None and len(document) == 1:
        check_repeated_fields(head, 1 + len(_PLAIN_FIELDS) * len(inputs))
        return InferenceRequest(numbers, _EVERYTHING, is_plain=True)
    parameters = _parameters(document, "body")
    tensors = numbers or _read_tensors(inputs, body, None if head_bytes is None else len(head))
    asked = [] if document.get("outputs") is None else _entries(document["outputs"], "outputs")
    outputs = _outputs(asked, parameters.get("binary_data_output") is True)
    request_id = document.get("id")
    if type(request_id) not in (str, NONE):
        raise row_error("/body/id", "TYPE", "Expected text.")
    objects = [document, parameters, *inputs, *asked]
    described = asked if numbers else [*inputs, *asked]
    objects += [entry["parameters"] for entry in described if entry.get("parameters")]
    check_repeated_fields(head, sum(map(len, objects)))
    is_plain = document.keys() == {"inputs", "outputs"} and set(map(len, asked)) == {1}
    return InferenceRequest(tensors, Wanted(outputs, request_id), is_plain)


def _read_tensors(inputs: list[Any], body: bytes, bytes_start: int | None) -> list[Tensor]:
    if not inputs:
        raise row_error("/body/inputs", "NO_INPUTS", "There are no inputs; send at least one.")
    reader = _TensorReader(body, bytes_start)
    tensors = [reader.read(entry, ("body", "inputs", place)) for place, entry in enumerate(inputs)]
    reader.check_end()
    return tensors


def _entries(entries: Any, name: str) -> list[Any]:
    if type(entries) is not list:
        raise row_error(pointer("body", name), "TYPE", "Expected an array of objects.")
    return entries


def _parameters(entry: dict[str, Any], *where: str | int) -> dict[str, Any]:
    parameters = entry.get("parameters")
    if type(parameters) not in (dict, NONE):
        raise row_error(pointer(*where, "parameters"), "TYPE", "Expected an object.")
    return parameters or {}


def _number_tensors(inputs: list[Any]) -> NumberTensors | None:
    """Read tensors of 64-bit numbers in JSON at once, in half of the time; return None for any others.

    Also return None if anything is wrong, so that `_TensorReader` reports it.
    """
    try:
        names, shapes, datatypes, data = zip(*map(_plain_fields, inputs), strict=True)
        count = len(names)
        if datatypes.count("FP64") < count or shapes.count(shapes[0]) < count:
            return None
        rows, width = _shape(shapes[0], ("body", "inputs", 0))
        if count == 1 and data[0] and type(data[0][0]) is list:  # an array for each row
            lengths = set(map(len, data[0]))
            data = (list(chain.from_iterable(data[0])),) if lengths == {width} else ()
        cells = list(chain.from_iterable(data))
        lengths = set(map(len, data))
        sizes = set(map(type, chain.from_iterable(shapes)))  # [true] equals [1]
    except (KeyError, TypeError, ValueError):
        return None
    if (
        lengths == {rows * width}
        and set(map(type, cells)) <= NUMBER_TYPES
        and sizes == {int}
        and set(map(type, names)) == {str}
        and sum(map(len, inputs)) == len(_PLAIN_FIELDS) * count
    ):
        return NumberTensors(names, rows, width, cells)
    return None


class _TensorReader:
    """Reads tensors in their order, because that is the order of their bytes."""

    def __init__(self, body: bytes, bytes_start: int | None) -> None:
        self._body = body
        self._start = bytes_start  # None: no bytes follow the JSON

    def read(self, entry: Any, where: Place) -> Tensor:
        entry = check_form(entry, _TENSOR, *where)
        name, data = entry["name"], entry.get("data")
        if type(name) is not str:
            raise row_error(pointer(*where, "name"), "TYPE", "Expected text.")
        kind = datatype_of(entry["datatype"], where)
        rows, width = _shape(entry["shape"], where)
        parameters = _parameters(entry, *where)
        size = parameters.get("binary_data_size")
        cells: Cells
        if size is not None:
            cells = binary_cells(kind, self._take(size, data, where), rows * width, where)
        else:
            cells = json_cells(kind, _flat(data, rows, width, where), width, where)
        is_text = kind.name == "BYTES"
        content_type = parameters.get("content_type")
        if is_text and content_type is not None and isinstance(cells, list):
            cells = decoded(cells, content_type, where)
            is_text = content_type not in JSON_CONTENT_TYPES
        return Tensor(name, rows, width, cells, is_text)

    def _take(self, size: Any, data: Any, where: Place) -> bytes:
        """Return the bytes of the next tensor."""
        place = pointer(*where, "parameters", "binary_data_size")
        if type(size) is not int or size < 0:
            raise row_error(place, "TYPE", "Expected a number of bytes.")
        if data is not None:
            raise row_error(place, "SIZE", "Send `data` or bytes after the JSON, not both.")
        if self._start is None:
            message = "Say where the JSON ends with the header Inference-Header-Content-Length."
            raise row_error(place, "NO_HEADER", message)
        end = self._start + size
        if end > len(self._body):
            raise row_error(place, "SIZE", "The body ends before the last byte of this tensor.")
        taken, self._start = self._body[self._start : end], end
        return taken

    def check_end(self) -> None:
        """Raise RowsError if bytes are left that belong to no tensor."""
        if self._start is not None and self._start < len(self._body):
            left = len(self._body) - self._start
            raise row_error("/body", "SIZE", f"The body has {left:,} bytes after the last tensor.")


def _shape(shape: Any, where: Place) -> tuple[int, int]:
    """Return the rows and the columns of a tensor."""
    if type(shape) is list and 1 <= len(shape) <= 2:
        rows, width = shape[0], shape[-1] if len(shape) == 2 else 1
        if type(rows) is type(width) is int and 0 <= rows < MAX_SIZE and 0 <= width < MAX_SIZE:
            return rows, width
    raise row_error(pointer(*where, "shape"), "SHAPE", "Expected [rows] or [rows, columns].")


def _flat(data: Any, rows: int, width: int, where: Place) -> list[Any]:
    """Return the cells row by row. They may be one array, or an array for each row."""
    if data is None:
        message = "The tensor has no cells: send `data`. Shared memory is not supported."
        raise row_error(pointer(*where, "data"), "MISSING", message)
    if type(data) is not list:
        raise row_error(pointer(*where, "data"), "TYPE", "Expected an array.")
    if data and type(data[0]) is list:
        if set(map(type, data)) != {list} or len(data) != rows or set(map(len, data)) != {width}:
            message = f"Expected {rows:,} arrays of {width:,} cells, as the shape says."
            raise row_error(pointer(*where, "data"), "SHAPE", message)
        return list(chain.from_iterable(data))
    if len(data) != rows * width:
        message = f"Expected {rows * width:,} cells, as the shape says, but there are {len(data):,}."
        raise row_error(pointer(*where, "data"), "SHAPE", message)
    return data


def _outputs(asked: list[Any], binary: bool) -> tuple[Output, ...]:
    """Return the outputs that a request asks for; all if it names none."""
    if not asked:
        return ALL_BINARY if binary else ALL
    found: dict[str, Output] = {}
    for place, entry in enumerate(asked):
        where = ("body", "outputs", place)
        entry = check_form(entry, _OUTPUT, *where)
        name, parameters = entry["name"], _parameters(entry, *where)
        if name not in OUTPUTS:
            raise _unknown_output(name, where)
        if name in found:
            raise row_error(pointer(*where, "name"), "REPEATED", "Ask for each output once.")
        for parameter in _NOT_SUPPORTED:
            if parameters.get(parameter):
                place_of = pointer(*where, "parameters", parameter)
                raise row_error(place_of, "NOT_SUPPORTED", "This parameter is not supported; leave it out.")
        found[name] = Output(name, parameters.get("binary_data", binary) is True)
    return tuple(found.values())


def _unknown_output(name: Any, where: Place) -> RowsError:
    guess = did_you_mean(f"`{meant}`" for meant in nearest(name, OUTPUTS)) if type(name) is str else ""
    message = f"There is no such output.{guess} The outputs are {', '.join(OUTPUTS)}."
    return row_error(pointer(*where, "name"), "UNKNOWN_OUTPUT", message)
