"""Random search: draw hyperparameters from a grid until the budget is over or the whole grid was tried."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.runners.base import Array
from benchmarks.tuning.splits import Fold

REFIT_SHARE = 0.1  # of the budget, as LiteratiClassifierCV has it
TRIAL_SHARE = 0.1  # of the budget: the longest trial of a solver with a time limit
REFIT_FACTOR = 1.25  # seconds of a fit to all rows, as a multiple of those of a fit to four fifths

Grid = Mapping[str, Sequence[Any]]
Parameters = dict[str, Any]
Build = Callable[[Parameters, float], Any]  # (parameters, seconds of the fit) -> estimator
Leaves = Callable[[Any], int]


@dataclass
class Trial:
    """The parameters of a trial and what is known of its folds so far."""

    parameters: Parameters
    scores: list[float] = field(default_factory=list)  # accuracy on held-out rows
    leaves: list[int] = field(default_factory=list)  # empty for ensembles
    seconds: list[float] = field(default_factory=list)  # of each fit

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def mean_leaves(self) -> float | None:
        return float(np.mean(self.leaves)) if self.leaves else None

    @property
    def rank(self) -> tuple[int, float, float]:
        """Return what makes a trial better: more folds, a better mean, and of equal ones fewer leaves."""
        return len(self.scores), self.mean, -(self.mean_leaves or 0.0)


@dataclass(frozen=True)
class Found:
    """The model that was fitted with the best parameters to all rows."""

    model: Any
    best: Trial
    trials: int  # whose folds are all finished
    failures: list[str]  # errors of trials


def random_search(
    build: Build,
    grid: Grid,
    X: Array,
    y: Array,
    folds: Sequence[Fold],
    limit: float,
    seed: int,
    leaves: Leaves | None = None,
) -> Found:
    """Return the model with the best mean accuracy over the folds. Everything together takes `limit` seconds.

    A trial that the end of the budget cuts short does not count, unless there is no other.
    """
    search = _Search(build, X, y, folds, limit, leaves)
    for parameters in draws(grid, seed):
        if not search.has_time():
            break
        search.try_out(parameters)
    return search.found()


def draws(grid: Grid, seed: int) -> Iterator[Parameters]:
    """Yield every point of a grid once, in random order."""
    sizes = [len(values) for values in grid.values()]
    for number in np.random.RandomState(seed).permutation(int(np.prod(sizes))):
        places = np.unravel_index(number, sizes)
        yield {name: values[int(place)] for (name, values), place in zip(grid.items(), places, strict=True)}


class _Search:
    """The trials of a search, and the time that is left."""

    def __init__(
        self,
        build: Build,
        X: Array,
        y: Array,
        folds: Sequence[Fold],
        limit: float,
        leaves: Leaves | None,
    ) -> None:
        self._end = time.perf_counter() + limit
        self._build = build
        self._X, self._y = X, y
        self._folds = folds
        self._limit = limit
        self._leaves = leaves
        self._best: Trial | None = None
        self._trials = 0
        self._failures: list[str] = []

    @property
    def _seconds_left(self) -> float:
        """Return the seconds that are left for trials, without those of the last fit."""
        fit = 0.0 if self._best is None else float(np.mean(self._best.seconds))
        return self._end - max(REFIT_SHARE * self._limit, REFIT_FACTOR * fit) - time.perf_counter()

    def has_time(self) -> bool:
        return self._seconds_left > 0

    def try_out(self, parameters: Parameters) -> None:
        """Fit a model on every fold, and keep the trial if it is the best one."""
        trial = Trial(parameters)
        try:
            for fold in self._folds:
                if trial.scores and not self.has_time():
                    break
                self._add_fold(trial, fold)
        except Exception as error:  # some parameters may suit a package, and others not
            self._failures.append(f"{parameters}: {error}")
            return
        self._trials += len(trial.scores) == len(self._folds)
        if self._best is None or trial.rank > self._best.rank:
            self._best = trial

    def _add_fold(self, trial: Trial, fold: Fold) -> None:
        train, test = fold
        started = time.perf_counter()
        seconds = min(TRIAL_SHARE * self._limit / len(self._folds), max(self._seconds_left, 0.01))
        model = self._build(trial.parameters, seconds).fit(self._X[train], self._y[train])
        trial.seconds.append(time.perf_counter() - started)
        if self._leaves is not None:
            trial.leaves.append(self._leaves(model))
        trial.scores.append(float(np.mean(model.predict(self._X[test]) == self._y[test])))

    def found(self) -> Found:
        """Fit the best parameters to all rows, with all the time that is left."""
        best = self._best
        if best is None:
            raise RuntimeError(f"every trial failed, the last one with {self._failures[-1]}")
        seconds = max(self._end - time.perf_counter(), REFIT_SHARE * self._limit / 2)
        model = self._build(best.parameters, seconds).fit(self._X, self._y)
        return Found(model, best, self._trials, self._failures)
