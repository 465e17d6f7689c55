"""The file of API keys: what it holds, how it is read, and how it is changed.

A key is `lit_<id>_<secret>` with 256 random bits in its secret. The file knows its SHA-256 only.
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
    READ = "read"  # look, and predict
    TRAIN = "train"  # upload, start and steer jobs, delete
    ADMIN = "admin"  # metrics and weights of all tenants, and everything above


class KeyEntry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$")]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    tenant: Annotated[str, Field(pattern=TENANT)] = DEFAULT_TENANT
    scopes: frozenset[Scope]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    created_at: datetime


class KeyFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Annotated[int, Field(ge=1, le=1)] = 1
    keys: tuple[KeyEntry, ...] = ()

    def find(self, key: str) -> KeyEntry | None:
        """The entry of a key. The id is no secret; the digest is compared in constant time."""
        shape = _KEY.fullmatch(key)
        if shape is None:
            return None
        digest = _digest(key)
        for entry in self.keys:
            if entry.id == shape[1] and hmac.compare_digest(entry.sha256, digest):
                return entry
        return None


def well_formed(key: str) -> bool:
    """Return whether it looks like a key."""
    return _KEY.fullmatch(key) is not None


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


class KeyFileError(ValueError):
    """The file is no file of keys that may be trusted; the message is a sentence that says why."""


def read(path: Path) -> KeyFile:
    """OSError if it is not there, KeyFileError if it is not as it should be."""
    with path.open("rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise KeyFileError(f"It can be written by others (mode {mode:o}); say `chmod 600 {path}`.")
        data = file.read()
    if not data.strip():
        return KeyFile()
    try:
        return KeyFile.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{where}: {first['msg']}" if where else str(first["msg"])
        raise KeyFileError(f"It is damaged ({message}); put back a copy, or make new keys.") from None


def new_key(name: str, tenant: str, scopes: frozenset[Scope]) -> tuple[str, KeyEntry]:
    """Return a new key, which is told only here, and what is to be kept of it."""
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
    """A new key, which is told only here, and what is kept of it."""
    key, entry = new_key(name, tenant, scopes)
    with _locked(path):
        _write(path, KeyFile(keys=(*_read_or_empty(path).keys, entry)))
    return key, entry


def revoke(path: Path, identity: str) -> bool:
    """Whether there was such a key."""
    with _locked(path):
        before = _read_or_empty(path)
        kept = tuple(entry for entry in before.keys if entry.id != identity)
        if len(kept) == len(before.keys):
            return False
        _write(path, KeyFile(keys=kept))
    return True


def _read_or_empty(path: Path) -> KeyFile:
    return read(path) if path.exists() else KeyFile()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two changes at once must not lose one of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_name(path.name + ".lock"), "w", opener=_private) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path, keys: KeyFile) -> None:
    draft = path.with_name(path.name + ".new")
    with open(draft, "w", encoding="utf-8", opener=_private) as file:
        file.write(keys.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.chmod(draft, 0o600)  # a draft that a crash left behind keeps its mode
    os.replace(draft, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # a key that was revoked must not come back with the power
    finally:
        os.close(folder)


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
