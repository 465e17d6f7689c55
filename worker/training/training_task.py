"""A job's problem: its rows, the search over them, and the judgement of every tree the search shows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from literati import Search, SearchLimits, ShapeTree
from literati.errors import DataWarning

from . import metrics
from .baseline import Baseline
from .messages import JobSpec, label_text
from .metrics import Floats, LabelledRows
from .tables import Loaded

INLINE_CELLS = 1 << 18  # up to here the baseline tree takes milliseconds: it comes with the first incumbent


class JudgementError(RuntimeError):
    """A tree does not cost what the search says: it must not be shown to anyone."""


class Problem:
    """The training rows and, where the job keeps some back, the validation rows."""

    def __init__(
        self,
        spec: JobSpec,
        train: Loaded,
        validation: Loaded | None,
        poll: Callable[[], None] | None = None,
    ) -> None:
        self.spec = spec
        self.poll = poll  # called while the rows are encoded; may raise to give up
        self.train = train
        self.validation = validation
        self.notes: list[str] = []  # what the library warned of

    def search(self, limits: SearchLimits) -> Search:
        return self._noting(
            lambda: Search(
                self.train.X,
                self.train.y,
                sample_weight=self.train.weights,
                limits=limits,
                poll=self.poll,
                **self.parameters,
            )
        )

    def resume(self, blob: bytes, limits: SearchLimits) -> Search:
        return self._noting(
            lambda: Search.resume(
                self.train.X,
                self.train.y,
                blob,
                sample_weight=self.train.weights,
                limits=limits,
                poll=self.poll,
            )
        )

    def _noting(self, make: Callable[[], Search]) -> Search:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search = make()
        self.notes += [str(w.message) for w in caught if issubclass(w.category, DataWarning)]
        return search

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The job's parameters as the library takes them: class weights by label, not by its text."""
        parameters = self.spec.parameters.model_dump()
        if isinstance(self.spec.parameters.class_weight, dict):
            labels = {label_text(label): label for label in np.unique(self.train.y).tolist()}
            weights = self.spec.parameters.class_weight
            parameters["class_weight"] = {labels[text]: weights[text] for text in weights if text in labels}
        return parameters


class Judge:
    """Evaluates trees of one search: their cost again, their scores, the baselines beside them."""

    def __init__(self, problem: Problem, search: Search) -> None:
        self.labels: list[Any] = search.table.classes.tolist()
        self.max_depth = problem.spec.parameters.max_depth
        schema = search.table.schema
        everyone = self._rows(problem.train, schema)
        known = everyone.y >= 0
        self.factors: Floats = metrics.class_factors(
            everyone.y[known],
            None if everyone.weights is None else everyone.weights[known],
            len(self.labels),
            problem.parameters["class_weight"],
            self.labels,
        )
        self.train = _only(everyone, known & (everyone.row_weights * self.factors[everyone.y] > 0))
        self.validation: LabelledRows | None = None
        if problem.validation is not None:
            self.validation = self._rows(problem.validation, schema)
            if (self.validation.y < 0).any():
                stranger = problem.validation.y[int(np.argmin(self.validation.y))]
                raise ValueError(
                    f"validation: rows of the class {label_text(stranger)!r} are kept for validation, "
                    "but no training row has it"
                )
        self.tolerance = 1e-9 * max(1.0, float((self.train.row_weights * self.factors[self.train.y]).sum()))
        self._baseline = Baseline(self._cart_scores, inline=self.train.matrix.size <= INLINE_CELLS)
        self._majority = self._scored(lambda rows: metrics.majority(self.train, rows, len(self.labels)))

    def _rows(self, loaded: Loaded, schema: Any) -> LabelledRows:
        index = {label: code for code, label in enumerate(self.labels)}
        distinct, inverse = np.unique(loaded.y, return_inverse=True)
        codes = np.array([index.get(label, -1) for label in distinct.tolist()], dtype=np.intp)
        return LabelledRows(schema.encode(loaded.X), codes[inverse], loaded.weights)

    def judge(self, tree: ShapeTree) -> dict[str, Any]:
        """The tree's metrics; JudgementError unless it costs on the rows what it says."""
        cost = metrics.objective(tree, self.train, self.factors)
        if abs(cost - tree.objective) > self.tolerance:
            raise JudgementError(f"a tree said to cost {tree.objective!r} costs {cost!r}")
        scored = self._scored(lambda rows: metrics.forecast(tree, rows))
        cart = self._baseline.scores()
        return {
            "train_accuracy": scored["train"]["accuracy"],
            "validation_accuracy": scored["validation"] and scored["validation"]["accuracy"],
            **scored,
            "baselines": {"majority": self._majority, "cart": cart},
        }

    def wait_for_baseline(self, seconds: float) -> None:
        """So that the last metrics of a job have it."""
        self._baseline.wait(seconds)

    def _cart_scores(self) -> dict[str, Any]:
        cart = metrics.fit_cart(self.train, self.factors, self.max_depth)
        return self._scored(lambda rows: metrics.cart_forecast(cart, rows, len(self.labels)))

    def _scored(self, forecast: Callable[[LabelledRows], metrics.Forecast]) -> dict[str, Any]:
        return {
            name: None if rows is None else metrics.scores(rows, forecast(rows), self.labels)
            for name, rows in (("train", self.train), ("validation", self.validation))
        }


def _only(rows: LabelledRows, chosen: Any) -> LabelledRows:
    if chosen.all():
        return rows
    cells = type(rows.cells)(np.ascontiguousarray(rows.matrix[chosen]), {}, ())
    return LabelledRows(cells, rows.y[chosen], None if rows.weights is None else rows.weights[chosen])
