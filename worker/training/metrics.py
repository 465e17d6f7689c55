"""How good a tree is on rows with known labels, beside two simple baselines on the same rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from literati import ShapeTree
from literati.table import EncodedRows

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
MOST_LABELS = 64  # of a confusion matrix: a larger one nobody reads
LEAST_PROBABILITY = 1e-15  # a log loss stays finite


@dataclass(frozen=True)
class LabelledRows:
    """Rows of a dataset as every tree of one job reads them."""

    cells: EncodedRows
    y: Codes  # indices into the tree's classes
    weights: Floats | None  # sample weights, without class weights

    @property
    def matrix(self) -> Floats:
        return self.cells.matrix

    @property
    def row_weights(self) -> Floats:
        return np.ones(len(self.y)) if self.weights is None else self.weights


@dataclass(frozen=True)
class Forecast:
    """What a classifier says of rows: a class, and a probability for each."""

    predicted: Codes
    probabilities: Floats  # [row, class]


def class_factors(y: Codes, weights: Floats | None, n_classes: int, class_weight: Any, labels: Any) -> Floats:
    """What a row of each class counts in the objective, worked out apart from the solver's table."""
    factors = np.ones(n_classes)
    if isinstance(class_weight, Mapping):
        for index, label in enumerate(labels):
            factors[index] = class_weight.get(label, 1.0)
    elif class_weight == "balanced":
        totals = np.bincount(y, weights, minlength=n_classes)
        factors = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
    return factors


def objective(tree: ShapeTree, rows: LabelledRows, factors: Floats) -> float:
    """The tree's cost on these rows: by the predict kernel and this sum, not by the solver."""
    leaves = tree.apply(rows.cells)
    labels = np.array([node.label for node in tree.nodes], dtype=np.intp)
    wrong = labels[leaves] != rows.y
    penalties = sum(tree.settings.penalty(n.split.changepoints) for n in tree.nodes if n.split is not None)
    return float((rows.row_weights * factors[rows.y])[wrong].sum()) + penalties


def forecast(tree: ShapeTree, rows: LabelledRows) -> Forecast:
    leaves = tree.apply(rows.cells)
    labels = np.array([node.label for node in tree.nodes], dtype=np.intp)
    counts = np.array([node.counts for node in tree.nodes])
    shares = counts / counts.sum(axis=1, keepdims=True)
    return Forecast(labels[leaves], shares[leaves])


def scores(rows: LabelledRows, said: Forecast, labels: list[Any]) -> dict[str, Any]:
    """Weighted by the rows' sample weights where they have any."""
    n = len(labels)
    weights = rows.row_weights
    matrix = np.zeros((n, n))
    np.add.at(matrix, (rows.y, said.predicted), weights)
    total = float(matrix.sum())
    hits, actual, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    chosen = np.maximum(said.probabilities[np.arange(len(rows.y)), rows.y], LEAST_PROBABILITY)
    recall = _ratio(hits, actual)
    precision = _ratio(hits, predicted)
    seen = actual > 0
    return {
        "rows": len(rows.y),
        "accuracy": float(hits.sum() / total),
        "balanced_accuracy": float(recall[seen].mean()),
        "log_loss": float(-(weights * np.log(chosen)).sum() / total),
        "confusion_matrix": _confusion(matrix, labels) if n <= MOST_LABELS else None,
        "per_class": [
            {
                "label": labels[k],
                "support": _tidy(actual[k]),
                "precision": _known(precision[k]),
                "recall": _known(recall[k]),
                "f1": _known(_ratio(2 * hits[k], actual[k] + predicted[k])),
            }
            for k in range(n)
        ],
    }


def _confusion(matrix: Floats, labels: list[Any]) -> dict[str, Any]:
    """Rows are what the rows are, columns what was said of them."""
    return {"labels": labels, "counts": [[_tidy(x) for x in row] for row in matrix]}


def _ratio(part: Any, whole: Any) -> Any:
    """NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(part, dtype=float) / np.asarray(whole, dtype=float)


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def _tidy(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


def majority(train: LabelledRows, rows: LabelledRows, n_classes: int) -> Forecast:
    shares = np.bincount(train.y, train.weights, minlength=n_classes)
    shares = shares / shares.sum()
    return Forecast(np.full(len(rows.y), int(np.argmax(shares))), np.tile(shares, (len(rows.y), 1)))


def fit_cart(train: LabelledRows, factors: Floats, max_depth: int) -> DecisionTreeClassifier:
    """A CART of the same depth on the same rows and weights; categories by their code."""
    cart = DecisionTreeClassifier(max_depth=max_depth, random_state=0)
    return cart.fit(train.matrix, train.y, sample_weight=train.row_weights * factors[train.y])


def cart_forecast(cart: DecisionTreeClassifier, rows: LabelledRows, n_classes: int) -> Forecast:
    known = cart.predict_proba(rows.matrix)
    probabilities = np.zeros((len(rows.y), n_classes))
    probabilities[:, cart.classes_] = known
    return Forecast(cart.classes_[known.argmax(axis=1)], probabilities)
