"""A file of lines that several processes append to, and that one of them puts aside when it is long."""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import suppress
from pathlib import Path


class RotatingFile:
    """A line is written in one piece, so lines of several writers do not mix; the oldest file goes."""

    def __init__(self, path: Path, *, most_bytes: int, kept: int) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._kept = kept  # files besides the one that is written to
        self._lock = threading.Lock()
        self._descriptor: int | None = None

    def write(self, line: bytes) -> None:
        with self._lock:
            descriptor = self._open()
            if os.fstat(descriptor).st_size + len(line) > self._most_bytes:
                self._rotate()
                descriptor = self._open()
            os.write(descriptor, line)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _open(self) -> int:
        """The file of this name: another process may have put away the one that we have."""
        if self._descriptor is not None:
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._descriptor), os.stat(self.path)):
                    return self._descriptor
            self._close()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _rotate(self) -> None:
        with open(self.path.with_name(f"{self.path.name}.lock"), "w", opener=_private) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.stat(self.path).st_size < self._most_bytes // 2:
                    return  # another process was quicker
                for number in range(self._kept - 1, 0, -1):
                    with suppress(FileNotFoundError):
                        os.replace(self._aside(number), self._aside(number + 1))
                os.replace(self.path, self._aside(1))

    def _aside(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
