"""Count the cores that the jobs of one worker use, across its child processes.

The child processes of a worker share a file in which every byte stands for a core. A child locks as many
bytes as its job uses cores. The system releases the locks of a killed process, so a crash loses no core.
"""

from __future__ import annotations

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


class CoreSlots:
    """The cores of a worker. Create this in the main process, before the children are forked."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- open for the lifetime of the process
        self._held: list[int] = []  # the cores that this process has locked
        self._kept = 0

    @contextmanager
    def reserve(self) -> Iterator[int]:
        """Yield the number of free cores, which no other process can take until the block ends.

        Call `keep` inside the block with the number of cores to be used from then on.
        """
        fcntl.lockf(self._file, fcntl.LOCK_EX, 1, self.cores)  # the byte after the cores is a mutex
        self._kept = 0
        try:
            self._held = [core for core in range(self.cores) if self._try_lock(1, core)]
            yield len(self._held)
        finally:
            self.release(down_to=self._kept)
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self.cores)

    def keep(self, cores: int) -> None:
        self._kept = cores

    def release(self, down_to: int = 0) -> None:
        """Release the cores of this process, except for `down_to` of them."""
        while len(self._held) > down_to:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1, self._held.pop())

    def all_free(self) -> bool:
        """Return whether no child uses a core. Only the main process, which uses none, may call this."""
        free = self._try_lock(self.cores, 0)
        if free:
            fcntl.lockf(self._file, fcntl.LOCK_UN, self.cores)
        return free

    def _try_lock(self, count: int, first: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, count, first)
        except OSError:
            return False
        return True
