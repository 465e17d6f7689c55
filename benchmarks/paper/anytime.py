"""Ablations and paths: distances to the best known tree, and accuracy against leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.drawing import FIRST_SECONDS
from benchmarks.paper.plan import (
    ABLATED,
    ABLATIONS,
    CHANGEPOINTS,
    FIRST_FOLD,
    Options,
    Scope,
    ablation_spec,
    path_spec,
)
from benchmarks.report import markdown_table
from benchmarks.runs import Results, RunResult
from benchmarks.traces import Trace

NONE = "–"
LEAVES = (4, 8, 16, 32)  # of the table of paths
Points = list[tuple[float, float]]


class Distances:
    """The distance of each series to the best known cost, in percent of the training rows."""

    def __init__(self, results: Results, scope: Scope) -> None:
        self._results = results
        self.scope = scope
        self.datasets = scope.only(ABLATED)

    def run(self, options: Options, dataset: str, fold: int) -> RunResult | None:
        run = self._results.get(ablation_spec(options, dataset, fold, self.scope))
        return run if run is not None and run.n_train and Trace.of(run) is not None else None

    def best(self, ablation: str, dataset: str, fold: int) -> float:
        """Return the lowest cost of a run of the paper's space, or with the lines beyond it, of any run."""
        runs = [
            run
            for name, (_, series) in ABLATIONS.items()
            for options in series.values()
            if (ablation == "beyond" or name != "beyond") and (run := self.run(options, dataset, fold))
        ]
        return min((float(run.details["objective"]) for run in runs), default=math.nan)

    def points(self, ablation: str, series: str, dataset: str, fold: int, clock: str) -> Points:
        """Return the distance over "seconds" or "expansions"."""
        run = self.run(ABLATIONS[ablation][1][series], dataset, fold)
        trace = Trace.of(run)
        if run is None or trace is None or trace.expansions is None:
            return []
        assert run.n_train is not None
        costs = list(trace.upper)
        costs[-1] = min(costs[-1], float(run.details["objective"]))  # of the polished tree
        scale = 100 / run.n_train
        times = trace.seconds if clock == "seconds" else trace.expansions
        lowest = FIRST_SECONDS if clock == "seconds" else 1.0
        best = self.best(ablation, dataset, fold)
        points = [
            (max(float(moment), lowest), scale * (cost - best))
            for moment, cost in zip(times, costs, strict=True)
            if math.isfinite(cost)
        ]
        # Of the points at the left end, only the last one can be seen.
        hidden = sum(moment <= lowest for moment, _ in points) - 1
        return points[max(hidden, 0) :]

    def table(self, ablation: str) -> str:
        """Return the last distance of each series, as a mean over folds."""
        rows = []
        for series in ABLATIONS[ablation][1]:
            cells = []
            for dataset in self.datasets:
                known = [self.points(ablation, series, dataset, f, "seconds") for f in self.scope.folds]
                last = [points[-1][1] for points in known if points]
                cells.append(f"{np.mean(last):.3f}" if last else NONE)
            rows.append([series, *cells])
        return markdown_table(("series", *self.datasets), rows)

    def short_of_cores(self) -> list[str]:
        """Name the datasets on which several threads had fewer cores than threads."""
        options = ABLATIONS["beyond"][1]["two threads"]
        runs = [(name, self.run(options, name, fold)) for name in self.datasets for fold in self.scope.folds]
        threads = options["n_threads"]
        return sorted({name for name, run in runs if run and run.details.get("cores", threads) < threads})


@dataclass(frozen=True)
class LeafCurve:
    """The trees of a path: the training accuracy in percent by the number of leaves."""

    points: Points
    proven: float  # share of the trees

    @classmethod
    def of(cls, run: RunResult | None) -> LeafCurve | None:
        if run is None or not run.n_train or "segments" not in run.details:
            return None
        segments = run.details["segments"]
        points = sorted((leaves, 100 * (1 - errors / run.n_train)) for leaves, errors, _, _ in segments)
        return cls(points, float(np.mean([proven for *_, proven in segments])))

    def accuracy(self, leaves: int) -> float:
        """Return the accuracy with at most so many leaves."""
        return max(accuracy for count, accuracy in self.points if count <= leaves)

    def leaves_for(self, accuracy: float) -> int | None:
        """Return the smallest number of leaves with this accuracy."""
        return next((int(leaves) for leaves, reached in self.points if reached >= accuracy - 1e-9), None)


class Paths:
    """The curves of every dataset, depth and number of change points, of fold 0."""

    def __init__(self, results: Results, scope: Scope) -> None:
        self.datasets = scope.only(ABLATED)
        self.depths = scope.path_depths
        self.curves = {
            (dataset, depth, changepoints): curve
            for dataset in self.datasets
            for depth in self.depths
            for changepoints in sorted(CHANGEPOINTS)
            if (curve := LeafCurve.of(results.get(path_spec(dataset, depth, changepoints, scope.limit))))
        }

    def table(self) -> str:
        rows = []
        for (dataset, depth, changepoints), curve in self.curves.items():
            cells = [f"{curve.accuracy(leaves):.2f}" for leaves in LEAVES]
            size, accuracy = curve.points[-1]
            rows.append(
                [
                    dataset,
                    str(depth),
                    str(changepoints),
                    str(len(curve.points)),
                    f"{100 * curve.proven:.0f}",
                    *cells,
                    f"{accuracy:.2f} with {size:g}",
                ]
            )
        sizes = [f"acc. %, {leaves} leaves" for leaves in LEAVES]
        return markdown_table(("dataset", "D", "K", "trees", "proven %", *sizes, "largest tree"), rows)

    def sentences(self) -> list[str]:
        """Say how many leaves K = 2 needs for the accuracy of the largest tree of K = 1."""
        found = []
        for dataset in self.datasets:
            for depth in self.depths:
                one, two = (self.curves.get((dataset, depth, k)) for k in (1, 2))
                if one is None or two is None:
                    continue
                size, accuracy = one.points[-1]
                leaves = two.leaves_for(accuracy)
                reached = "does not reach it" if leaves is None else f"needs {leaves}"
                first = f"K = 1 reaches {accuracy:.2f} % with {size:g} leaves"
                found.append(f"{dataset}, depth {depth}: {first}; K = 2 {reached}.")
        return found


def panels(distances: Distances, ablation: str, clock: str) -> dict[str, dict[str, Points]]:
    """Return the lines of a row of panels, of fold 0."""
    series: Sequence[str] = list(ABLATIONS[ablation][1])
    found = {
        dataset: {
            name: points
            for name in series
            if (points := distances.points(ablation, name, dataset, FIRST_FOLD, clock))
        }
        for dataset in distances.datasets
    }
    return {dataset: lines for dataset, lines in found.items() if lines}
