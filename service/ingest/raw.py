"""What every format is read into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .options import Plan


@dataclass
class RawTable:
    """The kept columns as the format has them."""

    table: Any  # pyarrow.Table
    plan: Plan
    spelt: frozenset[str]  # columns that were read as text, whatever is in them
    decimal: str
    warnings: list[str]
