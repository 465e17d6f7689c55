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
    def parameters(self) -> dict[str, Any]:
        """The parameters for the library, with class weights keyed by label instead of by its text.

        The number of threads is that of the cores that the job has, which may be fewer than it asked for.
        """
        parameters = self.spec.parameters.model_dump() | {"n_threads": self.threads}
        if isinstance(self.spec.parameters.class_weight, dict):
            labels = {label_text(label): label for label in np.unique(self.train.y).tolist()}
            weights = self.spec.parameters.class_weight
            parameters["class_weight"] = {labels[text]: weights[text] for text in weights if text in labels}
        return parameters
