"""Decode the JSON of MLflow's scoring server.

The rows are in one of the fields `dataframe_split`, `dataframe_records`, `instances` and `inputs`. `params`
may have a `method`, as for the models that `ShapeTree.to_mlflow` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from literati.mlflow import METHODS
from literati.suggestions import did_you_mean, nearest
from service.http.problems import FieldError, pointer
from service.predict.decode.column_rows import read_columns
from service.predict.decode.json_rows import check_repeated_fields, checked_rows, read_records
from service.predict.decode.protocol_json import check_form, form, parse_object
from service.predict.layout import Batch, Layout
from service.predict.outputs import OUTPUTS, Output, Wanted
from service.predict.row_errors import RowsError, check_row_count, raise_errors, row_error

# The method `apply` returns `leaf_ids`; the other names are the same.
_WANTED = {method: Wanted((Output(name),)) for method, name in zip(METHODS, OUTPUTS, strict=True)}
LABELS = _WANTED["predict"]
_PARAMS = form("", "method")
_SPLIT = form("data", "columns index")


def read_mlflow(body: bytes, layout: Layout, max_rows: int) -> Batch:
    document = check_form(parse_object(body), _BODY, "body")
    given = [name for name in _READERS if name in document]
    if len(given) != 1:
        message = f"Expected the rows in exactly one of the fields {', '.join(_READERS)}."
        raise row_error("/body", "FORM", message)
    check_repeated_fields(body, _count_fields(document))
    wanted = _wanted(document.get("params"))
    return replace(_READERS[given[0]](document[given[0]], given[0], layout, max_rows), wanted=wanted)


def _count_fields(document: dict[str, Any]) -> int:
    """Return the number of fields of the body and of the objects in it."""
    objects = [document]
    for value in document.values():
        objects += [entry for entry in (value if type(value) is list else [value]) if type(entry) is dict]
    return sum(map(len, objects))


def _wanted(params: Any) -> Wanted:
    if params is None:
        return LABELS
    method = check_form(params, _PARAMS, "body", "params").get("method", "predict")
    if type(method) is not str or method not in _WANTED:
        guess = did_you_mean(f"`{meant}`" for meant in nearest(str(method), METHODS))
        message = f"There is no such method.{guess} The methods are {', '.join(METHODS)}."
        raise row_error("/body/params/method", "UNKNOWN_METHOD", message)
    return _WANTED[method]


def _read_split(value: Any, field: str, layout: Layout, max_rows: int) -> Batch:
    value = check_form(value, _SPLIT, "body", field)
    columns = value.get("columns")
    if columns is not None and (type(columns) is not list or not set(map(type, columns)) <= {str}):
        raise row_error(pointer("body", field, "columns"), "TYPE", "Expected an array of column names.")
    rows = checked_rows(value["data"], list, "an array", max_rows, "body", field, "data")
    return _read_arrays(columns, rows, layout, field, "data")


def _read_rows(value: Any, field: str, layout: Layout, max_rows: int) -> Batch:
    """Decode objects, or arrays with all columns of the model in their order."""
    if type(value) is list and value and type(value[0]) is list:
        rows = checked_rows(value, list, "an array", max_rows, "body", field)
        return _read_arrays(None, rows, layout, field)
    records = checked_rows(value, dict, "an object", max_rows, "body", field)
    return read_records(records, layout, lambda row, name: ("body", field, row, name), {})


def _read_inputs(value: Any, field: str, layout: Layout, max_rows: int) -> Batch:
    """Decode rows, or an object with the cells of each column or with those of a single row."""
    if type(value) is not dict:
        return _read_rows(value, field, layout, max_rows)
    if list not in set(map(type, value.values())):
        return read_records([value], layout, lambda row, name: ("body", field, name), {})
    lengths = {name: len(cells) if type(cells) is list else -1 for name, cells in value.items()}
    rows = max(lengths.values())
    if others := [name for name, length in lengths.items() if length != rows]:
        message = f"Expected an array of {rows:,} cells, as many as other columns have."
        errors = [FieldError(pointer("body", field, name), "LENGTH", message) for name in others]
        raise RowsError(message, errors)
    check_row_count(rows, max_rows, "body", field)
    layout, positions = layout.matched(list(value), "body", field)
    columns = {entry.index: value[entry.name] for entry in layout.fields}
    return read_columns(
        columns, rows, layout, positions, lambda row, name, position: ("body", field, name, row)
    )


def _read_arrays(names: list[str] | None, rows: list[list[Any]], layout: Layout, *where: str) -> Batch:
    """Decode arrays. Without names they have all columns of the model in their order.

    `where` is the path of the arrays in the body; the names are beside them.
    """
    if names is None:
        names = layout.order
    if set(map(len, rows)) != {len(names)}:
        message = f"Expected {len(names)} cells, one for each column."
        bad = (row for row, cells in enumerate(rows) if len(cells) != len(names))
        raise_errors(FieldError(pointer("body", *where, row), "LENGTH", message, row + 1) for row in bad)
    layout, positions = layout.matched(names, "body", *where[:-1], "columns")
    cells = list(map(list, zip(*rows, strict=True)))
    columns = {entry.index: cells[positions[entry.name]] for entry in layout.fields}
    return read_columns(
        columns, len(rows), layout, positions, lambda row, name, position: ("body", *where, row, position)
    )


_READERS: dict[str, Callable[[Any, str, Layout, int], Batch]] = {
    "dataframe_split": _read_split,
    "dataframe_records": _read_rows,
    "instances": _read_rows,
    "inputs": _read_inputs,
}
_BODY = form("", f"{' '.join(_READERS)} params")
