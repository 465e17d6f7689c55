"""Test failures while a job runs: the job gets the right outcome, and no search or blob is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from literati import Search, SearchReport
from literati.data import ranks, table
from literati.data.columns import Floats
from tests.support.records import jobs, store_records
from worker.blobs.local import Blobs
from worker.domain.jobs import ControlRequest, Job, JobState, StopReason
from worker.store import Store
from worker.training import search_thread
from worker.training.runner import STOP_SECONDS, JobRun
from worker.training.search_thread import SearchThread
from worker.training.training_task import TrainingTask

LONG = {"max_depth": 6, "max_changepoints": 3}


def begin(store: Store, blobs: Blobs, leaving: Callable[[], bool]) -> tuple[JobRun, threading.Thread]:
    dataset = jobs.add_dataset(store, blobs, jobs.noise())
    store.jobs.submit(jobs.spec(dataset, LONG))
    claim = store.jobs.claim("here")
    assert claim is not None
    run = JobRun(store, blobs, claim, 30.0, leaving, 1 << 30)
    thread = threading.Thread(target=run.run, daemon=True)
    thread.start()
    return run, thread


def look(store: Store, run: JobRun) -> Job:
    return store_records.look(store, run.job_id, jobs.TENANT)


@pytest.mark.parametrize(
    ("error", "code"), [(MemoryError(), "MEMORY"), (RuntimeError("a secret of ours"), "INTERNAL")]
)
def test_an_error_beside_the_search_ends_the_job_and_the_search(
    store: Store, tmp_path: Path, error: Exception, code: str
) -> None:
    def leaving() -> bool:
        raise error

    run, thread = begin(store, Blobs(tmp_path / "blobs"), leaving)
    thread.join(30)
    job = look(store, run)
    assert (job.state, job.stop_reason) == (JobState.FAILED, StopReason.ERROR)
    assert job.error is not None
    assert job.error.code == code
    assert "secret" not in job.error.message
    assert not run.search_thread.is_alive(), "nobody would hear what it finds"


def test_who_lost_the_job_leaves_no_saved_search_behind(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_thread, "SNAPSHOT_SECONDS", 0.0)  # saved all the time
    monkeypatch.setattr(search_thread, "SNAPSHOT_FACTOR", 0)
    blobs = Blobs(tmp_path / "blobs")
    run, thread = begin(store, blobs, lambda: False)
    store_records.wait_until(lambda: look(store, run).snapshot is not None)
    store_records.expire(store, run.job_id)
    store.jobs.reconcile()
    assert store.jobs.claim("another") is not None
    thread.join(30)
    job = look(store, run)
    assert job.state is JobState.STARTING
    dataset = store.datasets.get(jobs.TENANT, job.spec.dataset_id)
    assert dataset is not None
    assert job.snapshot is not None
    files = {path.name for path in blobs.folder.rglob("*") if path.is_file()}
    assert files == {dataset.blob, job.snapshot}


def test_a_worker_that_leaves_before_the_first_tree_of_a_job_to_be_finished(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next worker finds the first tree and finishes with it."""
    may_load = threading.Event()
    load = SearchThread._load

    def slow_load(thread: SearchThread) -> TrainingTask:
        assert may_load.wait(30)
        return load(thread)

    monkeypatch.setattr(SearchThread, "_load", slow_load)
    blobs = Blobs(tmp_path / "blobs")
    job_id = store.jobs.submit(jobs.spec(jobs.add_dataset(store, blobs, jobs.noise()), LONG)).job.spec.id
    claim = store.jobs.claim("here")
    assert claim is not None
    store.jobs.control(jobs.TENANT, job_id, "finish")
    run = JobRun(store, blobs, claim, 30.0, lambda: True, 1 << 30)
    thread = threading.Thread(target=run.run, daemon=True)
    thread.start()
    store_records.wait_until(lambda: run.stopped_at and time.monotonic() - run.stopped_at > 2 * STOP_SECONDS)
    job = look(store, run)
    assert (job.state, job.control_request, job.error) == (JobState.STOPPING, ControlRequest.FINISH, None)
    may_load.set()
    thread.join(30)
    job = look(store, run)
    assert (job.state, job.control_request) == (JobState.QUEUED, ControlRequest.FINISH)
    claim = store.jobs.claim("there")
    assert claim is not None
    JobRun(store, blobs, claim, 30.0, lambda: False, 1 << 30).run()
    job = look(store, run)
    assert (job.state, job.stop_reason) == (JobState.SUCCEEDED, StopReason.USER_FINISH)


def test_a_stop_is_heard_while_the_rows_are_encoded(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop is checked after every column."""
    encoding, columns = threading.Event(), []
    honest = ranks.rank

    def slow(numbers: Floats) -> tuple[table.Codes, Floats]:
        encoding.set()
        columns.append(1)
        time.sleep(0.5)
        return honest(numbers)

    monkeypatch.setattr(table, "rank", slow)
    run, thread = begin(store, Blobs(tmp_path / "blobs"), lambda: False)
    assert encoding.wait(30)
    store.jobs.control(jobs.TENANT, run.job_id, "cancel")
    thread.join(30)
    job = look(store, run)
    assert (job.state, job.stop_reason, job.error) == (JobState.CANCELLED, StopReason.USER_CANCEL, None)
    assert not run.search_thread.is_alive()
    assert run.ended is not None
    assert run.ended.error is None
    assert len(columns) < 8


@pytest.mark.parametrize("paused", [False, True])
def test_a_limit_that_is_used_up_when_it_is_set_is_not_overtime(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    """The search ends at once, and no warning about its time limit is logged."""
    honest = Search.run

    def slow(self: Search, seconds: float | None = None) -> SearchReport:
        limit = self.limits.time_limit
        if limit is not None and limit < 1:
            time.sleep(0.4)  # the runner looks several times before the search can notice
        return honest(self, seconds)

    monkeypatch.setattr(Search, "run", slow)
    blobs = Blobs(tmp_path / "blobs")
    with capture_logs() as logs:
        run, thread = begin(store, blobs, lambda: False)
        store_records.wait_until(lambda: look(store, run).progress.elapsed_seconds > 2, 20)
        if paused:
            store.jobs.control(jobs.TENANT, run.job_id, "pause")
            thread.join(30)
        store.jobs.change(
            jobs.TENANT,
            run.job_id,
            lambda now: now.model_copy(update={"limits": now.limits.model_copy(update={"time_limit": 0.5})}),
        )
        if paused:
            store.jobs.control(jobs.TENANT, run.job_id, "resume")
            claim = store.jobs.claim("here")
            assert claim is not None
            JobRun(store, blobs, claim, 30.0, lambda: False, 1 << 30).run()
        thread.join(30)
    job = look(store, run)
    assert (job.state, job.stop_reason) == (JobState.SUCCEEDED, StopReason.TIME_LIMIT)
    assert [line["event"] for line in logs if "beyond" in line["event"]] == []


def test_a_search_that_ignores_its_time_limit_is_ended_by_the_worker(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job ends with the published tree, a few seconds after its limit."""
    released = threading.Event()
    honest = Search.run

    def deaf(self: Search, seconds: float | None = None) -> SearchReport:
        report = honest(self, seconds)
        if report.elapsed_seconds > 0.3:
            with self._clock:
                released.wait(30)
        return report

    monkeypatch.setattr(Search, "run", deaf)
    blobs = Blobs(tmp_path / "blobs")
    dataset = jobs.add_dataset(store, blobs, jobs.noise())
    job_id = store.jobs.submit(jobs.spec(dataset, LONG, limits={"time_limit": 1.0})).job.spec.id
    claim = store.jobs.claim("here")
    assert claim is not None
    run = JobRun(store, blobs, claim, 30.0, lambda: False, 1 << 30)
    thread = threading.Thread(target=run.run, daemon=True)
    start = time.monotonic()
    thread.start()
    store_records.wait_until(lambda: look(store, run).state.terminal)
    assert time.monotonic() - start < 8
    released.set()
    thread.join(30)
    job = look(store, run)
    assert (job.spec.id, job.state, job.stop_reason) == (job_id, JobState.SUCCEEDED, StopReason.TIME_LIMIT)
    assert job.model_id is not None
