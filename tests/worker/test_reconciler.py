"""Test the background thread that repairs jobs and deletes blobs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from tests.support.records.store_records import (
    TENANT,
    add_dataset,
    expire,
    look,
    run,
    start,
    submit,
    wait_until,
)
from worker.blobs.local import Blobs
from worker.domain.jobs import JobState
from worker.processes.valkey import ValkeyServer
from worker.reconciler import Reconciler
from worker.store import Store
from worker.store.client import connect


class Wakeups:
    def __init__(self) -> None:
        self.counts: list[int] = []

    def __call__(self, count: int) -> None:
        self.counts.append(count)


def running(reconciler: Reconciler, until: Callable[[], object]) -> None:
    reconciler.start()
    try:
        wait_until(until)
    finally:
        reconciler.stop()


def test_a_lost_wakeup_is_made_good(store: Store) -> None:
    submit(store)
    submit(store)
    wake = Wakeups()
    running(Reconciler(store, wake, interval=0.05), lambda: len(wake.counts) >= 2)
    assert set(wake.counts) == {2}


def test_nothing_to_do_wakes_nobody(store: Store) -> None:
    run(store)
    wake = Wakeups()
    rounds = []

    class Counting(Reconciler):
        def run_once(self) -> None:
            super().run_once()
            rounds.append(1)

    running(Counting(store, wake, interval=0.02), lambda: len(rounds) > 3)
    assert wake.counts == []


def test_the_job_of_a_lost_worker_is_queued_by_one_of_many(server: ValkeyServer, store: Store) -> None:
    job_id = start(store).spec.id
    wake = Wakeups()
    many = [Reconciler(Store(connect(server.url)), wake, interval=0.02) for _ in range(6)]
    for one in many:
        one.start()
    expire(store, job_id)
    wait_until(lambda: wake.counts)
    for one in many:
        one.stop()
    job = look(store, job_id)
    assert [step.state for step in job.transitions].count(JobState.QUEUED) == 2
    assert set(wake.counts) == {1}


def test_it_outlives_a_store_that_goes_away(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "valkey") as server:
        client = connect(server.url)
        store = Store(client)
        wake, failed = Wakeups(), threading.Event()

        class Noticing(Reconciler):
            def run_once(self) -> None:
                try:
                    super().run_once()
                except redis.RedisError:
                    failed.set()
                    raise

        reconciler = Noticing(store, wake, interval=0.05)
        reconciler.start()
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        assert failed.wait(20)
        server.start()
        submit(store)
        wait_until(lambda: wake.counts)
        reconciler.stop()
        client.close()


def test_it_outlives_a_wake_that_fails(store: Store) -> None:
    submit(store)
    calls = []

    def wake(count: int) -> None:
        calls.append(count)
        raise OSError("broken")

    running(Reconciler(store, wake, interval=0.02), lambda: len(calls) > 2)


def test_garbage_is_swept(store: Store, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    kept, unnamed = blobs.put(b"kept"), blobs.put(b"unnamed")
    shared = [add_dataset(store, blob=kept) for _ in range(2)]
    lone = add_dataset(store, blob=blobs.put(b"lone"))
    store.datasets.delete(TENANT, shared[0].id)
    store.datasets.delete(TENANT, lone.id)
    Reconciler(store, Wakeups(), blobs).run_once()
    assert blobs.get(kept) == b"kept"
    assert blobs.get(unnamed) == b"unnamed", "not ours to judge"
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
    assert store.blobs.unreferenced() == []


def test_a_round_deletes_blobs_for_a_limited_time(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = Blobs(tmp_path)
    for number in range(3):
        dataset = add_dataset(store, blob=blobs.put(b"%d" % number))
        store.datasets.delete(TENANT, dataset.id)
    monkeypatch.setattr("worker.reconciler.MAX_DELETION_SECONDS", 0.0)
    left = []
    for _ in range(3):
        Reconciler(store, Wakeups(), blobs).run_once()
        left.append(len([path for path in tmp_path.rglob("*") if path.is_file()]))
    assert left == [2, 1, 0]


def test_stop_before_start_returns(store: Store) -> None:
    Reconciler(store, Wakeups()).stop()
