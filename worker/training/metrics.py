"""Metrics of a tree on labelled rows, and of two simple baselines on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from literati import ShapeTree
from literati.data.schema import EncodedRows
from worker.training.job_check import given_class_weights

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
MAX_CONFUSION_LABELS = 64  # with more labels there is no confusion matrix
MIN_PROBABILITY = 1e-15  # keeps the log loss finite


@dataclass(frozen=True)
class LabelledRows:
    """Encoded rows of a dataset, which every tree of a job can read."""

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
class Predictions:
    """What a classifier predicts for rows: their classes, and the probability of every class."""

    predicted: Codes
    probabilities: Floats  # [row, class]


def class_factors(y: Codes, weights: Floats | None, labels: list[Any], class_weight: Any) -> Floats:
    """Return the weight of a row of each class in the objective, computed independently of the solver."""
    if class_weight != "balanced":
        return given_class_weights(labels, class_weight)
    totals = np.bincount(y, weights, minlength=len(labels))
    factors: Floats = totals.sum() / (np.count_nonzero(totals) * np.where(totals > 0, totals, 1.0))
    return factors


def objective(tree: ShapeTree, rows: LabelledRows, factors: Floats) -> float:
    """Return the tree's cost on these rows, computed by the predict kernel instead of the solver."""
    leaves = tree.apply(rows.cells)
    labels = np.array([node.label for node in tree.nodes], dtype=np.intp)
    wrong = labels[leaves] != rows.y
    penalties = sum(tree.settings.penalty(n.split.changepoints) for n in tree.nodes if n.split is not None)
    return float((rows.row_weights * factors[rows.y])[wrong].sum()) + penalties


def predict_tree(tree: ShapeTree, rows: LabelledRows) -> Predictions:
    leaves = tree.apply(rows.cells)
    labels = np.array([node.label for node in tree.nodes], dtype=np.intp)
    counts = np.array([node.counts for node in tree.nodes])
    shares = counts / counts.sum(axis=1, keepdims=True)
    return Predictions(labels[leaves], shares[leaves])


def scores(rows: LabelledRows, predictions: Predictions, labels: list[Any]) -> dict[str, Any]:
    """Compute the metrics, weighted by the sample weights if there are any."""
    n = len(labels)
    weights = rows.row_weights
    matrix = np.zeros((n, n))  # actual classes by row, predicted classes by column
    np.add.at(matrix, (rows.y, predictions.predicted), weights)
    total = float(matrix.sum())
    hits, actual, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    chosen = np.maximum(predictions.probabilities[np.arange(len(rows.y)), rows.y], MIN_PROBABILITY)
    with np.errstate(invalid="ignore"):  # a metric is NaN if its divisor is 0
        recall, precision, f1 = hits / actual, hits / predicted, 2 * hits / (actual + predicted)
    confusion = None
    if n <= MAX_CONFUSION_LABELS:
        confusion = {"labels": labels, "counts": [[_integer_if_whole(x) for x in row] for row in matrix]}
    return {
        "rows": len(rows.y),
        "accuracy": float(hits.sum() / total),
        "balanced_accuracy": float(recall[actual > 0].mean()),
        "log_loss": float(-(weights * np.log(chosen)).sum() / total),
        "confusion_matrix": confusion,
        "per_class": [
            {
                "label": labels[k],
                "support": _integer_if_whole(actual[k]),
                "precision": _number_or_none(precision[k]),
                "recall": _number_or_none(recall[k]),
                "f1": _number_or_none(f1[k]),
            }
            for k in range(n)
        ],
    }


def _number_or_none(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def _integer_if_whole(value: float) -> int | float:
    return int(value) if float(value).is_integer() else float(value)


def predict_majority(train: LabelledRows, rows: LabelledRows, n_classes: int) -> Predictions:
    shares = np.bincount(train.y, train.weights, minlength=n_classes)
    shares = shares / shares.sum()
    return Predictions(np.full(len(rows.y), int(np.argmax(shares))), np.tile(shares, (len(rows.y), 1)))


def fit_cart(train: LabelledRows, factors: Floats, max_depth: int) -> DecisionTreeClassifier:
    """Fit a CART of the same depth to the same rows and weights. It treats categories as numbers."""
    cart = DecisionTreeClassifier(max_depth=max_depth, random_state=0)
    return cart.fit(train.matrix, train.y, sample_weight=train.row_weights * factors[train.y])


def predict_cart(cart: DecisionTreeClassifier, rows: LabelledRows, n_classes: int) -> Predictions:
    known = cart.predict_proba(rows.matrix)
    probabilities = np.zeros((len(rows.y), n_classes))
    probabilities[:, cart.classes_] = known
    return Predictions(cart.classes_[known.argmax(axis=1)], probabilities)
