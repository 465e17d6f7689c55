"""Run pytrees-rs: DL8.5 and LGDT over binarized features, and its own ConTree, plain and anytime."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module
from benchmarks.runners.streed import QUANTILES


class Quantiles:
    """Binarize columns as x <= t with the thresholds of pystreed, because pytrees-rs has no binarizer."""

    def __init__(self, X: Array, n_thresholds: int = QUANTILES) -> None:
        self.thresholds = [self._of_column(column, n_thresholds) for column in X.T]

    @staticmethod
    def _of_column(column: Array, n_thresholds: int) -> Array:
        distinct = np.unique(column)
        if len(distinct) <= n_thresholds + 1:
            return np.asarray((distinct[1:] + distinct[:-1]) / 2)
        return np.unique(np.quantile(column, np.linspace(0, 1, n_thresholds + 2)[1:-1]))

    def __call__(self, X: Array) -> Array:
        blocks = [
            column[:, None] <= thresholds[None, :]
            for column, thresholds in zip(X.T, self.thresholds, strict=True)
        ]
        return np.hstack(blocks).astype(np.float64)


def _dl85(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("pytrees").DL85Classifier

    def fit(X: Array, y: Array) -> Fit:
        binary = Quantiles(X)
        model = classifier(max_depth=depth, max_time=time_limit, heuristic="gini", **options).fit(
            binary(X), y
        )
        return Fit(
            lambda rows: model.predict(binary(rows)),
            model.status_ == "optimal",
            claimed_errors=model.train_error_,
        )

    return fit


def _lgdt(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("pytrees").LGDTClassifier

    def fit(X: Array, y: Array) -> Fit:
        binary = Quantiles(X)
        model = classifier(max_depth=depth, **options).fit(binary(X), y)
        return Fit(lambda rows: model.predict(binary(rows)), claimed_errors=model.train_error_)

    return fit


def _contree(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("pytrees").ConTreeClassifier

    def fit(X: Array, y: Array) -> Fit:
        model = classifier(max_depth=depth, max_time=time_limit, sort_by_heuristic=True, **options).fit(X, y)
        return Fit(model.predict, model.status_ == "optimal", claimed_errors=model.train_error_)

    return fit


def _contree_anytime(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier = load_module("pytrees").ConTreeClassifier

    def fit(X: Array, y: Array) -> Fit:
        improvements: list[tuple[float, float]] = []

        def improved(error: float, seconds: float, status: str) -> None:
            improvements.append((seconds, error))

        model = classifier(max_depth=depth, max_time=time_limit, sort_by_heuristic=True, **options)
        model.fit_anytime(X, y, improved)
        last = improvements[-1][0] if improvements else None
        return Fit(
            model.predict,
            model.status_ == "optimal",
            last,
            claimed_errors=model.train_error_,
            details={"improvements": improvements},
        )

    return fit


SOLVERS = {
    "pytrees-dl85": Solver("pytrees-rs", _dl85),
    "pytrees-lgdt": Solver("pytrees-rs", _lgdt, searches=False),
    "pytrees-contree": Solver("pytrees-rs", _contree),
    "pytrees-contree-lds": Solver("pytrees-rs", _contree_anytime),
}
