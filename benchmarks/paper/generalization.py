"""Test accuracy with tuned hyperparameters: the paper's protocol, and the form `tuning`."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from benchmarks.paper import quoted
from benchmarks.paper.plan import OURS, Scope, validation_spec
from benchmarks.paper.spaces import SPACES
from benchmarks.paper.statistics import mean_ranks
from benchmarks.report import markdown_table
from benchmarks.runs import Results, RunResult
from benchmarks.tuning.protocol import TREES
from benchmarks.tuning.scores import Comparison

NONE = "–"
MIN_SHARE = 0.5  # of the datasets, as for the tables of optimization


@dataclass(frozen=True)
class Chosen:
    """The trial with the best mean validation accuracy over folds."""

    test_accuracy: float  # percent, mean over folds
    trials: int  # that every fold has
    fit_seconds: float
    search_seconds: float


def choose(runs: list[RunResult]) -> Chosen | None:
    """Choose among the trials that were finished on every fold; of equal ones, the first."""
    folds = [{int(trial[0]): trial[1:] for trial in run.details.get("trials", [])} for run in runs]
    common = sorted(set.intersection(*(set(trials) for trials in folds))) if folds else []
    if not common:
        return None

    pairs = list(zip(folds, runs, strict=True))

    def validation(number: int) -> float:
        return float(np.mean([trials[number][0] / run.details["rows"][1] for trials, run in pairs]))

    best = min(common, key=lambda number: (validation(number), number))
    return Chosen(
        100 * float(np.mean([1 - trials[best][1] / run.details["rows"][2] for trials, run in pairs])),
        len(common),
        float(np.mean([trials[best][2] for trials in folds])),
        float(np.mean([run.seconds or 0.0 for run in runs])),
    )


class Generalization:
    """The chosen trials of every method on every dataset whose folds are all there."""

    def __init__(self, results: Results, scope: Scope) -> None:
        self.scope = scope
        self.problems: dict[tuple[str, str], str] = {}
        self._chosen: dict[tuple[str, str], Chosen] = {}
        for method in SPACES:
            for dataset in scope.datasets:
                known = [results.get(validation_spec(method, dataset, f, scope.limit)) for f in scope.folds]
                runs = [run for run in known if run is not None]
                if len(runs) < len(scope.folds):
                    continue
                if chosen := choose(runs):
                    self._chosen[method, dataset] = chosen
                else:
                    self.problems[method, dataset] = runs[0].status

    @property
    def methods(self) -> list[str]:
        """Return the methods with at least half of the datasets."""
        enough = max(MIN_SHARE * len(self.scope.datasets), 1)
        counts = {name: sum((name, one) in self._chosen for one in self.scope.datasets) for name in SPACES}
        return [name for name, count in counts.items() if count >= enough]

    @property
    def datasets(self) -> list[str]:
        """Return the datasets that all these methods have."""
        return [
            dataset
            for dataset in self.scope.datasets
            if self.methods and all((method, dataset) in self._chosen for method in self.methods)
        ]

    def scores(self) -> dict[str, list[float]]:
        """Return the test accuracy of each method with the same columns on each common dataset."""
        common = self.datasets
        return {
            name: [self._chosen[name, one].test_accuracy for one in common]
            for name in self.methods
            if name != OURS  # native columns
        }

    def summary(self) -> str:
        ranks = mean_ranks(self.scores()) if self.datasets else {}
        shown = sorted(self.methods, key=lambda name: ranks.get(name, inf)) if self.datasets else []
        rows = []
        for name in shown:
            chosen = [self._chosen[name, dataset] for dataset in self.datasets]
            paper = quoted.TEST_ACCURACY.get(SPACES[name].quoted)
            rows.append(
                [
                    name,
                    f"{np.mean([one.test_accuracy for one in chosen]):.2f}",
                    f"{ranks[name]:.2f}" if name in ranks else NONE,
                    f"{np.mean([one.trials for one in chosen]):.0f}",
                    f"{np.mean([one.search_seconds for one in chosen]):.1f}",
                    f"{np.mean([one.fit_seconds for one in chosen]):.2f}",
                    NONE if paper is None else f"{paper:.1f}",
                ]
            )
        measured = {SPACES[name].quoted for name in shown}
        for name, paper in quoted.TEST_ACCURACY.items():
            if name not in measured:
                rows.append([f"{name} (not measured)", *[NONE] * 5, f"{paper:.1f}"])
        header = (
            "method",
            "test acc. %",
            "mean rank",
            "trials",
            "s of the search",
            "s of the chosen fit",
            "paper's test acc. % (quoted)",
        )
        return markdown_table(header, rows)

    def by_dataset(self) -> str:
        rows = []
        for dataset in self.scope.datasets:
            found = {name: self._chosen.get((name, dataset)) for name in SPACES}
            best = max((one.test_accuracy for one in found.values() if one), default=None)
            cells = []
            for name, one in found.items():
                text = self.problems.get((name, dataset), NONE) if one is None else f"{one.test_accuracy:.2f}"
                cells.append(f"**{text}**" if one and one.test_accuracy == best else text)
            rows.append([dataset, *cells])
        return markdown_table(("dataset", *SPACES), rows)


class Tuning:
    """The results of the form `tuning` on the paper's datasets."""

    def __init__(self, results: Results, scope: Scope, limit: float) -> None:
        known = {run.spec.dataset for run in results.all()}
        self.limit = limit
        self.compared = Comparison(results, [name for name in scope.datasets if name in known], limit)

    def scores(self) -> dict[str, list[float]]:
        """Return the test accuracy of each tree method on each dataset that counts."""
        means = {tree: self.compared.means(tree, "accuracy") for tree in TREES}
        return {tree: [100 * value for value in found] for tree, found in means.items() if found}

    def summary(self) -> str:
        scores = self.scores()
        ranks = mean_ranks(scores)
        rows = []
        for name in sorted(ranks, key=lambda name: ranks[name]):
            seconds, leaves = (self.compared.means(name, what) for what in ("seconds", "leaves"))
            rows.append(
                [
                    name,
                    f"{np.mean(scores[name]):.2f}",
                    f"{ranks[name]:.2f}",
                    NONE if seconds is None else f"{np.mean(seconds):.1f}",
                    NONE if leaves is None else f"{np.mean(leaves):.1f}",
                ]
            )
        return markdown_table(("method", "test acc. %", "mean rank", "s", "leaves"), rows)

    def by_dataset(self) -> str:
        rows = []
        for dataset in self.compared.datasets:
            means = {tree: self.compared.of(dataset, tree).mean("accuracy") for tree in TREES}
            best = max((mean for mean in means.values() if mean is not None), default=None)
            cells = [NONE if mean is None else f"{100 * mean:.2f}" for mean in means.values()]
            shown = [
                f"**{cell}**" if mean is not None and mean == best else cell
                for cell, mean in zip(cells, means.values(), strict=True)
            ]
            rows.append([dataset, *shown])
        return markdown_table(("dataset", *TREES), rows)
