"""Errors of rows. Each names the place and what is expected, and never contains a cell of the request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from literati.suggestions import nearest
from service.http.problems import FieldError, pointer
from service.http.remedies import Remedy, in_query

MAX_ERRORS = 20  # per response
MAX_COLUMNS = 10_000  # of a request, with those that the model does not have


class RowsError(ValueError):
    """The rows do not fit the model."""

    def __init__(self, detail: str, errors: Sequence[FieldError] = (), fixes: Sequence[Remedy] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors[:MAX_ERRORS])
        self.fixes = tuple(fixes)


class MalformedError(RowsError):
    """The body is not valid in its format."""


def row_error(where: str, code: str, message: str, row: int | None = None) -> RowsError:
    """Return a RowsError of one error. `row` is the number of its row, from 1, if it is in one."""
    error = _with_row(FieldError(where, code, message, row))
    return RowsError(error.message, [error])


def raise_errors(errors: Iterable[FieldError]) -> None:
    """Raise RowsError with the first errors if there are any."""
    if errors and (first := [_with_row(error) for error in islice(errors, MAX_ERRORS)]):
        one = len(first) == 1
        raise RowsError(first[0].message if one else "The rows do not fit the model; see `errors`.", first)


def raise_absent(errors: Sequence[FieldError], fixes: Sequence[Remedy] = ()) -> None:
    """Raise RowsError if there are errors of absent columns."""
    if errors:
        errors = [_with_row(error) for error in errors]
        more = f" {len(errors) - 1} more are absent." if len(errors) > 1 else ""
        raise RowsError(errors[0].message + more, errors, fixes)


def _with_row(error: FieldError) -> FieldError:
    """Name the row in the message, as in the errors of uploads."""
    return error if error.row is None else replace(error, message=f"Row {error.row:,}: {error.message}")


def check_row_count(rows: int, max_rows: int, *where: str) -> None:
    """Raise RowsError if there are no rows or too many. `where` is the path of the rows in the request."""
    if rows == 0:
        raise row_error(pointer(*where), "NO_ROWS", "There are no rows; send at least one.")
    if rows > max_rows:
        raise too_many_rows(pointer(*where), max_rows)


def too_many_rows(where: str, max_rows: int) -> RowsError:
    message = (
        f"There are too many rows; the limit is {max_rows:,} per request (LITERATI_MAX_PREDICT_ROWS). Send "
        "them in several requests."
    )
    return row_error(where, "TOO_MANY_ROWS", message)


_ABSENT = {  # by the query option that names the column
    None: "but the model needs it (null or empty if a value is missing).",
    "target": "but scores need the true class of each row. Add this column to the rows, or name the column "
    "of the true classes with `target`.",
    "weight": "but the option `weight` names it. Add this column to the rows, or leave out `weight`.",
}


class AbsentColumn(NamedTuple):
    """A column that the rows lack, or one row."""

    name: str
    where: str  # a JSON pointer to the place at which it is expected
    row: int | None = None  # counted from 1


def absent_column(absent: AbsentColumn, option: str | None, similar: Sequence[str] | None) -> FieldError:
    """Return the error of an absent column.

    `option` is the query option that names it, if there is one. `similar` are unknown columns of the rows.
    """
    guess = f" Is it {similar[0][:80]!r}? Then rename that column." if similar else ""
    message = f"The column {absent.name!r} is absent, {_ABSENT[option]}{guess}"
    return FieldError(absent.where, "ABSENT", message, absent.row)


def absent_remedies(name: str, option: str, others: Iterable[str]) -> list[Remedy]:
    """Return the remedies for an absent column that a query option names: a column of a similar name."""
    meant = nearest(name, others)
    similar = [in_query(f"Use the column {other[:80]!r}", **{option: [other]}) for other in meant]
    return similar if option == "target" else [*similar, in_query("Score without weights", weight=None)]


def column_positions(names: Sequence[str], *where: str) -> dict[str, int]:
    """Return the position of each column; raise RowsError if there are too many or two have the same name."""
    if len(names) > MAX_COLUMNS:
        message = f"There are too many columns; the limit is {MAX_COLUMNS:,}."
        raise row_error(pointer(*where, MAX_COLUMNS), "TOO_MANY_COLUMNS", message)
    positions = {name: position for position, name in enumerate(names)}
    if len(positions) < len(names):
        repeated = next(i for i, name in enumerate(names) if positions[name] != i)
        message = "Two columns have this name; column names must differ."
        raise row_error(pointer(*where, repeated), "REPEATED", message)
    return positions
