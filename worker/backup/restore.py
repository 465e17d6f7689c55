"""Check a backup, and restore it into an empty data folder of a server and an empty place for blobs.

The store's file becomes `appendonly.aof`, which may start with the content of an RDB file: every supported
server reads it when it starts with `appendonly yes`, while it would ignore a `dump.rdb`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from worker.backup.blob_copy import THREADS, Progress, copy_blobs, map_names
from worker.backup.folder import Backup, BackupError, BackupFolder, sync_folder, write_synced
from worker.blobs.local import Blobs
from worker.processes.valkey import WRITER
from worker.store.retention import DELETION_HOLD

MIN_EPOCH = "literati:epoch-floor"
_MAX_NAMES = 5  # in a message


def check_backup(folder: BackupFolder, backup: Backup, progress: Progress) -> list[str]:
    """Read all files of a backup. Return the names of missing and damaged blobs.

    Raise a BackupError if the manifest, the list of blobs or the copy of the store is damaged.
    """
    manifest = backup.manifest()
    try:
        with open(backup.store, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        digest = ""
    if digest != manifest.store.sha256:
        raise BackupError(f"{backup.store} is missing or damaged; use another backup.")
    names = list(backup.blob_sizes())
    damaged, done_bytes = [], 0
    with ThreadPoolExecutor(THREADS, thread_name_prefix="blobs") as pool:
        checked = map_names(pool, partial(_checked_size, folder), names)
        for done, (name, size) in enumerate(checked, 1):
            if size is None:
                damaged.append(name)
            done_bytes += size or 0
            progress(done, len(names), done_bytes)
    return damaged


def _checked_size(folder: BackupFolder, name: str) -> tuple[str, int | None]:
    """Return the size of a blob if it is there with the right bytes."""
    try:
        with open(folder.blobs.folder / name[:2] / name, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            return name, file.tell() if digest == name else None
    except OSError:
        return name, None


def describe_damage(names: list[str]) -> str:
    """Return how many blobs are unusable, and the names of the first ones."""
    shown = ", ".join(names[:_MAX_NAMES])
    more = "" if len(names) <= _MAX_NAMES else f" and {len(names) - _MAX_NAMES} more"
    return f"{len(names)} {'blob is' if len(names) == 1 else 'blobs are'} missing or damaged: {shown}{more}"


def check_targets(store_folder: Path | None, blobs: Blobs, *, existing_blobs: bool) -> None:
    """Raise a BackupError unless both targets are empty, or the blobs may be there already."""
    if store_folder is not None and store_folder.exists() and any(store_folder.iterdir()):
        raise BackupError(
            f"{store_folder} is not empty. Restore into an empty folder, or move the old one away first."
        )
    if not existing_blobs and next(blobs.names(), None) is not None:
        raise BackupError(
            "The place for the blobs has some already. Restore into an empty one, or say --existing-blobs "
            "to keep them and to add those that are missing."
        )


def restore_backup(
    folder: BackupFolder,
    backup: Backup,
    store_folder: Path | None,
    blobs: Blobs,
    damaged: list[str],
    progress: Progress,
) -> None:
    """Restore a checked backup without its damaged blobs, and the store last."""
    names = backup.blob_sizes().keys() - set(damaged)
    with _owned_like_parent(blobs.folder):
        found = copy_blobs(sorted(names), folder.blobs, blobs, progress)
    if found.unreadable:
        raise BackupError(f"{describe_damage(found.unreadable)}. The store was not restored.")
    if store_folder is not None:
        with _owned_like_parent(store_folder):
            _restore_store(backup, store_folder)


def _restore_store(backup: Backup, folder: Path) -> None:
    manifest = backup.manifest()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_synced(folder / WRITER, f"{manifest.store.server}\n".encode())
    draft = folder / "restoring"
    with open(backup.store, "rb") as source, open(draft, "wb") as target:
        draft.chmod(0o600)
        shutil.copyfileobj(source, target, 1 << 20)
        # Workers of the time after the backup may still run. Epochs from now on are larger than theirs.
        for words in (
            ("SELECT", str(manifest.store.database)),
            ("DEL", DELETION_HOLD),
            ("SET", MIN_EPOCH, str(int(time.time()))),
        ):
            target.write(_command(words))
        target.flush()
        os.fsync(target.fileno())
    draft.rename(folder / "appendonly.aof")
    sync_folder(folder)


def _command(words: tuple[str, ...]) -> bytes:
    """Return a command in the protocol of the server, in which its file is written, too."""
    parts = "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
    return f"*{len(words)}\r\n{parts}".encode()


@contextmanager
def _owned_like_parent(path: Path) -> Iterator[None]:
    """Give what is created in a folder to the owner of that folder or its parent, if root creates it."""
    existing = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
    owner = existing.stat()
    first = path.absolute()
    while first != existing and first.parent != existing:
        first = first.parent  # the topmost folder that is created
    yield
    if os.geteuid() == 0 and owner.st_uid != 0 and first.exists():
        for found in (first, *first.rglob("*")):
            os.chown(found, owner.st_uid, owner.st_gid, follow_symlinks=False)
