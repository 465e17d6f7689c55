"""The clock of a search. Its limits, its trace and its reports use these seconds."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Measure the seconds spent inside `with` blocks."""

    def __init__(self) -> None:
        self._before = 0.0
        self._since: float | None = None

    @property
    def seconds(self) -> float:
        return self._before + (0.0 if self._since is None else perf_counter() - self._since)

    def add(self, seconds: float) -> None:
        """Add seconds that were spent before a resume."""
        self._before += seconds

    def __enter__(self) -> None:
        self._since = perf_counter()

    def __exit__(self, *error: object) -> None:
        self._before, self._since = self.seconds, None
