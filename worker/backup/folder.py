"""The folder of backups: one folder for each backup, and the blobs that all of them share.

    FOLDER/blobs/ab/ab12...                  every blob, once
    FOLDER/20261118T113000.123Z/store.rdb    the content of the store at one point in time
    FOLDER/20261118T113000.123Z/blobs.txt    the names and sizes of the blobs that it needs
    FOLDER/20261118T113000.123Z/manifest.json

The manifest is written last. A backup without one was interrupted.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from worker.blobs.local import Blobs

_RUN = re.compile(r"\d{8}T\d{6}\.\d{3}Z")
_BLOB_LINE = re.compile(r"([0-9a-f]{64}) (\d+)")


class BackupError(RuntimeError):
    """A backup cannot be made or used; the message says why and what to do."""


class StoreCopy(BaseModel):
    """The file with the content of the store."""

    model_config = ConfigDict(frozen=True)

    bytes: NonNegativeInt
    sha256: str
    server: str  # that wrote it, such as `valkey 9.1.2`
    database: NonNegativeInt  # the number of the database with the records


class BlobList(BaseModel):
    """The file with the names of the blobs."""

    model_config = ConfigDict(frozen=True)

    sha256: str  # of the list
    count: NonNegativeInt
    bytes: NonNegativeInt  # of all blobs together
    copied: NonNegativeInt  # those that no earlier backup in this folder had
    copied_bytes: NonNegativeInt
    missing: tuple[str, ...]  # named by the store, but not readable when the backup was made


class Manifest(BaseModel):
    """What a complete backup consists of."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    literati: str  # the version that made the backup
    started_at: datetime
    finished_at: datetime
    store: StoreCopy
    blobs: BlobList


class Backup:
    """One backup of a folder, complete or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self.store = folder / "store.rdb"
        self._blob_list = folder / "blobs.txt"
        self._manifest = folder / "manifest.json"

    @property
    def is_complete(self) -> bool:
        return self._manifest.exists()

    def manifest(self) -> Manifest:
        try:
            return Manifest.model_validate_json(self._manifest.read_bytes())
        except FileNotFoundError:
            raise BackupError(
                f"The backup {self.folder} has no manifest: it was interrupted, or it is still being made. "
                "Use another one, or make a new one."
            ) from None
        except ValidationError:
            raise BackupError(
                f"{self._manifest} is damaged or was written by a newer version of Literati; "
                "use that version, or another backup."
            ) from None

    def write_manifest(self, manifest: Manifest) -> None:
        """Complete the backup. Everything that the manifest describes is on disk before it."""
        text = manifest.model_dump_json(indent=2) + "\n"
        draft = self._manifest.with_suffix(".tmp")
        write_synced(draft, text.encode())
        draft.rename(self._manifest)
        for folder in (self.folder, self.folder.parent):
            sync_folder(folder)

    def write_blob_list(self, sizes: Mapping[str, int]) -> str:
        """Write the names and sizes of the blobs, and return the digest of the list."""
        text = "".join(f"{name} {sizes[name]}\n" for name in sorted(sizes)).encode()
        write_synced(self._blob_list, text)
        return hashlib.sha256(text).hexdigest()

    def blob_sizes(self) -> dict[str, int]:
        """Return the size of each blob of the backup, after a check of the list."""
        try:
            text = self._blob_list.read_bytes()
        except FileNotFoundError:
            text = b""
        if hashlib.sha256(text).hexdigest() != self.manifest().blobs.sha256:
            raise BackupError(f"{self._blob_list} is missing or damaged; use another backup.")
        return {name: int(size) for name, size in _BLOB_LINE.findall(text.decode())}

    def delete(self) -> None:
        """Delete the backup, its manifest first. The shared blobs are left."""
        self._manifest.unlink(missing_ok=True)
        shutil.rmtree(self.folder)


class BackupFolder:
    """A folder of backups."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.blobs = Blobs(path / "blobs")

    def backups(self) -> list[Backup]:
        """Return all backups, the oldest first."""
        if not self.path.is_dir():
            raise BackupError(f"There is no folder {self.path}.")
        names = sorted(entry.name for entry in self.path.iterdir() if _RUN.fullmatch(entry.name))
        return [Backup(self.path / name) for name in names]

    def new_backup(self) -> Backup:
        """Create the folder of the next backup, and remove what interrupted ones left."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = {entry.name for entry in self.path.iterdir() if not _RUN.fullmatch(entry.name)}
        if names - {"blobs", "lost+found"}:  # the root of a file system has the latter
            raise BackupError(
                f"{self.path} has other content and is not a folder of backups; name an empty or new folder."
            )
        for backup in self.backups():
            if not backup.is_complete:
                backup.delete()
        now = datetime.now(UTC)
        backup = Backup(self.path / f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03}Z")
        backup.folder.mkdir(mode=0o700)
        return backup

    def choose(self, name: str | None) -> Backup:
        """Return a backup by its name, or the newest complete one."""
        backups = self.backups()
        if name is not None:
            for backup in backups:
                if backup.name == name:
                    backup.manifest()
                    return backup
            raise BackupError(f"There is no backup {name} in {self.path}.")
        complete = [backup for backup in backups if backup.is_complete]
        if complete:
            return complete[-1]
        if backups:
            backups[-1].manifest()
        raise BackupError(f"There is no backup in {self.path}.")

    def prune(self, keep: int) -> None:
        """Delete all but the newest complete backups, and the blobs that only deleted ones needed."""
        complete = [backup for backup in self.backups() if backup.is_complete]
        old, kept = complete[:-keep], complete[-keep:]
        if not old:
            return
        needed = {name for backup in kept for name in backup.blob_sizes()}
        for backup in old:
            backup.delete()
        for name in list(self.blobs.names()):
            if name not in needed:
                self.blobs.delete(name)


def write_synced(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
