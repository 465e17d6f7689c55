"""Shut a worker down: its children hand their jobs back, and the worker ends as soon as they have.

Celery's own soft shutdown does not notify the children and always waits for its whole timeout.
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

from worker import logs
from worker.training.core_slots import CoreSlots

worker.safe_say = logs.write_from_signal_handler  # type: ignore[attr-defined]


class ShutdownSignal:
    """A signal from the main process to its children.

    The processes share a pipe, for the signal, and a locked file, which tells whether a child has a job.
    """

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        self._busy = tempfile.TemporaryFile()  # noqa: SIM115 -- open for the lifetime of the process

    def set(self) -> None:
        """Write a byte that is never read, so that the pipe stays readable for every child."""
        os.write(self._write, b"!")

    def is_set(self) -> bool:
        return bool(select.select([self._read], [], [], 0)[0])

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Mark this child as busy. The system removes the mark of a killed child."""
        fcntl.lockf(self._busy, fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.lockf(self._busy, fcntl.LOCK_UN)

    def wait_until_idle(self, seconds: float) -> None:
        """Wait in the main process until no child is busy, but at most `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                fcntl.lockf(self._busy, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.02)
            else:
                fcntl.lockf(self._busy, fcntl.LOCK_UN)
                return


class MainProcess:
    """What the main process of a worker shares with its children. Create it before they are forked."""

    def __init__(self, cores: int) -> None:
        self.pid = os.getpid()
        self.core_slots = CoreSlots(cores)
        self.shutdown = ShutdownSignal()


_main_process: MainProcess | None = None


def create_main_process(cores: int) -> None:
    global _main_process
    _main_process = MainProcess(cores)


def main_process() -> MainProcess:
    assert _main_process is not None, "it is created before the children are forked"
    return _main_process


class Worker(worker.Worker):
    def wait_for_soft_shutdown(self) -> bool:
        main_process().shutdown.set()
        main_process().shutdown.wait_until_idle(self.app.conf.worker_soft_shutdown_timeout)
        return True
