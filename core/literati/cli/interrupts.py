"""Ctrl-C during a search on this machine."""

from __future__ import annotations

import os
import signal
import time
from types import FrameType
from typing import Any, Self

from literati.cli.errors import ExitCode

# Programs that start others, such as `uv run`, forward Ctrl-C, which the terminal has already sent to all.
SAME_SECONDS = 0.3
_FINISHING = b"\nFinishing with the best tree so far. Press Ctrl-C again to end at once.\n"


class StopRequest:
    """While the context lasts, the first Ctrl-C sets `requested`, and the second ends the program at once."""

    def __init__(self) -> None:
        self.requested = False
        self._first = 0.0
        self._previous: Any = None

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *raised: object) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        # The search may be in compiled code, and standard error in use, so neither is asked.
        now = time.monotonic()
        if not self.requested:
            self.requested, self._first = True, now
            os.write(2, _FINISHING)
        elif now - self._first > SAME_SECONDS:
            os.write(2, b"\n")
            os._exit(ExitCode.INTERRUPTED)
