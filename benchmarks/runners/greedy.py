"""Run scikit-learn's CART."""

from __future__ import annotations

from typing import Any

from benchmarks.runners.base import Array, Fit, FitOnce, Solver, load_module


def _cart(depth: int, time_limit: float, options: dict[str, Any]) -> FitOnce:
    tree = load_module("sklearn.tree").DecisionTreeClassifier

    def fit(X: Array, y: Array) -> Fit:
        return Fit(tree(max_depth=depth, random_state=0, **options).fit(X, y).predict)

    return fit


SOLVERS = {"cart": Solver("scikit-learn", _cart, searches=False)}
