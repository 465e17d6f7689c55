"""Arrow columns, from a CSV or a stream, to the kernel's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from literati.table import UNKNOWN
from service.errors import FieldError, pointer, row_number
from service.ingest.numerals import nearest_doubles

from .batch import Batch
from .faults import MOST_ERRORS, absent, no_rows, positions, refuse, refuse_absent, too_many_rows
from .layout import Field, Floats, Layout

Spell = Callable[[Any, Field], Any]  # a label of a category column to what the model may know it as
Coded = tuple[npt.NDArray[np.int64], list[Any]]  # codes and the labels they stand for; code -1 is missing


def read_table(
    table: Any,
    layout: Layout,
    max_rows: int,
    *,
    spell: Spell = lambda label, entry: label,
    read_as: Mapping[str, str] | None = None,
    unreadable: Mapping[str, int | None] | None = None,
) -> Batch:
    """Read the rows; columns that are `unreadable`, and that no split uses, are left aside."""
    at = positions(table.column_names, lambda position: pointer("body", position))
    aside = dict(unreadable or {})
    layout = layout.lacking(lambda name: name in at and name not in aside)
    refuse_absent([absent("/body", entry.name) for entry in layout.fields if entry.name not in at])
    if table.num_rows == 0:
        raise no_rows("/body")
    if table.num_rows > max_rows:
        raise too_many_rows("/body", max_rows)
    matrix = layout.empty_matrix(table.num_rows)
    categories: dict[int, Coded] = {}
    errors: list[FieldError] = []
    for entry in layout.fields:
        column = table.column(at[entry.name])
        found: list[FieldError] = []
        if pa.types.is_null(column.type):
            values = np.full(len(column), math.nan)
        elif entry.kind != "category":
            values = _numbers(column, entry, found)
        else:
            codes, labels = _coded(column, entry, found)
            categories[entry.place] = codes, [entry.known(spell(label, entry)) for label in labels]
            values = _categories(*categories[entry.place], entry, found)
        if found and entry.place not in layout.used:
            aside[entry.name] = row_number(found[0].pointer)
            continue
        matrix[:, entry.place] = values
        errors += found
        if len(errors) >= MOST_ERRORS:
            break
    refuse(errors)
    layout = layout.lacking(lambda name: name not in aside)

    def cell(row: int, place: int) -> Any:
        codes, labels = categories[place]
        return labels[codes[row]]

    ignored = [name for name in at if name not in layout.names]
    return Batch(
        *(matrix, layout, ignored, cell),
        where=lambda row, place: where(row, layout.by_place[place]),
        read_as=read_as or {},
        unreadable=aside,
    )


def where(row: int, entry: Field) -> str:
    return pointer("body", "rows", row, entry.name)


def _wrong_type(entry: Field) -> FieldError:
    return FieldError(pointer("body", entry.name), "TYPE", f"{entry.name}: expected {entry.expected}.")


def _numbers(column: Any, entry: Field, errors: list[FieldError]) -> Floats:
    kind, types = column.type, pa.types
    if types.is_boolean(kind) and entry.kind == "boolean":
        column = column.cast(pa.int8())
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        errors.append(_wrong_type(entry))
        return np.zeros(len(column))
    values: Floats = nearest_doubles(column).to_numpy()  # null is NaN
    if entry.kind == "boolean":
        bad = np.flatnonzero(~((values == 0) | (values == 1) | np.isnan(values)))
        errors += [wrong_cell(row, entry) for row in bad[:MOST_ERRORS].tolist()]
    return values


def wrong_cell(row: int, entry: Field) -> FieldError:
    message = f"{entry.name}: expected {entry.expected}, or nothing where the value is missing."
    return FieldError(where(row, entry), "TYPE", message)


def _coded(column: Any, entry: Field, errors: list[FieldError]) -> Coded:
    kind, types = column.type, pa.types
    encoded = types.is_dictionary(kind)
    kind = kind.value_type if encoded else kind
    # Not every type with text in it: a column of views can be longer than memory when it is unfolded.
    readable = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    if not any(is_readable(kind) for is_readable in readable):
        errors.append(_wrong_type(entry))
        return np.full(len(column), -1), []
    part = (column if encoded else column.dictionary_encode()).unify_dictionaries().combine_chunks()
    codes = part.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, part.dictionary.to_pylist()


def _categories(
    codes: npt.NDArray[np.int64], labels: list[Any], entry: Field, errors: list[FieldError]
) -> Floats:
    if bad := [code for code, label in enumerate(labels) if type(label) not in entry.types]:
        rows = np.flatnonzero(np.isin(codes, bad))[:MOST_ERRORS]
        errors += [wrong_cell(row, entry) for row in rows.tolist()]
    values = [entry.index.get(label, UNKNOWN) for label in labels]
    return np.array([*values, math.nan])[codes]  # code -1 reads the last one: missing
