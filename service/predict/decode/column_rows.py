"""Decode rows that come by column, such as tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from service.http.problems import pointer
from service.predict.decode.cells import Cells, encode_columns
from service.predict.layout import Batch, Layout

# Row, column and position of the column -> path of the cell in the request.
ColumnCellPath = Callable[[int, str, int], tuple[str | int, ...]]


def read_columns(
    cells: Mapping[int, Cells],
    n_rows: int,
    layout: Layout,
    positions: Mapping[str, int],
    path: ColumnCellPath,
    unreadable: Mapping[str, int | None] | None = None,
    read_as: Mapping[str, str] | None = None,
) -> Batch:
    """Encode the cells of the layout's fields, by their indices.

    `layout` and `positions` are those that `Layout.matched` returns, but columns in `unreadable` are ignored
    already. `read_as` is that of `Batch`.
    """

    def cell_pointer(row: int, index: int) -> str:
        name = layout.by_index[index].name
        return pointer(*path(row, name, positions[name]))

    skipped = dict(unreadable or {})
    layout = layout.without_absent(lambda name: name not in skipped)
    matrix = encode_columns(cells, n_rows, layout, cell_pointer, skipped)
    while matrix is None:
        layout = layout.without_absent(lambda name: name not in skipped)
        matrix = encode_columns(cells, n_rows, layout, cell_pointer, skipped)
    ignored = [name for name in positions if name not in layout.names]

    def cell(row: int, index: int) -> Any:
        return cells[index][row]

    return Batch(matrix, layout, ignored, cell, cell_pointer, read_as=read_as or {}, unreadable=skipped)
