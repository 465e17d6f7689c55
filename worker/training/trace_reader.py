"""Read the trace of a search for the store, a few points at a time."""

from __future__ import annotations

import time

from literati import Search, SearchReport
from worker.domain.progress import TracePoint
from worker.training.search_snapshot import Effort

READ_SECONDS = 0.25  # time between two readings
MAX_POINTS = 64  # of one reading; a chart shows no more
EXPLORED_STEP = 0.01  # growth of the explored share after which there is a point


class TraceReader:
    """Return the points of a search's trace that are new, in the effort that the job counts.

    The search adds a point when a bound changes, and for each hundredth that it explores. The reader adds one
    if the report has explored more than the last point.
    """

    def __init__(self, search: Search, offset: Effort) -> None:
        self._search = search
        self._offset = offset
        self._length = len(search.trace())  # an earlier attempt has published these points
        self._read_at = 0.0
        self._last = (0, 0.0)  # stage and explored share of the last point

    def read(self, report: SearchReport, now: bool) -> list[TracePoint]:
        """Return the thinned trace since the last call; nothing if that was a moment ago, unless `now`."""
        if not now and time.monotonic() - self._read_at < READ_SECONDS:
            return []
        self._read_at = time.monotonic()
        points = self._search.trace()
        fresh = points[self._length :]
        self._length = len(points)
        step = -(-len(fresh) // MAX_POINTS) or 1
        kept = fresh[::-1][::step][::-1]  # always includes the last point
        found = [self._point(*point) for point in kept.tolist()]
        if found:
            self._last = (found[-1].stage, found[-1].explored or 0.0)
        if (report.stage, report.explored - EXPLORED_STEP) >= self._last:
            self._last = (report.stage, report.explored)
            bounds = (report.upper_bound, report.lower_bound)
            effort = (report.elapsed_seconds, report.expansions)
            found.append(self._point(*effort, *bounds, report.explored, report.stage))
        return found

    def _point(
        self, seconds: float, expansions: int, upper: float, lower: float, explored: float, stage: int
    ) -> TracePoint:
        return TracePoint(
            seconds=max(0.0, seconds - self._offset.seconds),
            expansions=max(0, expansions - self._offset.expansions),
            upper=upper,
            lower=lower,
            explored=explored,
            stage=stage,
        )
