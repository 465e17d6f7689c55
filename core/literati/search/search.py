"""Search: the engine with its limits, its incumbent as a tree, its report, and its way to disk and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from . import checkpoint as checkpoints
from ._search import RunStatus
from ._version import __version__
from .costs import exact_costs
from .engines import engine_bytes, make_engine
from .errors import CheckpointError, Interrupted, LiteratiError, SearchInvariantError
from .model import ShapeTree
from .nodes import Settings
from .options import SearchLimits, SolverOptions, integer, number
from .patient import call_patiently
from .polishing import Polishing
from .report import SearchReport, StopReason, relative_gap
from .stopwatch import Stopwatch
from .table import build
from .transfer import transfer_bounds
from .transplant import transplant

__all__ = ["Search", "SearchLimits", "SearchReport", "StopReason"]

SLICE = 0.1  # seconds without the GIL: how long Ctrl-C may have to wait
FINISH_SHARE = 0.2  # of the time limit, at most, is set aside to finish the last tree
POLISH_SECONDS = 1.5e-7  # that polishing a tree is expected to take for each cell of the table ...
BUILD_SECONDS = 3e-8  # ... and building it
TRACE_KEPT = 512  # points of the trace in a checkpoint
_STATUS = {
    RunStatus.GAP_REACHED: StopReason.GAP_REACHED,
    RunStatus.EXPANSION_LIMIT: StopReason.EXPANSION_LIMIT,
    RunStatus.MEMORY_LIMIT: StopReason.MEMORY_LIMIT,
}
Moment = tuple[int, float]  # expansions and upper bound of the engine


class Search:
    """A search that is stepped: `run` for a while, look at `report` and `incumbent`, run on.

    Keyword parameters are those of LiteratiClassifier. All methods belong to one thread, but for `stop`.
    `poll` is called again and again while the data is encoded, which `stop` cannot end because there is no
    search yet; it may raise to give up.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        limits: SearchLimits | None = None,
        poll: Callable[[], None] | None = None,
        **parameters: Any,
    ) -> None:
        self._encode(X, y, sample_weight, _checked_limits(limits), _options(parameters), poll)
        self._begin(poll)

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        limits: SearchLimits,
        options: SolverOptions,
        poll: Callable[[], None] | None,
    ) -> None:
        self.limits = limits
        self.options = options
        self.table = build(
            X,
            y,
            sample_weight=sample_weight,
            class_weight=self.options.class_weight,
            categories=self.options.categories,
            poll=poll,
        )

    def _begin(
        self,
        poll: Callable[[], None] | None,
        scale: float | None = None,
        *,
        as_in_0_1_0: bool = False,
    ) -> None:
        """Set up the engine, which encodes the table for itself.

        A search that is resumed counts costs in the units of its checkpoint: `scale` of them in a row, or as
        version 0.1.0 chose them, which did not write them down.
        """
        options = self.options
        self._clock = Stopwatch()
        self.settings = Settings(
            options.max_depth, options.max_changepoints, options.split_penalty, options.changepoint_penalty
        )
        costs = exact_costs(
            self.table, options.split_penalty, options.changepoint_penalty, scale, binary_only=as_in_0_1_0
        )
        self._costs = costs
        self._in_units = replace(
            self.settings, split_penalty=costs.split_penalty, changepoint_penalty=costs.changepoint_penalty
        )
        self._engine = make_engine(self.table, costs, options, self.limits, poll)
        self._polishing = Polishing(self._costs, self.settings) if options.polish else None
        self._polish_seconds = POLISH_SECONDS * self.table.codes.size if options.polish else 0.0
        self._build_seconds = BUILD_SECONDS * self.table.codes.size
        self._tree: ShapeTree | None = None  # the best so far, as far as it has been built
        self._built_at: Moment | None = None  # when its nodes' bounds were read
        self._reason = StopReason.RUNNING
        self._stop_wanted = False
        self._objective = math.inf
        self._improvements = 0
        self._improved_at = 0.0  # search seconds
        self._earlier_expansions = 0  # before a resume
        self._earlier_trace: npt.NDArray[Any] | None = None
        self._note(self._engine.upper)

    # Running

    def run(self, seconds: float | None = None) -> SearchReport:
        """Search on for about so long (None: until a limit or the proof), and report."""
        real = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if seconds is not None and not (real and seconds >= 0):
            raise ValueError(f"seconds: expected None or a number >= 0, got {seconds!r}")
        until = math.inf if seconds is None else perf_counter() + seconds
        with self._clock:
            self._reason = self._next_reason()
            while self._reason is StopReason.RUNNING and (left := until - perf_counter()) > 0:
                self._reason = self._slice(left)
            if self._reason not in (StopReason.RUNNING, StopReason.USER_STOP):
                self._finish()
        return self.report()

    def stop(self) -> None:
        """Make `run` return within a tenth of a second, from any thread. A later `run` goes on."""
        self._stop_wanted = True
        self._engine.request_stop()
        if self._polishing is not None:
            self._polishing.request_stop()

    def change_limits(self, limits: SearchLimits) -> None:
        """Search under other limits from the next `run` on. What was spent before still counts.

        A memory limit below what the search takes already ends it with MEMORY_LIMIT.
        """
        self.limits = _checked_limits(limits)
        left = engine_bytes(self.table, self.options, self.limits)
        self._engine.change_memory_limit(0 if self.limits.memory_limit is None else max(1, left))

    def _slice(self, seconds: float) -> StopReason:
        """Search for a slice of time at most, polish if it is time to, and say why not to go on."""
        left = self._seconds_left()
        status = self._step(max(0.0, min(SLICE, seconds, left)), left)
        self._note(self._engine.upper)
        if status is RunStatus.POLISH_DUE:
            self._polish(last=False)
        return self._next_reason(_STATUS.get(status, StopReason.RUNNING))

    def _step(self, seconds: float, left: float) -> RunStatus:
        """Some expansions. One that is longer than the limits allow is broken off."""
        engine, limits, most = self._engine, self.limits, -1
        if limits.max_expansions is not None:
            most = max(0, limits.max_expansions - self._earlier_expansions)
        below, work = -1.0, 0
        if self._polishing is not None and self._seconds_to_polish() > 0:
            below, work = self._polishing.due()
        clock = self._clock.seconds
        return call_patiently(
            lambda: RunStatus(
                engine.run(
                    seconds,
                    most,
                    limits.gap,
                    limits.gap_absolute,
                    clock=clock,
                    polish_below=below,
                    polish_work=work,
                )
            ),
            engine.request_stop,
            left,
        )

    def _seconds_left(self) -> float:
        """Seconds until a limit ends the search; the time to finish its tree is set aside."""
        seconds, limits = self._clock.seconds, self.limits
        left = math.inf if limits.time_limit is None else limits.time_limit - seconds - self._time_to_finish()
        if limits.patience is not None:
            left = min(left, self._improved_at + limits.patience - seconds)
        return left

    def _time_to_finish(self) -> float:
        """Seconds that polishing and building the tree at hand will take; 0 if that is done."""
        assert self.limits.time_limit is not None
        polished = self._polishing is None or not self._polishing.wants(self._engine.upper)
        if polished and self._built_at == self._moment():
            return 0.0
        expected = self._build_seconds + (0.0 if polished else self._polish_seconds)
        return min(FINISH_SHARE * self.limits.time_limit, expected)

    def _next_reason(self, reached: StopReason = StopReason.RUNNING) -> StopReason:
        """Return the reason to stop: the proof, the limit that was reached, or the wish to stop.

        A wish to stop is thereby granted, whatever the reason is.
        """
        wanted, self._stop_wanted = self._stop_wanted, False
        if self._engine.proven:
            return StopReason.PROVEN_OPTIMAL
        if reached is not StopReason.RUNNING:
            return reached
        limits, seconds = self.limits, self._clock.seconds
        if limits.time_limit is not None and seconds >= limits.time_limit - self._time_to_finish():
            return StopReason.TIME_LIMIT
        if limits.patience is not None and seconds - self._improved_at >= limits.patience:
            return StopReason.NO_IMPROVEMENT
        return StopReason.USER_STOP if wanted else StopReason.RUNNING

    def _note(self, objective: float) -> None:
        if objective < self._objective:
            self._improvements += 1
            self._improved_at = self._clock.seconds
            self._objective = objective

    def _finish(self) -> None:
        """Polish and build the last tree, as far as the time limit allows."""
        self._polish(last=True)
        with suppress(Interrupted, MemoryError):
            self._refresh(self._poll, interruptible=True)

    def _poll(self) -> None:
        """Raise Interrupted when a stop is wanted or the time limit is over."""
        if self._stop_wanted or self._limit_seconds() <= 0:
            raise Interrupted

    def _seconds_to_polish(self) -> float:
        """Seconds until the time limit, less what it takes to build the tree."""
        return self._limit_seconds() - self._build_seconds

    def _limit_seconds(self) -> float:
        limit = self.limits.time_limit
        return math.inf if limit is None else limit - self._clock.seconds

    # The incumbent

    def adopt(self, tree: ShapeTree) -> bool:
        """Begin with a tree from elsewhere, evaluated anew on this data; whether it is the best so far.

        The bounds stay those of the search: the tree need not lie in its space. ValueError if the tree asks
        for columns that the data does not have.
        """
        best = self.incumbent()
        nodes = transplant(tree.nodes, tree.schema, self._costs.table, self._in_units)
        adopted = self._checked(replace(best, nodes=nodes, settings=self._in_units))
        if adopted.objective >= best.objective:
            return False
        self._tree, self._built_at = adopted, None
        self._note(adopted.objective)
        return True

    def incumbent(self) -> ShapeTree:
        """The best tree so far, with what is known about it now."""
        tree = self._refresh()
        return tree.with_proof(self._engine.upper, self._engine.lower, bool(self._engine.proven))

    def _moment(self) -> Moment:
        return int(self._engine.expansions), float(self._engine.upper)

    def _refresh(self, poll: Callable[[], None] | None = None, *, interruptible: bool = False) -> ShapeTree:
        """Build the best tree so far, with what is known of its nodes. `poll` may raise Interrupted."""
        if self._tree is None or self._built_at != self._moment():
            engine, moment = self._engine, self._moment()
            left = self._limit_seconds() if interruptible else math.inf
            self._forget_late_stop()
            nodes = call_patiently(
                lambda: engine.nodes(interruptible=interruptible), engine.request_stop, left
            )
            if nodes is None:
                raise Interrupted
            searched = self._searched_tree(nodes, poll)
            if self._tree is None or searched.objective < self._tree.objective:
                self._tree = searched
            else:
                bounds = transfer_bounds(
                    self._tree.nodes, searched.nodes, self._costs.table, self.options.max_depth, poll
                )
                self._tree = replace(self._tree, nodes=bounds)
            self._built_at = moment
            self._note(self._tree.objective)
        return self._tree

    def _searched_tree(self, nodes: npt.NDArray[Any], poll: Callable[[], None] | None = None) -> ShapeTree:
        """Build the tree of the engine's nodes, or of nodes that are polished."""
        engine, start = self._engine, perf_counter()
        tree = ShapeTree.from_nodes(
            nodes,
            self._costs.table,
            settings=self._in_units,
            upper_bound=engine.upper,
            lower_bound=engine.lower,
            proven_optimal=bool(engine.proven),
            proven_space=self.options.candidates,
            candidate_leaves=self.options.leaves,
            poll=poll,
        )
        tree = self._checked(tree, poll)
        self._build_seconds = max(self._build_seconds, perf_counter() - start)
        if tree.objective > engine.upper:
            raise SearchInvariantError(
                f"the tree found costs {tree.objective!r} on the training rows, "
                f"not {engine.upper!r} as the search says"
            )
        return tree

    def _checked(self, tree: ShapeTree, poll: Callable[[], None] | None = None) -> ShapeTree:
        """Check, to the unit, that a tree costs what it says; return it with its costs in rows, not units."""
        cost = tree.evaluate_table(self._costs.table, poll)
        if cost != tree.nodes[0].cost:
            raise SearchInvariantError(
                f"a tree said to cost {tree.nodes[0].cost!r} units costs {cost!r} on the training rows"
            )
        nodes = self._costs.in_rows(tree.nodes)
        proof = replace(tree.proof, objective=nodes[0].cost)
        return replace(tree, nodes=nodes, settings=self.settings, proof=proof)

    def _polish(self, last: bool) -> None:
        """Polish the tree at hand, or go on with one that is not finished."""
        engine, polishing = self._engine, self._polishing
        left = self._seconds_to_polish()
        if polishing is None or not polishing.wants(engine.upper) or left <= 0:
            return
        start = self._clock.seconds
        self._forget_late_stop()
        with suppress(Interrupted, MemoryError):
            nodes = polishing.polish(engine, left, last, lambda: self._stop_wanted)
            self._polish_seconds = max(self._polish_seconds, self._clock.seconds - start)
            if nodes is not None:
                tree = self._searched_tree(nodes, self._poll)
                polishing.built()
                if self._tree is None or tree.objective < self._tree.objective:
                    self._tree, self._built_at = tree, None
                    self._note(tree.objective)

    def _forget_late_stop(self) -> None:
        """Drop a request to the engine that came after its run had ended, unless a stop is still wanted."""
        if not self._stop_wanted:
            self._engine.clear_stop()

    # What is known

    @property
    def elapsed_seconds(self) -> float:
        """Search seconds so far; any thread may ask."""
        return self._clock.seconds

    def report(self) -> SearchReport:
        engine = self._engine
        upper, lower = float(engine.upper), float(engine.lower)
        return SearchReport(
            objective=min(self._objective, upper),
            upper_bound=upper,
            lower_bound=lower,
            gap=relative_gap(upper, lower),
            gap_absolute=upper - lower,
            stop_reason=self._reason,
            proven_optimal=bool(engine.proven),
            proven_space=self.options.candidates,
            expansions=self._earlier_expansions + int(engine.expansions),
            states_live=int(engine.states_live),
            states_freed=int(engine.states_freed),
            cache_hits=int(engine.cache_hits),
            memory_bytes=int(engine.bytes) + self.table.nbytes,
            elapsed_seconds=self._clock.seconds,
            improvements=self._improvements,
            found_seconds=self._improved_at,
        )

    def trace(self) -> npt.NDArray[Any]:
        """Structured array of seconds, expansions, upper, lower: a row for each time a bound moved."""
        trace: npt.NDArray[Any] = self._engine.trace()
        trace["expansions"] += self._earlier_expansions
        if self._earlier_trace is None:
            return trace
        return np.concatenate([self._earlier_trace, trace])

    # To disk and back

    def checkpoint(self) -> bytes:
        """Everything a new process needs to go on, in a portable form, for `resume` with the same data."""
        tree = self.incumbent()
        report = self.report()
        trace = self.trace()
        kept = np.unique(np.linspace(0, max(0, len(trace) - 1), TRACE_KEPT).astype(int))
        header = {
            "engine_version": __version__,
            "fingerprint": self.table.fingerprint,
            "options": self.options.to_json(),
            "limits": asdict(self.limits),
            "elapsed_seconds": report.elapsed_seconds,
            "idle_seconds": report.elapsed_seconds - self._improved_at,
            "expansions": report.expansions,
            "improvements": report.improvements,
            "tree": tree.to_dict(),
            "trace": [list(row) for row in trace[kept[: len(trace)]].tolist()],
            "scale": self._costs.scale,
        }
        return checkpoints.pack(header, self._engine.checkpoint(seconds=report.elapsed_seconds))

    @classmethod
    def resume(
        cls,
        X: Any,
        y: Any,
        blob: bytes,
        *,
        sample_weight: Any = None,
        limits: SearchLimits | None = None,
        poll: Callable[[], None] | None = None,
    ) -> Search:
        """Go on where `checkpoint` was called: the same data, the same parameters, new limits if given."""
        header, payload = checkpoints.unpack(blob)
        try:
            options = SolverOptions.from_json(header["options"])
            saved = SearchLimits(**header["limits"])
            tree = ShapeTree.from_dict(header["tree"])
        except (LiteratiError, TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the checkpoint's header cannot be read: {error}") from None
        search = cls.__new__(cls)
        search._encode(X, y, sample_weight, _checked_limits(limits or saved), options, poll)
        if search.table.fingerprint != header["fingerprint"]:
            raise CheckpointError(
                "blob: the checkpoint belongs to other data; expected the same X, y and sample_weight"
            )
        if not isinstance(scale := header.get("scale"), float | None) or not (scale is None or scale >= 1):
            raise CheckpointError("blob: the checkpoint's header cannot be read: scale: not a number >= 1")
        search._begin(poll, scale, as_in_0_1_0=scale is None)
        try:
            search._engine.restore(payload)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the engine cannot read the checkpoint: {error}") from None
        search._continue_from(header, tree, poll)
        return search

    def _continue_from(
        self, header: dict[str, Any], tree: ShapeTree, poll: Callable[[], None] | None
    ) -> None:
        if tree.schema != self.table.schema or tree.classes.tolist() != self.table.classes.tolist():
            raise CheckpointError("blob: the checkpoint's tree belongs to other data")
        tolerance = 1e-9 * max(1.0, tree.nodes[0].weight)
        if abs(tree.evaluate_table(self.table, poll) - tree.objective) > tolerance:
            raise CheckpointError("blob: the checkpoint's tree does not cost what it says on this data")
        try:
            spent = number("elapsed_seconds", header["elapsed_seconds"])
            idle = number("idle_seconds", header["idle_seconds"])
            improvements = integer("improvements", header["improvements"], 0)
            self._earlier_expansions = integer("expansions", header["expansions"], 0)
            self._earlier_expansions -= int(self._engine.expansions)
            rows = [tuple(row) for row in header["trace"]]
            earlier = np.array(rows, dtype=self._engine.trace().dtype)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the checkpoint's header cannot be read: {error}") from None
        self._clock.add(spent)
        self._earlier_trace = earlier
        # Its costs are worked out again: an earlier version may have rounded them in another way.
        self._objective = self._engine.upper
        self.adopt(tree)
        # It is no new tree: it was found before.
        self._improvements, self._improved_at = improvements, self._clock.seconds - idle


def _checked_limits(limits: Any) -> SearchLimits:
    if limits is None:
        return SearchLimits()
    if not isinstance(limits, SearchLimits):
        raise TypeError(f"limits: expected SearchLimits, got {type(limits).__name__}")
    return limits


def _options(parameters: dict[str, Any]) -> SolverOptions:
    unknown = sorted(parameters.keys() - SolverOptions.__dataclass_fields__.keys())
    if unknown:
        expected = ", ".join(SolverOptions.__dataclass_fields__)
        hint = f"expected some of {expected}"
        if unknown[0] in SearchLimits.__dataclass_fields__:
            hint = f"expected limits=SearchLimits({unknown[0]}=...)"
        raise TypeError(f"{unknown[0]}: not a parameter of Search; {hint}")
    return SolverOptions(**parameters)
