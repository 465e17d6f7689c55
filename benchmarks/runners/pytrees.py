"""Run pytrees-rs: DL8.5 and LGDT over binarized features, and its own ConTree, plain and anytime.

pytrees-rs has no binarizer. The rules of its DL8.5 make it anytime: limited discrepancies (LDS-DL8.5), or a
beam that grows (Top-k, of the family CA-DL8.5).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module
from benchmarks.runners.quantiles import Quantiles

# The argument of DL85Classifier and the class of its value, by the name of the solver.
RULES = {
    "pytrees-dl85": None,
    "pytrees-dl85-lds": ("discrepancy", "DiscrepancyRule"),
    "pytrees-dl85-topk": ("topk", "TopKRule"),
}


def rule_of(solver: str) -> dict[str, Any]:
    """Return the argument that makes DL8.5 this solver."""
    rule = RULES[solver]
    return {} if rule is None else {rule[0]: getattr(load_module("pytrees.rules"), rule[1])()}


def labelled(model: Any, X: Array, y: Array) -> Callable[[Array], Array]:
    """Return a function that predicts the most frequent class of the training rows of each leaf.

    At its time limit, DL8.5 of pytrees-rs 2.0.0 leaves some leaves without a class, and predicts the first
    one there. With the classes from here, its errors are those that it reports.
    """
    counts = np.zeros((model.tree_.node_count, int(y.max()) + 1), dtype=np.int64)
    np.add.at(counts, (model.apply(X), y), 1)
    is_reached: Array = counts.sum(axis=1) > 0
    most_frequent: Array = counts.argmax(axis=1)

    def predict(rows: Array) -> Array:
        leaves = model.apply(rows)
        found: Array = np.where(is_reached[leaves], most_frequent[leaves], model.predict(rows))
        return found

    return predict


def _dl85(solver: str, depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    classifier, rule = load_module("pytrees").DL85Classifier, rule_of(solver)

    def fit(X: Array, y: Array) -> Fit:
        binary = Quantiles(X)
        model = classifier(max_depth=depth, max_time=time_limit, heuristic="gini", **rule, **options)
        coded = binary(X)
        predict = labelled(model.fit(coded, y), coded, y)
        return Fit(
            lambda rows: predict(binary(rows)),
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
    **{name: Solver("pytrees-rs", partial(_dl85, name)) for name in RULES},
    "pytrees-lgdt": Solver("pytrees-rs", _lgdt, searches=False),
    "pytrees-contree": Solver("pytrees-rs", _contree),
    "pytrees-contree-lds": Solver("pytrees-rs", _contree_anytime),
}
