"""Search: the engine with its limits, its incumbent as a tree, its report, and its way to disk and back."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from . import checkpoint as checkpoints
from ._version import __version__
from .engines import engine_bytes, make_engine, make_polisher
from .errors import CheckpointError, LiteratiError, SearchInvariantError
from .model import ShapeTree
from .nodes import Settings
from .options import SearchLimits, SolverOptions, integer, number
from .patient import call_patiently
from .report import SearchReport, StopReason, relative_gap
from .table import build
from .transfer import transfer_bounds
from .transplant import transplant

__all__ = ["Search", "SearchLimits", "SearchReport", "StopReason"]

SLICE = 0.1  # seconds without the GIL: how long Ctrl-C may have to wait
POLISH_STEP = 31 / 32  # a tree is polished on the way when it costs this much of the last one polished
POLISH_CELLS = 1 << 20  # rows times columns up to which trees are polished on the way, not only at the end
LEAST_POLISH = 0.05  # seconds
TRACE_KEPT = 512  # points of the trace in a checkpoint
STOPPED = 5
_STATUS = {
    1: StopReason.PROVEN_OPTIMAL,
    2: StopReason.GAP_REACHED,
    3: StopReason.EXPANSION_LIMIT,
    4: StopReason.MEMORY_LIMIT,
}


class Search:
    """A search that is stepped: `run` for a while, look at `report` and `incumbent`, run on.

    Keyword parameters are those of LiteratiClassifier. All methods belong to one thread, but for `stop`.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        limits: SearchLimits | None = None,
        **parameters: Any,
    ) -> None:
        self.limits = _checked_limits(limits)
        self.options = _options(parameters)
        self.table = build(
            X,
            y,
            sample_weight=sample_weight,
            class_weight=self.options.class_weight,
            categories=self.options.categories,
        )
        self._begin()

    def _begin(self) -> None:
        start = perf_counter()
        self.settings = Settings(
            self.options.max_depth,
            self.options.max_changepoints,
            self.options.split_penalty,
            self.options.changepoint_penalty,
        )
        self._engine = make_engine(self.table, self.options, self.limits)
        self._polisher: Any = None
        self._half_polished: npt.NDArray[Any] | None = None  # nodes whose polish ran out of time
        self._first_upper = math.inf  # the engine's upper bound when it had its first tree
        self._polished_at = math.inf  # the engine's upper bound when its tree was last polished
        self._tree: ShapeTree | None = None  # the best so far, as far as it has been built
        self._built_at: tuple[int, float] | None = (
            None  # expansions and bound when its nodes' bounds were read
        )
        self._reason = StopReason.RUNNING
        self._has_started = False
        self._stop_wanted = False
        self._objective = math.inf
        self._improvements = 0
        self._improved_at = 0.0  # search seconds
        self._earlier_expansions = 0  # before a resume
        self._earlier_seconds = 0.0  # of the trace before a resume
        self._earlier_trace: npt.NDArray[Any] | None = None
        self._elapsed = perf_counter() - start

    # Running

    def run(self, seconds: float | None = None) -> SearchReport:
        """Search on for about so long (None: until a limit or the proof), and report."""
        real = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if seconds is not None and not (real and seconds >= 0):
            raise ValueError(f"seconds: expected None or a number >= 0, got {seconds!r}")
        until = math.inf if seconds is None else perf_counter() + seconds
        self._started()
        self._reason = self._next_reason()
        while self._reason is StopReason.RUNNING and (left := until - perf_counter()) > 0:
            self._slice(max(0.0, min(SLICE, left, self._seconds_left())))
        return self.report()

    def stop(self) -> None:
        """Make `run` return within a tenth of a second, from any thread. A later `run` goes on."""
        self._stop_wanted = True
        self._engine.request_stop()

    def change_limits(self, limits: SearchLimits) -> None:
        """Search under other limits from the next `run` on. What was spent before still counts.

        A memory limit below what the search takes already ends it with MEMORY_LIMIT.
        """
        self.limits = _checked_limits(limits)
        left = engine_bytes(self.table, self.options, self.limits)
        self._engine.change_memory_limit(0 if self.limits.memory_limit is None else max(1, left))

    def _slice(self, seconds: float) -> None:
        start = perf_counter()
        status = self._step(seconds)
        self._note(self._engine.upper)
        self._elapsed += perf_counter() - start
        start = perf_counter()
        reason = _STATUS.get(status) or self._next_reason()
        if reason is not StopReason.USER_STOP:  # who asks to stop does not want to wait for it
            self._polish(last=reason is not StopReason.RUNNING)
        self._elapsed += perf_counter() - start
        self._reason = reason

    def _step(self, seconds: float) -> int:
        """Some expansions. One that is longer than the time limit allows is broken off."""
        engine, limits, most, target = self._engine, self.limits, -1, self._polish_target()
        if limits.max_expansions is not None:
            most = max(0, limits.max_expansions - self._earlier_expansions)
        left = math.inf if limits.time_limit is None else limits.time_limit - self._elapsed
        return call_patiently(
            lambda: int(engine.run(seconds, most, limits.gap, limits.gap_absolute, target)),
            engine.request_stop,
            left,
        )

    def _seconds_left(self) -> float:
        limit = math.inf if self.limits.time_limit is None else self.limits.time_limit - self._elapsed
        if self.limits.patience is not None:
            limit = min(limit, self._improved_at + self.limits.patience - self._elapsed)
        return limit

    def _next_reason(self) -> StopReason:
        """A limit, or else the wish to stop, which is thereby granted."""
        wanted, self._stop_wanted = self._stop_wanted, False
        reason = self._limit()
        return StopReason.USER_STOP if wanted and reason is StopReason.RUNNING else reason

    def _limit(self) -> StopReason:
        """The limit that is reached whatever the engine does next."""
        if self._engine.proven:
            return StopReason.PROVEN_OPTIMAL
        if self.limits.time_limit is not None and self._elapsed >= self.limits.time_limit:
            return StopReason.TIME_LIMIT
        if self.limits.patience is not None and self._elapsed - self._improved_at >= self.limits.patience:
            return StopReason.NO_IMPROVEMENT
        return StopReason.RUNNING

    def _note(self, objective: float) -> None:
        if objective < self._objective - self._tolerance():
            self._improvements += 1
            self._improved_at = self._elapsed
        self._objective = min(self._objective, objective)

    def _tolerance(self) -> float:
        """Of sums of weights that are no dyadic numbers; nothing at all for those that are counts."""
        return 0.0 if self.table.weights is None else 1e-9 * float(self.table.weights.sum())

    def _started(self) -> None:
        """Have a first incumbent, whatever the limits."""
        if not self._has_started:
            start = perf_counter()
            engine = self._engine
            while call_patiently(lambda: int(engine.run(0.0, 0)), engine.request_stop, math.inf) == STOPPED:
                pass  # that takes back the request, which `_stop_wanted` remembers
            self._has_started = True
            self._note(self._engine.upper)
            self._first_upper = self._engine.upper
            if self._limit() is not StopReason.RUNNING:
                self._polish(last=True)
            self._elapsed += perf_counter() - start

    # The incumbent

    def adopt(self, tree: ShapeTree) -> bool:
        """Begin with a tree from elsewhere, evaluated anew on this data; whether it is the best so far.

        The bounds stay those of the search: the tree need not lie in its space. ValueError if the tree asks
        for columns that the data does not have.
        """
        nodes = transplant(tree.nodes, tree.schema, self.table, self.settings)
        best = self.incumbent()
        proof = replace(best.proof, objective=nodes[0].cost)
        adopted = replace(best, nodes=nodes, proof=proof)
        if adopted.evaluate_table(self.table) >= best.objective:
            return False
        self._tree, self._built_at = adopted, None
        self._note(adopted.objective)
        return True

    def incumbent(self) -> ShapeTree:
        """The best tree so far, with what is known about it now."""
        self._started()
        moment = (int(self._engine.expansions), float(self._engine.upper))
        if self._tree is None or self._built_at != moment:
            searched = self._searched_tree()
            if self._tree is None or searched.objective < self._tree.objective:
                self._tree = searched
            else:
                nodes = transfer_bounds(self._tree.nodes, searched.nodes, self.table, self.options.max_depth)
                self._tree = replace(self._tree, nodes=nodes)
            self._built_at = moment
        self._note(self._tree.objective)
        return self._tree.with_proof(self._engine.upper, self._engine.lower, bool(self._engine.proven))

    def _searched_tree(self, nodes: npt.NDArray[Any] | None = None) -> ShapeTree:
        """The engine's tree, or these nodes of the same kind; its cost is checked against the claim."""
        engine = self._engine
        tree = ShapeTree.from_nodes(
            engine.nodes() if nodes is None else nodes,
            self.table,
            settings=self.settings,
            upper_bound=engine.upper,
            lower_bound=engine.lower,
            proven_optimal=bool(engine.proven),
            proven_space=self.options.candidates,
            candidate_leaves=self.options.leaves,
        )
        slack = self._tolerance() or 1e-9 * max(1.0, engine.upper)
        cost = tree.evaluate_table(self.table)
        if cost > engine.upper + slack or abs(cost - tree.nodes[0].cost) > slack:
            raise SearchInvariantError(
                f"the tree found costs {cost!r} on the training rows, not {engine.upper!r} as the search says"
            )
        return tree

    def _polish_target(self) -> float:
        """Cost of a tree that is polished on the way.

        It depends on the data and the trees found, never on the clock: a run can be repeated.
        """
        on_the_way = self.options.polish and self.table.codes.size <= POLISH_CELLS
        return POLISH_STEP * min(self._polished_at, self._first_upper) if on_the_way else -1.0

    def _polish(self, last: bool) -> None:
        """Polish the engine's tree if it is time to, or go on where time was up."""
        engine = self._engine
        fresh = engine.upper < self._polished_at if last else engine.upper <= self._polish_target()
        if not self.options.polish or not (fresh or (last and self._half_polished is not None)):
            return
        if self._polisher is None:
            self._polisher = make_polisher(self.table, self.settings)
        room = max(LEAST_POLISH, self._seconds_left())
        start = perf_counter()
        nodes = self._polisher.polish(engine.nodes() if fresh else self._half_polished, room)
        self._half_polished = nodes if perf_counter() - start >= room else None
        self._polished_at = engine.upper
        tree = self._searched_tree(nodes)
        if self._tree is None or tree.objective < self._tree.objective:
            self._tree, self._built_at = tree, None
            self._note(tree.objective)

    # What is known

    def report(self) -> SearchReport:
        self._started()
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
            elapsed_seconds=self._elapsed,
            improvements=self._improvements,
        )

    def trace(self) -> npt.NDArray[Any]:
        """Structured array of seconds, expansions, upper, lower: a row for each time a bound moved."""
        trace: npt.NDArray[Any] = self._engine.trace()
        trace["seconds"] += self._earlier_seconds
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
        }
        return checkpoints.pack(header, self._engine.checkpoint())

    @classmethod
    def resume(
        cls, X: Any, y: Any, blob: bytes, *, sample_weight: Any = None, limits: SearchLimits | None = None
    ) -> Search:
        """Go on where `checkpoint` was called: the same data, the same parameters, new limits if given."""
        header, payload = checkpoints.unpack(blob)
        try:
            options = SolverOptions.from_json(header["options"])
            saved = SearchLimits(**header["limits"])
            tree = ShapeTree.from_dict(header["tree"])
        except (LiteratiError, TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the checkpoint's header cannot be read: {error}") from None
        parameters = {name: getattr(options, name) for name in options.__dataclass_fields__}
        search = cls(X, y, sample_weight=sample_weight, limits=limits or saved, **parameters)
        if search.table.fingerprint != header["fingerprint"]:
            raise CheckpointError(
                "blob: the checkpoint belongs to other data; expected the same X, y and sample_weight"
            )
        try:
            search._engine.restore(payload)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the engine cannot read the checkpoint: {error}") from None
        search._continue_from(header, tree)
        return search

    def _continue_from(self, header: dict[str, Any], tree: ShapeTree) -> None:
        if tree.schema != self.table.schema or tree.classes.tolist() != self.table.classes.tolist():
            raise CheckpointError("blob: the checkpoint's tree belongs to other data")
        if abs(tree.evaluate_table(self.table) - tree.objective) > max(self._tolerance(), 1e-9):
            raise CheckpointError("blob: the checkpoint's tree does not cost what it says on this data")
        try:
            spent = number("elapsed_seconds", header["elapsed_seconds"])
            self._improved_at = self._elapsed + spent - number("idle_seconds", header["idle_seconds"])
            self._elapsed += spent
            self._improvements = integer("improvements", header["improvements"], 0)
            self._earlier_expansions = integer("expansions", header["expansions"], 0)
            self._earlier_expansions -= int(self._engine.expansions)
            rows = [tuple(row) for row in header["trace"]]
            earlier = np.array(rows, dtype=self._engine.trace().dtype)
        except (TypeError, ValueError) as error:
            raise CheckpointError(f"blob: the checkpoint's header cannot be read: {error}") from None
        self._earlier_trace = earlier
        self._earlier_seconds = spent - float(self._engine.seconds)
        self._tree = tree
        self._objective = tree.objective


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
