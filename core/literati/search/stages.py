"""The stages of a search: spaces of which each contains the one before, and when the next one begins."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from literati._engine._engine import RunStatus
from literati.search.options import Candidates, SolverOptions
from literati.search.parameters import Range
from literati.tree.nodes import StageProof

# The spaces of candidates="widening", as candidates and leaves. Each contains the one before:
# - A best-first CART with more leaves makes all splits of one with fewer, so its cuts include theirs.
# - "shape" has the cuts of "adaptive" with these leaves, and further cuts, the same for any number of leaves.
# - "all" has every cut, so the leaves have no meaning there.
# - On the last level every space has every change point.
# A node with the same rows has the same cuts wherever it is, so the trees are nested like the cuts.
SPACES: tuple[tuple[Candidates, int], ...] = (
    ("adaptive", 17),
    ("shape", 17),
    ("shape", 33),
    ("all", 17),
)

# A stage that is not proven ends when it has worked without a better tree for so many times the work of the
# whole search before, and for at least so many visits of rows, which take four seconds or so.
IDLE_FACTOR = 10
MIN_IDLE_WORK = 1 << 31

_ENDS_STAGE = {RunStatus.PROVEN, RunStatus.GAP_REACHED, RunStatus.MEMORY_LIMIT}
_COUNT = Range(int, ge=0)
_COST = Range(float, ge=0, optional=True)


def spaces_of(options: SolverOptions) -> tuple[SolverOptions, ...]:
    """Return the options of each stage: those of SPACES for "widening", the options themselves otherwise."""
    if options.candidates != "widening":
        return (options,)
    return tuple(replace(options, candidates=mode, candidate_leaves=leaves) for mode, leaves in SPACES)


def largest_space(options: SolverOptions) -> SolverOptions:
    """Return the stage whose buffers need most memory, since one engine serves all stages."""
    return max(spaces_of(options), key=lambda space: (space.candidates == "shape", space.leaves))


def name_of(options: SolverOptions) -> str:
    """Return the name of the space of a stage, such as "adaptive 17"."""
    return "all" if options.candidates == "all" else f"{options.candidates} {options.leaves[0]}"


def wider_space(one: str, other: str) -> str:
    """Return the wider of two spaces of a widening search, given by their names; "" is no space."""
    names = ["", *(name_of(space) for space in spaces_of(SolverOptions(candidates="widening")))]
    return max(one, other, key=lambda name: names.index(name) if name in names else 0)


@dataclass
class SavedStage:
    """What a checkpoint remembers about the stages of a search."""

    stage: int
    proven_stage: int | None  # the widest space that is proven
    proven_cost: float | None
    work: int  # visits of rows so far
    idle_until: int  # work at which the stage ends if there is no better tree by then
    idle_cost: float | None  # what the engine's tree must undercut by then; None if it has no tree yet

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> SavedStage:
        """Read what `to_json` wrote. Raise TypeError or ValueError if it is of another form."""
        if not isinstance(data, dict) or data.keys() != cls.__dataclass_fields__.keys():
            raise ValueError("stages: expected an object with the fields of a stage")
        last = Range(int, ge=0, le=len(SPACES) - 1)
        return cls(
            stage=last.check("stage", data["stage"]),
            proven_stage=replace(last, optional=True).check("proven_stage", data["proven_stage"]),
            proven_cost=_COST.check("proven_cost", data["proven_cost"]),
            work=_COUNT.check("work", data["work"]),
            idle_until=_COUNT.check("idle_until", data["idle_until"]),
            idle_cost=_COST.check("idle_cost", data["idle_cost"]),
        )


class Stages:
    """The stage of a search and what was proven in earlier ones. A search of one space has one stage.

    When a stage ends is decided by work and not by time, so a search that is repeated has the same stages.
    """

    def __init__(self, options: SolverOptions, saved: SavedStage | None = None) -> None:
        self._spaces = spaces_of(options)
        self._widens = len(self._spaces) > 1
        self.index = 0
        self.is_over = False  # nothing is left to do but to begin the next stage
        self._proven: tuple[int, float] | None = None  # stage and cost
        self._work = 0  # before a resume
        self._idle_until = MIN_IDLE_WORK
        self._idle_cost = math.inf
        if saved is not None:
            self.index, self._work, self._idle_until = saved.stage, saved.work, saved.idle_until
            self._idle_cost = math.inf if saved.idle_cost is None else saved.idle_cost
            if saved.proven_stage is not None and saved.proven_cost is not None:
                self._proven = saved.proven_stage, saved.proven_cost

    def saved(self, engine: Any) -> SavedStage | None:
        """Return what a checkpoint remembers; None for a search of one space."""
        if not self._widens:
            return None
        stage, cost = self._proven or (None, None)
        idle_cost = None if math.isinf(self._idle_cost) else self._idle_cost
        return SavedStage(self.index, stage, cost, self._work_of(engine), self._idle_until, idle_cost)

    @property
    def options(self) -> SolverOptions:
        """The options of the space that is searched now."""
        return self._spaces[self.index]

    @property
    def is_last(self) -> bool:
        return self.index == len(self._spaces) - 1

    @property
    def space(self) -> str:
        """The name of the space that the bounds are about."""
        return name_of(self.options) if self._widens else self.options.candidates

    def proven_space(self, engine: Any) -> str:
        """Return the name of the widest space that is proven, "" if none is; of one space, its name."""
        if not self._widens or engine.proven:
            return self.space
        return "" if self._proven is None else name_of(self._spaces[self._proven[0]])

    def stage_proof(self, engine: Any) -> StageProof | None:
        """Return what is proven about the widest space that is, unless that is the last one."""
        stage, cost = (self.index, float(engine.upper)) if engine.proven else self._proven or (None, 0.0)
        if stage is None or stage == len(self._spaces) - 1:
            return None
        return StageProof(self._spaces[stage].candidates, self._spaces[stage].leaves, cost)

    @property
    def max_work(self) -> int:
        """Work of the engine after which it returns WORK_LIMIT; -1 if there is no limit."""
        return -1 if self.is_last else max(0, self._idle_until - self._work)

    def _work_of(self, engine: Any) -> int:
        return self._work + int(engine.work)

    def note(self, status: RunStatus, engine: Any, objective: float) -> None:
        """Decide whether the stage is over after a run of the engine."""
        if self.is_last:
            return
        if status is RunStatus.PROVEN:
            self._proven = self.index, float(engine.upper)
        if status is RunStatus.WORK_LIMIT and engine.upper < self._idle_cost:
            self._wait(engine)
        elif status is RunStatus.WORK_LIMIT or status in _ENDS_STAGE or objective <= engine.first_lower:
            self.is_over = True

    def next_index(self, engine: Any, objective: float) -> int:
        """Return the index of the next stage: the last one if no space can have a better tree."""
        return len(self._spaces) - 1 if objective <= engine.first_lower else self.index + 1

    def space_at(self, index: int) -> SolverOptions:
        return self._spaces[index]

    def begin(self, index: int, engine: Any) -> None:
        """Begin a stage, which the engine has begun."""
        self.index, self.is_over = index, False
        self._wait(engine)

    def _wait(self, engine: Any) -> None:
        """Let the stage go on for some time without a better tree."""
        work = self._work_of(engine)
        self._idle_until = work + max(MIN_IDLE_WORK, IDLE_FACTOR * work)
        self._idle_cost = float(engine.upper)
