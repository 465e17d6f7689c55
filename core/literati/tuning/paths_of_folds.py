"""Compute the paths of all folds and settings, several at once, within a time limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from fractions import Fraction
from threading import Event, Lock
from time import perf_counter

from literati.data.table import TrainingTable, build
from literati.search.options import SearchLimits, SolverOptions
from literati.search.report import StopReason
from literati.tuning.candidates import FoldResult, Setting
from literati.tuning.fold_scores import Scorer, TrainingData, score_path, taken
from literati.tuning.folds import Fold
from literati.tuning.path import path_of_table

WAIT_SECONDS = 0.25  # between two looks at the progress


class PathsOfFolds:
    """Compute a path for every fold of every setting, the smallest trees first.

    Each path gets an equal share of the time that is left when it starts, so what small trees do not need
    is left to large ones. The paths of one depth on one fold are computed one after another, because each
    begins with the trees of the one before. Searches release the GIL, so paths run in threads.
    """

    def __init__(
        self,
        data: TrainingData,
        folds: Sequence[Fold],
        options: Mapping[Setting, SolverOptions],
        ratio: Fraction,
        scorer: Scorer,
        limits: SearchLimits,
    ) -> None:
        self._data = data
        self._folds = folds
        self._scorer = scorer
        self._limits = limits
        self._ratio = ratio
        self._options = options
        self._tables: dict[int, TrainingTable] = {}
        self._table_locks = [Lock() for _ in folds]
        self.results: dict[Setting, list[FoldResult]] = {}  # of finished paths
        self.seconds: dict[Setting, float] = {}  # of the longest path
        by_depth: dict[int, list[Setting]] = {}
        for setting in sorted(options, key=lambda setting: (setting.max_depth, setting.max_changepoints)):
            by_depth.setdefault(setting.max_depth, []).append(setting)
        self._waiting = [(same, fold) for same in by_depth.values() for fold in range(len(folds))]
        self.total = self._left = sum(len(same) for same, _ in self._waiting)
        self.done = 0
        self._started = perf_counter()
        self._stop = Event()
        self._lock = Lock()

    @property
    def seconds_left(self) -> float:
        limit = self._limits.time_limit
        return math.inf if limit is None else limit - (perf_counter() - self._started)

    @property
    def stopped(self) -> bool:
        """Whether `watch` or an interrupt ended the computation."""
        return self._stop.is_set()

    def complete(self) -> dict[Setting, list[FoldResult]]:
        """Return the results of the settings whose folds are all finished, or of the one with most folds."""
        with self._lock:
            known = {setting: list(folds) for setting, folds in self.results.items()}
        found = {setting: folds for setting, folds in known.items() if len(folds) == len(self._folds)}
        if found or not known:
            return found
        most = max(known, key=lambda setting: len(known[setting]))
        return {most: known[most]}

    def _is_over(self) -> bool:
        """Return whether to stop: there is something to choose from and no time, or it was asked for."""
        if self._stop.is_set():
            return True
        if self.seconds_left > 0:
            return False
        with self._lock:
            return any(len(folds) == len(self._folds) for folds in self.results.values())

    def run(self, n_jobs: int, watch: Callable[[], object]) -> bool:
        """Compute the paths; `watch` is called now and then. Return whether all were computed, unstopped.

        When `watch` returns a true value, or after an interrupt, the paths that are not finished are dropped.
        """
        pool = ThreadPoolExecutor(n_jobs)
        tasks = len(self._waiting)  # they leave the list when they start
        pending: set[Future[None]] = {pool.submit(self._compute, n_jobs) for _ in range(tasks)}
        try:
            while pending:
                if watch():
                    self._stop.set()
                finished, pending = wait(pending, WAIT_SECONDS, FIRST_COMPLETED)
                for future in finished:
                    future.result()
        except KeyboardInterrupt:
            self._stop.set()
        finally:
            if pending:
                self._stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
        watch()
        return self.done == self.total and not self.stopped

    def _compute(self, n_jobs: int) -> None:
        """Compute the paths of one depth on one fold."""
        with self._lock:
            settings, fold = self._waiting.pop(0)
        if self._is_over():
            return
        train, test = self._folds[fold]
        table, path = self._table(fold), None
        for setting in settings:
            started = perf_counter()
            if self._is_over():
                return
            path = path_of_table(
                table,
                self._options[setting],
                self._ratio,
                replace(self._limits, time_limit=self._share(n_jobs)),
                start=path,
                callback=lambda _: self._stop.is_set(),
            )
            if path.stop_reason is StopReason.USER_STOP:
                return
            result = score_path(path, self._data, fold, train, test, self._scorer)
            self._add(setting, result, perf_counter() - started)

    def _table(self, fold: int) -> TrainingTable:
        """Return the encoded training rows of a fold, which all depths share."""
        with self._table_locks[fold]:
            if fold not in self._tables:
                train, _ = self._folds[fold]
                X, y = self._data.rows(train)
                options = next(iter(self._options.values()))
                weights = taken(self._data.search_weights, train)
                self._tables[fold] = build(X, y, weights, options.class_weight, options.categories)
            return self._tables[fold]

    def _share(self, n_jobs: int) -> float | None:
        """Return the time limit of the next path."""
        with self._lock:
            left = self.seconds_left * min(1.0, n_jobs / self._left)
            self._left -= 1
        return None if math.isinf(left) else max(1e-3, left)

    def _add(self, setting: Setting, result: FoldResult, seconds: float) -> None:
        with self._lock:
            folds = self.results.setdefault(setting, [])
            folds.append(result)
            folds.sort(key=lambda found: found.fold)
            self.seconds[setting] = max(self.seconds.get(setting, 0.0), seconds)
            self.done += 1
