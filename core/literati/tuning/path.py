"""The regularization path: the optimal tree for every penalty.

With a fixed ratio of both penalties, the optimal cost V(penalty) is the minimum over all trees of errors +
penalty * size. Each tree is a line, so V is concave and piecewise linear. Where the lines of two
neighbouring known trees cross, a search either finds a tree below them or proves that both are optimal
there; a tree that is optimal at both ends of an interval is optimal inside it. A path of n trees takes
about 2n searches.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from time import perf_counter
from typing import Any, get_args, overload

from literati.data.table import TrainingTable, build
from literati.search.options import Candidates, SearchLimits, SolverOptions
from literati.search.parameters import Range
from literati.search.penalty_search import KnownTree, PenaltySearch
from literati.search.report import SearchReport, StopReason
from literati.search.search import checked_options
from literati.tree.model import ShapeTree
from literati.tuning.envelope import crossing, lower_envelope

MAX_RATIO_DENOMINATOR = 1000
# Shares of the time and of the expansions that are left, for one search. The first search of a penalty
# leaves enough for smaller penalties; what is left at the end is for those that are not proven.
FIRST_SHARE = 1 / 8
LATER_SHARE = 1 / 2
MIN_SHARE = 0.01  # of a limit; when less is left, the path ends
REPORT_SECONDS = 0.25
_RATIO = Range(float, ge=0, le=1000)
_CONTINUED = (StopReason.TIME_LIMIT, StopReason.EXPANSION_LIMIT)
_FIXED = ("split_penalty", "changepoint_penalty", "polish")


@dataclass(frozen=True)
class PathSegment:
    """A tree and the penalties for which it is the best one known.

    The penalty is that of a split; a change point after the first one of a split costs `changepoint_ratio`
    times as much.
    """

    penalty_from: float
    penalty_to: float  # math.inf in the last segment, whose tree is usually a single leaf
    tree: ShapeTree
    errors: float  # weight of the misclassified training rows
    splits: int
    changepoints: int  # after the first one of each split
    leaves: int
    proven: bool  # no tree of the space costs less at any penalty of the segment
    gap: float  # largest relative distance between the tree's cost and its lower bound; 0 if it is proven

    @property
    def found_penalty(self) -> float:
        """The penalty at which a search found the tree."""
        return self.tree.settings.split_penalty

    def cost(self, penalty: float, changepoint_ratio: float) -> float:
        """Return what the tree costs at a penalty."""
        return self.errors + penalty * (self.splits + changepoint_ratio * self.changepoints)


@dataclass(frozen=True)
class PathProgress:
    """What is known while a path is computed."""

    penalty: float  # that is searched now
    trees: int  # on the path so far
    searches: int  # finished so far
    elapsed_seconds: float
    expansions: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True)
class RegularizationPath(Sequence[PathSegment]):
    """The segments of a path, from the smallest penalty to the largest, without gaps between them."""

    segments: tuple[PathSegment, ...]
    changepoint_ratio: float
    searches: int
    seconds: float
    stop_reason: StopReason
    options: SolverOptions  # of the searches
    fingerprint: str  # of the training data
    expansions: int = 0  # of all searches

    @property
    def proven(self) -> bool:
        """Whether every segment is proven: the path is then exact."""
        return all(segment.proven for segment in self.segments)

    def at(self, penalty: float) -> PathSegment:
        """Return the segment of a penalty. Where two segments meet, it is the one with the smaller tree."""
        if not penalty >= 0:
            raise ValueError(f"penalty: expected a number >= 0, got {penalty!r}")
        return self.segments[bisect_right([segment.penalty_from for segment in self.segments], penalty) - 1]

    def __len__(self) -> int:
        return len(self.segments)

    def __iter__(self) -> Iterator[PathSegment]:
        return iter(self.segments)

    @overload
    def __getitem__(self, index: int) -> PathSegment: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[PathSegment, ...]: ...

    def __getitem__(self, index: int | slice) -> PathSegment | tuple[PathSegment, ...]:
        return self.segments[index]


def regularization_path(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    changepoint_ratio: float = 0.5,
    time_limit: float | None = 60.0,
    max_expansions: int | None = None,
    memory_limit: int | None = None,
    start: RegularizationPath | None = None,
    callback: Callable[[PathProgress], object] | None = None,
    **parameters: Any,
) -> RegularizationPath:
    """Return the optimal tree for every penalty.

    Parameters
    ----------
    X, y, sample_weight
        Training data, as for `LiteratiClassifier.fit`.
    changepoint_ratio
        Penalty of a change point after the first one of a split, as a multiple of the penalty of a split.
        It has at most three decimal places.
    time_limit, max_expansions, memory_limit
        Limits of all searches together. The first search of a penalty gets an eighth of what is left; when
        every penalty has had its search, those that are not proven continue, each with half of what is
        left. What is not proven in the end has a gap above 0.
    start
        A path of the same data and parameters, but with fewer change points. Its trees are known from the
        beginning. A path of smaller depth cannot be used: on their last level, trees may have cuts that
        deeper trees do not have.
    callback
        A function that is called with a PathProgress about four times a second. The computation ends with
        what it has when it returns a true value.
    parameters
        Other parameters of LiteratiClassifier that say what is searched, such as `max_depth`. `candidates`
        may not be "widening", and trees are not polished: polished trees lie outside the space that the
        proof is about.
    """
    limits = SearchLimits(time_limit=time_limit, max_expansions=max_expansions, memory_limit=memory_limit)
    ratio, options = exact_ratio(changepoint_ratio), path_options(parameters)
    table = build(X, y, sample_weight, options.class_weight, options.categories)
    return path_of_table(table, options, ratio, limits, start, callback)


def path_of_table(
    table: TrainingTable,
    options: SolverOptions,
    ratio: Fraction,
    limits: SearchLimits,
    start: RegularizationPath | None = None,
    callback: Callable[[PathProgress], object] | None = None,
) -> RegularizationPath:
    """Return the path of encoded data; see `regularization_path`."""
    builder = _PathBuilder(PenaltySearch(table, ratio, options, limits), limits, callback)
    if start is not None:
        builder.add_trees(start)
    return builder.build()


def exact_ratio(changepoint_ratio: float) -> Fraction:
    """Return the ratio as a fraction. Raise ValueError if it is negative or has too many decimal places."""
    value = _RATIO.check("changepoint_ratio", changepoint_ratio)
    ratio = Fraction(repr(value))
    if ratio.denominator > MAX_RATIO_DENOMINATOR:
        raise ValueError(
            f"changepoint_ratio: expected at most three decimal places, got {changepoint_ratio!r}"
        )
    return ratio


def path_options(parameters: dict[str, Any]) -> SolverOptions:
    """Return the options of the searches. Raise an error for parameters that a path chooses itself."""
    for name in _FIXED:
        if name in parameters:
            raise TypeError(f"{name}: a path chooses it; leave it out")
    if parameters.get("candidates") == "widening":
        allowed = [mode for mode in get_args(Candidates) if mode != "widening"]
        raise ValueError(f"candidates: expected one of {', '.join(allowed)} for a path, got 'widening'")
    return checked_options({**parameters, "polish": False})


def _space(options: SolverOptions) -> tuple[Any, ...]:
    """Return what a path and one with more change points must have in common."""
    return options.max_depth, options.candidates, options.leaves, options.criterion, options.min_samples_leaf


class _PathBuilder:
    """Search one penalty after another until every interval between two known trees is proven.

    The largest penalty comes first: its search is the fastest, and its tree the smallest.
    """

    def __init__(
        self,
        search: PenaltySearch,
        limits: SearchLimits,
        callback: Callable[[PathProgress], object] | None,
    ) -> None:
        self._search = search
        self._limits = limits
        self._callback = callback
        self._ratio = search.ratio
        self._start = perf_counter()
        self._searches = 0
        self._stopped = False
        self._heuristic = search.options.heuristic
        self._trees: list[KnownTree] = []  # the lower envelope, the largest tree first
        self._reached: dict[Fraction, StopReason] = {}  # why the last search at a penalty ended
        self._lower: dict[Fraction, Fraction] = {}  # lower bounds by penalty, of searches that have ended

    def add_trees(self, path: RegularizationPath) -> None:
        """Begin with the trees of another path. Raise ValueError if they need not lie in this space."""
        if not isinstance(path, RegularizationPath):
            raise TypeError(f"start: expected a RegularizationPath, got {type(path).__name__}")
        mine, other = self._search.options, path.options
        if path.fingerprint != self._search.table.fingerprint:
            raise ValueError("start: expected a path of the same X, y and sample_weight")
        if other.max_changepoints > mine.max_changepoints or _space(other) != _space(mine):
            raise ValueError(
                "start: expected a path of the same depth, candidates, criterion and min_samples_leaf, with "
                "no more change points than this one"
            )
        for segment in path:
            self._keep(self._search.known_tree_of(segment.tree))

    def build(self) -> RegularizationPath:
        search = self._search
        self._keep(search.known_tree())  # a single leaf, which is optimal at large penalties
        search.change_limits(replace(self._limits, max_expansions=1))
        self._run()  # a first tree without penalties
        self._keep(search.known_tree())
        while not self._is_over() and (penalty := self._next_penalty()) is not None:
            self._reached[penalty] = self._solve(penalty)
        return self._path()

    def _keep(self, tree: KnownTree) -> None:
        self._trees = lower_envelope([*self._trees, tree], self._ratio)

    def _crossings(self) -> list[Fraction]:
        """Return the penalties at which the best tree changes, ascending."""
        return [crossing(*pair, self._ratio) for pair in pairwise(self._trees)]

    def _next_penalty(self) -> Fraction | None:
        """Return the next penalty at which something is to be found or proven.

        The largest one comes first. Once a limit has ended a search, there is no time to prove the rest, and
        the penalty comes first whose tree differs most in size from those of the penalties searched so far.
        """
        penalties = [*reversed(self._crossings()), Fraction(0)]
        if new := [p for p in penalties if p not in self._lower and not self._is_known(p)]:
            cut_short = any(reason in _CONTINUED for reason in self._reached.values())
            return max(new, key=self._distance_from_searched) if cut_short else new[0]
        unproven = [p for p in penalties if self._reached.get(p) in _CONTINUED and not self._is_known(p)]
        return unproven[0] if unproven else None

    def _distance_from_searched(self, penalty: Fraction) -> float:
        """Return how much the size of the tree at a penalty differs from those at searched penalties."""
        size = self._log_size(penalty)
        return min(abs(size - self._log_size(searched)) for searched in self._reached)

    def _log_size(self, penalty: Fraction) -> float:
        """Return the logarithm of the leaves at a penalty, and the mean where two trees cost the same."""
        costs = [tree.cost(penalty, self._ratio) for tree in self._trees]
        best = [tree for tree, cost in zip(self._trees, costs, strict=True) if cost == min(costs)]
        return sum(math.log(tree.splits + 1) for tree in best) / len(best)

    def _is_known(self, penalty: Fraction) -> bool:
        """Return whether no tree can cost less than the known ones, and note this.

        Costs are multiples of a unit, so a lower bound less than a unit below the best tree is enough.
        """
        upper = min(tree.cost(penalty, self._ratio) for tree in self._trees)
        known = upper - self._lower_at(penalty) < Fraction(1, self._search.factor_of(penalty))
        if known:
            self._lower[penalty] = upper
        return known

    def _solve(self, penalty: Fraction) -> StopReason:
        """Search at a penalty, and keep its tree and its lower bound."""
        search = self._search
        best = min(self._trees, key=lambda tree: tree.cost(penalty, self._ratio))
        try:
            search.change_penalty(penalty, best, self._heuristic)
            search.change_limits(
                self._limits_of_search(LATER_SHARE if penalty in self._reached else FIRST_SHARE)
            )
            report = self._run()
            if search.is_better_than(best):
                self._keep(search.known_tree())
        except MemoryError:
            self._lower.setdefault(penalty, self._lower_at(penalty))
            return StopReason.MEMORY_LIMIT
        self._searches += 1
        self._lower[penalty] = max(self._lower_at(penalty), search.lower_bound())
        # Lookaheads find good trees early. Where the search ends with the proof, known trees are good
        # enough: with this, the path of segment (depth 4, two change points) takes 0.6 instead of 0.8
        # seconds.
        self._heuristic = "primal" if report.proven_optimal else search.options.heuristic
        return report.stop_reason

    def _run(self) -> SearchReport:
        """Run the search to its end, and tell the callback about it."""
        report = self._search.run(0.0)
        while report.stop_reason is StopReason.RUNNING:
            if self._callback is not None and self._callback(self._progress()):
                self._stopped = True
                self._search.stop()
            report = self._search.run(REPORT_SECONDS)
        return report

    def _limits_of_search(self, share: float) -> SearchLimits:
        """Return the limits of the next search. They count what its searches spent before."""
        limits, spent = self._limits, self._spent()
        if limits.time_limit is not None:
            seconds = self._search.elapsed_seconds + share * max(limits.time_limit - spent[0], 1e-3)
            limits = replace(limits, time_limit=seconds)
        if limits.max_expansions is not None:
            expansions = spent[1] + max(1, math.ceil(share * (limits.max_expansions - spent[1])))
            limits = replace(limits, max_expansions=expansions)
        return limits

    def _spent(self) -> tuple[float, int]:
        """Return the seconds since the data was encoded, and the expansions so far."""
        return perf_counter() - self._start, self._search.report().expansions

    def _is_over(self) -> bool:
        given = (self._limits.time_limit, self._limits.max_expansions)
        pairs = zip(given, self._spent(), strict=True)
        return self._stopped or any(
            limit is not None and spent > (1 - MIN_SHARE) * limit for limit, spent in pairs
        )

    def _progress(self) -> PathProgress:
        return PathProgress(
            penalty=float(self._search.penalty) / self._search.weight_units,
            trees=len(self._trees),
            searches=self._searches,
            elapsed_seconds=perf_counter() - self._start,
            expansions=self._search.report().expansions,
            memory_bytes=self._search.report().memory_bytes,
        )

    # The result

    def _path(self) -> RegularizationPath:
        starts = [Fraction(0), *self._crossings()]
        ends: list[Fraction | None] = [*starts[1:], None]
        segments = [self._segment(*place) for place in zip(self._trees, starts, ends, strict=True)]
        seconds = perf_counter() - self._start
        return RegularizationPath(
            tuple(segments),
            float(self._ratio),
            self._searches,
            seconds,
            self._reason(segments),
            self._search.options,
            self._search.table.fingerprint,
            self._spent()[1],
        )

    def _reason(self, segments: list[PathSegment]) -> StopReason:
        """Return why the path ended: the proof, a request to stop, or the limit that was reached."""
        if all(segment.proven for segment in segments):
            return StopReason.PROVEN_OPTIMAL
        if self._stopped:
            return StopReason.USER_STOP
        if StopReason.MEMORY_LIMIT in self._reached.values():
            return StopReason.MEMORY_LIMIT
        limit = self._limits.max_expansions
        if limit is not None and self._spent()[1] > (1 - MIN_SHARE) * limit:
            return StopReason.EXPANSION_LIMIT
        return StopReason.TIME_LIMIT

    def _segment(self, tree: KnownTree, start: Fraction, end: Fraction | None) -> PathSegment:
        units = self._search.weight_units
        gap = self._gap(tree, start, end)
        penalty_from = float(start) / units
        penalty_to = math.inf if end is None else float(end) / units
        shown = tree.tree
        if gap == 0 and penalty_from <= shown.settings.split_penalty <= penalty_to:
            shown = shown.with_proof(shown.objective, shown.objective, True)  # a later search proved it
        return PathSegment(
            penalty_from=penalty_from,
            penalty_to=penalty_to,
            tree=shown,
            errors=tree.errors / units,
            splits=tree.splits,
            changepoints=tree.changepoints,
            leaves=tree.splits + 1,
            proven=gap == 0,
            gap=float(gap),
        )

    def _gap(self, tree: KnownTree, start: Fraction, end: Fraction | None) -> Fraction:
        """Return the largest relative gap of a segment.

        The cost is linear and the bound piecewise linear, so the largest gap lies at an end of the segment or
        at a penalty that was searched.
        """
        inside = [p for p in self._lower if p > start and (end is None or p < end)]
        places = {start, *inside, *([] if end is None else [end])}
        gaps = []
        for penalty in places:
            upper = tree.cost(penalty, self._ratio)
            gaps.append((upper - self._lower_at(penalty)) / upper if upper else Fraction(0))
        return max(gaps)

    def _lower_at(self, penalty: Fraction) -> Fraction:
        """Return a lower bound at any penalty.

        The optimal cost is concave and never falls. So the largest bound of smaller penalties is a bound, and
        so is every chord between two bounds: together they are the upper hull of the bounds.
        """
        hull = self._hull()
        place = bisect_right(hull, (penalty, Fraction(0)), key=lambda point: (point[0], Fraction(-1)))
        if place == len(hull):
            return hull[-1][1]
        (left, low), (right, high) = hull[place - 1], hull[place]
        return low + (high - low) * (penalty - left) / (right - left)

    def _hull(self) -> list[tuple[Fraction, Fraction]]:
        """Return the corners of the upper hull of the bounds, from the penalty 0 on."""
        hull: list[tuple[Fraction, Fraction]] = []
        highest = Fraction(0)
        for penalty, bound in sorted({Fraction(0): Fraction(0), **self._lower}.items()):
            highest = max(highest, bound)
            while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], (penalty, highest)):
                hull.pop()
            hull.append((penalty, highest))
        return hull


def _slope(left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])


PathSegment.__module__ = "literati"  # the name in pickles, so that this module may move
RegularizationPath.__module__ = "literati"  # the name in pickles, so that this module may move
