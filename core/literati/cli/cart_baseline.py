"""Compare a tuned tree with scikit-learn's CART on the same folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from literati.cli.tables.training import TrainingFile
from literati.data.labels import encode
from literati.data.weights import times_class_weights
from literati.tuning.folds import split_rows

if TYPE_CHECKING:
    from literati import LiteratiClassifierCV

MAX_CELLS = 1 << 20  # of a table; a larger one would take more than some seconds
MAX_NUMBER = float(np.finfo(np.float32).max)  # scikit-learn's trees refuse larger ones


@dataclass(frozen=True)
class HeldOutAccuracy:
    """Mean accuracy over the folds, on rows that were held out."""

    tree: float
    cart: float


def compare_with_cart(classifier: LiteratiClassifierCV, table: TrainingFile) -> HeldOutAccuracy | None:
    """Fit a CART of the chosen depth on each fold, which treats categories as numbers.

    Return None if the table is so large that this would take long.
    """
    matrix = classifier.tree_.encode(table.X).matrix.clip(-MAX_NUMBER, MAX_NUMBER)
    if matrix.size > MAX_CELLS:
        return None
    codes, classes = encode(table.y)
    weights = np.ones(len(codes)) if table.weights is None else table.weights
    trees: list[float] = []
    carts: list[float] = []
    for train, test in split_rows(classifier.cv, classifier.random_state, table.X, codes):
        cart = DecisionTreeClassifier(max_depth=classifier.best_params_["max_depth"], random_state=0)
        searched = times_class_weights(weights[train], classifier.class_weight, codes[train], classes)
        cart.fit(matrix[train], codes[train], sample_weight=searched)
        for scores, right in (
            (trees, classifier.oof_predictions_[test] == table.y[test]),
            (carts, cart.predict(matrix[test]) == codes[test]),
        ):
            scores.append(float(np.average(right, weights=weights[test])))
    return HeldOutAccuracy(float(np.mean(trees)), float(np.mean(carts)))
