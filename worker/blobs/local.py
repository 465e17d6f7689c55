"""Immutable files in a folder, named by the SHA-256 of their content."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{64}")


class BlobNotFoundError(LookupError):
    """There is no blob with this name: it was deleted, or it is in another folder."""


class Blobs:
    """A folder of blobs.

    `put` returns when the bytes are on disk under their name. A blob never changes. Equal bytes are one blob,
    so only the store knows when a blob is no longer needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incoming = folder / "incoming"

    @contextmanager
    def temporary_file(self) -> Iterator[BufferedRandom]:
        """Open a temporary file on the same disk. `commit` makes a blob of it; it is removed at the end."""
        self._make_folders()
        handle, name = tempfile.mkstemp(dir=self.incoming)
        os.close(handle)
        try:
            with open(name, "w+b") as file:
                yield file
        finally:
            Path(name).unlink(missing_ok=True)

    def put(self, data: bytes) -> str:
        with self.temporary_file() as file:
            file.write(data)
            return self.commit(file, hashlib.sha256(data).hexdigest())

    def commit(self, file: BufferedRandom, name: str | None = None) -> str:
        """Make a blob of a temporary file. Return its name, which is the digest of its bytes.

        This may be called again, in case `delete_unless` has removed the blob meanwhile.
        """
        file.flush()
        if name is None:
            file.seek(0)
            name = hashlib.file_digest(file, "sha256").hexdigest()
        self._store_file(file, name)
        return name

    def _store_file(self, file: BufferedRandom, name: str) -> None:
        os.fsync(file.fileno())
        target = self._path(name)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):  # there is a blob of the same bytes
            os.link(file.name, target)
        for folder in (target.parent, self.folder, self.folder.parent):
            _sync_folder(folder)

    def upload(self, name: str) -> None:
        """Make a blob that another process committed to this folder available to other machines."""

    def check(self) -> None:
        """Raise OSError unless the folder is writable."""
        with self.temporary_file() as file:
            file.write(b"ready?")
            file.flush()

    def disk_status(self) -> tuple[bool, int | None]:
        """Return whether the folder is writable, and the free bytes of its disk, if that is known."""
        writable, free = False, None
        with suppress(OSError):
            self.check()
            writable = True
        with suppress(OSError):
            free = shutil.disk_usage(self.folder).free
        return writable, free

    def path(self, name: str) -> Path:
        """Return the path of the file, for opening or mapping it."""
        path = self._path(name)
        if not path.exists():
            raise BlobNotFoundError(name)
        return path

    def get(self, name: str) -> bytes:
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            raise BlobNotFoundError(name) from None

    def size(self, name: str) -> int | None:
        """Return the size of a blob in bytes; None if there is no such blob."""
        try:
            return self._path(name).stat().st_size
        except FileNotFoundError:
            return None

    def names(self) -> Iterator[str]:
        """Yield the names of all blobs."""
        for path in self.folder.glob("??/*"):
            if _NAME.fullmatch(path.name):
                yield path.name

    def copy_to(self, name: str, file: BufferedRandom) -> str:
        """Write a blob to an empty file and return the digest of the bytes, which may be damaged."""
        try:
            with open(self._path(name), "rb") as blob:
                shutil.copyfileobj(blob, file, 1 << 20)
        except FileNotFoundError:
            raise BlobNotFoundError(name) from None
        file.seek(0)
        return hashlib.file_digest(file, "sha256").hexdigest()

    def delete(self, name: str) -> None:
        """Delete a blob if it exists. Processes that have it open can still read it."""
        self._path(name).unlink(missing_ok=True)

    def delete_unless(self, name: str, is_referenced: Callable[[], bool]) -> None:
        """Delete a blob unless a record refers to it.

        The blob is moved away before the check. A process that needs it after the check does not find it and
        writes it again, so no process can rely on a blob that is about to be deleted.
        """
        path, aside = self._path(name), self.incoming / f"{name}-{secrets.token_hex(8)}"
        self._make_folders()
        try:
            path.rename(aside)
        except FileNotFoundError:
            return
        keep = True  # also if the check fails
        try:
            keep = is_referenced()
        finally:
            if keep:
                with suppress(FileExistsError):
                    os.link(aside, path)
            aside.unlink()

    def delete_temporary_files(self, older_than: float) -> None:
        """Delete the old temporary files of killed processes. Ages are measured by the clock of the disk."""
        files = [*self.incoming.glob("*")]
        if not files:
            return
        with self.temporary_file() as fresh:
            now = os.fstat(fresh.fileno()).st_mtime
        for path in files:
            with suppress(FileNotFoundError):
                if now - path.stat().st_mtime > older_than:
                    path.unlink()

    def _make_folders(self) -> None:
        for folder in (self.folder, self.incoming):  # one by one, because `mode` does not apply to parents
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError("a blob's name must be the SHA-256 of its bytes in hexadecimal")
        return self.folder / name[:2] / name


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
