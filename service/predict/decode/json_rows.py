"""Decode rows in JSON: `{"records": [{...}]}` or `{"columns": [...], "data": [[...]]}`.

C code handles the cells: itemgetter, chain, set and NumPy. Python code runs once per column, and for single
cells only to find errors.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from typing import Any

from pydantic_core import from_json

from service.http.problems import FieldError, pointer
from service.predict.decode.cells import encode_objects
from service.predict.decode.number_rows import read_numbers
from service.predict.layout import Batch, Layout
from service.predict.row_errors import (
    MAX_ERRORS,
    AbsentColumn,
    MalformedError,
    RowsError,
    check_row_count,
    raise_errors,
    row_error,
)

BOM = b"\xef\xbb\xbf"
START_BYTES = 1024
FORMS = {  # the fields of each form, and an outline of it
    ("records",): '{"records": [{...}, ...]}',
    ("columns", "data"): '{"columns": [...], "data": [[...], ...]}',
}
CellPath = Callable[[int, str], tuple[str | int, ...]]  # row and column -> path of the cell in the request
EXPECTED = f"expected {' or '.join(FORMS.values())}"


def is_json(body: bytes) -> bool:
    """Return whether the body starts like a JSON object or array; no CSV header does."""
    return body[:START_BYTES].removeprefix(BOM).lstrip()[:1] in (b"{", b"[")


def read_json(body: bytes, layout: Layout, max_rows: int) -> Batch:
    plain = read_numbers(body, layout, max_rows)
    if plain is not None:
        return plain
    document = parse_json(body)
    if type(document) is not dict:
        raise row_error("/body", "TYPE", f"The body must be an object: {EXPECTED}.")
    if document.keys() == {"records"}:
        records = checked_rows(document["records"], dict, "an object", max_rows, "body", "records")
        check_repeated_fields(body, 1 + sum(map(len, records)))
        return read_records(records, layout, lambda row, name: ("body", "records", row, name), {})
    if document.keys() == {"columns", "data"}:
        rows = checked_rows(document["data"], list, "an array", max_rows, "body", "data")
        check_repeated_fields(body, 2)
        return _read_arrays(document["columns"], rows, layout, no_booleans=_has_no_booleans(body, document))
    raise _wrong_form(document)


def parse_json(body: bytes, *, allow_inf_nan: bool = False) -> Any:
    try:
        return from_json(body.removeprefix(BOM), allow_inf_nan=allow_inf_nan, cache_strings="keys")
    except ValueError as error:  # its message has the line and the column, but nothing of the body
        raise MalformedError(f"The body is not valid JSON: {error}.") from None


def check_repeated_fields(body: bytes, fields: int) -> None:
    """Raise RowsError if a field occurs twice in an object; the fast parser keeps the last one silently.

    There is a colon for each field. So more colons than fields mean repeated names or text with colons, and
    only then the slow parser is needed.
    """
    if body.count(b":") != fields:
        json.loads(body, object_pairs_hook=_no_repeats)


def _no_repeats(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise row_error("/body", "REPEATED", "A field occurs twice in one object.")


def _wrong_form(document: dict[str, Any]) -> RowsError:
    """Return the errors of the form whose fields the body has, or of both forms if that is not clear."""
    meant = [form for form in FORMS if not document.keys().isdisjoint(form)]
    known = meant[0] if len(meant) == 1 else ("records", "columns", "data")
    expected = f"expected {FORMS[known]}" if known in FORMS else EXPECTED
    detail = f"The body has wrong fields: {expected}."
    errors = [
        FieldError(pointer("body", name), "UNKNOWN_FIELD", f"Unknown field: {expected}.")
        for name in document
        if name not in known
    ]
    if known in FORMS:
        errors += [
            FieldError(pointer("body", name), "MISSING", f"The field is missing: {expected}.")
            for name in known
            if name not in document
        ]
    return RowsError(detail, errors or [FieldError("/body", "FORM", detail)])


def checked_rows(rows: Any, kind: type, words: str, max_rows: int, *where: str) -> list[Any]:
    """Return the rows at a place of the request if all are of this type, else raise RowsError."""
    if type(rows) is not list:
        raise row_error(pointer(*where), "TYPE", f"Expected an array of rows, each {words}.")
    check_row_count(len(rows), max_rows, *where)
    if set(map(type, rows)) != {kind}:
        bad = (row for row, entry in enumerate(rows) if type(entry) is not kind)
        message = f"Expected a row that is {words}."
        raise_errors(FieldError(pointer(*where, row), "TYPE", message, row + 1) for row in bad)
    return rows


def read_records(
    records: list[dict[str, Any]], layout: Layout, path: CellPath, unreadable: dict[str, int | None]
) -> Batch:
    """Decode objects. Columns in `unreadable` are ignored already."""
    names = [entry.name for entry in layout.fields]

    def cell_pointer(row: int, index: int) -> str:
        return pointer(*path(row, layout.by_index[index].name))

    try:
        matrix = encode_objects(records, names, layout, cell_pointer, unreadable)
    except KeyError:
        # An unused column that some records lack counts as absent in all of them.
        present = layout.without_absent(set(records[0]).intersection(*records[1:]).__contains__)
        if present is not layout:
            return read_records(records, present, path, unreadable)
        _raise_absent_names(records, layout, path)
        raise
    if matrix is None:
        readable = layout.without_absent(lambda name: name not in unreadable)
        return read_records(records, readable, path, unreadable)
    ignored: list[str] = []
    if sum(map(len, records)) != len(records) * len(names):  # there are unknown or unreadable columns
        ignored = sorted(set().union(*records) - layout.names)

    def cell(row: int, index: int) -> Any:
        return records[row][layout.by_index[index].name]

    return Batch(matrix, layout, ignored, cell, cell_pointer, unreadable=unreadable)


def _raise_absent_names(records: list[dict[str, Any]], layout: Layout, path: CellPath) -> None:
    absent: list[AbsentColumn] = []
    for name in layout.by_name:
        rows = islice((row for row, record in enumerate(records) if name not in record), MAX_ERRORS)
        absent += [AbsentColumn(name, pointer(*path(row, name)), row + 1) for row in rows]
    layout.raise_absent(sorted(set().union(*records)), absent)


def _has_no_booleans(body: bytes, document: dict[str, Any]) -> bool:
    """Return whether there are certainly no booleans: after the column names, no t or f occurs."""
    if next(iter(document)) != "columns":
        return False
    names_end = body.find(b"]")  # or earlier, if a name contains one
    return body.find(b"t", names_end) < 0 and body.find(b"f", names_end) < 0


def _read_arrays(columns: Any, rows: list[list[Any]], layout: Layout, *, no_booleans: bool) -> Batch:
    """Decode arrays."""
    if type(columns) is not list or not set(map(type, columns)) <= {str}:
        raise row_error(pointer("body", "columns"), "TYPE", "Expected an array of column names.")
    layout, positions = layout.matched(columns, "body", "columns")
    if set(map(len, rows)) != {len(positions)}:
        message = f"Expected {len(positions)} cells, one per column."
        bad = (row for row, cells in enumerate(rows) if len(cells) != len(positions))
        raise_errors(FieldError(pointer("body", "data", row), "LENGTH", message, row + 1) for row in bad)
    key = {entry.index: positions[entry.name] for entry in layout.fields}

    def cell_pointer(row: int, index: int) -> str:
        return pointer("body", "data", row, key[index])

    unreadable: dict[str, int | None] = {}
    matrix = None
    while matrix is None:
        layout = layout.without_absent(lambda name: name not in unreadable)
        keys = [key[entry.index] for entry in layout.fields]
        matrix = encode_objects(rows, keys, layout, cell_pointer, unreadable, no_booleans=no_booleans)
    ignored = [name for name in positions if name not in layout.names]

    def cell(row: int, index: int) -> Any:
        return rows[row][key[index]]

    return Batch(matrix, layout, ignored, cell, cell_pointer, unreadable=unreadable)
