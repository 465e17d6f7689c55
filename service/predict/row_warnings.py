"""What was noticed in rows that were predicted all the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from literati._answers import unusual_cells
from service.errors import FieldError

from .batch import Batch
from .faults import MOST_ERRORS, refuse
from .layout import Field

Rows = npt.NDArray[np.intp]
MOST_EXAMPLES = 5
MOST_NOTICES = 100
LONGEST_EXAMPLE = 100


class Notice(TypedDict):
    code: str  # of `service.schemas.models.PredictionWarning`
    column: str | None
    count: int  # rows
    examples: list[Any]
    message: str


def notices(batch: Batch) -> list[Notice]:
    """Columns that are unknown, absent or unreadable, and cells that are unlike those in training."""
    rows, layout = len(batch.matrix), batch.layout
    found: list[Notice] = [_unknown_column(name, rows) for name in batch.ignored]
    if absent := [name for name in layout.absent if name not in batch.unreadable]:
        found.insert(0, _absent_columns(absent, rows))
    found += [_read_as(name, words, rows) for name, words in batch.read_as.items()]
    unusual = unusual_cells(batch.matrix, layout.lows, layout.highs)
    infinite = _infinite_columns(batch) if unusual else {}
    found += [_unreadable(name, row, rows) for name, row in {**batch.unreadable, **infinite}.items()]
    for place, rows_there in unusual.items():
        if layout.by_place[place].name not in infinite:
            found += _of_column(batch, layout.by_place[place], rows_there)
    if len(found) > MOST_NOTICES:
        rest = len(found) - MOST_NOTICES
        found[MOST_NOTICES:] = [
            Notice(code="MORE", column=None, count=rows, examples=[], message=f"{rest} more warnings.")
        ]
    return found


def _infinite_columns(batch: Batch) -> dict[str, int]:
    """Refuse infinite numbers in columns that the tree uses. Return the others that have one, with its row.

    JSON cannot spell infinity, but 1e999 is read as it; CSV and Arrow can.
    """
    infinite = np.isinf(batch.matrix)
    if not infinite.any():
        return {}
    used = sorted(batch.layout.used)
    rows, columns = np.nonzero(infinite[:, used])
    places = np.array(used, dtype=np.intp)[columns]
    errors = [
        FieldError(
            batch.where(row, place),
            "INFINITE",
            f"{batch.layout.by_place[place].name}: expected a finite number.",
        )
        for row, place in islice(zip(rows.tolist(), places.tolist(), strict=True), MOST_ERRORS)
    ]
    refuse(errors)
    spare = np.flatnonzero(infinite.any(axis=0)).tolist()
    return {batch.layout.by_place[place].name: int(infinite[:, place].argmax()) + 1 for place in spare}


def _unreadable(name: str, row: int | None, rows: int) -> Notice:
    """`row` counts from 1."""
    cause = "its cells are not what the model expects" if row is None else f"row {row:,} cannot be read"
    message = f"The column {shown(name)!r} was ignored, because {cause}; the tree does not use it."
    return Notice(code="UNREADABLE_COLUMN", column=shown(name), count=rows, examples=[], message=message)


def _unknown_column(name: str, rows: int) -> Notice:
    message = f"The column {shown(name)!r} is unknown to the model and was ignored."
    return Notice(code="UNKNOWN_COLUMN", column=shown(name), count=rows, examples=[], message=message)


def _absent_columns(names: Sequence[str], rows: int) -> Notice:
    """One warning for all of them: there may be thousands."""
    examples = [shown(name) for name in names[:MOST_EXAMPLES]]
    listed = ", ".join(map(repr, examples)) + (", ..." if len(names) > MOST_EXAMPLES else "")
    if len(names) == 1:
        message = f"The column {listed} is absent; the tree does not use it."
    else:
        message = f"{len(names):,} columns are absent: {listed}. The tree does not use them."
    column = examples[0] if len(names) == 1 else None
    return Notice(code="ABSENT_COLUMN", column=column, count=rows, examples=examples, message=message)


def _read_as(name: str, words: str, rows: int) -> Notice:
    message = f"The column {shown(name)!r} was read as numbers with {words}; `decimal` says otherwise."
    return Notice(code="READ_AS", column=shown(name), count=rows, examples=[], message=message)


def _of_column(batch: Batch, entry: Field, rows: Rows) -> list[Notice]:
    """`rows` are those with an unusual cell in this column."""
    found: list[Notice] = []

    def note(code: str, count: int, examples: list[Any], message: str) -> None:
        text = f"{'1 row has' if count == 1 else f'{count:,} rows have'} {message}"
        found.append(Notice(code=code, column=entry.name, count=count, examples=examples, message=text))

    name = repr(shown(entry.name))
    cells = batch.matrix[rows, entry.place]
    present = cells == cells
    missing = len(rows) - int(np.count_nonzero(present))
    if missing:
        rows, cells = rows[present], cells[present]
        note("MISSING_VALUE", missing, [], f"no value in {name}; each node has a side for those.")
    if len(rows) and entry.kind == "category":
        labels = dict.fromkeys(batch.cell(row, entry.place) for row in rows.tolist())
        examples = [shown(label) for label in islice(labels, MOST_EXAMPLES)]
        words = f"a category in {name} that training did not see; each node sends it where most rows went."
        note("UNSEEN_CATEGORY", len(rows), examples, words)
    elif len(rows):
        examples = sorted(set(cells.tolist()))[:MOST_EXAMPLES]
        note(
            "OUT_OF_RANGE",
            len(rows),
            examples,
            f"a number in {name} outside the training range {entry.span}.",
        )
    return found


def shown(label: Any) -> Any:
    """A label as an example: long text is cut."""
    if isinstance(label, str) and len(label) > LONGEST_EXAMPLE:
        return label[: LONGEST_EXAMPLE - 1] + "…"
    return label
