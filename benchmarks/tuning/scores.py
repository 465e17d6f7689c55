"""Means over the splits of a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.runs import Results, RunResult
from benchmarks.tuning.protocol import CEILINGS, SPLIT_SEEDS, TREES, spec_of

# What is averaged over the splits, by its name in tables.
MEASURES: dict[str, Callable[[RunResult], float | None]] = {
    "accuracy": lambda run: run.test_accuracy,
    "balanced accuracy": lambda run: run.details["balanced_accuracy"],
    "log loss": lambda run: run.details["log_loss"],
    "leaves": lambda run: run.details["leaves"],
    "leaves on folds": lambda run: run.details["fold_leaves"],
    "seconds": lambda run: run.seconds,
    "trials": lambda run: run.details["trials"],
}


@dataclass(frozen=True)
class Scores:
    """The runs of a method on the splits of a dataset."""

    runs: Sequence[RunResult]
    splits: int  # that are expected

    @property
    def measured(self) -> list[RunResult]:
        return [run for run in self.runs if run.test_accuracy is not None]

    @property
    def complete(self) -> bool:
        """Return whether every split was measured."""
        return len(self.measured) == self.splits

    @property
    def problem(self) -> str:
        """Return what is missing, or nothing."""
        bad = sorted({run.status for run in self.runs if run.test_accuracy is None})
        missing = self.splits - len(self.runs)
        return ", ".join([*bad, *([f"{missing} splits not run"] if missing else [])])

    def mean(self, measure: str) -> float | None:
        """Return the mean of a measure over the splits that were measured, or None if some lack it."""
        values = [MEASURES[measure](run) for run in self.measured]
        known = [value for value in values if value is not None]
        return float(np.mean(known)) if known and len(known) == len(values) else None


def finished_splits(results: Results, datasets: Sequence[str], limit: float) -> tuple[int, ...]:
    """Return the seeds of the splits that were run with every method on every dataset; all if there are none.

    Splits are run one after another, so that the page of an unfinished benchmark compares like with like.
    """
    finished = tuple(
        seed
        for seed in SPLIT_SEEDS
        if all(
            results.get(spec_of(method, dataset, seed, limit)) is not None
            for dataset in datasets
            for method in (*TREES, *CEILINGS)
        )
    )
    return finished or SPLIT_SEEDS


class Comparison:
    """The scores of every method on every dataset that has any run."""

    def __init__(self, results: Results, datasets: Iterable[str], limit: float) -> None:
        names = list(datasets)
        self.splits = finished_splits(results, names, limit)
        scores = {
            (dataset, method): Scores(
                [
                    run
                    for seed in self.splits
                    if (run := results.get(spec_of(method, dataset, seed, limit))) is not None
                ],
                len(self.splits),
            )
            for dataset in names
            for method in (*TREES, *CEILINGS)
        }
        begun = {dataset for (dataset, _), found in scores.items() if found.runs}
        self._scores = {key: found for key, found in scores.items() if key[0] in begun}
        self.datasets = list(dict.fromkeys(dataset for dataset, _ in self._scores))

    def of(self, dataset: str, method: str) -> Scores:
        return self._scores[dataset, method]

    @property
    def counted(self) -> list[str]:
        """Return the datasets on which every tree method was measured on every split."""
        return [name for name in self.datasets if all(self.of(name, tree).complete for tree in TREES)]

    def means(self, method: str, measure: str) -> list[float] | None:
        """Return a measure on each dataset that counts, or None if it is not known on all of them."""
        found = [self.of(dataset, method) for dataset in self.counted]
        values = [scores.mean(measure) for scores in found if scores.complete]
        known = [value for value in values if value is not None]
        return known if known and len(known) == len(found) else None

    def ranks(self) -> dict[str, float]:
        """Return the mean rank of each tree method by accuracy; equal accuracies share their ranks."""
        table = np.round([self.means(tree, "accuracy") or [] for tree in TREES], 9).T  # by dataset
        ranks = [[_rank(value, row) for value in row] for row in table]
        return dict(zip(TREES, np.mean(ranks, axis=0).tolist(), strict=True)) if ranks else {}

    def all_runs(self) -> list[RunResult]:
        return [run for scores in self._scores.values() for run in scores.runs]


def _rank(value: float, values: Iterable[float]) -> float:
    """Return the rank of a value, 1 for the highest, with the mean of their ranks for equal ones."""
    others = list(values)
    return sum(other > value for other in others) + (1 + others.count(value)) / 2
