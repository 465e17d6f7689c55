"""Run ConTree (pycontree), which finds optimal trees over every threshold, with its fastest exact settings.

It uses single precision, so its trees cannot separate values that differ by less than that.
"""

from __future__ import annotations

from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module


def _contree(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("pycontree").ConTree

    def fit(X: Array, y: Array) -> Fit:
        model = classifier(
            max_depth=depth,
            time_limit=time_limit,
            complexity_cost=0.0,
            max_gap=0,
            use_upper_bound=True,
            sort_gini=True,
            **options,
        ).fit(X, y)
        # It reports only whether its time limit was reached.
        return Fit(model.predict, bool(model._config.is_within_time_limit()))

    return fit


SOLVERS = {"contree": Solver("pycontree", _contree)}
