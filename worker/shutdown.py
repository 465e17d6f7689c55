"""How a worker leaves: it tells its children, who hand their jobs back, and goes as soon as they have.

Celery's own soft shutdown says nothing to the children and always sleeps for the whole of its timeout.
"""

from __future__ import annotations

import fcntl
import os
import select
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from celery.apps import worker

from . import logs

worker.safe_say = logs.say  # type: ignore[attr-defined]  # what Celery says from within a signal's handler


class Departure:
    """Made before the children are forked: they share with the main process a pipe and a file's locks."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._busy = tempfile.TemporaryFile()  # noqa: SIM115 -- open as long as the process lives

    def announce(self) -> None:
        """One byte that nobody reads: every child finds the pipe readable from now on."""
        os.write(self._write, b"!")

    def __call__(self) -> bool:
        """Whether the worker is leaving."""
        return bool(select.select([self._read], [], [], 0)[0])

    @contextmanager
    def busy(self) -> Iterator[None]:
        """In a child, while it has a job. A killed child is not busy: its locks go with it."""
        fcntl.lockf(self._busy, fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.lockf(self._busy, fcntl.LOCK_UN)

    def wait(self, seconds: float) -> None:
        """In the main process, until no child is busy."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                fcntl.lockf(self._busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.02)
            else:
                fcntl.lockf(self._busy, fcntl.LOCK_UN)
                return


_departure: Departure | None = None


def prepare() -> None:
    """In the main process, before it has children."""
    global _departure
    _departure = Departure()


def departure() -> Departure:
    assert _departure is not None, "made before the children"
    return _departure


class Worker(worker.Worker):
    def wait_for_soft_shutdown(self) -> bool:
        departure().announce()
        departure().wait(self.app.conf.worker_soft_shutdown_timeout)
        return True
