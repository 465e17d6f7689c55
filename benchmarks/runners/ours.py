"""Run Literati."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module
from benchmarks.runners.quantiles import QUANTILES, Quantiles
from benchmarks.traces import thinned


def _literati(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("literati").LiteratiClassifier

    def fit(X: Array, y: Array) -> Fit:
        start = time.perf_counter()
        model = classifier(max_depth=depth, time_limit=time_limit, **options).fit(X, y)
        # The clock of the trace starts with the search, but the time before it, mainly encoding, counts too.
        before = max(time.perf_counter() - start - float(model.fit_seconds_), 0.0)
        names, rows = model.trace_.dtype.names, [list(row) for row in model.trace_.tolist()]
        details = {
            "upper_bound": float(model.upper_bound_),
            "lower_bound": float(model.lower_bound_),
            "gap": float(model.gap_),
            "proven_space": str(model.proven_space_),
            "space": model.report_.space,
            "stage": model.report_.stage,
            "stop_reason": str(getattr(model.stop_reason_, "value", model.stop_reason_)),
            "objective": float(model.objective_),
            "expansions": int(model.n_expansions_),
            "search_seconds": float(model.fit_seconds_),
            "trace_columns": list(names),
            "trace": thinned(names, rows),
        }
        return Fit(
            model.predict,
            bool(model.proven_optimal_),
            before + float(model.report_.found_seconds),
            claimed_errors=float(model.objective_),  # the harness never sets penalties
            details=details,
        )

    return fit


def _with_tree(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    """Fit as `_literati`, and keep the tree as JSON."""
    classifier = load_module("literati").LiteratiClassifier

    def fit(X: Array, y: Array) -> Fit:
        model = classifier(max_depth=depth, time_limit=time_limit, **options).fit(X, y)
        details = {"tree": model.tree_.to_dict()}
        return Fit(model.predict, bool(model.proven_optimal_), float(model.fit_seconds_), details=details)

    return fit


def _on_grid(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    """Fit over exactly the quantile thresholds that STreeD uses."""
    fit_numbers = _literati(
        depth, time_limit, {"candidates": "quantile", "candidate_leaves": QUANTILES, **options}
    )

    def fit(X: Array, y: Array) -> Fit:
        quantiles = Quantiles(X)
        found = fit_numbers(quantiles.intervals(X), y)
        return replace(found, predict=lambda rows: found.predict(quantiles.intervals(rows)))

    return fit


def _path(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    """Compute a regularization path with a penalty of leaves only."""
    regularization_path = load_module("literati").regularization_path

    def fit(X: Array, y: Array) -> Fit:
        path = regularization_path(
            X, y, max_depth=depth, time_limit=time_limit, changepoint_ratio=0.0, **options
        )
        segments = [[part.leaves, part.errors, part.penalty_from, part.proven] for part in path]
        details = {"segments": segments, "segment_columns": ["leaves", "errors", "penalty", "proven"]}
        return Fit(path[0].tree.predict, path.proven, details=details)

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
        details = {
            "encode_seconds": encoded,
            "first_incumbent_seconds": total - encoded,
            "upper_bound": float(search.trace()["upper"][0]),
        }
        return Fit(tree.predict, seconds_to_tree=total, details=details)

    return fit


SOLVERS = {
    "literati": Solver("literati-trees", _literati, categories="native"),
    "literati-numbers": Solver("literati-trees", _literati),  # the numbers that other solvers get
    "literati-tree": Solver("literati-trees", _with_tree, categories="native"),
    "literati-grid": Solver("literati-trees", _on_grid),  # the thresholds of STreeD
    "literati-path": Solver("literati-trees", _path, categories="native"),
    "literati-first": Solver("literati-trees", _first_incumbent, searches=False, categories="native"),
}
