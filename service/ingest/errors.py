"""What is wrong with an upload, said so that its owner can mend it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .fixes import Fix, combined
from .fixes import shown as shown

MOST_FAULTS = 20  # in one answer
TOO_LARGE = "BODY_TOO_LARGE"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and where: ("query", "target"), ("body", "rows", 17, "age")."""

    place: tuple[str | int, ...]
    code: str  # a stable word in capitals
    message: str  # a sentence that says what to do; names columns, never shows a cell
    fixes: tuple[Fix, ...] = ()  # what a client can do about it by other options


class IngestError(ValueError):
    """The upload cannot become a dataset."""

    def __init__(self, *faults: Fault, fixes: tuple[Fix, ...] | None = None) -> None:
        """`fixes`: remedies for all faults, where more are known than those given."""
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults[:MOST_FAULTS]
        self.fixes = combined([fault.fixes for fault in faults]) if fixes is None else fixes


def option_fault(option: str, code: str, message: str, *fixes: Fix) -> Fault:
    return Fault(("query", option), code, message, fixes)


def body_fault(code: str, message: str, *fixes: Fix) -> Fault:
    return Fault(("body",), code, message, fixes)


def column_fault(column: str, code: str, message: str, *fixes: Fix) -> Fault:
    return Fault(("body", "columns", column), code, message, fixes)


def cell_fault(row: int, column: str, code: str, message: str, *fixes: Fix) -> Fault:
    """`row` counts from 1, the first row of data."""
    return Fault(("body", "rows", row, column), code, message, fixes)


def pointer_parts(fault: Fault) -> tuple[str | int, ...]:
    """Return the steps of the JSON pointer to a fault's place. A pointer counts rows and lines from 0."""
    source, *steps = fault.place
    if source == "body" and steps[0:1] in (["rows"], ["lines"]):
        return source, steps[0], int(steps[1]) - 1, *steps[2:]
    return fault.place


def listed(names: Sequence[str] | Iterable[str], most: int = 20) -> str:
    names = list(names)
    more = len(names) - most
    return ", ".join(shown(name) for name in names[:most]) + (f" and {more} more" if more > 0 else "")


def too_much_memory(most: int) -> Fault:
    message = (
        f"Reading the table takes too much memory; at most {most:,} bytes of table are taken "
        "(LITERATI_MAX_TABLE_BYTES). Leave columns out with drop=, or send fewer rows."
    )
    return body_fault("TABLE_TOO_LARGE", message)


def too_much_time(most: float) -> Fault:
    message = (
        f"Reading the table takes more than {most:g} seconds (LITERATI_MAX_PARSE_SECONDS). "
        "Leave columns out with drop=, or send fewer rows."
    )
    return body_fault("TABLE_TOO_SLOW", message)


def broke_reader() -> Fault:
    message = "The file broke its reader: it is damaged, or takes more memory than there is."
    return body_fault("UNREADABLE", message)


def damaged_packing(coding: str) -> Fault:
    message = f"The body cannot be unpacked with {coding}: it is damaged, cut short, or something else."
    return body_fault("UNREADABLE", message)


def unpacks_to_too_much(most: int) -> Fault:
    message = f"The body unpacks to more than the {most:,} bytes that are taken (LITERATI_MAX_UPLOAD_BYTES)."
    return body_fault(TOO_LARGE, message)


def too_many_rows(rows: int, most: int) -> Fault:
    message = f"The table has {rows:,} rows; at most {most:,} are taken (LITERATI_MAX_ROWS)."
    return body_fault("TOO_MANY_ROWS", message)
