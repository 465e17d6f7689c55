"""Test scripts that fail on the server: no job is lost, and no job blocks the others.

A script that raises an error keeps what it wrote before. Keys of a wrong type make the real scripts fail.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import redis
from structlog.testing import capture_logs

from tests.support.records import jobs, store_records
from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    expire,
    look,
    progress_update,
    run,
    start,
    state_of,
    submit,
    wait_until,
)
from worker.blobs.local import Blobs
from worker.domain.errors import FencedError, is_store_fault, refusal
from worker.domain.jobs import Job, JobState, StopReason
from worker.store import Store
from worker.store.leases import MAX_STALLS
from worker.training.runner import JobRun

LONG = {"max_depth": 6, "max_changepoints": 3}


def break_key(store: Store, key: str) -> None:
    store.client.delete(key)
    store.client.set(key, "of a wrong type")


def fail_half_way(store: Store, claim: Job) -> str:
    """Let `finish` fail after it has removed the lease and before it has ended the job."""
    break_key(store, "literati:ended")
    with pytest.raises(redis.ResponseError) as caught:
        store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS)
    assert is_store_fault(caught.value)
    store.client.delete("literati:ended")
    assert store.client.hget(f"literati:job:{claim.spec.id}", "lease_until") == b""
    assert store.client.zcard("literati:leases") == 0
    assert state_of(store, claim.spec.id) is JobState.RUNNING
    return claim.spec.id


def test_the_answer_of_redis_7_to_many_arguments_without_a_password() -> None:
    answer = redis.ResponseError("Protocol error: unauthenticated multibulk length")
    assert refusal(answer) == "access"
    assert not is_store_fault(answer)


def test_a_wrong_password_is_not_a_fault_of_the_job(store: Store) -> None:
    """A server answers otherwise to commands with many arguments than to short ones."""
    claim = run(store)
    admin: Any = store.client.connection_pool.get_connection()

    def command(*words: str) -> None:
        admin.send_command(*words)
        admin.read_response()

    command("CONFIG", "SET", "requirepass", "another")
    try:
        command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        for write in (
            lambda: store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update()),
            lambda: store.client.hlen("literati:totals"),
        ):
            with pytest.raises(redis.RedisError) as caught:
                write()
            assert refusal(caught.value) == "access"
            assert not is_store_fault(caught.value)
    finally:
        command("CONFIG", "SET", "requirepass", "")
        store.client.connection_pool.release(admin)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update())


def test_a_job_that_a_failed_script_left_without_a_lease_is_queued_again(store: Store) -> None:
    job_id = fail_half_way(store, run(store))
    with capture_logs() as logs:
        assert store.jobs.reconcile() == 1
    assert [line["event"] for line in logs] == ["a job was neither queued nor leased"]
    job = look(store, job_id)
    assert (job.state, job.stop_reason, job.finished_at) == (JobState.QUEUED, None, None)
    again = store.jobs.claim("another")
    assert again is not None
    store.jobs.finish(job_id, again.epoch, SUCCESS)
    job = look(store, job_id)
    assert job.state is JobState.SUCCEEDED
    models = store.models.list(TENANT).items
    assert [model.id for model in models] == [job.model_id], "one model, though two were begun"


def test_a_request_is_carried_out_for_a_job_that_a_failed_script_left(store: Store) -> None:
    claim = run(store)
    break_key(store, "literati:ended")
    store.jobs.control(TENANT, claim.spec.id, "cancel")
    with pytest.raises(redis.ResponseError):
        store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS)
    store.client.delete("literati:ended")
    store.jobs.reconcile()
    assert state_of(store, claim.spec.id) is JobState.CANCELLED


def test_a_queued_job_that_was_taken_out_of_its_queue_only_comes_back(store: Store) -> None:
    job_id = submit(store).spec.id
    break_key(store, "literati:ended")
    with pytest.raises(redis.ResponseError):
        store.jobs.control(TENANT, job_id, "cancel")
    store.client.delete("literati:ended")
    assert store.jobs.claim("worker") is None
    store.jobs.reconcile()
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.spec.id == job_id


def test_a_stranded_job_of_an_earlier_version_is_found(store: Store) -> None:
    """Earlier versions had no index of the active jobs."""
    job_id = fail_half_way(store, run(store))
    waiting = submit(store).spec.id
    store.client.delete("literati:active", "literati:active-indexed")
    Store(store.client).jobs.reconcile()
    assert state_of(store, job_id) is JobState.QUEUED
    assert set(store.client.zrange("literati:active", 0, -1)) == {job_id.encode(), waiting.encode()}


def test_jobs_that_are_where_they_should_be_cost_nothing(store: Store) -> None:
    of = add_dataset(store)
    for _ in range(300):
        submit(store, of)
    run(store)
    paused = submit(store, of).spec.id
    store.jobs.control(TENANT, paused, "pause")
    store.jobs.reconcile()
    store.client.config_resetstat()
    for _ in range(3):
        store.jobs.reconcile()
    calls = {name: entry["calls"] for name, entry in store.client.info("commandstats").items()}
    assert "cmdstat_zdiff" not in calls
    assert "cmdstat_scan" not in calls
    assert calls.get("cmdstat_hmget", 0) == 0, "no job is read"


def test_one_job_that_cannot_be_settled_does_not_keep_back_the_others(store: Store) -> None:
    broken, fine = run(store), run(store)
    store.jobs.control(TENANT, broken.spec.id, "finish")
    store.client.hdel(f"literati:job:{broken.spec.id}:incumbent:1", "metrics")
    for claim in (broken, fine):
        expire(store, claim.spec.id)
    with capture_logs() as logs:
        store.jobs.reconcile()
    assert state_of(store, fine.spec.id) is JobState.QUEUED
    assert any("has no metrics for a model" in line.get("error", "") for line in logs)


def test_a_lease_without_a_job_does_not_keep_back_the_others(store: Store) -> None:
    claim = run(store)
    expire(store, claim.spec.id)
    store.client.zadd("literati:leases", {"job_gone": 0})
    store.jobs.reconcile()
    assert state_of(store, claim.spec.id) is JobState.QUEUED
    assert store.client.zcard("literati:leases") == 0


@pytest.mark.parametrize("part", ["events", "trace", "incumbent:1"])
def test_a_damaged_job_is_failed_when_its_worker_speaks(store: Store, part: str) -> None:
    claim = run(store)
    job_id = claim.spec.id
    break_key(store, f"literati:job:{job_id}:{part}")
    with pytest.raises(FencedError):
        store.jobs.publish_progress(job_id, claim.epoch, progress_update(objective=5.0, expansions=9))
    job = look(store, job_id)
    assert (job.state, job.stop_reason) == (JobState.FAILED, StopReason.ERROR)
    assert job.error is not None
    assert "damaged" in job.error.message
    assert job.progress.expansions == 1, "nothing was written before the check"
    assert store.client.hgetall("literati:running") == {}
    assert [event.type for event in store.jobs.events(TENANT, job_id).events][-1] == "done"
    store.jobs.delete(TENANT, job_id)


@pytest.mark.parametrize("field", ["expansions", "seq", "priority", "stalls", "cores"])
def test_a_damaged_job_does_not_block_the_queue(store: Store, field: str) -> None:
    damaged, fine = submit(store).spec.id, submit(store).spec.id
    store.client.hset(f"literati:job:{damaged}", field, "many")
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.spec.id == fine
    assert state_of(store, damaged) is JobState.FAILED
    assert store.client.zcard("literati:waiting") == 0
    assert store.jobs.claim("worker") is None


def test_a_queue_that_names_a_job_that_is_gone_goes_on(store: Store) -> None:
    gone, fine = submit(store).spec.id, submit(store).spec.id
    store.client.delete(f"literati:job:{gone}")
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.spec.id == fine


def test_a_paused_job_that_is_damaged_can_be_got_rid_of(store: Store) -> None:
    job_id = submit(store).spec.id
    store.jobs.control(TENANT, job_id, "pause")
    break_key(store, f"literati:job:{job_id}:events")
    with pytest.raises(Exception, match="The job is FAILED"):
        store.jobs.control(TENANT, job_id, "cancel")
    store.jobs.delete(TENANT, job_id)


# A worker


def begin(store: Store, blobs: Blobs) -> tuple[JobRun, threading.Thread]:
    dataset = jobs.add_dataset(store, blobs, jobs.noise())
    store.jobs.submit(jobs.spec(dataset, LONG))
    claim = store.jobs.claim("here")
    assert claim is not None
    run = JobRun(store, blobs, claim, 30.0, lambda: False, 1 << 30)
    thread = threading.Thread(target=run.run, daemon=True)
    thread.start()
    wait_until(lambda: store_records.look(store, run.job_id, jobs.TENANT).progress.incumbents)
    return run, thread


def test_a_worker_gives_up_a_job_that_the_store_fails_on(store: Store, tmp_path: Path) -> None:
    """The worker logs the reason and stops the search; the job is retried as if the worker were lost."""
    with capture_logs() as logs:
        run, thread = begin(store, Blobs(tmp_path / "blobs"))
        break_key(store, "literati:totals")
        thread.join(20)
    assert not thread.is_alive()
    assert not run.search_thread.is_alive()
    failed = [line for line in logs if line["event"].startswith("the store failed on this job")]
    assert len(failed) == 1
    assert "WRONGTYPE" in failed[0]["error"]
    store.client.delete("literati:totals")
    expire(store, run.job_id)
    store.jobs.reconcile()
    assert look(store, run.job_id, jobs.TENANT).state is JobState.QUEUED


def test_a_job_that_the_store_fails_on_again_and_again_is_failed(store: Store) -> None:
    job_id = start(store).spec.id
    for attempt in range(MAX_STALLS):
        break_key(store, "literati:totals")
        with pytest.raises(redis.ResponseError):
            store.jobs.publish_progress(job_id, attempt + 1, progress_update(expansions=0))
        store.client.delete("literati:totals")
        expire(store, job_id)
        store.jobs.reconcile()
        again = store.jobs.claim("worker")
        assert (again is None) == (attempt == MAX_STALLS - 1)
    assert state_of(store, job_id) is JobState.FAILED


def test_a_worker_waits_for_a_store_that_takes_no_writes_for_a_while(store: Store, tmp_path: Path) -> None:
    with capture_logs() as logs:
        run, thread = begin(store, Blobs(tmp_path / "blobs"))
        store.client.config_set("maxmemory", 1)
        try:
            wait_until(lambda: any("OutOfMemory" in line.get("error", "") for line in logs))
        finally:
            store.client.config_set("maxmemory", 0)
        before = look(store, run.job_id, jobs.TENANT).progress.elapsed_seconds
        wait_until(lambda: look(store, run.job_id, jobs.TENANT).progress.elapsed_seconds > before)
        store.jobs.control(jobs.TENANT, run.job_id, "cancel")
        thread.join(20)
    assert look(store, run.job_id, jobs.TENANT).state is JobState.CANCELLED


# Records that are not there


def test_a_deleted_record_that_is_not_there_does_not_stop_the_others_from_going(store: Store) -> None:
    kept = add_dataset(store)
    store.datasets.delete(TENANT, kept.id, keep=True)
    store.client.zadd("literati:deleted", {"dataset ds_gone": 1})
    assert store.retention.expire("deleted", 0, 10) == 2
    assert store.client.zcard("literati:deleted") == 0


def test_a_table_whose_record_is_not_there_can_be_uploaded_again(store: Store) -> None:
    first = store.datasets.add(store_records.dataset(), content_key="the same")
    store.client.delete(f"literati:dataset:{first.id}")
    second = store.datasets.add(store_records.dataset(), content_key="the same")
    assert store.datasets.get(TENANT, second.id) is not None
