"""Warnings about rows that differ from the training data but are predicted anyway."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from literati._predict._reports import unusual_cells
from service.http.problems import FieldError
from service.predict.layout import Batch, Field
from service.predict.row_errors import raise_errors

Rows = npt.NDArray[np.intp]
MAX_EXAMPLES = 5
MAX_WARNINGS = 100
MAX_EXAMPLE_LENGTH = 100


class RowWarning(TypedDict):
    """One entry of `warnings`; see `service.predict.schemas.PredictionWarning`."""

    code: str
    column: str | None
    count: int  # rows
    examples: list[Any]
    message: str


def find_warnings(batch: Batch) -> list[RowWarning]:
    """Return warnings about unknown, absent and unreadable columns, and about unusual cells."""
    rows, layout = len(batch.matrix), batch.layout
    found: list[RowWarning] = [_unknown_column(name, rows) for name in batch.ignored]
    if absent := [name for name in layout.absent if name not in batch.unreadable]:
        found.insert(0, _absent_columns(absent, rows))
    found += [_read_as(name, words, rows) for name, words in batch.read_as.items()]
    unusual = unusual_cells(batch.matrix, layout.minimums, layout.maximums)
    infinite = _infinite_columns(batch) if unusual else {}
    found += [_unreadable(name, row, rows) for name, row in {**batch.unreadable, **infinite}.items()]
    for index, unusual_rows in unusual.items():
        if layout.by_index[index].name not in infinite:
            found += _cell_warnings(batch, layout.by_index[index], unusual_rows)
    if len(found) > MAX_WARNINGS:
        rest = len(found) - MAX_WARNINGS
        found[MAX_WARNINGS:] = [
            RowWarning(code="MORE", column=None, count=rows, examples=[], message=f"{rest} more warnings.")
        ]
    return found


def _infinite_columns(batch: Batch) -> dict[str, int]:
    """Reject infinite numbers in used columns. Return the unused columns that have one, with its row.

    JSON has no infinity, but 1e999 is read as infinity; CSV and Arrow have it.
    """
    infinite = np.isinf(batch.matrix)
    if not infinite.any():
        return {}
    used = sorted(batch.layout.used)
    rows, columns = np.nonzero(infinite[:, used])
    indices = np.array(used, dtype=np.intp)[columns]
    names = {index: batch.layout.by_index[index].name for index in used}
    raise_errors(
        FieldError(
            batch.pointer(row, index), "INFINITE", f"{names[index]}: expected a finite number.", row + 1
        )
        for row, index in zip(rows.tolist(), indices.tolist(), strict=True)
    )
    unused = np.flatnonzero(infinite.any(axis=0)).tolist()
    return {batch.layout.by_index[index].name: int(infinite[:, index].argmax()) + 1 for index in unused}


def _unreadable(name: str, row: int | None, rows: int) -> RowWarning:
    """Return the warning about a column that the tree does not use; `row` is counted from 1."""
    cause = "its cells are not what the model expects" if row is None else f"row {row:,} cannot be read"
    message = f"The column {shown(name)!r} was ignored, because {cause}; the tree does not use it."
    return RowWarning(code="UNREADABLE_COLUMN", column=shown(name), count=rows, examples=[], message=message)


def _unknown_column(name: str, rows: int) -> RowWarning:
    message = f"The model has no column {shown(name)!r}; it was ignored."
    return RowWarning(code="UNKNOWN_COLUMN", column=shown(name), count=rows, examples=[], message=message)


def _absent_columns(names: Sequence[str], rows: int) -> RowWarning:
    """Return one warning for all absent columns, because there may be thousands."""
    examples = [shown(name) for name in names[:MAX_EXAMPLES]]
    listed = ", ".join(map(repr, examples)) + (", ..." if len(names) > MAX_EXAMPLES else "")
    if len(names) == 1:
        message = f"The column {listed} is absent; the tree does not use it."
    else:
        message = f"{len(names):,} columns are absent: {listed}. The tree does not use them."
    column = examples[0] if len(names) == 1 else None
    return RowWarning(code="ABSENT_COLUMN", column=column, count=rows, examples=examples, message=message)


def _read_as(name: str, words: str, rows: int) -> RowWarning:
    message = f"The column {shown(name)!r} was read as numbers with {words}; send `decimal` if that is wrong."
    return RowWarning(code="READ_AS", column=shown(name), count=rows, examples=[], message=message)


def _cell_warnings(batch: Batch, entry: Field, rows: Rows) -> list[RowWarning]:
    """Return the warnings about a column with unusual cells in these rows."""
    found: list[RowWarning] = []

    def warn(code: str, count: int, examples: list[Any], message: str) -> None:
        text = f"{'1 row has' if count == 1 else f'{count:,} rows have'} {message}"
        found.append(RowWarning(code=code, column=entry.name, count=count, examples=examples, message=text))

    name = repr(shown(entry.name))
    cells = batch.matrix[rows, entry.index]
    present = cells == cells
    missing = len(rows) - int(np.count_nonzero(present))
    if missing:
        rows, cells = rows[present], cells[present]
        warn("MISSING_VALUE", missing, [], f"no value in {name}; each node has a side for missing values.")
    if len(rows) and entry.kind == "category":
        labels = dict.fromkeys(batch.cell(row, entry.index) for row in rows.tolist())
        examples = [shown(label) for label in islice(labels, MAX_EXAMPLES)]
        message = f"a category in {name} that is not in the training data; it goes the way of most rows."
        warn("UNSEEN_CATEGORY", len(rows), examples, message)
    elif len(rows):
        examples = sorted(set(cells.tolist()))[:MAX_EXAMPLES]
        message = f"a number in {name} outside the training range {entry.range_text}."
        warn("OUT_OF_RANGE", len(rows), examples, message)
    return found


def shown(label: Any) -> Any:
    """Return a label for a message; long text is shortened."""
    if isinstance(label, str) and len(label) > MAX_EXAMPLE_LENGTH:
        return label[: MAX_EXAMPLE_LENGTH - 1] + "…"
    return label
