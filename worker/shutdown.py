"""Shut a worker down: its children hand their jobs back, and the worker ends as soon as they have.

Celery's own soft shutdown does not notify the children and always waits for its whole timeout.
"""

from __future__ import annotations

import os
import select
import time

from celery.apps import worker

from worker import logs
from worker.training.core_slots import CoreSlots

worker.safe_say = logs.write_from_signal_handler  # type: ignore[attr-defined]


class MainProcess:
    """What the main process of a worker shares with its children. Create it before they are forked."""

    def __init__(self, cores: int) -> None:
        self.pid = os.getpid()
        self.core_slots = CoreSlots(cores)
        self._read, self._write = os.pipe()

    def shut_down(self) -> None:
        """Notify the children with a byte that is never read, so that the pipe stays readable for all."""
        os.write(self._write, b"!")

    def is_shutting_down(self) -> bool:
        return bool(select.select([self._read], [], [], 0)[0])

    def wait_until_idle(self, seconds: float) -> None:
        """Wait in the main process until no child has a job, but at most `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.core_slots.all_free() and time.monotonic() < deadline:
            time.sleep(0.02)


_main_process: MainProcess | None = None


def create_main_process(cores: int) -> None:
    global _main_process
    _main_process = MainProcess(cores)


def main_process() -> MainProcess:
    assert _main_process is not None, "it is created before the children are forked"
    return _main_process


class Worker(worker.Worker):
    def wait_for_soft_shutdown(self) -> bool:
        main_process().shut_down()
        main_process().wait_until_idle(self.app.conf.worker_soft_shutdown_timeout)
        return True
