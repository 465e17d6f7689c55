"""Rows in JSON: `{"records": [{...}]}` or `{"columns": [...], "data": [[...]]}`.

What is done for each cell is done by C code: itemgetter, chain, set and NumPy. Python code runs for each
column, and for each cell only where something is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic_core import from_json

from service.errors import FieldError, pointer

from .batch import Batch
from .faults import (
    MOST_ERRORS,
    MalformedError,
    RowsError,
    absent,
    no_rows,
    positions,
    refuse,
    refuse_absent,
    refused,
    too_many_rows,
)
from .layout import Layout
from .number_rows import read_numbers
from .objects import encode_objects

BOM = b"\xef\xbb\xbf"
START_BYTES = 1024
FORMS = {  # fields of the body, and how it looks
    ("records",): '{"records": [{...}, ...]}',
    ("columns", "data"): '{"columns": [...], "data": [[...], ...]}',
}
EXPECTED = f"expected {' or '.join(FORMS.values())}"


def is_json(body: bytes) -> bool:
    """Whether the first sign of a body begins an object or an array; no CSV header does."""
    return body[:START_BYTES].removeprefix(BOM).lstrip()[:1] in (b"{", b"[")


def read_json(body: bytes, layout: Layout, max_rows: int) -> Batch:
    plain = read_numbers(body, layout, max_rows)
    if plain is not None:
        return plain
    document = _parse(body)
    if type(document) is not dict:
        raise refused("/body", "TYPE", f"The body is not an object: {EXPECTED}.")
    if document.keys() == {"records"}:
        records = _rows(document["records"], "records", dict, "an object", max_rows)
        _refuse_repeated_fields(body, 1 + sum(map(len, records)))
        return _read_records(records, layout, {})
    if document.keys() == {"columns", "data"}:
        rows = _rows(document["data"], "data", list, "an array", max_rows)
        _refuse_repeated_fields(body, 2)
        return _read_arrays(document["columns"], rows, layout, no_booleans=_has_no_booleans(body, document))
    raise _wrong_form(document)


def _parse(body: bytes) -> Any:
    try:
        return from_json(body.removeprefix(BOM), allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:  # it names a line and a column, and echoes nothing
        raise MalformedError(f"The body is not valid JSON: {error}.") from None


def _refuse_repeated_fields(body: bytes, fields: int) -> None:
    """The parser keeps the last of equal names.

    There is a colon for each field, so more colons than fields mean equal names, or text with colons in it;
    only then the slow parser has to tell.
    """
    if body.count(b":") != fields:
        json.loads(body, object_pairs_hook=_no_repeats)


def _no_repeats(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise refused("/body", "REPEATED", "A field occurs twice in one object.")


def _wrong_form(document: dict[str, Any]) -> RowsError:
    """Complain about the form whose fields are there; about both only if it is not clear which is meant."""
    meant = [form for form in FORMS if not document.keys().isdisjoint(form)]
    known = meant[0] if len(meant) == 1 else ("records", "columns", "data")
    expected = f"expected {FORMS[known]}" if known in FORMS else EXPECTED
    detail = f"The body has other fields than it should: {expected}."
    errors = [
        FieldError(pointer("body", name), "UNKNOWN_FIELD", f"There is no such field: {expected}.")
        for name in document
        if name not in known
    ]
    if known in FORMS:
        errors += [
            FieldError(pointer("body", name), "MISSING", f"This field is absent: {expected}.")
            for name in known
            if name not in document
        ]
    return RowsError(detail, errors or [FieldError("/body", "FORM", detail)])


def _rows(rows: Any, field: str, kind: type, words: str, max_rows: int) -> list[Any]:
    if type(rows) is not list:
        raise refused(pointer("body", field), "TYPE", f"Expected an array of rows, each {words}.")
    if not rows:
        raise no_rows(pointer("body", field))
    if len(rows) > max_rows:
        raise too_many_rows(pointer("body", field), max_rows)
    if set(map(type, rows)) != {kind}:
        bad = (row for row, entry in enumerate(rows) if type(entry) is not kind)
        refuse(_first(FieldError(pointer("body", field, row), "TYPE", f"A row is {words}.") for row in bad))
    return rows


def _first(errors: Iterator[FieldError]) -> list[FieldError]:
    return list(islice(errors, MOST_ERRORS))


def _read_records(records: list[dict[str, Any]], layout: Layout, unreadable: dict[str, int | None]) -> Batch:
    """`unreadable` columns are those that are left aside already."""
    names = [entry.name for entry in layout.fields]

    def where(row: int, place: int) -> str:
        return pointer("body", "records", row, layout.by_place[place].name)

    try:
        matrix = encode_objects(records, names, layout, where, unreadable)
    except KeyError:
        # A column that some records lack counts as absent in all of them, if the tree can do without it.
        part = layout.lacking(set(records[0]).intersection(*records[1:]).__contains__)
        if part is not layout:
            return _read_records(records, part, unreadable)
        _refuse_absent_names(records, layout)
        raise
    if matrix is None:
        return _read_records(records, layout.lacking(lambda name: name not in unreadable), unreadable)
    ignored: list[str] = []
    if sum(map(len, records)) != len(records) * len(names):  # also where columns are left aside
        ignored = sorted(set().union(*records) - layout.names)
    return Batch(
        matrix,
        layout,
        ignored,
        lambda row, place: records[row][layout.by_place[place].name],
        where,
        unreadable=unreadable,
    )


def _refuse_absent_names(records: list[dict[str, Any]], layout: Layout) -> None:
    errors: list[FieldError] = []
    for entry in layout.fields:
        lacking = (row for row, record in enumerate(records) if entry.name not in record)
        errors += _first(absent(pointer("body", "records", row, entry.name), entry.name) for row in lacking)
    refuse_absent(errors)


def _has_no_booleans(body: bytes, document: dict[str, Any]) -> bool:
    """For sure. After the column names, nothing has a t or an f in it but booleans and text."""
    if next(iter(document)) != "columns":
        return False
    names_end = body.find(b"]")  # or earlier, if a name has one
    return body.find(b"t", names_end) < 0 and body.find(b"f", names_end) < 0


def _read_arrays(columns: Any, rows: list[list[Any]], layout: Layout, *, no_booleans: bool) -> Batch:
    at = _positions(columns)
    layout = layout.lacking(at.__contains__)
    refuse_absent(
        [absent(pointer("body", "columns"), entry.name) for entry in layout.fields if entry.name not in at]
    )
    if set(map(len, rows)) != {len(at)}:
        message = f"Expected {len(at)} cells, one a column."
        bad = (row for row, cells in enumerate(rows) if len(cells) != len(at))
        refuse(_first(FieldError(pointer("body", "data", row), "LENGTH", message) for row in bad))
    key = {entry.place: at[entry.name] for entry in layout.fields}

    def where(row: int, place: int) -> str:
        return pointer("body", "data", row, key[place])

    unreadable: dict[str, int | None] = {}
    matrix = None
    while matrix is None:
        layout = layout.lacking(lambda name: name in at and name not in unreadable)
        keys = [key[entry.place] for entry in layout.fields]
        matrix = encode_objects(rows, keys, layout, where, unreadable, no_booleans=no_booleans)
    ignored = [name for name in at if name not in layout.names]
    return Batch(
        *(matrix, layout, ignored, lambda row, place: rows[row][key[place]], where), unreadable=unreadable
    )


def _positions(columns: Any) -> dict[str, int]:
    if type(columns) is not list or not set(map(type, columns)) <= {str}:
        raise refused(pointer("body", "columns"), "TYPE", "Expected an array of column names.")
    return positions(columns, lambda position: pointer("body", "columns", position))
