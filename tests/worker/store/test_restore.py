"""Test which deleted records can be restored."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    dataset,
    look,
    progress_update,
    run,
    spec,
    submit,
)
from worker.blobs.local import Blobs
from worker.domain.base import new_id
from worker.domain.errors import (
    DatasetNotFoundError,
    JobNotEndedError,
    JobNotFoundError,
    LimitReachedError,
    ModelInUseError,
    ModelNotFoundError,
)
from worker.domain.jobs import Job, JobState
from worker.reconciler import Reconciler
from worker.store import Store

BLOB = "c" * 64


def ended(store: Store, **fields: Any) -> Job:
    claim = run(store, **fields)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(snapshot=BLOB))
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS)
    return look(store, claim.spec.id)


def contents(client: redis.Redis) -> dict[bytes, object]:
    """Return the whole content of the store, except for the times of last use of datasets."""
    read: dict[bytes, Callable[[Any], object]] = {
        b"hash": client.hgetall,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores="-used" not in key.decode()),
        b"set": client.smembers,
        b"string": client.get,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"stream": client.xrange,
    }
    return {key: read[client.type(key)](key) for key in client.scan_iter("*")}  # type: ignore[index]


def test_a_job_comes_back_as_it_was(store: Store, client: redis.Redis) -> None:
    job = ended(store)
    other = ended(store)
    before = contents(client)
    assert store.jobs.delete(TENANT, job.spec.id, keep=True) == []
    assert store.jobs.get(TENANT, job.spec.id) is None
    assert [found.spec.id for found in store.jobs.list(TENANT).items] == [other.spec.id]
    assert store.jobs.list(TENANT, states=[JobState.SUCCEEDED]).items[0].spec.id == other.spec.id
    assert client.hget("literati:states", JobState.SUCCEEDED) == b"1"
    for look_up in (
        lambda: store.jobs.incumbent(TENANT, job.spec.id),
        lambda: store.jobs.trace(TENANT, job.spec.id),
        lambda: store.jobs.events(TENANT, job.spec.id),
        lambda: store.jobs.delete(TENANT, job.spec.id, keep=True),
        lambda: store.jobs.control(TENANT, job.spec.id, "finish", revision=1),
        lambda: store.jobs.change(TENANT, job.spec.id, lambda settings: settings),
        lambda: store.jobs.restore("other", job.spec.id),
    ):
        with pytest.raises(JobNotFoundError):
            look_up()
    for what in ("jobs", "searches"):
        assert store.retention.count(what, 0) == 1
    assert store.blobs.unreferenced() == []
    assert store.jobs.restore(TENANT, job.spec.id) == job
    assert contents(client) == before
    assert store.jobs.restore(TENANT, job.spec.id) == job, "a repeat does nothing"


def test_a_live_job_cannot_be_deleted(store: Store) -> None:
    job = submit(store)
    with pytest.raises(JobNotEndedError):
        store.jobs.delete(TENANT, job.spec.id, keep=True)


def test_a_dataset_comes_back_as_it_was(store: Store, client: redis.Redis) -> None:
    data = add_dataset(store, stored_bytes=70)
    before = contents(client)
    assert store.datasets.delete(TENANT, data.id, keep=True) == data
    assert store.datasets.get(TENANT, data.id) is None
    assert store.datasets.find(TENANT, data.id) is None
    assert store.datasets.list(TENANT).items == []
    assert store.datasets.usage(TENANT) == (0, 0)
    assert store.blobs.unreferenced() == []
    for refused in (
        lambda: store.datasets.delete(TENANT, data.id, keep=True),
        lambda: store.datasets.restore("other", data.id),
        lambda: store.jobs.submit(spec(data)),
    ):
        with pytest.raises(DatasetNotFoundError):
            refused()
    assert store.retention.count("datasets", 0) == 0
    assert store.datasets.restore(TENANT, data.id) == data
    assert contents(client) == before


def test_a_model_comes_back_as_it_was(store: Store, client: redis.Redis) -> None:
    model_id = ended(store).model_id
    assert model_id is not None
    model, tree = store.models.get(TENANT, model_id), store.models.tree(TENANT, model_id)
    store.models.set_alias(TENANT, "best", model_id)
    with pytest.raises(ModelInUseError):
        store.models.delete(TENANT, model_id, keep=True)
    store.models.delete_alias(TENANT, "best")
    before = contents(client)
    store.models.delete(TENANT, model_id, keep=True)
    assert store.models.get(TENANT, model_id) is None
    assert store.models.resolve(TENANT, model_id) is None
    assert store.models.list(TENANT).items == []
    for refused in (
        lambda: store.models.set_alias(TENANT, "best", model_id),
        lambda: store.models.delete(TENANT, model_id, keep=True),
        lambda: store.models.restore("other", model_id),
    ):
        with pytest.raises(ModelNotFoundError):
            refused()
    assert store.models.restore(TENANT, model_id) == model
    assert store.models.tree(TENANT, model_id) == tree
    assert contents(client) == before


def test_nothing_is_left_after_a_while(store: Store, client: redis.Redis) -> None:
    job = ended(store, of=add_dataset(store, blob="d" * 64, stored_bytes=70))
    assert job.model_id is not None
    store.jobs.delete(TENANT, job.spec.id, keep=True)
    store.models.delete(TENANT, job.model_id, keep=True)
    store.datasets.delete(TENANT, job.spec.dataset_id, keep=True)
    assert store.retention.count("deleted", 3600) == 0
    assert store.retention.expire("deleted", 3600, 10) == 0
    assert store.retention.count("deleted", 0) == 3
    assert store.retention.expire("deleted", 0, 10) == 3
    with pytest.raises(JobNotFoundError):
        store.jobs.restore(TENANT, job.spec.id)
    with pytest.raises(ModelNotFoundError):
        store.models.restore(TENANT, job.model_id)
    with pytest.raises(DatasetNotFoundError):
        store.datasets.restore(TENANT, job.spec.dataset_id)
    assert sorted(store.blobs.unreferenced()) == [BLOB, "d" * 64]
    for name in (BLOB, "d" * 64):
        assert not store.blobs.is_referenced(name)
    left = {key.decode() for key in client.scan_iter("*")}
    turns = {"literati:rested", "literati:virtual-time"}  # a few bytes a tenant
    assert left - turns == {"literati:seq", "literati:states", "literati:totals"}


def test_the_reconciler_purges_and_the_file_goes(store: Store, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put(b"a table")
    data = add_dataset(store, blob=name)
    store.datasets.delete(TENANT, data.id, keep=True)
    Reconciler(store, lambda n: None, blobs, retention={"deleted": 1.0}).run_once()
    assert blobs.path(name).exists()
    Reconciler(store, lambda n: None, blobs, retention={"deleted": 0.0}).run_once()
    assert not (tmp_path / name[:2] / name).exists()


def test_the_same_table_uploaded_again_meanwhile(store: Store) -> None:
    first = add_dataset(store)
    store.datasets.delete(TENANT, first.id, keep=True)
    second = dataset()
    assert store.datasets.add(second, content_key=first.id).id == second.id, "not the deleted one"
    store.datasets.restore(TENANT, first.id)
    assert {found.id for found in store.datasets.list(TENANT).items} == {first.id, second.id}
    store.datasets.delete(TENANT, first.id)
    found = store.datasets.find(TENANT, first.id)
    assert found is not None
    assert found.id == second.id
    assert store.blobs.unreferenced() == []
    store.datasets.delete(TENANT, second.id)
    assert store.blobs.unreferenced() == [second.blob]


def test_a_restored_dataset_is_found_by_its_content(store: Store) -> None:
    data = add_dataset(store)
    store.datasets.delete(TENANT, data.id, keep=True)
    store.datasets.restore(TENANT, data.id)
    assert store.datasets.add(dataset(), content_key=data.id).id == data.id


def test_an_idempotency_key_of_a_deleted_job(store: Store) -> None:
    data = add_dataset(store)

    def send(body: str) -> str:
        known = store.jobs.submitted_before(TENANT, "key", body)
        if known is not None:
            return known.spec.id
        sent = store.jobs.submit(spec(data), idempotency_key="key", body_digest=body)
        return sent.job.spec.id

    first = send("a")
    store.jobs.control(TENANT, first, "cancel")
    store.jobs.delete(TENANT, first, keep=True)
    store.jobs.restore(TENANT, first)
    assert send("a") == first, "restored, it is the key's job again"
    store.jobs.delete(TENANT, first, keep=True)
    second = send("b")
    assert second != first, "there is no such job meanwhile"
    store.jobs.restore(TENANT, first)
    assert send("b") == second
    store.jobs.delete(TENANT, first)
    assert send("b") == second


def test_there_must_be_room_to_restore(store: Store) -> None:
    first, _ = (ended(store) for _ in range(2))
    store.jobs.delete(TENANT, first.spec.id, keep=True)
    with pytest.raises(LimitReachedError, match="jobs"):
        store.jobs.restore(TENANT, first.spec.id, max_jobs=1)
    store.jobs.restore(TENANT, first.spec.id, max_jobs=2)
    assert first.model_id is not None
    store.models.delete(TENANT, first.model_id, keep=True)
    submit(store)  # may make a model
    with pytest.raises(LimitReachedError, match="models"):
        store.models.restore(TENANT, first.model_id, max_models=2)
    store.models.restore(TENANT, first.model_id, max_models=3)
    data = add_dataset(store, stored_bytes=70)
    store.datasets.delete(TENANT, data.id, keep=True)
    count, size = store.datasets.usage(TENANT)
    with pytest.raises(LimitReachedError, match="datasets"):
        store.datasets.restore(TENANT, data.id, max_datasets=count)
    with pytest.raises(LimitReachedError, match="dataset_bytes"):
        store.datasets.restore(TENANT, data.id, max_bytes=size + 69)
    store.datasets.restore(TENANT, data.id, max_datasets=count + 1, max_bytes=size + 70)


def test_deleted_datasets_give_way_to_new_ones(store: Store) -> None:
    """Deleted datasets count towards the bytes that a tenant may use on the disk."""
    old, newer = (add_dataset(store, blob=letter * 64, stored_bytes=40) for letter in "ab")
    for data in (old, newer):
        store.datasets.delete(TENANT, data.id, keep=True)
        time.sleep(0.002)  # the order of deletions is kept in milliseconds
    third = dataset(blob="d" * 64, stored_bytes=40)
    store.datasets.add(third, content_key=third.id, max_bytes=100)
    assert store.blobs.unreferenced() == [old.blob]
    with pytest.raises(DatasetNotFoundError):
        store.datasets.restore(TENANT, old.id)
    assert store.datasets.restore(TENANT, newer.id, max_bytes=100) == newer


def test_only_so_many_deleted_ones_are_kept(store: Store, client: redis.Redis) -> None:
    first = add_dataset(store)
    store.datasets.delete(TENANT, first.id, keep=True)
    for _ in range(1000):
        data = add_dataset(store)
        store.datasets.delete(TENANT, data.id, keep=True)
    with pytest.raises(DatasetNotFoundError):
        store.datasets.restore(TENANT, first.id)
    assert store.datasets.restore(TENANT, data.id) == data
    assert client.zcard("literati:deleted") == client.zcard(f"literati:deleted-datasets:{TENANT}") == 999


def test_what_never_was_cannot_be_restored(store: Store) -> None:
    with pytest.raises(JobNotFoundError):
        store.jobs.restore(TENANT, new_id("job"))
    with pytest.raises(DatasetNotFoundError):
        store.datasets.restore(TENANT, new_id("ds"))
    with pytest.raises(ModelNotFoundError):
        store.models.restore(TENANT, new_id("mdl"))
