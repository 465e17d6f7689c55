"""The folder in which everything is kept: private, of a known version, of one supervisor at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

VERSION = 2  # a queue for each tenant
UPGRADED = {"1"}  # versions that the reconciler brings to the present one
_OURS = {"blobs", "cache", "logs", "valkey"}  # folders in it


class StartError(Exception):
    """It cannot start; the message is one sentence that says why and what to do."""


class StateFolder:
    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock: IO[str] | None = None

    @property
    def valkey(self) -> Path:
        return self.path / "valkey"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def open(self) -> None:
        """Make it or check it, and hold it until `close` or the end of this process."""
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._refuse_foreign()
            self._take_lock()
            self._check_version()
            self.path.chmod(0o700)
            self.logs.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise StartError(
                f"The state folder {self.path} cannot be used ({error.strerror}); "
                "set LITERATI_STATE_DIR to a folder that you may write."
            ) from None

    def _refuse_foreign(self) -> None:
        """Somebody's home is not made private and filled with our files by a slip of the pen."""
        if (self.path / "VERSION").exists():
            return
        if any(entry.is_dir() and entry.name not in _OURS for entry in self.path.iterdir()):
            raise StartError(
                f"{self.path} holds other things and is no state folder of Literati; "
                "set LITERATI_STATE_DIR to a folder of its own."
            )

    def _take_lock(self) -> None:
        self._lock = open(self.path / "lock", "a+")  # noqa: SIM115 -- held as long as the process lives
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            owner = self._lock.read().strip() or "unknown"
            raise StartError(
                f"Another Literati (process {owner}) runs on the state folder {self.path}; "
                "stop it, or set LITERATI_STATE_DIR to another folder."
            ) from None
        self._lock.truncate(0)
        self._lock.write(f"{os.getpid()}\n")
        self._lock.flush()

    def _check_version(self) -> None:
        file = self.path / "VERSION"
        if not file.exists():
            file.write_text(f"{VERSION}\n")
            return
        text = file.read_text(errors="replace").strip()[:20]
        if text in UPGRADED:
            file.write_text(f"{VERSION}\n")
        elif text != str(VERSION):
            raise StartError(
                f"The state folder {self.path} has the format {text!r}, which this Literati does not know; "
                "start the version that wrote it, or set LITERATI_STATE_DIR to another folder."
            )

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
