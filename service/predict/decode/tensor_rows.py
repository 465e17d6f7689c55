"""Decode the rows of a request of the Open Inference Protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from literati.data.words import NULL_WORDS
from service.http.problems import pointer
from service.predict.decode.cells import Cells, to_floats
from service.predict.decode.column_rows import read_columns
from service.predict.decode.csv_rows import parse_label
from service.predict.decode.number_rows import Match, match_columns, read_matrix
from service.predict.decode.tensor_request import NumberTensors, Tensor, parse_request
from service.predict.decode.tensor_templates import MAX_BODY_BYTES, TemplateCache, split_body
from service.predict.decode.text_columns import TextColumns
from service.predict.layout import Batch, Field, Layout
from service.predict.outputs import Wanted
from service.predict.row_errors import RowsError, check_row_count, row_error
from worker.domain.datasets import CsvStyle

# Triton's client writes None, pandas.NA and NaN so.
PYTHON_NULLS = ("", "None", "<NA>", "nan", "NaN")
MAX_SHOWN = 5  # names in an error


def null_words_of(style: CsvStyle) -> frozenset[str]:
    """Return the texts that mean a missing value. `style` is that of the CSV of the training data."""
    return frozenset((*PYTHON_NULLS, *(NULL_WORDS if style.null_words is None else style.null_words)))


def read_inference(
    body: bytes,
    layout: Layout,
    max_rows: int,
    head_bytes: int | None,
    style: CsvStyle,
    null_words: frozenset[str],
    templates: TemplateCache,
) -> Batch:
    """Decode the tensors of a request. `style` is that of the CSV of the training data."""
    split = None
    if head_bytes is None and len(body) <= MAX_BODY_BYTES and not layout.others:
        split = split_body(body)
        batch = templates.read(split, max_rows)
        if batch is not None:
            return batch
    tensors, wanted, is_plain = parse_request(body, head_bytes)
    if isinstance(tensors, NumberTensors):
        match = _match(tensors, layout, max_rows)
        batch = None if match is None else _read_numbers(tensors, match, wanted)
        if match is not None and batch is not None:
            if split is not None and is_plain:
                templates.add(split, tensors, match, wanted)
            return batch
        tensors = tensors.split()
    rows, width = tensors[0].rows, tensors[0].width
    check_row_count(rows, max_rows, "body", "inputs")
    if _is_matrix([tensor.name for tensor in tensors], width, layout):
        tensors = _split(tensors[0], layout)
    for place, tensor in enumerate(tensors):
        if tensor.rows != rows or tensor.width != 1:
            message = f"Expected the shape [{rows}] or [{rows}, 1]: one cell for each row."
            raise row_error(pointer("body", "inputs", place, "shape"), "SHAPE", message)
    layout, positions = layout.matched([tensor.name for tensor in tensors], "body", "inputs")
    by_field = {entry.name: tensors[positions[entry.name]] for entry in layout.fields}
    reader = TextColumns(layout, style, null_words, has_options=False)
    texts = {
        entry.name: _as_arrow(by_field[entry.name].cells, null_words)
        for entry in layout.fields
        if entry.kind != "category" and by_field[entry.name].is_text
    }
    cells: dict[int, Cells] = {
        layout.by_name[name].index: _as_cells(column) for name, column in reader.read(texts).items()
    }
    for entry in layout.fields:
        if entry.name not in texts:
            cells[entry.index] = _cells(by_field[entry.name], entry, null_words)
    batch = read_columns(
        *(cells, rows, layout, positions, lambda row, name, position: ("body", "rows", row, name)),
        unreadable=reader.unreadable,
        read_as=reader.read_as,
    )
    return replace(batch, wanted=wanted)


def _as_arrow(cells: Cells, null_words: frozenset[str]) -> Any:
    """Return texts as an Arrow column. Text that has no UTF-8 form is no number, so it may be changed."""
    present = (None if cell is None or cell in null_words else cell for cell in cells)
    encoded = [None if cell is None else cell.encode(errors="replace") for cell in present]
    return pa.chunked_array([pa.array(encoded, pa.string())])


def _as_cells(column: Any) -> Cells:
    """Return a column of numbers or booleans; a missing number is NaN."""
    cells: Cells = column.to_pylist() if pa.types.is_boolean(column.type) else column.to_numpy()
    return cells


def _is_matrix(names: Sequence[str], width: int, layout: Layout) -> bool:
    """Return whether a single tensor has all columns of the model. A matrix may have any name."""
    return len(names) == 1 and (width > 1 or (layout.width == 1 and names[0] not in layout.names))


def _match(tensors: NumberTensors, layout: Layout, max_rows: int) -> Match | None:
    """Return how tensors of numbers are read at once, or None if that is not possible."""
    names, rows, width, _ = tensors
    is_matrix = _is_matrix(names, width, layout)
    if layout.others or not 0 < rows <= max_rows or width != (layout.width if is_matrix else 1):
        return None
    return match_columns(None if is_matrix else names, layout)


def _read_numbers(tensors: NumberTensors, match: Match, wanted: Wanted) -> Batch | None:
    """Read tensors of numbers at once; return None if a number is too large."""
    names, rows, width, cells = tensors
    numbers = to_floats(cells, no_booleans=True)
    if numbers is None:
        return None
    numbers = numbers.reshape(rows, width) if match.is_matrix else numbers.reshape(len(names), rows).T
    return read_matrix(numbers, match, wanted)


def _split(matrix: Tensor, layout: Layout) -> list[Tensor]:
    """Return the columns of a matrix, which has all columns of the model in their order."""
    if matrix.width != layout.width:
        raise _wrong_width(matrix.width, layout.order)
    return [
        Tensor(name, matrix.rows, 1, matrix.cells[place :: matrix.width], matrix.is_text)
        for place, name in enumerate(layout.order)
    ]


def _wrong_width(width: int, names: list[str]) -> RowsError:
    more = ", ..." if len(names) > MAX_SHOWN else ""
    message = (
        f"The matrix has {width:,} columns, but the model has {len(names):,}: "
        f"{', '.join(names[:MAX_SHOWN])}{more}. Send all of them in this order, or one input for each column."
    )
    return row_error("/body/inputs/0/shape", "SHAPE", message)


def _cells(tensor: Tensor, entry: Field, null_words: frozenset[str]) -> Cells:
    """Return the cells of a tensor for a field of the model. Categories as text are read like in a CSV."""
    cells = tensor.cells
    if isinstance(cells, np.ndarray):
        if entry.kind == "number":
            return cells.astype(np.float64, copy=False)
        return [None if cell != cell else cell for cell in cells.tolist()]
    if tensor.is_text:
        return [parse_label(cell, entry, null_words) if type(cell) is str else cell for cell in cells]
    return cells
