"""The largest resident size of a process and all its descendants, those that live for a moment too."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import psutil

_EVERY = 0.01


class MemoryWatch:
    """Looks as long as the `with` lasts; `peak` is the largest sum of all of them at one time."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._root = psutil.Process(pid)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.wait(_EVERY):
            self.peak = max(self.peak, self._now())

    def _now(self) -> int:
        total = 0
        for process in [self._root, *self._root.children(recursive=True)]:
            try:
                total += process.memory_info().rss - process.memory_info().shared
            except psutil.NoSuchProcess:
                continue
        return total

    def __enter__(self) -> Self:
        self.peak = self._now()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
