"""Metrics of a tree with the numbers of wrong rows that a test chooses."""

from __future__ import annotations

from typing import Any

from worker.training.metrics import wilson_interval


def scores(rows: int, wrong: float, *, weight: float | None = None, log_loss: float = 0.4) -> dict[str, Any]:
    """Return scores on rows of two classes; `weight` is their total weight if it is not their number."""
    total = rows if weight is None else weight
    half = total / 2
    accuracy = 1 - wrong / total
    return {
        "rows": rows,
        "accuracy": accuracy,
        "accuracy_interval": wilson_interval(accuracy, rows),
        "balanced_accuracy": accuracy - 0.01,
        "log_loss": log_loss,
        "confusion_matrix": {"labels": ["in", "out"], "counts": [[half, 0], [wrong, half - wrong]]},
        "per_class": [
            {"label": label, "support": half, "precision": 0.5, "recall": 0.5, "f1": 0.5}
            for label in ("in", "out")
        ],
    }


def metrics(
    train: dict[str, Any],
    held: dict[str, Any] | None = None,
    cart: dict[str, Any] | None = None,
    majority: dict[str, Any] | None = None,
    warnings: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return metrics as a worker makes them. `cart` and `majority` are scores on the held-back rows."""

    def baseline(on_held: dict[str, Any] | None) -> dict[str, Any]:
        return {"train": scores(train["rows"], train["rows"] / 2), "validation": on_held}

    bad = None if held is None else scores(held["rows"], held["rows"] / 2)
    return {
        "train_accuracy": train["accuracy"],
        "validation_accuracy": held and held["accuracy"],
        "train": train,
        "validation": held,
        "baselines": {"majority": baseline(majority or bad), "cart": baseline(cart) if cart else None},
        "warnings": warnings or [],
    }
