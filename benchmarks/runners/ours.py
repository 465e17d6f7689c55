"""Run Literati."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module

TRACE_POINTS = 400


def _literati(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("literati").LiteratiClassifier

    def fit(X: Array, y: Array) -> Fit:
        start = time.perf_counter()
        model = classifier(max_depth=depth, time_limit=time_limit, **options).fit(X, y)
        # The clock of the trace starts with the search, but the time before it, mainly encoding, counts too.
        before = max(time.perf_counter() - start - float(model.fit_seconds_), 0.0)
        trace = _rows(model.trace_)
        improved = _last_improvement(trace)
        details = {
            "upper_bound": float(model.upper_bound_),
            "lower_bound": float(model.lower_bound_),
            "gap": float(model.gap_),
            "proven_space": str(model.proven_space_),
            "stop_reason": str(getattr(model.stop_reason_, "value", model.stop_reason_)),
            "expansions": int(model.n_expansions_),
            "search_seconds": float(model.fit_seconds_),
            "trace": _thinned(trace),
        }
        return Fit(
            model.predict,
            bool(model.proven_optimal_),
            None if improved is None else before + improved,
            claimed_errors=float(model.objective_),  # the harness never sets penalties
            details=details,
        )

    return fit


def _first_incumbent(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    """Encode the data and search only until there is an incumbent."""
    module = load_module("literati")

    def fit(X: Array, y: Array) -> Fit:
        start = time.perf_counter()
        limits = module.SearchLimits(time_limit=time_limit)
        search = module.Search(X, y, limits=limits, max_depth=depth, **options)
        encoded = time.perf_counter() - start
        search.run(seconds=0.001)
        tree = search.incumbent()
        total = time.perf_counter() - start
        trace = _rows(search.trace())
        details = {
            "encode_seconds": encoded,
            "first_incumbent_seconds": total - encoded,
            "upper_bound": trace[0][2],
        }
        return Fit(tree.predict, seconds_to_tree=total, details=details)

    return fit


def _rows(trace: Any) -> list[list[float]]:
    return [[float(row[name]) for name in ("seconds", "expansions", "upper", "lower")] for row in trace]


def _thinned(rows: list[list[float]]) -> list[list[float]]:
    """Return about TRACE_POINTS rows in which a bound changed, including the first and the last row."""
    if len(rows) < 2:
        return rows
    moved = [row for before, row in pairwise(rows) if before[2:] != row[2:]]
    return [rows[0], *moved[:: len(moved) // TRACE_POINTS + 1], rows[-1]]


def _last_improvement(trace: list[list[float]]) -> float | None:
    if not trace:
        return None
    final = trace[-1][2]
    return next(row[0] for row in trace if row[2] == final)


SOLVERS = {
    "literati": Solver("literati-trees", _literati, categories="native"),
    "literati-first": Solver("literati-trees", _first_incumbent, searches=False, categories="native"),
}
