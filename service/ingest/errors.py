"""Errors of an upload: where each one is, what it means and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from service.ingest.fixes import Fix, combined, quoted

MAX_ISSUES = 20  # per response
TOO_LARGE = "BODY_TOO_LARGE"


@dataclass(frozen=True)
class Issue:
    """One reason why an upload is rejected."""

    location: tuple[str | int, ...]  # ("query", "target") or ("body", "rows", 17, "age")
    code: str  # a stable code in capitals
    message: str  # a sentence with the remedy; it names columns and never contains a cell
    fixes: tuple[Fix, ...] = ()  # changes to the options that avoid the error


class IngestError(ValueError):
    """The upload cannot be read as a dataset."""

    def __init__(self, *issues: Issue, fixes: tuple[Fix, ...] | None = None) -> None:
        """Use `fixes` for all issues together; without it, combine the fixes of the issues."""
        super().__init__("; ".join(issue.message for issue in issues))
        self.issues = issues[:MAX_ISSUES]
        self.fixes = combined([issue.fixes for issue in issues]) if fixes is None else fixes


def option_issue(option: str, code: str, message: str, *fixes: Fix) -> Issue:
    return Issue(("query", option), code, message, fixes)


def body_issue(code: str, message: str, *fixes: Fix) -> Issue:
    return Issue(("body",), code, message, fixes)


def column_issue(column: str, code: str, message: str, *fixes: Fix) -> Issue:
    return Issue(("body", "columns", column), code, message, fixes)


def cell_issue(row: int, column: str, code: str, message: str, *fixes: Fix) -> Issue:
    """Return the issue of one cell. Rows are counted from 1, the first row of data."""
    return Issue(("body", "rows", row, column), code, message, fixes)


def pointer_parts(issue: Issue) -> tuple[str | int, ...]:
    """Return the parts of the JSON pointer to an issue. A pointer counts rows and lines from 0."""
    source, *steps = issue.location
    if source == "body" and steps[0:1] in (["rows"], ["lines"]):
        return source, steps[0], int(steps[1]) - 1, *steps[2:]
    return issue.location


def row_of(issue: Issue) -> int | None:
    """Return the number of the row that an issue is about, counted from 1; None if it is about no row."""
    return int(issue.location[2]) if issue.location[:2] == ("body", "rows") else None


def listed(names: Iterable[str], max_names: int = 20) -> str:
    """Return the names as a list in a sentence."""
    names = list(names)
    more = len(names) - max_names
    return ", ".join(map(quoted, names[:max_names])) + (f" and {more} more" if more > 0 else "")


def too_much_memory(max_bytes: int) -> Issue:
    message = (
        f"Reading the table needs too much memory; the limit for a table is {max_bytes:,} bytes "
        "(LITERATI_MAX_TABLE_BYTES). Leave out columns with drop=, or send fewer rows."
    )
    return body_issue("TABLE_TOO_LARGE", message)
