"""The report of a search: its bounds, counters and stop reason at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.tree.nodes import is_beyond_space

TRACE_DTYPE = np.dtype(
    [
        ("seconds", "<f8"),
        ("expansions", "<i8"),
        ("upper", "<f8"),
        ("lower", "<f8"),
        ("explored", "<f8"),
        ("stage", "<i8"),
    ]
)
TRACE_DEFAULTS = (0.0, 0)  # of the last columns, which version 0.1.0 did not write


def read_trace(rows: Sequence[Sequence[float]]) -> npt.NDArray[Any]:
    """Return a trace from the rows of `tolist`, also from rows without the columns that are new."""
    width = len(TRACE_DTYPE.names or ()) - len(TRACE_DEFAULTS)  # of a row that lacks all of them
    return np.array([(*row, *TRACE_DEFAULTS[max(0, len(row) - width) :]) for row in rows], dtype=TRACE_DTYPE)


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
    most the upper bound. With candidates="widening" the bounds belong to a stage: a later stage has a wider
    space, so its lower bound starts anew, and `proven_space` is the widest space that is proven so far.
    """

    objective: float
    upper_bound: float
    lower_bound: float
    gap: float  # (upper - lower) / upper; 0 when upper is 0
    gap_absolute: float
    stop_reason: StopReason
    proven_optimal: bool  # for the last stage; a gap tolerance is never a proof
    proven_space: str  # the space of the proof; "" while no stage of "widening" is proven
    expansions: int
    states_live: int
    states_freed: int
    cache_hits: int
    memory_bytes: int
    elapsed_seconds: float
    improvements: int  # number of times that a better tree was found
    found_seconds: float = 0.0  # search seconds when the best tree was found
    explored: float = 0.0  # share of the search space that is done; 1 exactly when it is proven
    seconds_left: float | None = None  # estimate of the seconds to the proof; None while it cannot be known
    stage: int = 0  # index of the stage; 0 if candidates is not "widening"
    space: str = ""  # the space that the bounds and `explored` are about, such as "adaptive 17"

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


SearchReport.__module__ = "literati"  # the name in pickles, so that this module may move
StopReason.__module__ = "literati"  # the name in pickles, so that this module may move
