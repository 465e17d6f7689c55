"""Supervise a child process: restart it with backoff, stop its whole process group, log its output."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

MIN_DELAY, MAX_DELAY = 0.5, 30.0  # seconds before a restart
STABLE_SECONDS = 60.0  # uptime after which the restart delay is reset
MAX_LOG_BYTES = 10 << 20  # of a log; one older log of that size is kept


class SupervisedProcess:
    """A child process in its own session, so that Ctrl-C in the terminal reaches only the supervisor."""

    def __init__(self, name: str, command: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        self.restarts = 0
        self._command = command
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None
        self._delay = MIN_DELAY
        self._started_at = 0.0
        self._start_at: float | None = None  # the time of the next restart
        self._log_from = 0  # where the output of this run begins

    @property
    def process(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the process was never started"
        return self._process

    def start(self) -> None:
        """Start the process from the main thread; it is killed when the thread that started it ends."""
        with open(self.log, "ab") as log:
            self._log_from = log.tell()
            self._process = subprocess.Popen(
                self._command,
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

    def poll(self) -> str | None:
        """Restart the process if its delay is over. Return a message if it has just ended, else None."""
        self._rotate()
        now = time.monotonic()
        if self._start_at is not None:
            if now >= self._start_at:
                self.restarts += 1
                self.start()
            return None
        if not self.ended:
            return None
        self._kill_group()
        if now - self._started_at >= STABLE_SECONDS:
            self._delay = MIN_DELAY
        delay, self._delay = self._delay, min(2 * self._delay, MAX_DELAY)
        self._start_at = now + delay
        return f"The {self.name} {self.exit_reason}; it restarts in {delay:g} s. Its log is {self.log}."

    @property
    def exit_reason(self) -> str:
        """How the process ended, as the end of a sentence."""
        code = self.process.returncode
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"

    def stop(self, seconds: float, skip_wait: Callable[[], bool]) -> None:
        """Terminate the process, wait for it, and kill what is left of its process group."""
        self._start_at = None
        if self._process is None:
            return
        if not self.ended:
            self.process.terminate()
            deadline = time.monotonic() + seconds
            while not self.ended and time.monotonic() < deadline and not skip_wait():
                time.sleep(0.02)
        self._kill_group()
        self.process.wait()

    def _kill_group(self) -> None:
        """Kill the process group, which may outlive its leader."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def output(self) -> str:
        """Return the output of this run so far."""
        with open(self.log, "rb") as log:
            log.seek(self._log_from)
            return log.read().decode(errors="replace")

    def _rotate(self) -> None:
        """Copy and truncate a log that is too long. The child appends, so it continues at the start."""
        with suppress(FileNotFoundError):
            if self.log.stat().st_size > MAX_LOG_BYTES:
                shutil.copyfile(self.log, self.log.with_suffix(".log.1"))
                os.truncate(self.log, 0)
                self._log_from = 0
