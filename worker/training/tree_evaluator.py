"""Evaluate the trees of a search: check their cost, compute their metrics and those of the baselines."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import structlog

from literati import ShapeTree
from literati.data.table import TrainingTable
from worker.domain.datasets import label_text
from worker.training import metrics
from worker.training.metrics import Codes, Floats, LabelledRows
from worker.training.tables import DatasetRows
from worker.training.training_task import TrainingTask
from worker.training.tree_warnings import find_id_like, id_like_columns, not_better, overfit

MAX_INLINE_CELLS = 1 << 18  # up to here fitting the baseline tree takes milliseconds, so it is awaited
RELATIVE_TOLERANCE = 1e-9  # of a tree's cost, relative to the weight of all rows
LOWEST_PRIORITY = 19  # of a thread on Linux

log = structlog.get_logger(__name__)


class ObjectiveMismatchError(RuntimeError):
    """A tree's cost is not what the search reports, so the tree must not be published."""


@dataclass(frozen=True)
class Fitted:
    """What is known of a fitted baseline."""

    scores: dict[str, Any]
    predicted: Codes | None  # the classes of the validation rows


class Baseline:
    """The scores of a baseline. Unless it is fitted `inline`, a thread of low priority fits it."""

    def __init__(self, fit: Callable[[], Fitted], *, inline: bool) -> None:
        self._fit = fit
        self._inline = inline
        self._thread: threading.Thread | None = None
        self._fitted: Fitted | None = None

    def fitted(self) -> Fitted | None:
        """Return what is known, or None while it is not fitted. The first call starts the fit."""
        if self._thread is None:
            context = copy_context()  # so that log lines of the thread name the job
            self._thread = threading.Thread(
                target=context.run, args=(self._run,), name="baseline", daemon=True
            )
            self._thread.start()
            if self._inline:
                self._thread.join()
        return self._fitted

    def wait(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        if not self._inline:
            with suppress(OSError):  # only on Linux does a thread have a priority of its own
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
        try:
            self._fitted = self._fit()
        except Exception:  # a missing baseline is no reason to fail the job
            log.exception("the baseline could not be fitted")


class TreeEvaluator:
    """Evaluate the trees of one search on the training rows and the validation rows."""

    def __init__(self, task: TrainingTask, table: TrainingTable) -> None:
        self.labels: list[Any] = table.classes.tolist()
        self.max_depth = task.spec.parameters.max_depth
        place = task.spec.sweep
        self.compares = place is None or place.fold is None  # with CART; trials are compared with each other
        schema = table.schema
        rows = self._encoded(task.train, schema)
        known = rows.y >= 0
        weights = None if rows.weights is None else rows.weights[known]
        class_weight = task.parameters["class_weight"]
        self.factors: Floats = metrics.class_factors(rows.y[known], weights, self.labels, class_weight)
        self.train = _select(rows, known & (rows.row_weights * self.factors[rows.y] > 0))
        self.validation: LabelledRows | None = None
        if task.validation is not None:
            self.validation = self._encoded(task.validation, schema)
            if (self.validation.y < 0).any():
                label = task.validation.y[int(np.argmin(self.validation.y))]
                raise ValueError(
                    f"validation: rows of the class {label_text(label)!r} are kept for validation, "
                    "but no training row has this class"
                )
        total = float((self.train.row_weights * self.factors[self.train.y]).sum())
        self.tolerance = RELATIVE_TOLERANCE * max(1.0, total)
        self.baseline = Baseline(self._fit_cart, inline=self.train.matrix.size <= MAX_INLINE_CELLS)
        self._majority = self._scores(
            lambda rows: metrics.predict_majority(self.train, rows, len(self.labels))
        )
        self._majority_class: Codes | None = None
        if self.validation is not None:
            majority = metrics.predict_majority(self.train, self.validation, len(self.labels))
            self._majority_class = majority.predicted
        self.id_like = find_id_like(table)

    def _encoded(self, rows: DatasetRows, schema: Any) -> LabelledRows:
        index = {label: code for code, label in enumerate(self.labels)}
        distinct, inverse = np.unique(rows.y, return_inverse=True)
        codes = np.array([index.get(label, -1) for label in distinct.tolist()], dtype=np.intp)
        return LabelledRows(schema.encode(rows.X), codes[inverse], rows.weights)

    def scores(self, tree: ShapeTree) -> dict[str, Any]:
        """Return the tree's scores on both parts of the rows, without those of baselines."""
        self._check_cost(tree)
        return self._scores(lambda rows: metrics.predict_tree(tree, rows))

    def _check_cost(self, tree: ShapeTree) -> None:
        cost = metrics.objective(tree, self.train, self.factors)
        if abs(cost - tree.objective) > self.tolerance:
            raise ObjectiveMismatchError(f"the search reports cost {tree.objective!r}, but it is {cost!r}")

    def evaluate(self, tree: ShapeTree) -> dict[str, Any]:
        """Return the tree's metrics. Raise ObjectiveMismatchError if its cost is not what the search says."""
        self._check_cost(tree)
        predictions: dict[str, metrics.Predictions] = {}

        def predict(rows: LabelledRows) -> metrics.Predictions:
            found = metrics.predict_tree(tree, rows)
            predictions["train" if rows is self.train else "validation"] = found
            return found

        scores = self._scores(predict, with_points=True)
        cart = self.baseline.fitted() if self.compares else None
        baselines = {"majority": self._majority, "cart": None if cart is None else cart.scores}
        return {
            "train_accuracy": scores["train"]["accuracy"],
            "validation_accuracy": scores["validation"] and scores["validation"]["accuracy"],
            **scores,
            "baselines": baselines,
            "warnings": self._warnings(tree, scores, baselines, cart, predictions.get("validation")),
        }

    def _warnings(
        self,
        tree: ShapeTree,
        scores: dict[str, Any],
        baselines: dict[str, Any],
        cart: Fitted | None,
        predictions: metrics.Predictions | None,
    ) -> list[dict[str, Any]]:
        found = id_like_columns(tree, self.id_like)
        if self.validation is None or predictions is None:
            return found
        y = self.validation.y
        right = predictions.predicted == y
        found += overfit(scores)
        others = {"majority": self._majority_class, "cart": None if cart is None else cart.predicted}
        for name, predicted in others.items():
            if predicted is not None:
                found += not_better(name, scores, baselines[name], right, np.equal(predicted, y))
        return found

    def _fit_cart(self) -> Fitted:
        n_classes = len(self.labels)
        cart = metrics.fit_cart(self.train, self.factors, self.max_depth)
        scores = self._scores(lambda rows: metrics.predict_cart(cart, rows, n_classes))
        if self.validation is None:
            return Fitted(scores, None)
        return Fitted(scores, metrics.predict_cart(cart, self.validation, n_classes).predicted)

    def _scores(
        self, predict: Callable[[LabelledRows], metrics.Predictions], *, with_points: bool = False
    ) -> dict[str, Any]:
        def scores(rows: LabelledRows) -> dict[str, Any]:
            return metrics.scores(rows, predict(rows), self.labels, with_points=with_points)

        return {
            name: None if rows is None else scores(rows)
            for name, rows in (("train", self.train), ("validation", self.validation))
        }


def _select(rows: LabelledRows, chosen: npt.NDArray[np.bool_]) -> LabelledRows:
    if chosen.all():
        return rows
    cells = type(rows.cells)(np.ascontiguousarray(rows.matrix[chosen]), {}, ())
    return LabelledRows(cells, rows.y[chosen], None if rows.weights is None else rows.weights[chosen])
