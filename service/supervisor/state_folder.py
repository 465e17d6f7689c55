"""The state folder: private, of a known version, and locked by one supervisor at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from service.errors import StartError

VERSION = 2  # since then every tenant has its own queue
UPGRADABLE = {"1"}  # versions that the reconciler upgrades
_SUBFOLDERS = {"blobs", "cache", "logs", "valkey"}


class StateFolder:
    """The folder of everything that the supervisor's processes keep."""

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
        """Create or check the folder, and lock it until `close` or the end of this process."""
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
                "set LITERATI_STATE_DIR to a folder that this user may write."
            ) from None

    def _refuse_foreign(self) -> None:
        """Refuse a folder with other content, such as a home folder, which would become private."""
        if (self.path / "VERSION").exists():
            return
        if any(entry.is_dir() and entry.name not in _SUBFOLDERS for entry in self.path.iterdir()):
            raise StartError(
                f"{self.path} has other content and is not a state folder of Literati; "
                "set LITERATI_STATE_DIR to an empty folder."
            )

    def _take_lock(self) -> None:
        self._lock = open(self.path / "lock", "a+")  # noqa: SIM115 -- held until the process ends
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.seek(0)
            owner = self._lock.read().strip() or "unknown"
            raise StartError(
                f"Another Literati (process {owner}) uses the state folder {self.path}; "
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
        if text in UPGRADABLE:
            file.write_text(f"{VERSION}\n")
        elif text != str(VERSION):
            raise StartError(
                f"The state folder {self.path} has the format {text!r}, which this version does not support; "
                "start the version that wrote it, or set LITERATI_STATE_DIR to another folder."
            )

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
