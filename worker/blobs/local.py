"""Immutable files named by the SHA-256 of what they hold, in a folder; bucket.py keeps them in a bucket."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedRandom
from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{64}")


class BlobGoneError(LookupError):
    """No blob of this name: it was deleted, or the folder is not the one it was written to."""


class Blobs:
    """`put` returns when the bytes are safe on disk under their name; a blob is never changed.

    Equal bytes are one blob, whoever wrote them: only the store knows when the last of them is done with it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incoming = folder / "incoming"

    @contextmanager
    def draft(self) -> Iterator[BufferedRandom]:
        """A temporary file on the same disk, gone at the end unless it was given to `adopt`."""
        self._make_folders()
        handle, name = tempfile.mkstemp(dir=self.incoming)
        os.close(handle)
        try:
            with open(name, "w+b") as file:
                yield file
        finally:
            Path(name).unlink(missing_ok=True)

    def put(self, data: bytes) -> str:
        with self.draft() as file:
            file.write(data)
            return self.adopt(file, hashlib.sha256(data).hexdigest())

    def adopt(self, file: BufferedRandom, name: str | None = None) -> str:
        """Keep a draft under the digest of its bytes (worked out here unless known), and return that.

        May be called again, which makes good a `discard` that came in between.
        """
        file.flush()
        os.fsync(file.fileno())
        if name is None:
            file.seek(0)
            name = hashlib.file_digest(file, "sha256").hexdigest()
        target = self._path(name)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileExistsError):  # the same bytes are there already
            os.link(file.name, target)
        for folder in (target.parent, self.folder, self.folder.parent):
            _sync_folder(folder)
        return name

    def publish(self, name: str) -> None:
        """Let other machines have what another process of this one has adopted in the folder."""

    def check(self) -> None:
        """Raises OSError unless the folder takes writes."""
        with self.draft() as file:
            file.write(b"ready?")
            file.flush()

    def room(self) -> tuple[bool, int | None]:
        """Whether the folder takes writes, and the bytes that are free on its disk, if that is known."""
        try:
            self.check()
            writable = True
        except OSError:
            writable = False
        try:
            disk = os.statvfs(self.folder)
        except OSError:
            return writable, None
        return writable, disk.f_bavail * disk.f_frsize

    def path(self, name: str) -> Path:
        """The file itself, to be opened or mapped."""
        path = self._path(name)
        if not path.exists():
            raise BlobGoneError(name)
        return path

    def get(self, name: str) -> bytes:
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            raise BlobGoneError(name) from None

    def delete(self, name: str) -> None:
        """Forget it; not an error if it is gone. What is mapped stays readable."""
        self._path(name).unlink(missing_ok=True)

    def discard(self, name: str, wanted: Callable[[], bool]) -> None:
        """Delete it unless it is wanted after all.

        It is out of the way before the question is asked, so whoever comes to want it after the answer finds
        it missing and writes it anew: there is no moment in which a blob is both adopted and deleted.
        """
        path, aside = self._path(name), self.incoming / f"{name}-{secrets.token_hex(8)}"
        self._make_folders()
        try:
            path.rename(aside)
        except FileNotFoundError:
            return
        keep = True  # also when the question fails
        try:
            keep = wanted()
        finally:
            if keep:
                with suppress(FileExistsError):
                    os.link(aside, path)
            aside.unlink()

    def drop_drafts(self, older_than: float) -> None:
        """Those that a killed process left behind, by the disk's clock: this machine's may be wrong."""
        drafts = [*self.incoming.glob("*")]
        if not drafts:
            return
        with self.draft() as fresh:
            now = os.fstat(fresh.fileno()).st_mtime
        for path in drafts:
            with suppress(FileNotFoundError):
                if now - path.stat().st_mtime > older_than:
                    path.unlink()

    def _make_folders(self) -> None:
        for folder in (self.folder, self.incoming):  # one by one: `parents` are made with the usual mode
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError("a blob's name is the SHA-256 of its bytes, in hex")
        return self.folder / name[:2] / name


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
