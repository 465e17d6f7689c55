"""Compute the scores of a tree from the rows of each leaf and true class."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic_core import to_json

from literati.data.labels import plain
from literati.data.schema import EncodedRows
from service.predict.predictor import Predictor
from service.predict.row_errors import row_error
from service.predict.row_warnings import RowWarning, shown
from service.predict.scoring import Outcomes, ScoreColumns

MAX_UNKNOWN_CLASSES = 20  # that are listed
MAX_CELLS = 1 << 24  # of the matrix of probabilities: combinations of leaf and class, by class


def encode_scores(
    predictor: Predictor, columns: ScoreColumns, content: bytes, warnings: list[RowWarning]
) -> bytes:
    """Return the response to a request to score as JSON. `content` are the outcomes as JSON."""
    outcomes = Outcomes.from_json(content)
    n_classes = len(predictor.tree.classes)
    unknown = _unknown_classes(outcomes, n_classes)
    return to_json(
        {
            **predictor.source,
            "target": columns.target,
            "weight": columns.weight,
            "rows": outcomes.rows,
            "rows_without_target": outcomes.without_target,
            "rows_of_unknown_classes": sum(entry["rows"] for entry in unknown),
            "unknown_classes": unknown[:MAX_UNKNOWN_CLASSES],
            "scores": compute_scores(predictor, outcomes),
            "warnings": warnings,
        }
    )


def _unknown_classes(outcomes: Outcomes, n_classes: int) -> list[dict[str, Any]]:
    """Return the classes that the model does not know with their rows, the most frequent first."""
    classes = np.array(outcomes.classes) - n_classes
    unknown = classes >= 0
    rows = np.bincount(classes[unknown], np.array(outcomes.counts)[unknown], len(outcomes.unknown))
    weights = np.bincount(classes[unknown], np.array(outcomes.weights)[unknown], len(outcomes.unknown))
    found = [
        {"label": shown(label), "rows": int(n), "weight": float(weight)}
        for label, n, weight in zip(outcomes.unknown, rows, weights, strict=True)
    ]
    return sorted(found, key=lambda entry: -entry["rows"])


def compute_scores(predictor: Predictor, outcomes: Outcomes) -> dict[str, Any]:
    """Compute the metrics that jobs have.

    A row of a class that the model does not know is a wrong prediction: its class has a recall and an F1
    score of 0. The metrics of probabilities leave such rows out, because the model gives them no probability.
    """
    from worker.training import metrics  # scikit-learn takes a second to import

    tree = predictor.tree
    n_classes = len(tree.classes)
    labels = [plain(label) for label in tree.classes] + [shown(label) for label in outcomes.unknown]
    weights = np.array(outcomes.weights)
    weighing = weights > 0  # rows without weight change no score
    leaves, y = np.array(outcomes.leaves)[weighing], np.array(outcomes.classes)[weighing]
    weights = weights[weighing]
    if len(leaves) * len(labels) > MAX_CELLS:
        message = "The rows are in too many leaves and classes to score them at once; send fewer rows."
        raise row_error("/body", "TOO_LARGE", message)
    probabilities = np.zeros((len(leaves), len(labels)))
    probabilities[:, :n_classes] = tree.probabilities[leaves]
    predicted = np.array([node.label for node in tree.nodes], dtype=np.intp)[leaves]

    def scores_of(chosen: Any, n_labels: int) -> dict[str, Any]:
        """Return the scores of groups of rows; a group counts like one row with the weight of all."""
        cells = EncodedRows(np.empty((int(np.count_nonzero(chosen)), 0)), {}, ())
        rows = metrics.LabelledRows(cells, y[chosen], weights[chosen])
        predictions = metrics.Predictions(predicted[chosen], probabilities[chosen, :n_labels])
        return metrics.scores(rows, predictions, labels[:n_labels], with_points=True)

    scores = scores_of(np.ones(len(y), dtype=bool), len(labels))
    if outcomes.unknown:
        known = scores_of(y < n_classes, n_classes)
        names = ("log_loss", "brier_score", "roc_auc", "operating_points")
        scores |= {name: known[name] for name in names}
    # How certain the accuracy is depends on the weights of the rows, not on those of the groups.
    effective_rows = float(weights.sum() ** 2 / outcomes.squared_weights)
    interval = metrics.wilson_interval(scores["accuracy"], effective_rows)
    return scores | {"rows": sum(outcomes.counts), "accuracy_interval": interval}
