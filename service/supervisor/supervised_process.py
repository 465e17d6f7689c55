"""A process that is kept running: started again when it dies, ended whole, its output in a file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
SETTLED_SECONDS = 60.0  # who lived so long starts again without delay of before
LOG_BYTES = 10 << 20  # of a log, and as much again of the one before


class Child:
    """Leads a session of its own: a Ctrl-C in the terminal is for the supervisor, who ends all in order."""

    def __init__(
        self, name: str, command: Callable[[], Sequence[str]], environment: dict[str, str], log: Path
    ) -> None:
        self.name = name
        self.log = log
        self.restarts = 0
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._delay = FIRST_DELAY
        self._started_at = 0.0
        self._start_at: float | None = None  # when it is to be started again
        self._log_from = 0  # where in the log this run begins

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "it was never started"
        return self._process

    def start(self) -> None:
        """From the main thread only: it is killed when the thread that started it ends."""
        with open(self.log, "ab") as log:
            self._log_from = log.tell()
            self._process = subprocess.Popen(
                self._command(),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started_at = time.monotonic()
        self._start_at = None

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    def tend(self) -> str | None:
        """Start it again if it ended and its delay is over; a sentence when it has just ended."""
        self._rotate()
        now = time.monotonic()
        if self._start_at is not None:
            if now >= self._start_at:
                self.restarts += 1
                self.start()
            return None
        if not self.ended:
            return None
        self._end_group()
        if now - self._started_at >= SETTLED_SECONDS:
            self._delay = FIRST_DELAY
        delay, self._delay = self._delay, min(2 * self._delay, LONGEST_DELAY)
        self._start_at = now + delay
        return f"The {self.name} ended ({self.how}); it is started again in {delay:g} s. Its log: {self.log}"

    @property
    def how(self) -> str:
        code = self.process.returncode
        return f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"

    def stop(self, seconds: float, hurry: Callable[[], bool]) -> None:
        """Ask it to end, wait, and make it end with all that belong to it."""
        self._start_at = None
        if self._process is None:
            return
        if not self.ended:
            self.process.terminate()
            deadline = time.monotonic() + seconds
            while not self.ended and time.monotonic() < deadline and not hurry():
                time.sleep(0.02)
        self._end_group()
        self.process.wait()

    def _end_group(self) -> None:
        """Also what a killed leader left behind."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def output(self) -> str:
        """What this run has said so far."""
        with open(self.log, "rb") as log:
            log.seek(self._log_from)
            return log.read().decode(errors="replace")

    def _rotate(self) -> None:
        """Children append, so that what they write next goes to the start of the emptied file."""
        with suppress(FileNotFoundError):
            if self.log.stat().st_size > LOG_BYTES:
                shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)
                self._log_from = 0
