"""Training accuracies, seconds and proofs of methods, over the datasets that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.paper.plan import Method, Scope
from benchmarks.runs import Results, RunResult

MIN_SHARE = 0.5  # of the planned datasets: with fewer, a method is not compared yet

Unit = tuple[str, int]  # dataset and fold


@dataclass(frozen=True)
class Score:
    """What a table shows of a run."""

    accuracy: float  # of the training rows, in percent
    seconds: float
    proven: bool
    imputed: bool  # the run has no tree, so the accuracy is that of one leaf, and the seconds are its limit
    errors: int | None


@dataclass(frozen=True)
class Summary:
    """Means of a method over the datasets that are compared; a dataset is the mean over its folds."""

    accuracy: float
    seconds: float
    proofs: float  # percent
    imputed: int  # runs


class Scores:
    """The scores of every run of optimization."""

    def __init__(self, results: Results, scope: Scope) -> None:
        self._results = results
        self.scope = scope
        self._leaf = {
            (run.spec.dataset, run.spec.fold): float(run.details["leaf_accuracy"])
            for run in results.all()
            if "leaf_accuracy" in run.details
        }

    def run(self, method: Method, depth: int, unit: Unit) -> RunResult | None:
        return self._results.get(method.spec(unit[0], depth, unit[1], self.scope.limit))

    def of(self, method: Method, depth: int, unit: Unit) -> Score | None:
        """Return the score of a method, or None if it was not run or is not installed."""
        run = self.run(method, depth, unit)
        if run is None or run.status == "absent":
            return None
        if run.train_accuracy is None:
            leaf = self._leaf.get(unit)
            return None if leaf is None else Score(100 * leaf, self.scope.limit, False, True, None)
        assert run.seconds is not None
        proven = run.seconds_to_proof is not None
        return Score(100 * run.train_accuracy, run.seconds, proven, False, run.objective)

    def units(self, method: Method, depth: int) -> set[Unit]:
        """Return the datasets and folds that a method has."""
        planned = [(dataset, fold) for dataset in self.scope.datasets for fold in self.scope.folds]
        return {unit for unit in planned if self.of(method, depth, unit) is not None}

    def datasets(self, method: Method, depth: int) -> int:
        return len({dataset for dataset, _ in self.units(method, depth)})

    def compared(self, methods: Iterable[Method], depth: int) -> tuple[list[Method], list[Unit]]:
        """Return the methods that have most datasets, and the datasets and folds that all these have."""
        enough = MIN_SHARE * len(self.scope.datasets)
        chosen = [method for method in methods if self.datasets(method, depth) >= max(enough, 1)]
        if not chosen:
            return [], []
        common = set.intersection(*(self.units(method, depth) for method in chosen))
        return chosen, sorted(common)

    def table(self, methods: Sequence[Method], depth: int) -> dict[str, list[float]]:
        """Return the accuracies of the compared methods on each common dataset, by label."""
        chosen, units = self.compared(methods, depth)
        return {method.label: self._by_dataset(method, depth, units, "accuracy") for method in chosen}

    def summary(self, method: Method, depth: int, units: Sequence[Unit]) -> Summary:
        means = [
            float(np.mean(self._by_dataset(method, depth, units, name)))
            for name in ("accuracy", "seconds", "proven")
        ]
        found = [score for unit in units if (score := self.of(method, depth, unit)) is not None]
        return Summary(means[0], means[1], 100 * means[2], sum(score.imputed for score in found))

    def _by_dataset(self, method: Method, depth: int, units: Sequence[Unit], name: str) -> list[float]:
        values: dict[str, list[float]] = {}
        for unit in units:
            score = self.of(method, depth, unit)
            assert score is not None
            values.setdefault(unit[0], []).append(float(getattr(score, name)))
        return [float(np.mean(folds)) for folds in values.values()]
