"""Show the progress of a benchmark: a line that is redrawn on a terminal, or one line per run in a log."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import mean
from typing import TextIO

from benchmarks.runs import RunResult, RunSpec

BAR_CELLS = 24
REDRAW_SECONDS = 0.2


class TimeLeft:
    """Estimate the seconds of the runs that are left from those of finished runs.

    A run takes as long as the mean of the runs of its solver at its depth, or at any depth, and without any
    such run its time limit.
    """

    def __init__(self, specs: Iterable[RunSpec]) -> None:
        self._left = {spec.key: spec for spec in specs}
        self._seconds: dict[tuple[str, int | None], list[float]] = defaultdict(list)

    def add(self, spec: RunSpec, seconds: float) -> None:
        """Take a finished run into account."""
        self._left.pop(spec.key, None)
        self._seconds[spec.solver, spec.depth].append(seconds)
        self._seconds[spec.solver, None].append(seconds)

    def seconds(self) -> float:
        return sum(map(self._estimate, self._left.values()))

    def _estimate(self, spec: RunSpec) -> float:
        known = self._seconds.get((spec.solver, spec.depth)) or self._seconds.get((spec.solver, None))
        return mean(known) if known else spec.time_limit


class Progress:
    """A progress display for a number of runs. With `time_left` it tells how long they may take."""

    def __init__(
        self, total: int, stream: TextIO | None = None, time_left: Callable[[], float] | None = None
    ) -> None:
        self.total = total
        self._time_left = time_left
        self.done = 0
        self.stream = sys.stderr if stream is None else stream
        self._live = self.stream.isatty()
        self._start = time.monotonic()
        self._drawn = 0.0
        self._width = 0

    def running(self, spec: RunSpec, seconds: float) -> None:
        """Show a run in progress."""
        now = time.monotonic()
        if not self._live or now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        self._draw(f"{_name(spec)}  {seconds:.0f} s")

    def finished(self, result: RunResult) -> None:
        """Show the result of a run."""
        self.done += 1
        text = f"{_name(result.spec)}  {result.status}"
        if result.objective is not None and result.seconds is not None:
            text += f", {result.objective} errors, {result.seconds:.3g} s"
        if self._live:
            self._draw(text)
        else:
            print(f"[{self.done}/{self.total}{self._estimate()}] {text}", file=self.stream, flush=True)

    def close(self) -> None:
        if self._live:
            self.stream.write("\n")
            self.stream.flush()

    def _estimate(self) -> str:
        if self._time_left is None:
            return ""
        hours, minutes = divmod(round(self._time_left() / 60), 60)
        return f", about {hours} h {minutes:02d} min left" if hours else f", about {minutes} min left"

    def _draw(self, text: str) -> None:
        filled = BAR_CELLS * self.done // max(self.total, 1)
        bar = "#" * filled + "." * (BAR_CELLS - filled)
        minutes, seconds = divmod(int(time.monotonic() - self._start), 60)
        line = f"[{bar}] {self.done}/{self.total}  {minutes}:{seconds:02d}{self._estimate()}  {text}"[:150]
        self.stream.write("\r" + line.ljust(self._width))  # spaces overwrite the rest of a longer line
        self.stream.flush()
        self._width = len(line)


def _name(spec: RunSpec) -> str:
    depth = f", D={spec.depth}" if spec.depth else ""  # 0 if the depth is tuned
    return f"{spec.label} on {spec.dataset}{depth}"
