"""Decode rows that come by column, such as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from service.http.problems import pointer
from service.predict.decode.cells import Cells, encode_columns
from service.predict.layout import Batch, Field, Layout

Column = TypeVar("Column")


def read_columns(
    names: Sequence[str],
    columns: Sequence[Column],
    n_rows: int,
    layout: Layout,
    cells_of: Callable[[Column, Field], Cells],
    *where: str,
) -> Batch:
    """Encode the columns. `cells_of` returns the cells of a column for a field of the model.

    `where` is the path of the names in the request.
    """
    layout, positions = layout.matched(names, *where)
    cells = {entry.index: cells_of(columns[positions[entry.name]], entry) for entry in layout.fields}

    def cell_pointer(row: int, index: int) -> str:
        return pointer("body", "rows", row, layout.by_index[index].name)

    unreadable: dict[str, int | None] = {}
    matrix = encode_columns(cells, n_rows, layout, cell_pointer, unreadable)
    while matrix is None:
        layout = layout.without_absent(lambda name: name not in unreadable)
        matrix = encode_columns(cells, n_rows, layout, cell_pointer, unreadable)
    ignored = [name for name in positions if name not in layout.names]

    def cell(row: int, index: int) -> Any:
        return cells[index][row]

    return Batch(matrix, layout, ignored, cell, cell_pointer, unreadable=unreadable)
