"""The hyperparameters that the paper tunes, for each method that PyPI has.

Penalties are in training rows. In the paper a split with k change points costs lambda + alpha * k; here a
split costs `split_penalty`, and every change point after the first one `changepoint_penalty`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import ceil
from typing import Any

from benchmarks.runners.base import Array, load_module
from benchmarks.runners.pytrees import labelled, rule_of
from benchmarks.runners.quantiles import Quantiles
from benchmarks.runners.shapecart import TAO_RUNS
from benchmarks.tuning.search import Grid, Parameters, draws

MAX_TRIALS = 200  # of the paper
SEARCH_SEED = 0  # the trials are the same on every fold, because they are chosen by their mean over folds
MODEL_SEED = 0
DEPTHS = (2, 3, 4, 5, 6)
POWERS = (1, 2, 4, 8, 16, 32, 64)
DECREASES = (0.0, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
CRITERIA = ("gini", "entropy")

Build = Callable[[Parameters, int, float], Any]  # (parameters, training rows, seconds) -> estimator


@dataclass(frozen=True)
class Space:
    """A method, its hyperparameters, and how an estimator is made of them."""

    distribution: str
    grid: Grid
    load: Callable[[], Build]  # imports what is needed
    quoted: str = ""  # its name in the paper's table
    categories: str = "one_hot"
    allowed: Callable[[Parameters], bool] = lambda parameters: True

    def trials(self) -> Iterator[Parameters]:
        """Yield at most MAX_TRIALS points of the grid in random order."""
        points = draws(self.grid, SEARCH_SEED)
        return islice((point for point in points if self.allowed(point)), MAX_TRIALS)


def _literati() -> Build:
    classifier = load_module("literati").LiteratiClassifier

    def build(parameters: Parameters, n_rows: int, seconds: float) -> Any:
        order, penalty = parameters["max_order"], parameters["alpha"]
        return classifier(
            max_depth=parameters["max_depth"],
            max_changepoints=order,
            criterion=parameters["criterion"],
            split_penalty=parameters["lambda"] + penalty,
            changepoint_penalty=penalty,
            candidate_leaves=[*parameters["cart_nodes_list"], order + 1],  # B_d = K below the second level
            time_limit=seconds,
        )

    return build


def _estimator(module: str, name: str, **fixed: Any) -> Build:
    """Return what passes the parameters to an estimator without a time limit."""
    estimator = getattr(load_module(module), name)
    return lambda parameters, n_rows, seconds: estimator(**fixed, **parameters)


def _shapecart(tao_runs: int) -> Build:
    """Return what makes sgtlearn's estimator, which counts rows where the paper has shares of them."""
    classifier = load_module("sgtlearn").SGTClassifier

    def build(parameters: Parameters, n_rows: int, seconds: float) -> Any:
        given = dict(parameters)
        given["min_impurity_decrease"] *= n_rows
        if given["inner_min_samples_leaf"] < 1:
            given["inner_min_samples_leaf"] = ceil(given["inner_min_samples_leaf"] * n_rows)
        if "tao_reg" in given:
            given["tao_lambda"] = given.pop("tao_reg") / n_rows
        return classifier(tao_n_runs=tao_runs, random_state=MODEL_SEED, **given)

    return build


def _contree() -> Build:
    classifier = load_module("pycontree").ConTree
    return lambda parameters, n_rows, seconds: classifier(
        max_depth=parameters["max_depth"],
        complexity_cost=parameters["lambda"] / n_rows,
        time_limit=seconds,
        max_gap=0,
        use_upper_bound=True,
        sort_gini=True,
    )


def _streed() -> Build:
    classifier = load_module("pystreed").STreeDClassifier
    return lambda parameters, n_rows, seconds: classifier(
        "cost-complex-accuracy",
        max_depth=parameters["max_depth"],
        cost_complexity=parameters["lambda"] / n_rows,
        n_thresholds=parameters["n_quantiles"] - 1,
        continuous_binarize_strategy="quantile",
        time_limit=seconds,
    )


class _Binarized:
    """A classifier of pytrees-rs behind quantile thresholds."""

    def __init__(self, model: Any, n_thresholds: int) -> None:
        self._model, self._n_thresholds = model, n_thresholds

    def fit(self, X: Array, y: Array) -> _Binarized:
        self._binary = Quantiles(X, self._n_thresholds)
        coded = self._binary(X)
        self._predict = labelled(self._model.fit(coded, y), coded, y)
        return self

    def predict(self, X: Array) -> Array:
        return self._predict(self._binary(X))


def _pytrees(solver: str) -> Build:
    pytrees = load_module("pytrees")
    greedy = solver == "pytrees-lgdt"
    fixed = {} if greedy else {"heuristic": "gini", **rule_of(solver)}
    classifier = pytrees.LGDTClassifier if greedy else pytrees.DL85Classifier

    def build(parameters: Parameters, n_rows: int, seconds: float) -> Any:
        limits = {} if greedy else {"max_time": seconds}
        model = classifier(max_depth=parameters["max_depth"], min_sup=parameters["lambda"], **limits, **fixed)
        return _Binarized(model, parameters["n_quantiles"] - 1)

    return build


_LITERATI: Grid = {
    "max_depth": DEPTHS,
    "criterion": CRITERIA,
    "lambda": POWERS,
    "alpha": POWERS,
    "max_order": (2, 3),
    "cart_nodes_list": ((9, 9), (5, 5), (17, 17), (17, 9), (9, 5)),
}
_CART: Grid = {
    "max_depth": DEPTHS,
    "criterion": CRITERIA,
    "min_samples_split": (2, 4, 8, 16, 32),
    "min_samples_leaf": tuple(range(1, 33)),
    "min_impurity_decrease": DECREASES,
    "ccp_alpha": DECREASES,
}
_SHAPECART: Grid = {  # without min_samples_split, which sgtlearn does not have
    "max_depth": DEPTHS,
    "criterion": CRITERIA,
    "min_samples_leaf": (1, 2, 4, 8, 16, 32),
    "min_impurity_decrease": DECREASES,
    "inner_max_leaf_nodes": (3, 4),
    "inner_min_samples_leaf": (1, *DECREASES[1:]),
}
_PENALTY: Grid = {"max_depth": DEPTHS, "lambda": POWERS}
_QUANTILES: Grid = {**_PENALTY, "n_quantiles": tuple(range(4, 17))}


def _ours(categories: str) -> Space:
    return Space(
        "literati-trees",
        _LITERATI,
        _literati,
        "Literati",
        categories,
        lambda parameters: bool(parameters["alpha"] <= parameters["lambda"]),
    )


SPACES = {
    "literati-numbers": _ours("one_hot"),
    "literati": _ours("native"),
    "cart": Space(
        "scikit-learn",
        _CART,
        partial(_estimator, "sklearn.tree", "DecisionTreeClassifier", random_state=MODEL_SEED),
        "CART",
    ),
    "shapecart": Space("sgtlearn", _SHAPECART, partial(_shapecart, 0), "ShapeCART"),
    "shapecart+tao": Space(
        "sgtlearn",
        {**_SHAPECART, "tao_reg": (*POWERS, 128)},
        partial(_shapecart, TAO_RUNS),
        "ShapeTAO",
    ),
    "contree": Space("pycontree", _PENALTY, _contree, "ConTree"),
    "streed": Space("pystreed", _QUANTILES, _streed, "STreeD"),
    "pytrees-dl85": Space("pytrees-rs", _QUANTILES, partial(_pytrees, "pytrees-dl85")),
    "pytrees-dl85-lds": Space("pytrees-rs", _QUANTILES, partial(_pytrees, "pytrees-dl85-lds"), "LDS-DL8.5"),
    "pytrees-dl85-topk": Space("pytrees-rs", _QUANTILES, partial(_pytrees, "pytrees-dl85-topk"), "CADL8.5"),
    "pytrees-lgdt": Space("pytrees-rs", _QUANTILES, partial(_pytrees, "pytrees-lgdt")),
}
