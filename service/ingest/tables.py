"""What every format is read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worker.messages import DecimalSign

from .fixes import Fix
from .options import Plan


@dataclass(frozen=True)
class Spelling:
    """How a CSV writes things."""

    decimal: DecimalSign | None  # the decimal sign as the client says
    evidence: DecimalSign | None  # the decimal sign that the file speaks for
    nulls: frozenset[str]  # words for a missing cell
    has_usual_nulls: bool = True  # they are not the client's


@dataclass
class RawTable:
    """The kept columns as the format has them."""

    table: Any  # pyarrow.Table
    plan: Plan
    warnings: list[str]
    spelt: frozenset[str] = frozenset()  # columns that were read as text, whatever is in them
    fixes: tuple[Fix, ...] = ()  # options that read the table in another way, if it may be meant so
    spelling: Spelling | None = None  # None: the format has types of its own
