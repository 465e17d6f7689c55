"""The key file: its format, how it is read and how it is changed.

A key is `lit_<id>_<secret>` with a secret of 256 random bits. The file contains only its SHA-256.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

_KEY = re.compile(r"lit_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")
TENANT = r"^[a-z0-9][a-z0-9_-]{0,63}$"
DEFAULT_TENANT = "default"


class Scope(StrEnum):
    """What a key allows."""

    READ = "read"  # read and predict
    TRAIN = "train"  # upload datasets, start and control jobs, delete
    ADMIN = "admin"  # read metrics, set the weights of tenants, and everything above


class KeyEntry(BaseModel):
    """What is stored of a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    tenant: Annotated[str, Field(pattern=TENANT)] = DEFAULT_TENANT
    scopes: frozenset[Scope]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    created_at: datetime


class KeyFile(BaseModel):
    """The content of a key file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Annotated[int, Field(ge=1, le=1)] = 1
    keys: tuple[KeyEntry, ...] = ()

    def find(self, key: str) -> KeyEntry | None:
        """Return the entry of a key. The digests are compared in constant time; the id is not secret."""
        match = _KEY.fullmatch(key)
        if match is None:
            return None
        digest = _digest(key)
        for entry in self.keys:
            if entry.id == match[1] and hmac.compare_digest(entry.sha256, digest):
                return entry
        return None


def well_formed(key: str) -> bool:
    """Return whether a text has the form of a key."""
    return _KEY.fullmatch(key) is not None


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class KeyFileError(ValueError):
    """The key file is damaged or not private. The message is a sentence with the reason and the remedy."""


def read(path: Path) -> KeyFile:
    """Read a key file. Raise OSError if that fails, KeyFileError if its content or mode is wrong."""
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise KeyFileError(f"Other users can write it (mode {mode:o}); run `chmod 600 {path}`.")
        data = file.read()
    if not data.strip():
        return KeyFile()
    try:
        return KeyFile.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{where}: {first['msg']}" if where else str(first["msg"])
        raise KeyFileError(f"It is damaged ({message}); restore a copy, or create new keys.") from None


def new_key(name: str, tenant: str, scopes: frozenset[Scope]) -> tuple[str, KeyEntry]:
    """Return a new key, which is not stored anywhere, and its entry."""
    identity = secrets.token_hex(4)
    key = f"lit_{identity}_{secrets.token_urlsafe(32)}"
    entry = KeyEntry(
        id=identity,
        name=name,
        tenant=tenant,
        scopes=scopes,
        sha256=_digest(key),
        created_at=datetime.now(UTC).replace(microsecond=0),
    )
    return key, entry


def add(path: Path, name: str, tenant: str, scopes: frozenset[Scope]) -> tuple[str, KeyEntry]:
    """Add a new key to the file. Return the key, which is not stored anywhere, and its entry."""
    key, entry = new_key(name, tenant, scopes)
    with _locked(path):
        _write(path, (*read_or_empty(path).keys, entry))
    return key, entry


def revoke(path: Path, identity: str) -> bool:
    """Remove a key from the file. Return whether it was there."""
    with _locked(path):
        before = read_or_empty(path)
        kept = tuple(entry for entry in before.keys if entry.id != identity)
        if len(kept) == len(before.keys):
            return False
        _write(path, kept)
    return True


def read_or_empty(path: Path | None) -> KeyFile:
    """Read a key file, which may not exist."""
    return read(path) if path is not None and path.exists() else KeyFile()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock, so that no concurrent change is lost."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "w", opener=private_opener) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path, keys: tuple[KeyEntry, ...]) -> None:
    replace_file(path, KeyFile(keys=keys).model_dump_json(indent=2) + "\n")


def replace_file(path: Path, text: str, mode: int = 0o600) -> None:
    """Write a file as a whole: after a power failure, it has the old content or the new one."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)  # left by a crash, perhaps with another mode
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), mode)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # a revoked key must not return after a power failure
    finally:
        os.close(folder)


def private_opener(name: str, flags: int) -> int:
    """Open a file for `open(..., opener=private_opener)`; a new file gets the mode 600."""
    return os.open(name, flags, 0o600)
