"""Count the cores that the jobs of one worker use, across its child processes.

The children of a worker share a file whose bytes stand for cores. A child locks as many bytes as its job has
cores; the system releases the locks of a process that is killed, so a crash loses no core.
"""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


class CoreSlots:
    """Make one in the main process, before the children are forked."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- open as long as the process lives
        self._held: list[int] = []  # by this process
        self._kept = 0

    @contextmanager
    def claiming(self) -> Iterator[int]:
        """Yield how many cores are free; no sibling takes one before this ends.

        Call `keep` inside with the number of cores that are used from now on.
        """
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, self.cores)  # the byte after the cores: one child at a time
        self._kept = 0
        try:
            self._held = [core for core in range(self.cores) if self._try_lock(core)]
            yield len(self._held)
        finally:
            self.release(down_to=self._kept)
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self.cores)

    def keep(self, cores: int) -> None:
        self._kept = cores

    def release(self, down_to: int = 0) -> None:
        """Give back the cores that this process has, or all but so many of them."""
        while len(self._held) > down_to:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._held.pop())

    def _try_lock(self, core: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, core)
        except OSError:
            return False
        return True
