"""Run STreeD (pystreed), which finds optimal trees over binarized features.

It binarizes features itself with 15 quantile thresholds per feature, or with all thresholds of a feature that
has at most 16 distinct values. Its clock counts whole seconds, so it may stop up to a second early or late.
"""

from __future__ import annotations

from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module
from benchmarks.runners.quantiles import QUANTILES


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
