"""The peak memory of a process and all its descendants."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

import psutil

_INTERVAL = 0.01


class MemoryWatch:
    """Sample the memory while the context lasts; `peak` is the largest sum over all processes."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._root = psutil.Process(pid)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._stop.wait(_INTERVAL):
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
