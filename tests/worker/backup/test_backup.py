"""Backups of a real server and of blobs in a folder or a bucket."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support.records.jobs import TENANT, add_dataset, easy, spec
from tests.support.records.store_records import SUCCESS, progress_update
from worker.backup.create import create_backup
from worker.backup.folder import Backup, BackupError, BackupFolder, Manifest
from worker.backup.hold import DeletionHold
from worker.backup.restore import check_backup, check_targets, restore_backup
from worker.backup.store_copy import copy_store
from worker.blobs.local import Blobs
from worker.blobs.s3 import BucketBlobs
from worker.domain.datasets import Dataset
from worker.domain.errors import FencedError
from worker.processes.valkey import ValkeyServer
from worker.reconciler import Reconciler
from worker.store import Store
from worker.store.client import connect
from worker.store.retention import DELETION_HOLD
from worker.training.progress_publisher import ProgressPublisher


def quiet(done: int, total: int, size: int) -> None:
    """Ignore progress."""


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


@pytest.fixture
def folder(tmp_path: Path) -> BackupFolder:
    return BackupFolder(tmp_path / "backups")


@pytest.fixture
def make(store: Store, blobs: Blobs, folder: BackupFolder) -> Callable[[], tuple[Backup, Manifest]]:
    return lambda: create_backup(store, blobs, folder, quiet)


def restored(folder: BackupFolder, backup: Backup, target: Path) -> Blobs:
    """Restore into new folders and return the blobs."""
    blobs = Blobs(target / "blobs")
    check_targets(target / "valkey", blobs, existing_blobs=False)
    assert check_backup(folder, backup, quiet) == []
    restore_backup(folder, backup, target / "valkey", blobs, [], quiet)
    return blobs


def delete_dataset(store: Store, dataset: Dataset) -> None:
    store.datasets.delete(TENANT, dataset.id, keep=False)


def test_everything_is_restored(
    store: Store,
    blobs: Blobs,
    folder: BackupFolder,
    make: Callable[[], tuple[Backup, Manifest]],
    tmp_path: Path,
) -> None:
    dataset = add_dataset(store, blobs, easy())
    job = spec(dataset)
    store.jobs.submit(job)
    backup, manifest = make()
    later = add_dataset(store, blobs, easy(seed=1))
    assert (manifest.blobs.count, manifest.blobs.copied, manifest.blobs.missing) == (1, 1, ())
    copy = restored(folder, backup, tmp_path / "new")
    assert copy.get(dataset.blob) == blobs.get(dataset.blob)
    with ValkeyServer(tmp_path / "new" / "valkey") as server, connect(server.url) as client:
        found = Store(client)
        assert [item.id for item in found.datasets.list(TENANT).items] == [dataset.id]
        assert [item.spec.id for item in found.jobs.list(TENANT).items] == [job.id]
        assert not found.blobs.deletions_are_held()
        first = found.jobs.list(TENANT).items[0]
        client.set("literati:after", 1)
    with ValkeyServer(tmp_path / "new" / "valkey") as server, connect(server.url) as client:
        assert client.get("literati:after") == b"1", "what is written after the restoration is kept, too"
        assert Store(client).jobs.list(TENANT).items == [first]
    assert later.blob not in set(copy.names())


def test_a_second_backup_copies_only_new_blobs(
    store: Store, blobs: Blobs, folder: BackupFolder, make: Callable[[], tuple[Backup, Manifest]]
) -> None:
    first = add_dataset(store, blobs, easy())
    old, _ = make()
    written = (folder.blobs.folder / first.blob[:2] / first.blob).stat().st_mtime_ns
    second = add_dataset(store, blobs, easy(seed=1))
    new, manifest = make()
    assert (manifest.blobs.count, manifest.blobs.copied) == (2, 1)
    assert (folder.blobs.folder / first.blob[:2] / first.blob).stat().st_mtime_ns == written
    assert folder.choose(None).name == new.name
    assert folder.choose(old.name).blob_sizes().keys() == {first.blob}
    delete_dataset(store, first)
    for name in store.blobs.unreferenced():
        blobs.delete_unless(name, lambda name=name: store.blobs.is_referenced(name))  # type: ignore[misc]
    third, _ = make()
    folder.prune(keep=1)
    assert len(folder.backups()) == 1
    assert [backup.name for backup in folder.backups()] == [third.name]
    assert set(folder.blobs.names()) == {second.blob}, "blobs of deleted backups are deleted"


def test_no_blob_is_deleted_while_a_backup_is_made(store: Store, blobs: Blobs) -> None:
    dataset = add_dataset(store, blobs, easy())
    reconciler = Reconciler(store, lambda count: None, blobs)
    with DeletionHold(store):
        delete_dataset(store, dataset)
        reconciler.run_once()
        blobs.delete_unless(dataset.blob, lambda: store.blobs.is_referenced(dataset.blob))
        assert blobs.size(dataset.blob) is not None
        assert store.blobs.all_unreferenced() == [dataset.blob]
    reconciler.run_once()
    assert blobs.size(dataset.blob) is None
    assert store.blobs.all_unreferenced() == []


def test_a_blob_that_loses_its_record_during_the_backup_is_part_of_it(
    store: Store, blobs: Blobs, folder: BackupFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = add_dataset(store, blobs, easy())

    def copy_then_delete(client: redis.Redis, file: Any) -> str:
        server = copy_store(client, file)
        delete_dataset(store, dataset)
        Reconciler(store, lambda count: None, blobs).run_once()
        return server

    monkeypatch.setattr("worker.backup.create.copy_store", copy_then_delete)
    backup, manifest = create_backup(store, blobs, folder, quiet)
    assert manifest.blobs.missing == ()
    assert restored(folder, backup, tmp_path / "new").size(dataset.blob)


def test_a_search_that_is_saved_again_during_the_backup(
    store: Store, blobs: Blobs, folder: BackupFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker deletes the blob of the search that it replaced, but not while the backup may need it."""
    store.jobs.submit(spec(add_dataset(store, blobs, easy())))
    claim = store.jobs.claim("w")
    assert claim is not None
    first, second, third = (blobs.put(content) for content in (b"first", b"second", b"third"))
    publisher = ProgressPublisher(claim, store, blobs)

    def publish(snapshot: str) -> None:
        publisher.add(progress_update(objective=10.0, snapshot=snapshot))
        publisher.publish()

    publish(first)

    def copy_then_save(source: redis.Redis, file: Any) -> str:
        server = copy_store(source, file)
        publish(second)
        return server

    monkeypatch.setattr("worker.backup.create.copy_store", copy_then_save)
    backup, manifest = create_backup(store, blobs, folder, quiet)
    assert manifest.blobs.missing == ()
    assert first in backup.blob_sizes()
    publish(third)
    assert blobs.size(second) is None
    Reconciler(store, lambda count: None, blobs).run_once()
    assert blobs.size(first) is None


def test_archives(
    client: redis.Redis, blobs: Blobs, folder: BackupFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job is changed during the backup and loses its archive, and another archive is not written yet."""
    store = Store(client, blobs=blobs)
    store.jobs.submit(spec(add_dataset(store, blobs, easy())))
    claim = store.jobs.claim("w")
    assert claim is not None
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS, progress_update(objective=10.0))
    assert store.archiver.archive(blobs, 0.0) == 2
    archive = str(client.hget(f"literati:job:{claim.spec.id}", "archive").hex())  # type: ignore[union-attr]
    store.scripts.run("begin_archive", "d" * 64, 600_000)

    def copy_then_change(source: redis.Redis, file: Any) -> str:
        server = copy_store(source, file)
        rename = {"name": "renamed"}
        store.jobs.change(TENANT, claim.spec.id, lambda settings: settings.model_copy(update=rename))
        Reconciler(store, lambda count: None, blobs).run_once()
        return server

    monkeypatch.setattr("worker.backup.create.copy_store", copy_then_change)
    backup, manifest = create_backup(store, blobs, folder, quiet)
    assert archive in store.blobs.pending(), "a replica that takes over may need it"
    assert manifest.blobs.missing == ()
    copy = restored(folder, backup, tmp_path / "new")
    with ValkeyServer(tmp_path / "new" / "valkey") as server, connect(server.url) as restored_client:
        found = Store(restored_client, blobs=copy)
        assert found.jobs.incumbent(TENANT, claim.spec.id) is not None


def test_one_backup_at_a_time(store: Store, make: Callable[[], tuple[Backup, Manifest]]) -> None:
    with DeletionHold(store), pytest.raises(BackupError, match="Another backup of this store"):
        make()
    make()


def test_the_hold_is_renewed(store: Store, client: redis.Redis) -> None:
    with DeletionHold(store, seconds=0.6) as hold:
        time.sleep(1.5)
        hold.check()
        client.delete(DELETION_HOLD)
        with pytest.raises(BackupError, match="make the backup again"):
            hold.check()


def test_a_hold_that_was_lost_is_no_backup(
    store: Store, client: redis.Redis, blobs: Blobs, folder: BackupFolder
) -> None:
    add_dataset(store, blobs, easy())

    def lose_the_hold(done: int, total: int, size: int) -> None:
        client.delete(DELETION_HOLD)

    with pytest.raises(BackupError, match="make the backup again"):
        create_backup(store, blobs, folder, lose_the_hold)
    with pytest.raises(BackupError, match="has no manifest: it was interrupted"):
        folder.choose(None)
    (interrupted,) = folder.backups()
    create_backup(store, blobs, folder, quiet)
    assert interrupted.name not in {backup.name for backup in folder.backups()}


def test_missing_and_damaged_blobs_of_the_service(
    store: Store, blobs: Blobs, make: Callable[[], tuple[Backup, Manifest]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.backup.blob_copy.READ_PAUSES", ())
    lost, damaged, whole = (add_dataset(store, blobs, easy(seed=seed)) for seed in range(3))
    blobs.delete(lost.blob)
    (blobs.folder / damaged.blob[:2] / damaged.blob).write_bytes(b"other bytes")
    _, manifest = make()
    assert set(manifest.blobs.missing) == {lost.blob, damaged.blob}
    assert manifest.blobs.count == 1
    assert whole.blob not in manifest.blobs.missing


@pytest.mark.parametrize("file", ["store.rdb", "blobs.txt", "manifest.json"])
def test_a_damaged_file_of_a_backup(
    file: str, store: Store, blobs: Blobs, folder: BackupFolder, make: Callable[[], tuple[Backup, Manifest]]
) -> None:
    add_dataset(store, blobs, easy())
    backup, _ = make()
    path = backup.folder / file
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(BackupError, match=rf"{file} is .*damaged"):
        check_backup(folder, backup, quiet)


def test_damaged_blobs_of_a_backup(
    store: Store, blobs: Blobs, folder: BackupFolder, make: Callable[[], tuple[Backup, Manifest]]
) -> None:
    dataset, other = (add_dataset(store, blobs, easy(seed=seed)) for seed in range(2))
    backup, _ = make()
    path = folder.blobs.path(dataset.blob)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert check_backup(folder, backup, quiet) == [dataset.blob]
    folder.blobs.delete(other.blob)
    assert set(check_backup(folder, backup, quiet)) == {dataset.blob, other.blob}


def test_a_bucket(
    store: Store, bucket: BucketBlobs, folder: BackupFolder, s3: object, tmp_path: Path
) -> None:
    dataset = add_dataset(store, bucket, easy())
    backup, manifest = create_backup(store, bucket, folder, quiet)
    assert manifest.blobs.copied == 1
    with pytest.raises(BackupError, match="--existing-blobs"):
        check_targets(tmp_path / "new", bucket, existing_blobs=False)
    bucket.delete(dataset.blob)
    assert list(bucket.names()) == []
    check_targets(tmp_path / "new", bucket, existing_blobs=False)
    restore_backup(folder, backup, tmp_path / "new", bucket, [], quiet)
    assert list(bucket.names()) == [dataset.blob]
    assert bucket.get(dataset.blob) == folder.blobs.get(dataset.blob)
    assert bucket.size(dataset.blob) == manifest.blobs.bytes


def test_a_server_that_writes_the_file_first(client: redis.Redis, tmp_path: Path) -> None:
    """Without diskless replication, the server announces the length and sends changes after the file."""
    client.set("literati:x", 1)
    client.config_set("repl-diskless-sync", "no")
    try:
        with open(tmp_path / "copy", "wb") as file:
            assert copy_store(client, file).startswith(("valkey ", "redis "))
    finally:
        client.config_set("repl-diskless-sync", "yes")
    data = (tmp_path / "copy").read_bytes()
    assert data.startswith((b"REDIS", b"VALKEY"))
    assert data[-9] == 0xFF, "the end of the file, before its checksum"


def test_a_server_that_refuses(client: redis.Redis, server: ValkeyServer, tmp_path: Path) -> None:
    admin: Any = client
    admin.execute_command("ACL", "SETUSER", "plain", "on", ">secret", "~*", "&*", "+@all", "-@dangerous")
    plain = redis.Redis(unix_socket_path=str(server.socket), username="plain", password="secret")
    refusal = pytest.raises(BackupError, match=r"refused.*\+sync \+psync \+replconf.*managed Redis")
    with plain, open(tmp_path / "copy", "wb") as file, refusal:
        copy_store(plain, file)
    admin.execute_command("ACL", "DELUSER", "plain")


def test_workers_of_the_lost_time_are_fenced(
    store: Store,
    blobs: Blobs,
    folder: BackupFolder,
    make: Callable[[], tuple[Backup, Manifest]],
    tmp_path: Path,
) -> None:
    """A worker that claimed a job after the backup must not act on it beside the one that claims it now."""
    job = spec(add_dataset(store, blobs, easy()))
    store.jobs.submit(job)
    backup, _ = make()
    old = store.jobs.claim("old")
    assert old is not None
    restored(folder, backup, tmp_path / "new")
    with ValkeyServer(tmp_path / "new" / "valkey") as server, connect(server.url) as client:
        after = Store(client)
        new = after.jobs.claim("new")
        assert new is not None
        assert new.spec.id == old.spec.id
        assert new.epoch > old.epoch
        with pytest.raises(FencedError):
            after.jobs.publish_progress(old.spec.id, old.epoch, progress_update())
        after.jobs.publish_progress(new.spec.id, new.epoch, progress_update())


def test_old_backups_are_deleted_while_no_other_backup_is_made(
    store: Store, blobs: Blobs, tmp_path: Path
) -> None:
    held = []

    class Folder(BackupFolder):
        def prune(self, keep: int) -> None:
            held.append(store.client.exists(DELETION_HOLD))
            super().prune(keep)

    folder = Folder(tmp_path / "backups")
    for _ in range(3):
        create_backup(store, blobs, folder, quiet, keep=2)
    assert held == [1, 1, 1]
    assert len(folder.backups()) == 2


def test_the_root_of_a_file_system_is_a_folder_of_backups(store: Store, blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "disk" / "lost+found").mkdir(parents=True)
    folder = BackupFolder(tmp_path / "disk")
    for _ in range(2):
        create_backup(store, blobs, folder, quiet)
    assert len(folder.backups()) == 2


def test_a_folder_with_other_content(store: Store, blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("Dear")
    with pytest.raises(BackupError, match="has other content"):
        create_backup(store, blobs, BackupFolder(tmp_path / "home"), quiet)
    with pytest.raises(BackupError, match="There is no folder"):
        BackupFolder(tmp_path / "nowhere").choose(None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BackupError, match="There is no backup in"):
        BackupFolder(tmp_path / "empty").choose(None)
