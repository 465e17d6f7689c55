"""What a search can say of itself at any moment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from .nodes import is_beyond_space


class StopReason(StrEnum):
    """Why a search does not go on; RUNNING if it would."""

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
    """The objective is the kept tree's; the bounds speak of the searched space. objective <= upper_bound."""

    objective: float
    upper_bound: float
    lower_bound: float
    gap: float  # (upper - lower) / upper; 0 when upper is 0
    gap_absolute: float
    stop_reason: StopReason
    proven_optimal: bool  # over `proven_space`; never by a gap tolerance
    proven_space: str
    expansions: int
    states_live: int
    states_freed: int
    cache_hits: int
    memory_bytes: int
    elapsed_seconds: float
    improvements: int  # how often a better tree was found
    found_seconds: float = 0.0  # search seconds when the kept tree was found

    @property
    def beyond_space(self) -> bool:
        """Whether the kept tree costs less than the upper bound; see `literati.nodes.BEYOND_SPACE`."""
        return is_beyond_space(self.objective, self.upper_bound)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "stop_reason": str(self.stop_reason), "beyond_space": self.beyond_space}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SearchReport:
        """Read what `to_dict` of this version or an earlier one wrote."""
        fields = {name: value for name, value in data.items() if name != "beyond_space"}
        return cls(**{**fields, "stop_reason": StopReason(fields["stop_reason"])})


def relative_gap(upper: float, lower: float) -> float:
    return (upper - lower) / upper if upper > 0 else 0.0
