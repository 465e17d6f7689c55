"""Test which records are deleted by age, and how much of a job's history is kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import pytest
import redis

from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    look,
    progress_update,
    run,
    spec,
    submit,
    wait_until,
)
from worker.blobs.local import Blobs
from worker.domain.datasets import Dataset
from worker.domain.errors import LimitReachedError
from worker.domain.jobs import Job, JobState
from worker.processes.valkey import ValkeyServer
from worker.reconciler import Reconciler
from worker.settings import WorkerSettings
from worker.store import Store, open_store
from worker.store.jobs import Quota
from worker.store.retention import RetentionKind

DAY = 86_400.0
AT_ONCE = 0.0  # seconds: whatever has ended by now


def ended(store: Store, of: Dataset | None = None, blob: str = "c" * 64) -> Job:
    """Return an ended job with a model and a search snapshot."""
    claim = run(store, of=of)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(snapshot=blob))
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS)
    return look(store, claim.spec.id)


def keys(client: redis.Redis) -> set[str]:
    return {key.decode() for key in client.scan_iter("literati:*") if isinstance(key, bytes)}


def test_ended_jobs_go_and_their_models_stay(store: Store) -> None:
    jobs = [ended(store) for _ in range(12)]
    live = [run(store).spec.id, submit(store).spec.id]
    assert store.retention.count("jobs", DAY) == 0
    assert store.retention.expire("jobs", DAY, 100) == 0
    assert store.retention.count("jobs", AT_ONCE) == 12
    assert store.retention.expire("jobs", AT_ONCE, 100) == 12
    assert [job.spec.id for job in store.jobs.list(TENANT).items] == live[::-1]
    assert len(store.models.list(TENANT).items) == 12
    for job in jobs:
        assert store.jobs.get(TENANT, job.spec.id) is None
        assert job.model_id is not None
        assert store.models.tree(TENANT, job.model_id) is not None
    assert store.measure().states[JobState.SUCCEEDED] == 0


def test_in_steps_the_oldest_first(store: Store) -> None:
    jobs = [ended(store) for _ in range(12)]
    assert 4 <= store.retention.expire("jobs", AT_ONCE, 4) < 12
    left = [job.spec.id for job in store.jobs.list(TENANT).items][::-1]
    assert left == [job.spec.id for job in jobs][-len(left) :]


def test_nothing_is_left_of_a_job(store: Store, client: redis.Redis) -> None:
    data = add_dataset(store)
    before = keys(client)
    job = ended(store, data)
    assert job.model_id is not None
    store.models.delete(TENANT, job.model_id)
    assert store.retention.expire("jobs", AT_ONCE, 10) == 1
    store.blobs.is_referenced("c" * 64)
    left = keys(client) - before
    assert not [key for key in left if job.spec.id in key]
    turns = {"literati:virtual-time", "literati:rested"}  # of tenants, not of jobs
    assert left - turns <= {"literati:seq", "literati:states", "literati:totals"}


def test_searches_of_ended_jobs(store: Store) -> None:
    job, other = ended(store), ended(store, blob="d" * 64)
    claim = run(store)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(snapshot="e" * 64))
    assert store.retention.count("searches", AT_ONCE) == 2
    assert store.retention.expire("searches", AT_ONCE, 10) == 2
    assert look(store, job.spec.id).snapshot is None
    assert look(store, other.spec.id).snapshot is None
    assert look(store, claim.spec.id).snapshot == "e" * 64
    assert sorted(store.blobs.unreferenced()) == ["c" * 64, "d" * 64]
    assert store.retention.expire("searches", AT_ONCE, 10) == 0
    store.jobs.delete(TENANT, job.spec.id)


def test_a_paused_job_keeps_its_search(store: Store) -> None:
    claim = run(store)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(snapshot="e" * 64))
    store.jobs.control(TENANT, claim.spec.id, "pause")
    for what in get_args(RetentionKind):
        assert store.retention.expire(what, AT_ONCE, 10) == 0
    assert look(store, claim.spec.id).snapshot == "e" * 64


def test_unused_datasets(store: Store) -> None:
    unused, used, once = (add_dataset(store, blob=letter * 64) for letter in "abc")
    submit(store, used)
    ended_job = submit(store, once)
    store.jobs.control(TENANT, ended_job.spec.id, "cancel")
    assert store.retention.count("datasets", AT_ONCE) == 2
    assert store.retention.expire("datasets", AT_ONCE, 10) == 2
    assert [found.id for found in store.datasets.list(TENANT).items] == [used.id]
    assert store.datasets.get(TENANT, unused.id) is None
    assert store.jobs.get(TENANT, ended_job.spec.id) is not None
    assert sorted(store.blobs.unreferenced()) == ["a" * 64, "c" * 64]
    assert store.retention.expire("datasets", AT_ONCE, 10) == 0


def test_uploading_again_is_using(store: Store, client: redis.Redis) -> None:
    data = add_dataset(store)
    client.zadd("literati:datasets-used", {data.id: 1})
    assert store.retention.count("datasets", DAY) == 1
    assert store.datasets.find(TENANT, data.id) is not None
    assert store.retention.count("datasets", DAY) == 0


def test_for_ever(store: Store) -> None:
    ended(store)
    for what in get_args(RetentionKind):
        assert store.retention.expire(what, math.inf, 10) == 0


def test_the_reconciler_applies_it(store: Store, tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    search, rows = blobs.put(b"search"), blobs.put(b"rows")
    job = ended(store, add_dataset(store, blob=rows), blob=search)
    reconciler = Reconciler(
        store,
        lambda _: None,
        blobs,
        interval=0.05,
        retention={"searches": 0.0, "jobs": math.inf, "datasets": 7.0},
    )
    reconciler.start()
    try:
        wait_until(lambda: not blobs._path(search).exists())
    finally:
        reconciler.stop()
    assert look(store, job.spec.id).snapshot is None
    assert blobs.path(rows).exists()


class TestHowMuchIsKeptOfAJob:
    """The limits come from the settings."""

    @pytest.fixture
    def store(
        self,
        client: redis.Redis,
        server: ValkeyServer,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> Store:
        monkeypatch.setenv("REDIS_URL", server.url)
        for name, most in (("EVENTS", 100), ("TRACE_POINTS", 20), ("INCUMBENTS", 3)):
            monkeypatch.setenv(f"LITERATI_MAX_{name}", str(most))
        return open_store(WorkerSettings(), Blobs(tmp_path / "blobs"))

    def test_trees(self, store: Store) -> None:
        claim = run(store)
        for objective in range(90, 80, -1):
            store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(objective=objective / 10))
        newest = look(store, claim.spec.id).progress.incumbents
        there = [
            revision
            for revision in range(1, newest + 1)
            if store.jobs.incumbent(TENANT, claim.spec.id, revision) is not None
        ]
        assert there == [newest - 2, newest - 1, newest]

    def test_points_of_the_trace(self, store: Store) -> None:
        claim = run(store)
        for number in range(1, 100):
            word = progress_update(lower=number / 100, expansions=number, seconds=float(number))
            store.jobs.publish_progress(claim.spec.id, claim.epoch, word)
        points = store.jobs.trace(TENANT, claim.spec.id)
        assert 10 <= len(points) <= 20
        assert points[-1].seconds == 99.0

    def test_events(self, store: Store, client: redis.Redis) -> None:
        claim = run(store)
        for number in range(1000):
            store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(log=f"line {number}"))
        assert 100 <= int(client.xlen(f"literati:job:{claim.spec.id}:events")) < 400
        assert store.jobs.events(TENANT, claim.spec.id).resync


class TestQuotas:
    def test_live_jobs(self, store: Store) -> None:
        data = add_dataset(store)
        submit(store, data)
        self.refused(store, data, "live_jobs", Quota(max_live=1))

    def test_jobs(self, store: Store) -> None:
        data = add_dataset(store)
        job = submit(store, data)
        store.jobs.control(TENANT, job.spec.id, "cancel")
        self.refused(store, data, "jobs", Quota(max_live=1, max_jobs=1))
        store.jobs.delete(TENANT, job.spec.id)
        submit(store, data)

    def test_models_count_with_those_to_come(self, store: Store) -> None:
        data = add_dataset(store)
        ended(store, data)
        submit(store, data)
        self.refused(store, data, "models", Quota(max_models=2))

    def test_the_queue_is_everyones(self, store: Store) -> None:
        submit(store, add_dataset(store, "other"))
        self.refused(store, add_dataset(store), "queue", Quota(max_live=1, max_queued=1))

    def refused(self, store: Store, data: Dataset, limit: str, quota: Quota) -> None:
        before = len(store.jobs.list(TENANT).items)
        with pytest.raises(LimitReachedError, match=limit):
            store.jobs.submit(spec(data), quota=quota)
        assert len(store.jobs.list(TENANT).items) == before
