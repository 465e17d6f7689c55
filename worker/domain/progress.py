"""The progress of a search: what workers publish, and what the store shows of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from literati.tree.nodes import BEYOND_SPACE
from worker.domain.base import FrozenModel

BeyondSpace = Annotated[
    bool, Field(description=f"True exactly if `objective` is lower than `upper_bound`. {BEYOND_SPACE}")
]


Explored = Annotated[
    float | None,
    Field(
        description="The share of the search space that is done, from 0 to 1. It never falls within a stage, "
        "and is 1 exactly if `space` is proven; null for what an earlier version stored."
    ),
]
SecondsLeft = Annotated[
    float | None,
    Field(
        description="An estimate of the seconds of search until `space` is proven; null while it cannot be "
        "known."
    ),
]
Stage = Annotated[
    int,
    Field(
        description="With `widening`, the number of the space that is searched, from 0; otherwise 0. The "
        "bounds, the gap and `explored` belong to this stage: the lower bound of a wider space may be lower."
    ),
]
Space = Annotated[
    str,
    Field(description="The search space of the bounds, the gap and `explored`; empty if it is unknown."),
]


class Progress(FrozenModel):
    """The state of a job's search. The objective and both bounds are either all known or all None."""

    objective: float | None = None
    lower_bound: float | None = None
    upper_bound: float | None = None
    gap_absolute: float | None = None
    gap_relative: float | None = None
    beyond_space: BeyondSpace = False
    explored: Explored = 0.0
    seconds_left: SecondsLeft = None
    stage: Stage = 0
    space: Space = ""
    expansions: int = 0
    states_live: int = 0
    incumbents: int = 0  # the revision of the best tree
    elapsed_seconds: float = 0.0  # search seconds over all attempts
    memory_bytes: int = 0


class TracePoint(FrozenModel):
    """The bounds and the explored share at one moment of the search."""

    seconds: float
    expansions: int
    upper: float
    lower: float
    explored: Explored = 0.0
    stage: Stage = 0


class NewIncumbent(FrozenModel):
    """A better tree. `tree` is the JSON model, whose cost was checked by code other than the solver's."""

    objective: float
    tree: dict[str, Any]
    metrics: dict[str, Any]
    found_seconds: float = 0.0  # search seconds over all attempts
    stage: int = 0  # the stage that the proof in the tree is about


class ProgressUpdate(FrozenModel):
    """What a worker publishes while it runs a job: the bounds now, and what is new since the last update."""

    upper_bound: float
    lower_bound: float
    expansions: int
    states_live: int
    elapsed_seconds: float
    memory_bytes: int
    explored: float = 0.0
    seconds_left: float | None = None
    stage: int = 0
    space: str = ""
    proven_space: str = ""  # the widest space that is proven
    last_stage: bool = True  # False if equal bounds do not end the job, because a wider space follows
    trace: list[TracePoint] = []
    incumbent: NewIncumbent | None = None
    snapshot: str | None = None  # the blob of a search snapshot
    snapshot_bytes: int = 0
    log: str | None = None  # a message for the job's event stream

    def followed_by(self, newer: ProgressUpdate) -> ProgressUpdate:
        """Combine two updates into one."""
        return newer.model_copy(
            update={
                "trace": self.trace + newer.trace,
                "incumbent": newer.incumbent or self.incumbent,
                "snapshot": newer.snapshot or self.snapshot,
                "snapshot_bytes": newer.snapshot_bytes if newer.snapshot else self.snapshot_bytes,
                "log": "; ".join(filter(None, (self.log, newer.log))) or None,
            }
        )
