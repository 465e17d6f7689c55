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
from worker.training.ranking import Ranking, integer_if_whole

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
MAX_CONFUSION_LABELS = 64  # with more labels there is no confusion matrix
MIN_PROBABILITY = 1e-15  # keeps the log loss finite
CALIBRATION_BINS = 10
NORMAL_97_5 = 1.959963984540054  # quantile of the normal distribution


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
    return Predictions(labels[leaves], tree.probabilities[leaves])


def scores(
    rows: LabelledRows, predictions: Predictions, labels: list[Any], *, with_points: bool = False
) -> dict[str, Any]:
    """Compute the metrics, weighted by the sample weights if there are any.

    Only `with_points` they contain the operating points of two classes, which may be many.
    """
    n = len(labels)
    weights = rows.row_weights
    matrix = np.zeros((n, n))  # actual classes by row, predicted classes by column
    np.add.at(matrix, (rows.y, predictions.predicted), weights)
    total = float(matrix.sum())
    hits, actual, predicted = np.diag(matrix), matrix.sum(axis=1), matrix.sum(axis=0)
    chosen = np.maximum(predictions.probabilities[np.arange(len(rows.y)), rows.y], MIN_PROBABILITY)
    with np.errstate(invalid="ignore"):  # a metric is NaN if its divisor is 0
        recall, precision, f1 = hits / actual, hits / predicted, 2 * hits / (actual + predicted)
    probability_scores = _probability_scores(rows, predictions, weights, with_points=with_points)
    confusion = None
    if n <= MAX_CONFUSION_LABELS:
        confusion = {"labels": labels, "counts": [[integer_if_whole(x) for x in row] for row in matrix]}
    return {
        "rows": len(rows.y),
        "accuracy": float(hits.sum() / total),
        "accuracy_interval": wilson_interval(float(hits.sum() / total), effective_rows(weights)),
        "balanced_accuracy": float(recall[actual > 0].mean()),
        "macro_f1": float(np.where(np.isnan(f1), 0.0, f1)[actual + predicted > 0].mean()),
        "log_loss": float(-(weights * np.log(chosen)).sum() / total),
        **probability_scores,
        "confusion_matrix": confusion,
        "per_class": [
            {
                "label": labels[k],
                "support": integer_if_whole(actual[k]),
                "precision": _number_or_none(precision[k]),
                "recall": _number_or_none(recall[k]),
                "f1": _number_or_none(f1[k]),
            }
            for k in range(n)
        ],
    }


def effective_rows(weights: Floats) -> float:
    """Return how many rows of equal weight say as much as these (Kish's effective sample size)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def wilson_interval(share: float, rows: float) -> dict[str, float]:
    """Return the 95 % interval of a share that was seen in so many rows (Wilson's score interval)."""
    z = NORMAL_97_5
    middle = (share + z**2 / (2 * rows)) / (1 + z**2 / rows)
    width = z / (1 + z**2 / rows) * math.sqrt(share * (1 - share) / rows + z**2 / (4 * rows**2))
    return {"low": max(0.0, middle - width), "high": min(1.0, middle + width)}


def _probability_scores(
    rows: LabelledRows, predictions: Predictions, weights: Floats, *, with_points: bool
) -> dict[str, Any]:
    """Return the Brier score, the calibration, and of two classes the area and points of the ROC curve."""
    probabilities, total = predictions.probabilities, float(weights.sum())
    actual = np.zeros_like(probabilities)
    actual[np.arange(len(rows.y)), rows.y] = 1.0
    ranking = Ranking.of(probabilities[:, 1], rows.y, weights) if probabilities.shape[1] == 2 else None
    return {
        "brier_score": float((weights * ((probabilities - actual) ** 2).sum(axis=1)).sum() / total),
        "roc_auc": ranking and ranking.area,
        "operating_points": ranking.points() if ranking is not None and with_points else None,
        "calibration": calibration(rows, predictions, weights),
    }


def calibration(rows: LabelledRows, predictions: Predictions, weights: Floats) -> list[dict[str, float]]:
    """Return, by the probability of the predicted class, how often the prediction is right."""
    confidence = predictions.probabilities[np.arange(len(rows.y)), predictions.predicted]
    right = predictions.predicted == rows.y
    bins = np.minimum((confidence * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)
    sums = [
        np.bincount(bins, weights * value, minlength=CALIBRATION_BINS) for value in (1.0, confidence, right)
    ]
    return [
        {
            "from": k / CALIBRATION_BINS,
            "to": (k + 1) / CALIBRATION_BINS,
            "weight": float(weight),
            "mean_probability": float(probability / weight),
            "accuracy": float(hits / weight),
        }
        for k, (weight, probability, hits) in enumerate(zip(*sums, strict=True))
        if weight > 0
    ]


def _number_or_none(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


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
