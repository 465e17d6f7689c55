"""Which trees of a search are polished, and for how long: a share of the work that the search itself does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._polish import VISITS_PER_SCAN
from .costs import ExactCosts
from .engines import make_polisher
from .nodes import Settings
from .patient import call_patiently

SEARCH_PER_POLISH = 4  # visits of rows by the search for one by polishing: a fifth of all work is polishing
MAX_REPEATS = 3  # of one polish that is stopped again and again: then the search goes on with what it has
LAST_WORK = 1 << 28  # visits of rows that the last tree gets at least: a second or two


class Polishing:
    """Polish new best trees on the way and the last one at the end.

    When it is time to polish, and for how long, is counted in visits of rows, never by the clock: a search
    that is repeated polishes the same trees at the same moments.
    """

    def __init__(self, costs: ExactCosts, settings: Settings) -> None:
        self._costs = costs
        self._settings = settings
        self._polisher: Any = None
        self._unfinished: npt.NDArray[Any] | None = None  # nodes that may get better, or are not built yet
        self._polished_upper = math.inf  # the engine's upper bound when its tree was last polished
        self._next_work = 0  # of the engine, before which nothing is polished
        self._repeated_work = 0  # visits of polishes that were stopped, and made again from their start
        self._repeats = 0  # of the polish that is due
        # Visits in one sweep over all levels and features: with less, a polish may not get anywhere.
        rows, scans = costs.table.n_rows, (len(costs.table.features) + 1) * settings.max_depth
        self._turn = VISITS_PER_SCAN * rows * scans

    @property
    def work(self) -> int:
        return 0 if self._polisher is None else int(self._polisher.work) - self._repeated_work

    def wants(self, upper: float) -> bool:
        """Whether there is anything left to polish while the engine's tree costs `upper`."""
        return upper < self._polished_upper or self._unfinished is not None

    def due(self) -> tuple[float, int]:
        """Return the cost that the engine's tree must undercut to be polished next, and its work by then."""
        below = math.inf if self._unfinished is not None else self._polished_upper
        return below, max(self._next_work, SEARCH_PER_POLISH * (self.work + self._turn))

    def polish(
        self, engine: Any, seconds: float, last: bool, stop_wanted: Callable[[], bool]
    ) -> npt.NDArray[Any] | None:
        """Polish the engine's tree, or go on with the one that was not finished; `built` must follow.

        None if it was stopped before there was anything new. After MemoryError this tree is not tried again.
        """
        # The search does some work before the next try, unless a stop ends this one.
        before = (self._next_work, self._turn, self._unfinished, self._polished_upper, self.work)
        self._next_work = engine.work + SEARCH_PER_POLISH * self._turn
        try:
            polished = self._try(engine, seconds, last, stop_wanted)
        except MemoryError:
            self._polished_upper, self._unfinished = engine.upper, None
            raise
        finished = polished is not None and self._polisher.finished
        if stop_wanted() and not finished and not last and self._repeats < MAX_REPEATS:
            # A stop must not decide which trees are polished: this tree comes again when the search goes on.
            self._repeats += 1
            self._next_work, self._turn, self._unfinished, self._polished_upper, work = before
            self._repeated_work += self.work - work
        else:
            self._repeats = 0
        return polished

    def _try(
        self, engine: Any, seconds: float, last: bool, stop_wanted: Callable[[], bool]
    ) -> npt.NDArray[Any] | None:
        nodes = self._unfinished
        if engine.upper < self._polished_upper:
            nodes = call_patiently(lambda: engine.nodes(interruptible=True), engine.request_stop, seconds)
        if nodes is None:
            return None
        if self._polisher is None:
            self._polisher = make_polisher(self._costs, self._settings)
        if stop_wanted():
            return None
        return self._polish(engine, nodes, seconds, last)

    def _polish(self, engine: Any, start: npt.NDArray[Any], seconds: float, last: bool) -> npt.NDArray[Any]:
        polisher = self._polisher
        budget = max(self._turn, LAST_WORK if last else 0, engine.work // SEARCH_PER_POLISH - self.work)
        polished: npt.NDArray[Any] = call_patiently(
            lambda: polisher.polish(start, None if math.isinf(seconds) else seconds, budget),
            polisher.request_stop,
            math.inf,
        )
        self._unfinished, self._polished_upper = polished, engine.upper
        if not polisher.finished and np.array_equal(polished, start):
            self._turn *= 2  # many classes: one level takes more than a sweep over two
        return polished

    def built(self) -> None:
        """Take note that the tree of the last `polish` is built: it need not be kept if it is finished."""
        if self._polisher.finished:
            self._unfinished = None

    def request_stop(self) -> None:
        if self._polisher is not None:
            self._polisher.request_stop()
