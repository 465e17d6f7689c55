"""Test the records of datasets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from tests.support.records.store_records import SUCCESS, TENANT, add_dataset, dataset, run, submit
from worker.domain.base import new_id
from worker.domain.datasets import Dataset
from worker.domain.errors import DatasetInUseError, DatasetNotFoundError
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect


def test_a_dataset_reads_back_as_added(store: Store) -> None:
    added = dataset(name="Ü", warnings=['a "b"'])
    assert store.datasets.add(added, content_key="k") == added
    assert store.datasets.get(TENANT, added.id) == added
    assert store.datasets.find(TENANT, "k") == added
    assert store.datasets.get("other", added.id) is None
    assert store.datasets.find("other", "k") is None
    assert store.datasets.get(TENANT, new_id("ds")) is None
    assert store.datasets.find(TENANT, "other") is None


def test_the_same_content_is_one_dataset_for_one_tenant(store: Store) -> None:
    first = store.datasets.add(dataset(), content_key="k")
    assert store.datasets.add(dataset(), content_key="k") == first
    assert store.datasets.add(dataset(), content_key="l") != first
    theirs = store.datasets.add(dataset("other"), content_key="k")
    assert theirs.id != first.id
    assert len(store.datasets.list(TENANT).items) == 2
    assert store.datasets.list("other").items == [theirs.summary]


def test_the_same_content_at_once_is_one_dataset(store: Store, server: ValkeyServer) -> None:
    def add(_: int) -> Dataset:
        with connect(server.url) as client:
            return Store(client).datasets.add(dataset(), content_key="k")

    with ThreadPoolExecutor(8) as pool:
        assert len({added.id for added in pool.map(add, range(32))}) == 1
    assert len(store.datasets.list(TENANT).items) == 1


def test_pages(store: Store) -> None:
    ids = [add_dataset(store).id for _ in range(5)]
    first = store.datasets.list(TENANT, page_size=2)
    add_dataset(store)
    second = store.datasets.list(TENANT, page_size=2, page_token=first.next_page_token)
    last = store.datasets.list(TENANT, page_size=2, page_token=second.next_page_token)
    assert [one.id for page in (first, second, last) for one in page.items] == ids[::-1]
    assert last.next_page_token is None


def test_a_dataset_that_a_live_job_uses_is_kept(store: Store) -> None:
    data = add_dataset(store)
    jobs = [submit(store, data).spec.id for _ in range(2)]
    store.jobs.control(TENANT, jobs[0], "pause")
    for job_id in jobs:
        with pytest.raises(DatasetInUseError):
            store.datasets.delete(TENANT, data.id)
        store.jobs.control(TENANT, job_id, "cancel")
    assert store.datasets.delete(TENANT, data.id) == data
    assert store.datasets.get(TENANT, data.id) is None


def test_a_dataset_is_free_when_its_jobs_succeeded(store: Store) -> None:
    data = add_dataset(store)
    job_id = run(store, of=data).spec.id
    with pytest.raises(DatasetInUseError):
        store.datasets.delete(TENANT, data.id)
    store.jobs.finish(job_id, 1, SUCCESS)
    store.datasets.delete(TENANT, data.id)
    assert store.jobs.get(TENANT, job_id) is not None
    assert len(store.models.list(TENANT).items) == 1


def test_deleting_leaves_nothing(store: Store, client: redis.Redis) -> None:
    before = set(client.keys("*"))
    data = store.datasets.add(dataset(), content_key="k")
    with pytest.raises(DatasetNotFoundError):
        store.datasets.delete("other", data.id)
    store.datasets.delete(TENANT, data.id)
    with pytest.raises(DatasetNotFoundError):
        store.datasets.delete(TENANT, data.id)
    assert store.datasets.find(TENANT, "k") is None
    assert set(client.keys("*")) - before <= {b"literati:seq", b"literati:garbage"}
    assert store.datasets.add(dataset(), content_key="k").id != data.id


def test_a_shared_blob_is_garbage_when_the_last_one_goes(store: Store) -> None:
    blob = "7" * 64
    mine, theirs = add_dataset(store, blob=blob), add_dataset(store, "other", blob=blob)
    store.datasets.delete(TENANT, mine.id)
    assert store.blobs.unreferenced() == []
    assert store.blobs.is_referenced(blob)
    store.datasets.delete("other", theirs.id)
    assert store.blobs.unreferenced() == [blob]
    add_dataset(store, blob=blob)
    assert store.blobs.is_referenced(blob), "it came back before it was swept"
    assert store.blobs.unreferenced() == []
