"""What a job trains on: its rows and parameters, and the search over them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from literati import Search, SearchLimits
from literati.errors import DataWarning
from worker.domain.datasets import label_text
from worker.domain.jobs import JobSpec
from worker.training.tables import DatasetRows


@dataclass
class TrainingTask:
    """The training rows of a job and, if it has any, its validation rows."""

    spec: JobSpec
    train: DatasetRows
    validation: DatasetRows | None
    poll: Callable[[], None] | None = None  # called while the rows are encoded; may raise to interrupt that
    threads: int = 1  # of the search: the cores that the job has of its worker
    notes: list[str] = field(default_factory=list)  # warnings of the library about the data

    def search(self, limits: SearchLimits, engine_state: bytes | None = None) -> Search:
        """Create a new search, or one that continues from a saved state of the engine."""
        X, y = self.train.X, self.train.y
        options: dict[str, Any] = {"sample_weight": self.train.weights, "limits": limits, "poll": self.poll}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if engine_state is None:
                search = Search(X, y, **options, **self.parameters)
            else:
                search = Search.resume(X, y, engine_state, n_threads=self.threads, **options)
        self.notes += [str(w.message) for w in caught if issubclass(w.category, DataWarning)]
        return search

    @cached_property
    def weight_share(self) -> float:
        """The weight of the training rows as a share of all rows, in a sweep's job that holds out a fold.

        A sweep's penalties are meant for all rows. Errors grow with the rows, so the same tree is best at a
        penalty that grows with them.
        """
        place = self.spec.sweep
        if place is None or place.fold is None or self.validation is None:
            return 1.0
        train, held = self._weight(self.train), self._weight(self.validation)
        return train / (train + held)

    def _weight(self, rows: DatasetRows) -> float:
        weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
        given = self.spec.parameters.class_weight
        if not isinstance(given, dict):
            return float(weights.sum())
        labels, codes = np.unique(rows.y, return_inverse=True)
        factors = np.array([given.get(label_text(label), 1.0) for label in labels.tolist()])
        return float((weights * factors[codes]).sum())

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters for the library, with class weights keyed by label instead of by its text.

        The number of threads is that of the cores that the job has, which may be fewer than it asked for.
        """
        parameters = self.spec.parameters.model_dump() | {"n_threads": self.threads}
        for name in ("split_penalty", "changepoint_penalty"):
            parameters[name] *= self.weight_share
        if isinstance(self.spec.parameters.class_weight, dict):
            labels = {label_text(label): label for label in np.unique(self.train.y).tolist()}
            weights = self.spec.parameters.class_weight
            parameters["class_weight"] = {labels[text]: weights[text] for text in weights if text in labels}
        return parameters
