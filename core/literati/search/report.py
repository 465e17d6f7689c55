"""The report of a search: its bounds, counters and stop reason at a moment."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

import numpy as np

from literati.tree.nodes import is_beyond_space

TRACE_DTYPE = np.dtype([("seconds", "<f8"), ("expansions", "<i8"), ("upper", "<f8"), ("lower", "<f8")])


class StopReason(StrEnum):
    """Why a search stopped; RUNNING if it has not."""

    RUNNING = "RUNNING"
    PROVEN_OPTIMAL = "PROVEN_OPTIMAL"
    GAP_REACHED = "GAP_REACHED"
    TIME_LIMIT = "TIME_LIMIT"
    EXPANSION_LIMIT = "EXPANSION_LIMIT"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    NO_IMPROVEMENT = "NO_IMPROVEMENT"
    USER_STOP = "USER_STOP"


@dataclass(frozen=True)
class SearchReport:
    """The state of a search at one moment.

    The objective is the cost of the best tree; the bounds hold for the searched space. The objective is at
    most the upper bound.
    """

    objective: float
    upper_bound: float
    lower_bound: float
    gap: float  # (upper - lower) / upper; 0 when upper is 0
    gap_absolute: float
    stop_reason: StopReason
    proven_optimal: bool  # for `proven_space`; a gap tolerance is never a proof
    proven_space: str
    expansions: int
    states_live: int
    states_freed: int
    cache_hits: int
    memory_bytes: int
    elapsed_seconds: float
    improvements: int  # number of times that a better tree was found
    found_seconds: float = 0.0  # search seconds when the best tree was found

    @property
    def beyond_space(self) -> bool:
        """Whether the best tree costs less than the upper bound; see `literati.tree.nodes.BEYOND_SPACE`."""
        return is_beyond_space(self.objective, self.upper_bound)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {**asdict(self), "stop_reason": str(self.stop_reason), "beyond_space": self.beyond_space}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SearchReport:
        """Read a report that `to_dict` of this version or another one wrote."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        return cls(**{**known, "stop_reason": StopReason(known["stop_reason"])})


def relative_gap(upper: float, lower: float) -> float:
    """Return the gap as a share of the upper bound."""
    return (upper - lower) / upper if upper > 0 else 0.0
