"""Decode the rows of a request of the Open Inference Protocol."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from service.http.problems import pointer
from service.ingest.options import NULL_WORDS
from service.predict.decode.cells import Cells
from service.predict.decode.column_rows import read_columns
from service.predict.decode.csv_rows import parse_label
from service.predict.decode.tensor_request import InferenceRequest, Tensor, parse_request
from service.predict.layout import Batch, Field, Layout
from service.predict.row_errors import RowsError, check_row_count, row_error
from worker.domain.datasets import CsvStyle

# Triton's client writes None and pandas.NA so; "nan" is among the words of a CSV.
PYTHON_NULLS = ("", "None", "<NA>")
MAX_SHOWN = 5  # names in an error


def null_words_of(style: CsvStyle) -> frozenset[str]:
    """Return the texts that mean a missing value. `style` is that of the CSV of the training data."""
    return frozenset((*PYTHON_NULLS, *(NULL_WORDS if style.null_words is None else style.null_words)))


def read_inference(
    body: bytes, layout: Layout, max_rows: int, head_bytes: int | None, null_words: frozenset[str]
) -> Batch:
    """Decode the tensors of a request."""
    request = parse_request(body, head_bytes)
    names, tensors = _columns(request, layout, max_rows)
    cells_of = partial(_cells, null_words=null_words)
    batch = read_columns(names, tensors, request.tensors[0].rows, layout, cells_of, "body", "inputs")
    return replace(batch, wanted=request.wanted)


def _columns(request: InferenceRequest, layout: Layout, max_rows: int) -> tuple[list[str], list[Tensor]]:
    """Return a name and a tensor for each column: the tensors themselves, or the columns of a matrix."""
    first, *others = request.tensors
    check_row_count(first.rows, max_rows, "body", "inputs")
    if not others and (first.width > 1 or (layout.width == 1 and first.name not in layout.names)):
        return _split(first, layout)
    for place, tensor in enumerate(request.tensors):
        if tensor.rows != first.rows or tensor.width != 1:
            message = f"Expected the shape [{first.rows}] or [{first.rows}, 1]: one cell for each row."
            raise row_error(pointer("body", "inputs", place, "shape"), "SHAPE", message)
    return [tensor.name for tensor in request.tensors], request.tensors


def _split(matrix: Tensor, layout: Layout) -> tuple[list[str], list[Tensor]]:
    """Return the columns of a matrix, which has all columns of the model in their order."""
    names = [column.name for column in layout.schema.columns]
    if matrix.width != layout.width:
        raise _wrong_width(matrix.width, names)
    return names, [
        Tensor(name, matrix.rows, 1, matrix.cells[place :: matrix.width], matrix.is_text)
        for place, name in enumerate(names)
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
