"""Search: the engine with its limits, its best tree, its report and its checkpoints."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from literati._engine._engine import RunStatus
from literati.data.table import Poll, TrainingTable, build
from literati.errors import CheckpointError, DataWarning, Interrupted
from literati.search.checkpoint import SavedSearch
from literati.search.costs import choose_scale, exact_costs
from literati.search.engine_factory import engine_bytes, make_engine
from literati.search.incumbent import IncumbentKeeper
from literati.search.interruptible import call_interruptibly
from literati.search.options import SearchLimits, SolverOptions
from literati.search.polishing import Polishing
from literati.search.report import SearchReport, StopReason, relative_gap
from literati.search.stages import Stages
from literati.search.stopwatch import Stopwatch
from literati.search.time_left import estimate_seconds_left
from literati.tree.model import ShapeTree

__all__ = ["Search", "SearchLimits", "SearchReport", "StopReason"]

SLICE_SECONDS = 0.1  # that the engine runs without the GIL; a signal may have to wait that long
MAX_FINISH_SHARE = 0.2  # of the time limit, reserved to polish and build the last tree
POLISH_SECONDS = 1.5e-7  # expected for each cell of the table, until a tree has been polished
_STOP_REASONS = {
    RunStatus.GAP_REACHED: StopReason.GAP_REACHED,
    RunStatus.EXPANSION_LIMIT: StopReason.EXPANSION_LIMIT,
    RunStatus.MEMORY_LIMIT: StopReason.MEMORY_LIMIT,
}


class Search:
    """A search in steps: `run` it for a while, look at `report` and `incumbent`, and run it again.

    The keyword parameters are those of LiteratiClassifier. Call all methods from one thread, except `stop`.
    `poll` is called repeatedly while the data is encoded and may raise an exception to give up.
    """

    _complexities = (0, 0)  # the penalties do not change

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        limits: SearchLimits | None = None,
        poll: Poll | None = None,
        **parameters: Any,
    ) -> None:
        limits, options = _checked_limits(limits), checked_options(parameters)
        table = build(X, y, sample_weight, options.class_weight, options.categories, poll)
        self._open(table, limits, options, poll)

    def _open(
        self,
        table: TrainingTable,
        limits: SearchLimits,
        options: SolverOptions,
        poll: Poll | None,
        saved: SavedSearch | None = None,
    ) -> None:
        """Create the engine for encoded data. A resumed search counts costs as its checkpoint does."""
        self.limits, self.options, self.settings = limits, options, options.settings
        self.table = table
        if saved is not None:
            saved.check_data(self.table, poll)
        elif 2 * options.min_samples_leaf > self.table.n_rows:
            _warn_of_single_leaf(options, self.table.n_rows)
        default = self._default_scale(binary_only=saved is not None)
        self._scale = default if saved is None or saved.scale is None else saved.scale
        costs = exact_costs(self.table, self.settings, self._scale)
        self._clock = Stopwatch()
        self._stages = Stages(options, None if saved is None else saved.stages)
        self._engine = make_engine(self.table, costs, options, limits, self._stages, poll, self._complexities)
        self._best = IncumbentKeeper(self._engine, costs, self._stages.options, self._clock)
        self._polishing = Polishing(self._engine, self.table, options.max_depth) if options.polish else None
        self._polish_seconds = POLISH_SECONDS * self.table.codes.size if options.polish else 0.0
        self._reason = StopReason.RUNNING
        self._stop_requested = False
        self._earlier_expansions = 0  # before a resume
        self._earlier_explored = 0.0
        self._resumed_stage = self._stages.index
        self._earlier_trace: npt.NDArray[Any] | None = None

    def _default_scale(self, binary_only: bool = False) -> float:
        """Return the scale that a new search on this data chooses, or that version 0.1.0 chose."""
        table, penalties = self.table, self.settings.penalties
        return choose_scale(table.weights, table.n_rows, penalties, binary_only=binary_only)

    # Running

    def run(self, seconds: float | None = None) -> SearchReport:
        """Search for about `seconds`, or with None until a limit or the proof, and return the report."""
        real = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if seconds is not None and not (real and seconds >= 0):
            raise ValueError(f"seconds: expected None or a number >= 0, got {seconds!r}")
        until = math.inf if seconds is None else perf_counter() + seconds
        with self._clock:
            self._reason = self._next_reason()
            while self._reason is StopReason.RUNNING and (left := until - perf_counter()) > 0:
                self._reason = self._run_slice(left)
            if self._reason not in (StopReason.RUNNING, StopReason.USER_STOP):
                self._finish()
                self._engine.end_threads()
        return self.report()

    def stop(self) -> None:
        """Make `run` return within a tenth of a second, from any thread. A later `run` continues."""
        self._stop_requested = True
        self._engine.request_stop()
        if self._polishing is not None:
            self._polishing.request_stop()

    def change_limits(self, limits: SearchLimits) -> None:
        """Search under other limits from the next `run` on. What was spent before still counts.

        A memory limit below what the search already uses ends it with MEMORY_LIMIT.
        """
        self.limits = _checked_limits(limits)
        left = engine_bytes(self.table, self.options, self.limits)
        self._engine.change_memory_limit(0 if self.limits.memory_limit is None else max(1, left))

    def _run_slice(self, seconds: float) -> StopReason:
        """Run the engine for a slice of time at most, polish if it is due, and return the reason to stop.

        When a stage is over, begin the next one instead of running.
        """
        if self._stages.is_over:
            return self._next_reason(self._begin_stage())
        left = self._seconds_to_limit()
        status = self._run_engine(max(0.0, min(SLICE_SECONDS, seconds, left)), left)
        self._best.note_run()
        if status is RunStatus.POLISH_DUE:
            self._polish(last=False)
        self._stages.note(status, self._engine, self._best.objective)
        if self._stages.is_over:
            return self._next_reason()
        return self._next_reason(_STOP_REASONS.get(status, StopReason.RUNNING))

    def _begin_stage(self) -> StopReason:
        """Polish a stage's last tree and begin the next stage, unless a stop or the time limit is first."""
        for _ in range(2):  # as in `_finish`
            self._polish(last=True, repeat=True)
        self._clear_late_stop()
        index = self._stages.next_index(self._engine, self._best.objective)
        space = self._stages.space_at(index)
        try:
            nodes, cost = self._best.start_of(space, self._poll, self._seconds_to_time_limit())
            self._poll()
            self._engine.widen(space.candidates, list(space.leaves), nodes, cost, index)
        except Interrupted:
            return StopReason.RUNNING
        except MemoryError:
            return StopReason.MEMORY_LIMIT
        self._stages.begin(index, self._engine)
        self._best.change_space(space)
        return StopReason.RUNNING

    def _run_engine(self, seconds: float, left: float) -> RunStatus:
        """Run the engine for `seconds`. An expansion that is not done after `left` seconds is stopped."""
        engine, limits, max_expansions = self._engine, self.limits, -1
        if limits.max_expansions is not None:
            max_expansions = max(0, limits.max_expansions - self._earlier_expansions)
        below, work = -1.0, 0
        if self._polishing is not None and self._seconds_to_polish() > 0:
            below, work = self._polishing.due()
        clock, best = self._clock.seconds, self._best.objective
        return call_interruptibly(
            lambda: RunStatus(
                engine.run(
                    seconds,
                    max_expansions,
                    limits.gap,
                    limits.gap_absolute,
                    clock=clock,
                    best=best,
                    polish_below=below,
                    polish_work=work,
                    max_work=self._stages.max_work,
                )
            ),
            engine.request_stop,
            left,
        )

    def _finish(self) -> None:
        """Polish and build the last tree, as far as the time limit allows."""
        for _ in range(2):  # a tree that is unfinished, and the engine's last one
            self._polish(last=True)
        self._clear_late_stop()
        with suppress(Interrupted, MemoryError):
            self._best.build(self._poll, self._seconds_to_time_limit())

    def _polish(self, last: bool, repeat: bool | None = None) -> None:
        """Polish the engine's tree, or continue with one that is not finished.

        A polish that a stop interrupts is repeated if the search goes on after it.
        """
        engine, polishing = self._engine, self._polishing
        left = self._seconds_to_polish()
        if polishing is None or not polishing.wants(engine.upper) or left <= 0:
            return
        if engine.proven and self._stages.options.candidates == "all":
            return  # a polished tree has the cuts of this space, in which none is better
        start = self._clock.seconds
        self._clear_late_stop()
        with suppress(Interrupted, MemoryError):
            nodes = polishing.polish(left, last, lambda: self._stop_requested)
            self._polish_seconds = max(self._polish_seconds, self._clock.seconds - start)
            if nodes is not None:
                tree = self._best.tree_of(nodes, self._poll)
                polishing.built(tree.objective)
                self._best.offer(tree)
                return
        if self._stop_requested and (not last if repeat is None else repeat):
            polishing.stopped()

    def _clear_late_stop(self) -> None:
        """Clear a request to the engine that came after its run had ended, unless a stop is requested."""
        if not self._stop_requested:
            self._engine.clear_stop()

    # Limits

    def _next_reason(self, reached: StopReason = StopReason.RUNNING) -> StopReason:
        """Return the reason to stop: the proof, the limit that was reached, or a request to stop.

        This clears a request to stop, whatever the reason is.
        """
        requested, self._stop_requested = self._stop_requested, False
        if self._engine.proven and self._stages.is_last:
            return StopReason.PROVEN_OPTIMAL
        if reached is not StopReason.RUNNING:
            return reached
        limits, seconds = self.limits, self._clock.seconds
        if limits.time_limit is not None and seconds >= limits.time_limit - self._seconds_to_finish():
            return StopReason.TIME_LIMIT
        if limits.patience is not None and seconds - self._best.improved_at >= limits.patience:
            return StopReason.NO_IMPROVEMENT
        return StopReason.USER_STOP if requested else StopReason.RUNNING

    def _seconds_to_limit(self) -> float:
        """Return the seconds until a limit ends the search, without the time to finish its tree."""
        left = self._seconds_to_time_limit()
        if not math.isinf(left):
            left -= self._seconds_to_finish()
        if self.limits.patience is not None:
            left = min(left, self._best.improved_at + self.limits.patience - self._clock.seconds)
        return left

    def _seconds_to_finish(self) -> float:
        """Return the seconds that polishing and building the best tree will take; 0 if that is done."""
        assert self.limits.time_limit is not None
        polished = self._polishing is None or not self._polishing.wants(self._engine.upper)
        if polished and self._best.is_current:
            return 0.0
        expected = self._best.build_seconds + (0.0 if polished else self._polish_seconds)
        return min(MAX_FINISH_SHARE * self.limits.time_limit, expected)

    def _seconds_to_polish(self) -> float:
        """Return the seconds until the time limit, without the time to build the tree."""
        return self._seconds_to_time_limit() - self._best.build_seconds

    def _seconds_to_time_limit(self) -> float:
        limit = self.limits.time_limit
        return math.inf if limit is None else limit - self._clock.seconds

    def _poll(self) -> None:
        """Raise Interrupted when a stop is requested or the time limit is over."""
        if self._stop_requested or self._seconds_to_time_limit() <= 0:
            raise Interrupted

    # Results

    def adopt(self, tree: ShapeTree) -> bool:
        """Evaluate a tree of another search on this data, and keep it if it is the best so far.

        Return whether it is. The bounds stay those of the search: the tree need not lie in its space. Raise
        ValueError if the tree needs columns that the data does not have.
        """
        self._clear_late_stop()
        return self._best.offer(self._best.refitted(tree))

    def incumbent(self) -> ShapeTree:
        """Return the best tree so far, with what is known about it now."""
        self._clear_late_stop()
        tree = self._best.build()
        proven = bool(self._engine.proven) and self._stages.is_last
        tree = tree.with_proof(self._engine.upper, self._engine.lower, proven)
        return replace(tree, proof=replace(tree.proof, stage_proof=self._stages.stage_proof(self._engine)))

    @property
    def elapsed_seconds(self) -> float:
        """Search seconds so far. Any thread may read it."""
        return self._clock.seconds

    def report(self) -> SearchReport:
        """Return what is known now: bounds, counters and the reason to stop."""
        engine = self._engine
        upper, lower = float(engine.upper), float(engine.lower)
        explored, seconds = self._explored(), self._clock.seconds
        return SearchReport(
            objective=min(self._best.objective, upper),
            upper_bound=upper,
            lower_bound=lower,
            gap=relative_gap(upper, lower),
            gap_absolute=upper - lower,
            stop_reason=self._reason,
            proven_optimal=bool(engine.proven) and self._stages.is_last,
            proven_space=self._stages.proven_space(engine),
            expansions=self._earlier_expansions + int(engine.expansions),
            states_live=int(engine.states_live),
            states_freed=int(engine.states_freed),
            cache_hits=int(engine.cache_hits),
            memory_bytes=int(engine.bytes) + self.table.nbytes,
            elapsed_seconds=seconds,
            improvements=self._best.improvements,
            found_seconds=self._best.improved_at,
            explored=explored,
            seconds_left=estimate_seconds_left(self.trace(), self._stages.index, seconds, explored),
            stage=self._stages.index,
            space=self._stages.space,
        )

    def _explored(self) -> float:
        """Return the explored share of the space. A resumed search explores some of it a second time."""
        explored = float(self._engine.explored)
        return (
            max(self._earlier_explored, explored) if self._stages.index == self._resumed_stage else explored
        )

    def trace(self) -> npt.NDArray[Any]:
        """Return an array of seconds, expansions, upper, lower, explored and stage.

        It has a row for each change of a bound, and for each hundredth that is explored. The upper bound
        never rises; within a stage, the lower bound and the explored share never fall.
        """
        trace: npt.NDArray[Any] = self._engine.trace()
        trace["expansions"] += self._earlier_expansions
        resumed = trace["stage"] == self._resumed_stage
        trace["explored"][resumed] = np.maximum(trace["explored"][resumed], self._earlier_explored)
        if self._earlier_trace is None:
            return trace
        return np.concatenate([self._earlier_trace, trace])

    # Checkpoints

    def checkpoint(self) -> bytes:
        """Return the state of the search in a portable form, for `resume` with the same data."""
        tree, report = self.incumbent(), self.report()
        saved = SavedSearch(
            fingerprint=self.table.fingerprint,
            options=self.options,
            limits=self.limits,
            tree=tree,
            elapsed_seconds=report.elapsed_seconds,
            idle_seconds=report.elapsed_seconds - self._best.improved_at,
            expansions=report.expansions,
            improvements=report.improvements,
            explored=report.explored,
            trace=self.trace(),
            scale=None if self._scale == self._default_scale(binary_only=True) else self._scale,
            stages=self._stages.saved(self._engine),
        )
        return saved.to_bytes(self._engine.checkpoint(seconds=report.elapsed_seconds))

    @classmethod
    def resume(
        cls,
        X: Any,
        y: Any,
        blob: bytes,
        *,
        sample_weight: Any = None,
        limits: SearchLimits | None = None,
        n_threads: int | None = None,
        poll: Poll | None = None,
    ) -> Search:
        """Continue a search from its checkpoint, with the same data and parameters.

        The limits and the number of threads are those of the checkpoint unless they are given. Raise
        CheckpointError if the checkpoint is damaged, of an unknown version, or of other data.
        """
        saved, engine_state = SavedSearch.from_bytes(blob)
        options = saved.options if n_threads is None else replace(saved.options, n_threads=n_threads)
        limits = _checked_limits(limits or saved.limits)
        search = cls.__new__(cls)
        table = build(X, y, sample_weight, options.class_weight, options.categories, poll)
        search._open(table, limits, options, poll, saved)
        try:
            search._engine.restore(engine_state)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the engine cannot read the checkpoint: {error}") from None
        search._earlier_expansions = saved.expansions - int(search._engine.expansions)
        search._earlier_explored = 0.0 if search._engine.proven else saved.explored
        search._earlier_trace = saved.trace
        search._clock.add(saved.elapsed_seconds)
        # The costs are computed again, because an earlier version may have rounded them differently. The tree
        # is not new, so it does not count as an improvement.
        search._best.objective = search._engine.upper
        search.adopt(saved.tree)
        search._best.improvements = saved.improvements
        search._best.improved_at = search._clock.seconds - saved.idle_seconds
        return search


def _checked_limits(limits: Any) -> SearchLimits:
    if limits is None:
        return SearchLimits()
    if not isinstance(limits, SearchLimits):
        raise TypeError(f"limits: expected SearchLimits, got {type(limits).__name__}")
    return limits


def _warn_of_single_leaf(options: SolverOptions, rows: int) -> None:
    message = (
        f"min_samples_leaf: no split is possible, because {options.min_samples_leaf} is more than half of "
        f"the {rows} training rows; the tree is a single leaf"
    )
    warnings.warn(message, DataWarning, stacklevel=5)


def checked_options(parameters: dict[str, Any]) -> SolverOptions:
    """Return the options of a search. Raise TypeError if one of the parameters is none of them."""
    known = SolverOptions.definitions()
    if unknown := sorted(parameters.keys() - known.keys()):
        hint = f"expected some of {', '.join(known)}"
        if unknown[0] in SearchLimits.definitions():
            hint = f"expected limits=SearchLimits({unknown[0]}=...)"
        raise TypeError(f"{unknown[0]}: not a parameter of Search; {hint}")
    return SolverOptions(**parameters)


Search.__module__ = "literati"  # the name in pickles, so that this module may move
