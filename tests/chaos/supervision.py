"""Processes that are started again whenever they end, as `make serve` does it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

from stack import poll

TICK = 0.03
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0  # before a process that ended soon after its start is started again
LONG_LIFE = 1.5
START_SECONDS = 90.0


class Unit:
    """One process of the stack. `hold` keeps it down once it has ended, `let_go` brings it back."""

    def __init__(
        self,
        name: str,
        command: list[str],  # tethered
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
        self._held = False
        self._pause = FIRST_PAUSE
        self.prefix: list[str] = []  # words before the command, from the next start on

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def ready(self) -> bool:
        """Has come up since its last start, and lives."""
        if not self.alive:
            return False
        self._was_ready = self._was_ready or self._ready(self)
        return self._was_ready

    def said(self) -> str:
        """Its log since its last start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def send(self, number: signal.Signals) -> None:
        if self.alive:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """At once, and returns when it is gone."""
        process = self._process
        if process is not None:
            process.kill()
            process.wait()

    def hold(self) -> None:
        self._held = True

    def let_go(self) -> None:
        self._held = False

    # For the supervisor's thread: the system ties a process to the thread that started it.

    def tend(self) -> None:
        if self._held or self.alive:
            return
        lived = time.monotonic() - self.born
        if self.starts and lived < LONG_LIFE:
            if lived < self._pause:
                return
            self._pause = min(2 * self._pause, LONGEST_PAUSE)
        else:
            self._pause = FIRST_PAUSE
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
                unit.tend()

    def await_ready(self, *units: Unit) -> None:
        for unit in units or tuple(self.units):
            poll(lambda unit=unit: unit.ready, seconds=START_SECONDS, what=f"{unit.name} ready")  # type: ignore[misc]

    def stop(self) -> None:
        """Kill them all. What is stopped or stuck goes too, and children go with their parents."""
        self._stopping.set()
        self._thread.join()
        for unit in self.units:
            unit.kill()
