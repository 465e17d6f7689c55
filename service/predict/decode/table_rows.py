"""Encode Arrow columns, of a CSV or a stream, as the numbers that the predict kernel reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from literati.data.schema import UNKNOWN
from service.http.problems import FieldError, pointer
from service.ingest.number_style import to_doubles
from service.predict.layout import Batch, Field, Floats, Layout
from service.predict.row_errors import MAX_ERRORS, check_row_count, raise_errors

ParseLabel = Callable[[Any, Field], Any]  # the label of a category column -> the label in the model's type
Labels = tuple[npt.NDArray[np.int64], list[Any]]  # codes and the labels they stand for; code -1 is missing


def read_table(
    table: Any,
    layout: Layout,
    max_rows: int,
    *,
    parse_label: ParseLabel = lambda label, entry: label,
    read_as: Mapping[str, str] | None = None,
    unreadable: Mapping[str, int | None] | None = None,
) -> Batch:
    """Encode the rows. Unused columns that cannot be read, and those in `unreadable`, are ignored."""
    layout, positions = layout.matched(table.column_names, "body")
    skipped = dict(unreadable or {})
    layout = layout.without_absent(lambda name: name not in skipped)
    check_row_count(table.num_rows, max_rows, "body")
    matrix = layout.empty_matrix(table.num_rows)
    categories: dict[int, Labels] = {}
    errors: list[FieldError] = []
    for entry in layout.fields:
        column = table.column(positions[entry.name])
        found: list[FieldError] = []
        if pa.types.is_null(column.type):
            values = np.full(len(column), math.nan)
        elif entry.kind != "category":
            values = _encode_numbers(column, entry, found)
        else:
            codes, labels = _labels(column, entry, found)
            categories[entry.index] = codes, [entry.normalize(parse_label(label, entry)) for label in labels]
            values = _encode_categories(*categories[entry.index], entry, found)
        if found and entry.index not in layout.used:
            skipped[entry.name] = found[0].row
            continue
        matrix[:, entry.index] = values
        errors += found
        if len(errors) >= MAX_ERRORS:
            break
    raise_errors(errors)
    layout = layout.without_absent(lambda name: name not in skipped)

    def cell(row: int, index: int) -> Any:
        codes, labels = categories[index]
        return labels[codes[row]]

    ignored = [name for name in positions if name not in layout.names]
    return Batch(
        *(matrix, layout, ignored, cell),
        pointer=lambda row, index: _cell_pointer(row, layout.by_index[index]),
        read_as=read_as or {},
        unreadable=skipped,
    )


def _cell_pointer(row: int, entry: Field) -> str:
    return pointer("body", "rows", row, entry.name)


def _wrong_type(entry: Field) -> FieldError:
    return FieldError(pointer("body", entry.name), "TYPE", f"{entry.name}: expected {entry.expected}.")


def _encode_numbers(column: Any, entry: Field, errors: list[FieldError]) -> Floats:
    kind, types = column.type, pa.types
    if types.is_boolean(kind) and entry.kind == "boolean":
        column = column.cast(pa.int8())
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        errors.append(_wrong_type(entry))
        return np.zeros(len(column))
    values: Floats = to_doubles(column).to_numpy()  # null is NaN
    if entry.kind == "boolean":
        bad = np.flatnonzero(~((values == 0) | (values == 1) | np.isnan(values)))
        errors += [wrong_cell(row, entry) for row in bad[:MAX_ERRORS].tolist()]
    return values


def wrong_cell(row: int, entry: Field) -> FieldError:
    message = f"{entry.name}: expected {entry.expected}, or an empty cell if the value is missing."
    return FieldError(_cell_pointer(row, entry), "TYPE", message, row + 1)


def _labels(column: Any, entry: Field, errors: list[FieldError]) -> Labels:
    """Return the codes of the cells and the labels of the codes."""
    kind, types = column.type, pa.types
    encoded = types.is_dictionary(kind)
    kind = kind.value_type if encoded else kind
    # Columns of string views are not among them, because their decoded text can be larger than memory.
    readable = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    if not any(is_readable(kind) for is_readable in readable):
        errors.append(_wrong_type(entry))
        return np.full(len(column), -1), []
    part = (column if encoded else column.dictionary_encode()).unify_dictionaries().combine_chunks()
    codes = part.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, part.dictionary.to_pylist()


def _encode_categories(
    codes: npt.NDArray[np.int64], labels: list[Any], entry: Field, errors: list[FieldError]
) -> Floats:
    if bad := [code for code, label in enumerate(labels) if type(label) not in entry.types]:
        rows = np.flatnonzero(np.isin(codes, bad))[:MAX_ERRORS]
        errors += [wrong_cell(row, entry) for row in rows.tolist()]
    values = [entry.codes.get(label, UNKNOWN) for label in labels]
    return np.array([*values, math.nan])[codes]  # code -1 reads the last value: missing
