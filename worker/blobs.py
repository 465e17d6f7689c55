"""A folder of immutable files named by the SHA-256 of what they hold."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_NAME = re.compile(r"[0-9a-f]{64}")


class BlobGoneError(LookupError):
    """No blob of this name: it was deleted, or the folder is not the one it was written to."""


class Blobs:
    """`put` returns when the bytes are safe on disk under their name; a blob is never changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incoming = folder / "incoming"

    @contextmanager
    def draft(self) -> Iterator[BinaryIO]:
        """A temporary file on the same disk, gone at the end unless it was given to `adopt`."""
        self.incoming.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self.incoming)
        try:
            with os.fdopen(handle, "w+b") as file:
                yield file
        finally:
            Path(name).unlink(missing_ok=True)

    def put(self, data: bytes) -> str:
        with self.draft() as file:
            file.write(data)
            return self.adopt(file, hashlib.sha256(data).hexdigest())

    def adopt(self, file: BinaryIO, name: str | None = None) -> str:
        """Keep a draft under the digest of its bytes (worked out here unless known), and return that."""
        file.flush()
        os.fsync(file.fileno())
        if name is None:
            file.seek(0)
            name = hashlib.file_digest(file, "sha256").hexdigest()
        target = self._path(name)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):  # another process was first, with the same bytes
                os.link(file.name, target)
            for folder in (target.parent, self.folder):
                _sync_folder(folder)
        return name

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
