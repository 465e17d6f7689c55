"""Decide which trees of a search are polished, and for how long: a fixed share of all work."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from literati._engine._polish import VISITS_PER_SCAN
from literati.data.table import TrainingTable
from literati.search.interruptible import call_interruptibly

SEARCH_PER_POLISH = 4  # visits of rows by the search for each one by polishing, which is a fifth of all work
MAX_REPEATS = 3  # repetitions of a polish that stops interrupt; after them the search continues without it
MIN_WORK = (
    1 << 22
)  # visits of rows by the search before it polishes: some milliseconds, in which it may be over
MIN_LAST_WORK = 1 << 28  # visits of rows that are allowed for the last tree: one or two seconds


class Polishing:
    """Polish new best trees during a search and the last one at its end.

    Work is counted in visits of rows, not in seconds, so a search that is repeated polishes the same trees at
    the same moments.
    """

    def __init__(self, engine: Any, table: TrainingTable, max_depth: int) -> None:
        self._engine = engine
        self._polisher: Any = None
        self._unfinished: npt.NDArray[Any] | None = None  # nodes that may improve, or are not built yet
        self._unfinished_cost = math.inf  # at most what the unfinished tree costs
        self._polished_upper = math.inf  # the engine's upper bound when its tree was last polished
        self._next_work = MIN_WORK  # work of the engine before which nothing is polished
        self._repeated_work = 0  # visits by polishes that a stop interrupted and that were repeated
        self._repeats = 0  # repetitions of the polish that is due
        self._before: tuple[int, int, npt.NDArray[Any] | None, float, int]  # the state before the last polish
        # The visits of one sweep over all levels and features: a smaller budget may not change any node.
        self._min_budget = VISITS_PER_SCAN * table.n_rows * (len(table.features) + 1) * max_depth

    @property
    def work(self) -> int:
        return 0 if self._polisher is None else int(self._polisher.work) - self._repeated_work

    def wants(self, upper: float) -> bool:
        """Return whether anything is left to polish while the engine's tree costs `upper`."""
        return upper < self._polished_upper or self._unfinished is not None

    def due(self) -> tuple[float, int]:
        """Return the cost that the engine's tree must undercut to be polished next, and its work by then."""
        below = math.inf if self._unfinished is not None else self._polished_upper
        return below, max(self._next_work, SEARCH_PER_POLISH * (self.work + self._min_budget))

    def polish(self, seconds: float, last: bool, stop_wanted: Callable[[], bool]) -> npt.NDArray[Any] | None:
        """Polish the engine's tree, or continue with the unfinished one.

        Call `built` when the tree of the returned nodes is built, or `stopped` if a stop prevents that.
        Return None if a stop came before anything changed. After MemoryError this tree is not tried again.
        """
        engine = self._engine
        self._before = (self._next_work, self._min_budget, self._unfinished, self._polished_upper, self.work)
        # The search does some work before the next call, unless a stop interrupts this one.
        self._next_work = engine.work + SEARCH_PER_POLISH * self._min_budget
        try:
            return self._try_to_polish(seconds, last, stop_wanted)
        except MemoryError:
            self._polished_upper, self._unfinished = engine.upper, None
            raise

    def _try_to_polish(
        self, seconds: float, last: bool, stop_wanted: Callable[[], bool]
    ) -> npt.NDArray[Any] | None:
        engine, nodes, upper = self._engine, self._unfinished, self._polished_upper
        # An unfinished tree that is better than the engine's new one comes first, because it promises more.
        if engine.upper < upper and (nodes is None or engine.upper <= self._unfinished_cost):
            nodes = call_interruptibly(lambda: engine.nodes(interruptible=True), engine.request_stop, seconds)
            upper = self._unfinished_cost = engine.upper
        if nodes is None:
            return None
        if self._polisher is None:
            self._polisher = engine.polisher()
        self._polisher.clear_stop()  # before the check, so that no later request is forgotten
        if stop_wanted():
            return None
        polished = self._polish(nodes, seconds, last)
        self._unfinished, self._polished_upper = polished, upper
        return polished

    def _polish(self, start: npt.NDArray[Any], seconds: float, last: bool) -> npt.NDArray[Any]:
        engine, polisher = self._engine, self._polisher
        budget = max(
            self._min_budget, MIN_LAST_WORK if last else 0, engine.work // SEARCH_PER_POLISH - self.work
        )
        polished: npt.NDArray[Any] = call_interruptibly(
            lambda: polisher.polish(start, None if math.isinf(seconds) else seconds, budget),
            polisher.request_stop,
            math.inf,
        )
        if not polisher.finished and np.array_equal(polished, start):
            self._min_budget *= 2  # with many classes one level may take more than this
        return polished

    def built(self, cost: float) -> None:
        """Forget the tree of the last `polish`, which is built now, unless it is unfinished."""
        self._repeats, self._unfinished_cost = 0, cost
        if self._polisher.finished:
            self._unfinished = None

    def stopped(self) -> None:
        """Make the last `polish` due again, because stops must not decide which trees are polished."""
        self._repeats = (self._repeats + 1) % (MAX_REPEATS + 1)
        if self._repeats > 0:
            self._next_work, self._min_budget, self._unfinished, self._polished_upper, work = self._before
            self._repeated_work += self.work - work

    def request_stop(self) -> None:
        if self._polisher is not None:
            self._polisher.request_stop()
