"""Decode the rows of a request of the Open Inference Protocol."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from literati.data.words import NULL_WORDS
from service.http.problems import pointer
from service.predict.decode.cells import Cells, to_floats
from service.predict.decode.column_rows import read_columns
from service.predict.decode.csv_rows import parse_label
from service.predict.decode.number_rows import read_matrix
from service.predict.decode.tensor_request import Tensor, parse_request
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
    body: bytes, layout: Layout, max_rows: int, head_bytes: int | None, null_words: frozenset[str]
) -> Batch:
    """Decode the tensors of a request."""
    tensors, wanted = parse_request(body, head_bytes)
    rows = tensors[0].rows
    check_row_count(rows, max_rows, "body", "inputs")
    is_matrix = _is_matrix(tensors, layout)
    numbers = _read_numbers(tensors, layout, is_matrix, wanted)
    if numbers is not None:
        return numbers
    if is_matrix:
        tensors = _split(tensors[0], layout)
    for place, tensor in enumerate(tensors):
        if tensor.rows != rows or tensor.width != 1:
            message = f"Expected the shape [{rows}] or [{rows}, 1]: one cell for each row."
            raise row_error(pointer("body", "inputs", place, "shape"), "SHAPE", message)
    names = [tensor.name for tensor in tensors]
    cells_of = partial(_cells, null_words=null_words)
    return replace(read_columns(names, tensors, rows, layout, cells_of, "body", "inputs"), wanted=wanted)


def _is_matrix(tensors: list[Tensor], layout: Layout) -> bool:
    """Return whether a single tensor has all columns of the model. A matrix may have any name."""
    if len(tensors) > 1:
        return False
    return tensors[0].width > 1 or (layout.width == 1 and tensors[0].name not in layout.names)


def _read_numbers(tensors: list[Tensor], layout: Layout, is_matrix: bool, wanted: Wanted) -> Batch | None:
    """Read all tensors at once if the model has columns of numbers only, else return None.

    Also return None for bytes and text, and if anything is wrong.
    """
    if layout.others:
        return None
    rows, width = tensors[0].rows, layout.width if is_matrix else 1
    for tensor in tensors:
        if tensor.rows != rows or tensor.width != width or tensor.is_text or type(tensor.cells) is not list:
            return None
    numbers = to_floats(list(chain.from_iterable([tensor.cells for tensor in tensors])), no_booleans=False)
    if numbers is None:
        return None
    if is_matrix:
        return read_matrix(numbers.reshape(-1, layout.width), None, layout, wanted)
    names = [tensor.name for tensor in tensors]
    return read_matrix(numbers.reshape(len(tensors), -1).T, names, layout, wanted)


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
    """Return the cells of a tensor for a field of the model. Text is read like a cell of a CSV."""
    cells = tensor.cells
    if isinstance(cells, np.ndarray):
        if entry.kind == "number":
            return cells.astype(np.float64, copy=False)
        return [None if cell != cell else cell for cell in cells.tolist()]
    if tensor.is_text:
        return [parse_label(cell, entry, null_words) if type(cell) is str else cell for cell in cells]
    return cells
