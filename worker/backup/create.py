"""Make a backup while everything runs.

The order makes it consistent. First all deletions of blobs are held, then the content of the store is copied
as it is at one point in time, and then the blobs that it refers to. A blob is written before the record that
refers to it and never changes, so every blob of that point in time still exists.
"""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime

from literati import __version__
from worker.backup.blob_copy import Progress, copy_blobs
from worker.backup.folder import Backup, BackupFolder, BlobList, Manifest, StoreCopy
from worker.backup.hold import DeletionHold
from worker.backup.store_copy import copy_store
from worker.blobs.local import Blobs
from worker.store import Store


def create_backup(
    store: Store, blobs: Blobs, folder: BackupFolder, progress: Progress, *, keep: int | None = None
) -> tuple[Backup, Manifest]:
    """Add a backup to a folder. Blobs that the folder has from earlier backups are not copied again.

    Afterwards delete all backups but the newest `keep`.
    """
    started = datetime.now(UTC)
    with DeletionHold(store) as hold:
        backup = folder.new_backup()
        store_time = store.backups.now()
        store_copy = _copy_store(store, backup)
        # A blob that lost its last reference since is unreferenced; nothing was deleted meanwhile.
        referenced = store.blobs.referenced()
        names = sorted(referenced | set(store.blobs.all_unreferenced()))
        pending = store.blobs.pending()
        found = copy_blobs(names, blobs, folder.blobs, progress)
        hold.check()
        # An unreferenced blob may have been deleted before the hold, and a pending one not be written yet.
        missing = [name for name in found.unreadable if name in referenced - pending]
        manifest = Manifest(
            literati=__version__,
            started_at=started,
            finished_at=datetime.now(UTC),
            store=store_copy,
            blobs=BlobList(
                sha256=backup.write_blob_list(found.sizes),
                count=len(found.sizes),
                bytes=sum(found.sizes.values()),
                copied=len(found.copied),
                copied_bytes=found.copied_bytes,
                missing=tuple(missing),
            ),
        )
        backup.write_manifest(manifest)
        store.backups.record(store_time, len(missing))
        # While the hold lasts, no other backup into this folder relies on blobs that are deleted now.
        if keep is not None:
            folder.prune(keep)
    return backup, manifest


def _copy_store(store: Store, backup: Backup) -> StoreCopy:
    with open(backup.store, "w+b") as file:
        backup.store.chmod(0o600)
        server = copy_store(store.client, file)
        size = file.tell()
        file.flush()
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    database = int(store.client.connection_pool.connection_kwargs.get("db") or 0)
    return StoreCopy(bytes=size, sha256=digest, server=server, database=database)
