"""Test the numbers for Prometheus: every process reads the same, and nothing is counted twice."""

from __future__ import annotations

import time

import pytest
import redis

from tests.support.records.store_records import (
    CANCELLED,
    SUCCESS,
    TENANT,
    add_dataset,
    expire,
    look,
    progress_update,
    run,
    submit,
)
from worker.domain.errors import FencedError
from worker.domain.jobs import JobState
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect
from worker.store.measurements import WorkerInfo


def test_an_empty_store_measures_nothing(store: Store) -> None:
    found = store.measure()
    assert found.writable
    assert set(found.states.values()) == {0}
    assert (found.queue_depth, found.oldest_queued_seconds) == (0, 0.0)
    assert not found.totals
    assert not found.workers
    assert not found.gaps
    assert not found.memory
    assert not found.explored


def test_a_job_from_its_submission_to_its_end(store: Store) -> None:
    claim = run(store)
    job_id, epoch = claim.spec.id, claim.epoch
    update = progress_update(upper=10.0, lower=4.0, expansions=50, explored=0.3)
    store.jobs.publish_progress(job_id, epoch, update)
    found = store.measure()
    assert found.states[JobState.RUNNING] == 1
    assert list(found.gaps) == [pytest.approx(0.6)]
    assert list(found.memory) == [1000]
    assert list(found.explored) == [0.3]
    store.jobs.finish(job_id, epoch, SUCCESS, progress_update(objective=9.0, expansions=70))
    store.jobs.finish(job_id, epoch, SUCCESS, progress_update(objective=8.0, expansions=90))  # said before
    found = store.measure()
    assert not found.gaps
    assert dict(found.totals) == {
        "submitted": 1,
        "checkpoints": 3,
        "incumbents": 2,
        "expansions": 70,
        "ended:TIME_LIMIT": 1,
    }
    assert found.by_kind("ended") == {"TIME_LIMIT": 1}


def test_work_done_again_is_not_counted_again(store: Store) -> None:
    """A search that continues from a snapshot repeats a part of its work."""
    claim = run(store)
    for expansions in (40, 30, 45):
        store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(expansions=expansions))
    assert store.measure().totals["expansions"] == 45


def test_lost_leases_and_the_updates_of_fenced_workers(store: Store) -> None:
    claim = run(store, request_id="a-request")
    job_id, epoch = claim.spec.id, claim.epoch
    expire(store, job_id)
    store.jobs.reconcile()
    store.jobs.reconcile()
    for say in (
        lambda: store.jobs.publish_progress(job_id, epoch, progress_update()),
        lambda: store.jobs.renew_lease(job_id, epoch),
        lambda: store.jobs.renew_lease(job_id, epoch),
        lambda: store.jobs.finish(job_id, epoch, CANCELLED),
        lambda: store.jobs.release(job_id, epoch),
    ):
        with pytest.raises(FencedError):
            say()
    found = store.measure()
    assert found.totals["lease_losses"] == 1
    assert found.totals["reconciler_rounds"] == 2
    assert found.by_kind("fenced") == {"beat": 2, "checkpoint": 1, "finish": 1, "release": 1}
    assert look(store, job_id).request_id == "a-request"


def test_the_oldest_of_the_queue_whatever_its_priority(store: Store, client: redis.Redis) -> None:
    dataset = add_dataset(store)
    first = submit(store, dataset, priority=-5).spec.id
    time.sleep(0.05)
    submit(store, dataset, priority=5)
    found = store.measure()
    assert found.queue_depth == 2
    assert 0.05 <= found.oldest_queued_seconds < 5
    claimed = store.jobs.claim("worker")
    assert claimed is not None
    assert claimed.spec.id != first
    assert store.measure().oldest_queued_seconds >= 0.05
    store.jobs.control(TENANT, first, "cancel")
    assert store.measure().oldest_queued_seconds == 0
    assert client.zcard("literati:waiting") == 0


def test_bytes_of_saved_searches(store: Store) -> None:
    claim = run(store)
    job_id, epoch = claim.spec.id, claim.epoch
    for name, size in (("c" * 64, 100), ("d" * 64, 250), ("d" * 64, 250)):
        store.jobs.publish_progress(job_id, epoch, progress_update(snapshot=name, snapshot_bytes=size))
        assert store.measure().totals["saved_bytes"] == size
    store.jobs.finish(job_id, epoch, SUCCESS)
    assert store.measure().totals["saved_bytes"] == 250
    store.jobs.delete(TENANT, job_id)
    assert store.measure().totals["saved_bytes"] == 0


def test_workers_that_say_so_are_alive(store: Store) -> None:
    here, there = WorkerInfo("here:1", 4), WorkerInfo("the host:2", 2)
    store.report_alive(here, 60)
    store.report_alive(here, 60)
    store.report_alive(there, 0.05)
    time.sleep(0.06)
    assert list(store.measure().workers) == [here]
    store.report_alive(there, 60)
    store.report_alive(here, 0)
    assert list(store.measure().workers) == [there]


def test_a_record_from_before_there_were_request_ids(store: Store, client: redis.Redis) -> None:
    job_id = submit(store).spec.id
    client.hdel(f"literati:job:{job_id}", "request_id")
    assert look(store, job_id).request_id is None
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.request_id is None
    expire(store, job_id)
    store.jobs.reconcile()


def test_a_store_that_takes_no_writes_is_still_read(server: ValkeyServer, store: Store) -> None:
    submit(store)
    with connect(server.url) as admin:
        admin.config_set("maxmemory", 1)
        try:
            found = store.measure()
        finally:
            admin.config_set("maxmemory", 0)
    assert not found.writable
    assert found.queue_depth == 1
    assert store.measure().writable


def test_the_cost_does_not_grow_with_what_is_stored(store: Store, client: redis.Redis) -> None:
    def commands() -> int:
        def calls() -> int:
            return sum(command["calls"] for command in client.info("commandstats").values())

        before = calls()
        store.measure()
        return calls() - before

    dataset = add_dataset(store)
    for _ in range(3):
        submit(store, dataset)
    store.jobs.claim("worker")
    store.measure()
    few = commands()
    for _ in range(200):
        submit(store, dataset)
    for _ in range(3):
        job_id = submit(store, dataset, priority=9).spec.id
        store.jobs.control(TENANT, job_id, "cancel")
    assert commands() == few < 20
