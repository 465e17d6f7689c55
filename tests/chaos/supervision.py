"""Supervised processes: each is started again when it has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.stack.stack import poll

TICK = 0.03
INITIAL_PAUSE, MAX_PAUSE = 0.1, 2.0  # seconds before a process that ended soon after its start is restarted
LONG_LIFE = 1.5
START_SECONDS = 90.0


class Unit:
    """A process of the stack. After `keep_stopped` it is not restarted until `allow_restart`."""

    def __init__(
        self,
        name: str,
        command: list[str],  # kill_with_parent
        ready: Callable[[Unit], bool],
        *,
        folder: Path,
        environment: dict[str, str],
        log: Path,
    ) -> None:
        self.name = name
        self.log = log
        self.environment = environment
        self.starts = 0
        self.born = 0.0
        self._command = command
        self._ready = ready
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0
        self._was_ready = False
        self._kept_stopped = False
        self._pause = INITIAL_PAUSE
        self.prefix: list[str] = []  # put before the command at the next start

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def ready(self) -> bool:
        """Whether the process is alive and has become ready since its last start."""
        if not self.alive:
            return False
        self._was_ready = self._was_ready or self._ready(self)
        return self._was_ready

    def log_since_start(self) -> str:
        """Return the log since the last start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def send(self, number: signal.Signals) -> None:
        if self.alive:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process and wait for its end."""
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def keep_stopped(self) -> None:
        self._kept_stopped = True

    def allow_restart(self) -> None:
        self._kept_stopped = False

    # Only the supervisor's thread calls these: a process ends with the thread that started it.

    def restart_if_ended(self) -> None:
        if self._kept_stopped or self.alive:
            return
        lived = time.monotonic() - self.born
        if self.starts and lived < LONG_LIFE:
            if lived < self._pause:
                return
            self._pause = min(2 * self._pause, MAX_PAUSE)
        else:
            self._pause = INITIAL_PAUSE
        self._start()

    def _start(self) -> None:
        self._was_ready = False
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                [*self.prefix, *self._command],
                cwd=self._folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.starts += 1
        self.born = time.monotonic()


class Supervisor:
    def __init__(self, units: list[Unit]) -> None:
        self.units = units
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        while not self._stopping.wait(TICK):
            for unit in tuple(self.units):
                unit.restart_if_ended()

    def await_ready(self, *units: Unit) -> None:
        for unit in units or tuple(self.units):
            poll(lambda unit=unit: unit.ready, seconds=START_SECONDS, what=f"{unit.name} ready")  # type: ignore[misc]

    def stop(self) -> None:
        """Kill all processes, suspended ones too; their children end with them."""
        self._stopping.set()
        self._thread.join()
        for unit in self.units:
            unit.kill()
