"""What was noticed in rows that were predicted all the same."""

from __future__ import annotations

from itertools import islice
from typing import Any, TypedDict

import numpy as np

from literati.export import number_text
from service.errors import FieldError

from .batch import Batch
from .faults import MOST_ERRORS, refuse
from .layout import Field, Floats, Layout

MOST_EXAMPLES = 5
MOST_NOTICES = 100
LONGEST_EXAMPLE = 100


class Notice(TypedDict):
    code: str  # UNKNOWN_COLUMN, MISSING_VALUE, UNSEEN_CATEGORY, OUT_OF_RANGE or MORE
    column: str | None
    count: int  # rows
    examples: list[Any]
    message: str


def notices(batch: Batch, layout: Layout) -> list[Notice]:
    """Unknown columns, missing values, unseen categories, numbers outside the training range."""
    rows = len(batch.matrix)
    found: list[Notice] = [_unknown_column(name, rows) for name in batch.ignored]
    usual = (batch.matrix >= layout.lows) & (batch.matrix <= layout.highs)
    if not usual.all():
        _refuse_infinite(batch, layout)
        for place in np.flatnonzero(~usual.all(axis=0)).tolist():
            found += _of_column(batch, layout.by_place[place], batch.matrix[:, place])
    if len(found) > MOST_NOTICES:
        rest = len(found) - MOST_NOTICES
        found[MOST_NOTICES:] = [
            Notice(code="MORE", column=None, count=rows, examples=[], message=f"{rest} more warnings.")
        ]
    return found


def _refuse_infinite(batch: Batch, layout: Layout) -> None:
    """JSON cannot spell infinity, but 1e999 is read as it; CSV and Arrow can."""
    rows, places = np.nonzero(np.isinf(batch.matrix))
    errors = [
        FieldError(
            batch.where(row, place), "INFINITE", f"{layout.by_place[place].name}: expected a finite number."
        )
        for row, place in islice(zip(rows.tolist(), places.tolist(), strict=True), MOST_ERRORS)
    ]
    refuse(errors)


def _unknown_column(name: str, rows: int) -> Notice:
    message = f"The column {shown(name)!r} is unknown to the model and was ignored."
    return Notice(code="UNKNOWN_COLUMN", column=shown(name), count=rows, examples=[], message=message)


def _of_column(batch: Batch, entry: Field, cells: Floats) -> list[Notice]:
    found: list[Notice] = []

    def note(code: str, count: int, examples: list[Any], message: str) -> None:
        text = f"{'1 row has' if count == 1 else f'{count:,} rows have'} {message}"
        found.append(Notice(code=code, column=entry.name, count=count, examples=examples, message=text))

    name = repr(shown(entry.name))
    missing = int(np.count_nonzero(np.isnan(cells)))
    if missing:
        note("MISSING_VALUE", missing, [], f"no value in {name}; each node has a side for those.")
    outside = np.flatnonzero((cells < entry.minimum) | (cells > entry.maximum))
    if len(outside) and entry.kind == "category":
        labels = dict.fromkeys(batch.cell(row, entry.place) for row in outside.tolist())
        examples = [shown(label) for label in islice(labels, MOST_EXAMPLES)]
        words = f"a category in {name} that training did not see; each node sends it where most rows went."
        note("UNSEEN_CATEGORY", len(outside), examples, words)
    elif len(outside):
        examples = np.unique(cells[outside])[:MOST_EXAMPLES].tolist()
        span = f"[{number_text(entry.minimum)}, {number_text(entry.maximum)}]"
        note("OUT_OF_RANGE", len(outside), examples, f"a number in {name} outside the training range {span}.")
    return found


def shown(label: Any) -> Any:
    """A label as an example: long text is cut."""
    if isinstance(label, str) and len(label) > LONGEST_EXAMPLE:
        return label[: LONGEST_EXAMPLE - 1] + "…"
    return label
