"""The metrics of the example tree, computed from its confusion matrices."""

from __future__ import annotations

from typing import Any

LABELS = ("setosa", "versicolor")


def _scores(counts: list[list[int]], log_loss: float) -> dict[str, Any]:
    """Return the scores of two classes; `counts` has one row for each true class."""
    per_class: list[dict[str, Any]] = []
    for k, label in enumerate(LABELS):
        hits, support, predicted = counts[k][k], sum(counts[k]), counts[0][k] + counts[1][k]
        per_class.append(
            {
                "label": label,
                "support": support,
                "precision": hits / predicted if predicted else None,
                "recall": hits / support,
                "f1": 2 * hits / (support + predicted),
            }
        )
    rows = sum(map(sum, counts))
    return {
        "rows": rows,
        "accuracy": (counts[0][0] + counts[1][1]) / rows,
        "balanced_accuracy": sum(entry["recall"] for entry in per_class) / 2,
        "log_loss": log_loss,
        "confusion_matrix": {"labels": [*LABELS], "counts": counts},
        "per_class": per_class,
    }


def _tree_scores(counts: list[list[int]], log_loss: float) -> dict[str, Any]:
    """Return the scores of the example tree, whose two leaves give two probabilities of the second class."""
    points = [
        {"probability": probability, "positives": counts[1][k], "negatives": counts[0][k]}
        for k, probability in ((1, 1.0), (0, 3 / 53))
    ]
    return {**_scores(counts, log_loss), "operating_points": points}


_TREE = {
    "train": _tree_scores([[50, 0], [3, 47]], 0.1153),
    "validation": _tree_scores([[13, 0], [1, 11]], 0.1456),
}
_CART = {"train": _scores([[50, 0], [3, 47]], 0.1153), "validation": _scores([[13, 0], [1, 11]], 0.1456)}
_MAJORITY = {"train": _scores([[50, 0], [50, 0]], 0.6931), "validation": _scores([[13, 0], [12, 0]], 0.6931)}
METRICS: dict[str, Any] = {
    "train_accuracy": _TREE["train"]["accuracy"],
    "validation_accuracy": _TREE["validation"]["accuracy"],
    **_TREE,
    "baselines": {"majority": _MAJORITY, "cart": _CART},
}
EARLY_METRICS = {**METRICS, "baselines": {"majority": _MAJORITY, "cart": None}}  # of a job that still runs


def in_lists(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a tree's metrics that lists contain."""
    return {name: metrics[name] for name in ("train_accuracy", "validation_accuracy")}
