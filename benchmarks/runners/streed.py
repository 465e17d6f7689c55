"""STreeD (pystreed): optimal trees over binarised features.

It binarises by itself: 15 quantile thresholds a feature (all, for a column of at most 16 distinct values).
Its clock counts whole seconds, so that it may stop up to a second early or late.
"""

from __future__ import annotations

from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module

QUANTILES = 15


def _streed(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("pystreed").STreeDClassifier

    def fit(X: Array, y: Array) -> Fit:
        model = classifier(
            "accuracy",
            max_depth=depth,
            time_limit=time_limit,
            continuous_binarize_strategy="quantile",
            **{"n_thresholds": QUANTILES, **options},
        ).fit(X, y)
        proven = model.is_fitted() and model.fit_result.is_optimal()
        return Fit(model.predict, bool(proven))

    return fit


SOLVERS = {"streed": Solver("pystreed", _streed)}
