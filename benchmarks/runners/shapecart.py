"""Run ShapeCART (sgtlearn), which fits greedy shape-generalized trees, without or with TAO (its default).

Four inner leaves correspond to three change points. It uses single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module

INNER_LEAVES = 4
TAO_RUNS = 10


def _with_tao_runs(tao_runs: int) -> Callable[[int, float, dict[str, Any]], FitOnce]:
    def prepare(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
        classifier = load_module("sgtlearn").SGTClassifier

        def fit(X: Array, y: Array) -> Fit:
            model = classifier(
                max_depth=depth,
                tao_n_runs=tao_runs,
                random_state=0,
                **{"inner_max_leaf_nodes": INNER_LEAVES, **options},
            )
            return Fit(model.fit(X, y).predict)

        return fit

    return prepare


SOLVERS = {
    "shapecart": Solver("sgtlearn", _with_tao_runs(0), searches=False),
    "shapecart+tao": Solver("sgtlearn", _with_tao_runs(TAO_RUNS), searches=False),
}
