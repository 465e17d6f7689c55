"""The methods by their names in specs and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np

from benchmarks.runners.base import Array, load_module
from benchmarks.tuning.packages import PACKAGES, Package
from benchmarks.tuning.protocol import OURS, OURS_BEST
from benchmarks.tuning.search import Parameters, random_search
from benchmarks.tuning.splits import Fold


@dataclass(frozen=True)
class Tuned:
    """A tuned model and how it was chosen."""

    model: Any
    leaves: int | None  # None for ensembles
    trials: int  # candidates whose folds are all finished
    parameters: Parameters
    fold_accuracy: float  # mean of the chosen parameters on held-out rows of the folds
    fold_leaves: float | None  # mean of the trees of the folds
    details: dict[str, Any] = field(default_factory=dict)


Tune = Callable[[Array, Array, Sequence[Fold], float, int], Tuned]  # (X, y, folds, seconds, seed) -> model


@dataclass(frozen=True)
class Method:
    """A method and how it is prepared."""

    distribution: str  # the distribution whose version is reported
    prepare: Callable[[], Tune]  # imports what is needed
    categories: str = "one_hot"  # encoding of text columns for this method


def _literati(select: str) -> Tune:
    classifier = load_module("literati").LiteratiClassifierCV

    def tune(X: Array, y: Array, folds: Sequence[Fold], limit: float, seed: int) -> Tuned:
        model = classifier(cv=folds, select=select, time_limit=limit).fit(X, y)
        results = model.cv_results_
        whole = int(np.sum(results["proven_folds"] == len(folds)))
        return Tuned(
            model,
            int(model.tree_.n_leaves),
            len(results["mean_test_score"]),
            model.best_params_,
            float(model.best_score_),
            float(results["mean_leaves"][model.best_index_]),
            {"choice": model.choice_, "proven_candidates": whole, "settings": len(model.paths_)},
        )

    return tune


def _random_search(package: Package) -> Tune:
    build = package.load()

    def tune(X: Array, y: Array, folds: Sequence[Fold], limit: float, seed: int) -> Tuned:
        found = random_search(build, package.grid, X, y, folds, limit, seed, package.leaves)
        return Tuned(
            found.model,
            None if package.leaves is None else package.leaves(found.model),
            found.trials,
            found.best.parameters,
            found.best.mean,
            found.best.mean_leaves,
            {
                "folds_of_best": len(found.best.scores),
                "grid": prod(len(values) for values in package.grid.values()),
                "failed_trials": len(found.failures),
                "first_failure": found.failures[0] if found.failures else None,
            },
        )

    return tune


METHODS = {
    OURS: Method("literati-trees", partial(_literati, "one_standard_error"), categories="native"),
    OURS_BEST: Method("literati-trees", partial(_literati, "best"), categories="native"),
    **{
        name: Method(package.distribution, partial(_random_search, package))
        for name, package in PACKAGES.items()
    },
}
