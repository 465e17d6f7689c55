"""What can be wrong with rows. Each error says where and what would be right, never what was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from service.errors import FieldError, row_number
from service.remedies import Remedy

MOST_ERRORS = 20  # in one answer; who has more sees the rest after mending these
MOST_COLUMNS = 10_000  # those that the model does not know are left aside, but not without end


class RowsError(ValueError):
    """The rows cannot be read as rows of this model."""

    def __init__(self, detail: str, errors: Sequence[FieldError] = (), fixes: Sequence[Remedy] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors[:MOST_ERRORS])
        self.fixes = tuple(fixes)


class MalformedError(RowsError):
    """The body is not in the format that it says it is."""


class FormatError(RowsError):
    """The body says that it is in a format which is not read here."""


def refused(pointer: str, code: str, message: str) -> RowsError:
    return RowsError(message, [FieldError(pointer, code, message)])


def refuse(errors: Sequence[FieldError]) -> None:
    """Raise if there are any."""
    if errors:
        errors = [_with_row(error) for error in errors]
        one = len(errors) == 1
        raise RowsError(errors[0].message if one else "The rows do not fit the model; see `errors`.", errors)


def _with_row(error: FieldError) -> FieldError:
    """Name the row in the message, as the errors of uploads do."""
    row = row_number(error.pointer)
    return error if row is None else replace(error, message=f"Row {row:,}: {error.message}")


def no_rows(pointer: str) -> RowsError:
    return refused(pointer, "NO_ROWS", "There are no rows; expected one or more.")


def too_many_rows(pointer: str, most: int) -> RowsError:
    message = f"At most {most:,} rows are taken at once (LITERATI_MAX_PREDICT_ROWS); send them in parts."
    return refused(pointer, "TOO_MANY_ROWS", message)


def absent(pointer: str, name: str) -> FieldError:
    message = f"The column {name!r} is absent; the model needs it (null or empty where its value is missing)."
    return FieldError(pointer, "ABSENT", message)


def refuse_absent(errors: Sequence[FieldError]) -> None:
    if errors:
        errors = [_with_row(error) for error in errors]
        more = f" {len(errors) - 1} more are absent." if len(errors) > 1 else ""
        raise RowsError(errors[0].message + more, errors)


def positions(names: Sequence[str], where: Callable[[int], str]) -> dict[str, int]:
    """Where each column stands; they must differ."""
    if len(names) > MOST_COLUMNS:
        raise refused(where(MOST_COLUMNS), "TOO_MANY_COLUMNS", f"At most {MOST_COLUMNS:,} columns are taken.")
    at = {name: position for position, name in enumerate(names)}
    if len(at) < len(names):
        again = next(i for i, name in enumerate(names) if at[name] != i)
        raise refused(where(again), "REPEATED", "Column names must differ; this one occurs again.")
    return at
