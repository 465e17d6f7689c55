"""Test jobs in a real Celery worker: proof, limits, control requests, a killed child, a shutdown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pytest
import redis

from literati import Search, SearchLimits, ShapeTree
from tests.support.paths import ROOT
from tests.support.records import jobs
from worker.app import QUEUE, TASK, make_app
from worker.blobs.local import Blobs
from worker.domain.jobs import Job, JobState, StopReason
from worker.domain.parameters import Limits
from worker.domain.validation import ValidationFraction
from worker.processes.valkey import ValkeyServer
from worker.settings import WorkerSettings
from worker.store import Store

LEASE = 2.0
LONG = {"max_depth": 6, "max_changepoints": 3}


class Bench:
    """A store, a blob folder, and their workers."""

    def __init__(self, server: ValkeyServer, client: redis.Redis, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "REDIS_URL": server.url,
            "LITERATI_STATE_DIR": str(folder),
            "LITERATI_LEASE_SECONDS": str(LEASE),
            "LITERATI_WORKER_CONCURRENCY": "1",
        }
        self.settings = WorkerSettings.model_validate(
            {"REDIS_URL": server.url, "state_dir": folder, "lease_seconds": LEASE}
        )
        self.store = Store(client, lease_seconds=LEASE)
        self.blobs = Blobs(self.settings.blobs_dir)
        self.log = folder / "worker.log"
        self.app = make_app(self.settings)
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_worker(self) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", "celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
        with self.log.open("ab") as log:
            worker = subprocess.Popen(
                words, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True
            )
        self.workers.append(worker)
        return worker

    def submit(self, cells: dict[str, Any], parameters: dict[str, Any] | None = None, **fields: Any) -> str:
        dataset = jobs.add_dataset(self.store, self.blobs, cells, fields.pop("weight", None))
        return self.submit_spec(jobs.spec(dataset, parameters, **fields))

    def submit_spec(self, spec: Any) -> str:
        job_id: str = self.store.jobs.submit(spec).job.spec.id
        self.app.send_task(TASK)
        return job_id

    def job(self, job_id: str) -> Job:
        job = self.store.jobs.get(jobs.TENANT, job_id)
        assert job is not None
        return job

    def wait(self, job_id: str, wanted: Callable[[Job], bool], seconds: float = 40.0) -> Job:
        deadline = time.monotonic() + seconds
        while not wanted(job := self.job(job_id)):
            assert time.monotonic() < deadline, f"still {job}\n{self.log.read_text()[-3000:]}"
            time.sleep(0.02)
        return job

    def ended(self, job_id: str) -> Job:
        return self.wait(job_id, lambda job: job.state.terminal)

    def control(self, job_id: str, verb: Any) -> None:
        self.store.jobs.control(jobs.TENANT, job_id, verb)

    def close(self) -> None:
        for worker in self.workers:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()


@pytest.fixture
def bench(server: ValkeyServer, client: redis.Redis, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(server, client, tmp_path)
    yield bench
    bench.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Return a store with a running worker, shared by the tests that do not stop it."""
    folder = tmp_path_factory.mktemp("busy")
    with ValkeyServer(folder / "valkey") as server, redis.Redis.from_url(server.url) as client:
        bench = Bench(server, client, folder)
        bench.start_worker()
        yield bench
        bench.close()


def has_tree(job: Job) -> bool:
    return job.progress.incumbents > 0


def test_to_the_proof(busy: Bench) -> None:
    cells = jobs.easy()
    job_id = busy.submit(cells, {"max_depth": 3}, validation=ValidationFraction(fraction=0.25))
    job = busy.ended(job_id)
    assert (job.state, job.stop_reason, job.error) == (JobState.SUCCEEDED, StopReason.PROVEN_OPTIMAL, None)
    assert job.proven_optimal
    assert job.progress.lower_bound == job.progress.upper_bound
    assert job.progress.gap_absolute == job.progress.gap_relative == 0
    assert (job.progress.explored, job.progress.seconds_left, job.threads) == (1.0, 0.0, 1)
    assert (job.progress.stage, job.progress.space, job.proven_space) == (0, "adaptive", "adaptive")
    assert [t.state for t in job.transitions] == ["QUEUED", "STARTING", "RUNNING", "SUCCEEDED"]
    assert job.model_id is not None
    model = busy.store.models.get(jobs.TENANT, job.model_id)
    data = busy.store.models.tree(jobs.TENANT, job.model_id)
    assert model is not None
    assert data is not None
    tree = ShapeTree.from_dict(data)
    assert tree.proof.proven_optimal
    assert tree.objective == model.objective == job.progress.objective
    assert job.metrics is not None
    assert job.metrics["train"]["rows"] == 225
    assert job.metrics["validation"]["rows"] == 75
    wrong = round((1 - job.metrics["train_accuracy"]) * 225)
    assert wrong == tree.objective
    predicted = tree.predict(_frame(cells))
    right = int((predicted == cells["label"]).sum())
    assert right == round(225 * job.metrics["train_accuracy"] + 75 * job.metrics["validation_accuracy"])
    for baseline in ("majority", "cart"):
        worse = job.metrics["baselines"][baseline]["train"]["accuracy"]
        assert worse <= job.metrics["train_accuracy"]
    events = busy.store.jobs.events(jobs.TENANT, job_id, None, 1000).events
    assert events[-1].type == "done"
    assert {"state", "incumbent", "bound"} <= {event.type for event in events}
    trace = busy.store.jobs.trace(jobs.TENANT, job_id)
    assert trace[-1].upper == trace[-1].lower == job.progress.upper_bound
    assert [point.explored for point in trace] == sorted(point.explored or 0.0 for point in trace)
    assert trace[-1].explored == 1.0


def _frame(cells: dict[str, Any]) -> Any:
    return pa.table({name: column for name, column in cells.items() if name != "label"})


def test_the_tree_is_the_one_that_the_library_finds(busy: Bench) -> None:
    """A worker makes the same search steps as the library and finds the same tree."""
    cells = jobs.noise(200, 4)
    limits = Limits(time_limit=None, max_expansions=400)
    parameters: dict[str, Any] = {"max_depth": 4, "class_weight": {"a": 2.0}, "split_penalty": 0.5}
    job = busy.ended(busy.submit(cells, parameters, limits=limits.model_dump()))
    assert job.stop_reason is StopReason.EXPANSION_LIMIT
    search = Search(_frame(cells), cells["label"], limits=_library(limits), **parameters)
    search.run()
    assert job.progress.expansions == 400
    assert job.progress.objective == search.incumbent().objective
    assert job.progress.upper_bound == search.report().upper_bound
    assert job.progress.lower_bound == search.report().lower_bound


def _library(limits: Limits) -> Any:
    return SearchLimits(**limits.model_dump())


def test_bounds_close_in_order_and_requests_are_applied_within_a_second(busy: Bench) -> None:
    job_id = busy.submit(jobs.noise(), LONG)
    busy.wait(job_id, has_tree)
    seen = [busy.job(job_id)]
    until = time.monotonic() + 3
    while time.monotonic() < until:
        job = busy.job(job_id)
        before, now = seen[-1].progress, job.progress
        assert now.upper_bound <= before.upper_bound  # type: ignore[operator]
        assert now.lower_bound >= before.lower_bound  # type: ignore[operator]
        assert now.objective <= before.objective  # type: ignore[operator]
        assert before.explored <= now.explored < 1  # type: ignore[operator]
        assert now.elapsed_seconds >= before.elapsed_seconds
        assert job.revision >= seen[-1].revision
        seen.append(job)
        time.sleep(0.05)
    assert len({job.progress.elapsed_seconds for job in seen}) >= 3, "at least a checkpoint a second"
    busy.control(job_id, "pause")
    start = time.monotonic()
    paused = busy.wait(job_id, lambda job: job.state is JobState.PAUSED)
    assert time.monotonic() - start < 1.5
    busy.control(job_id, "resume")
    busy.app.send_task(TASK)
    running = busy.wait(job_id, lambda job: job.state is JobState.RUNNING)
    assert running.progress.expansions >= paused.progress.expansions
    assert running.attempts == 2
    busy.control(job_id, "finish")
    start = time.monotonic()
    done = busy.wait(job_id, lambda job: job.state.terminal)
    assert time.monotonic() - start < 1.5
    assert (done.state, done.stop_reason) == (JobState.SUCCEEDED, StopReason.USER_FINISH)
    assert done.model_id is not None
    assert not done.proven_optimal
    events = busy.store.jobs.events(jobs.TENANT, job_id, None, 1000).events
    assert any(event.type == "log" and "resuming" in event.data["message"] for event in events)


def test_cancel_leaves_no_model_and_no_saved_search(busy: Bench) -> None:
    job_id = busy.submit(jobs.noise(), LONG)
    busy.wait(job_id, has_tree)
    busy.control(job_id, "cancel")
    start = time.monotonic()
    job = busy.ended(job_id)
    assert time.monotonic() - start < 1.5
    assert (job.state, job.stop_reason, job.model_id) == (JobState.CANCELLED, StopReason.USER_CANCEL, None)


def children(worker: subprocess.Popen[bytes]) -> list[psutil.Process]:
    found: list[psutil.Process] = psutil.Process(worker.pid).children()
    return found


def test_a_killed_child_costs_no_progress(bench: Bench) -> None:
    worker = bench.start_worker()
    job_id = bench.submit(jobs.noise(), LONG)
    saved = bench.wait(job_id, lambda job: job.snapshot is not None)
    for child in children(worker):
        child.kill()
    job = bench.wait(job_id, lambda job: job.attempts == 2 and job.state is JobState.RUNNING)
    assert job.progress.objective <= saved.progress.objective  # type: ignore[operator]
    assert any(t.reason == "WORKER_LOST" for t in job.transitions)
    more = bench.wait(job_id, lambda j: j.progress.expansions > saved.progress.expansions)
    assert more.progress.elapsed_seconds >= saved.progress.elapsed_seconds
    events = bench.store.jobs.events(jobs.TENANT, job_id, None, 1000).events
    assert any("resuming the saved search" in e.data["message"] for e in events if e.type == "log")
    bench.control(job_id, "finish")
    assert bench.ended(job_id).state is JobState.SUCCEEDED


def test_a_worker_that_leaves_hands_its_job_over(bench: Bench) -> None:
    worker = bench.start_worker()
    job_id = bench.submit(jobs.noise(), LONG)
    bench.wait(job_id, has_tree)
    start = time.monotonic()
    worker.send_signal(signal.SIGTERM)
    worker.wait(20)
    assert time.monotonic() - start < 15
    job = bench.job(job_id)
    assert job.state is JobState.QUEUED
    assert job.snapshot is not None
    bench.start_worker()
    running = bench.wait(job_id, lambda job: job.state is JobState.RUNNING)
    assert running.progress.expansions >= job.progress.expansions
    bench.control(job_id, "cancel")
    bench.ended(job_id)


def test_a_lost_message_is_made_good(bench: Bench, client: redis.Redis) -> None:
    job_id = bench.submit(jobs.easy(), {"max_depth": 2})
    assert client.delete(QUEUE) == 1
    bench.start_worker()
    assert bench.ended(job_id).state is JobState.SUCCEEDED


def test_priority_comes_first(bench: Bench) -> None:
    dataset = jobs.add_dataset(bench.store, bench.blobs, jobs.easy())
    specs = [jobs.spec(dataset, {"max_depth": 2}, priority=priority) for priority in (0, 5, -5, 5)]
    ids = [bench.submit_spec(spec) for spec in specs]
    bench.start_worker()
    ended = [bench.ended(job_id) for job_id in ids]
    order = sorted(range(4), key=lambda k: ended[k].started_at)  # type: ignore[arg-type,return-value]
    assert order == [1, 3, 0, 2]


def test_a_parents_search_goes_on_with_its_bounds(busy: Bench) -> None:
    dataset = jobs.add_dataset(busy.store, busy.blobs, jobs.noise(200, 4))
    parameters = {"max_depth": 4}
    limits = {"time_limit": None, "max_expansions": 200}
    first = busy.ended(busy.submit_spec(jobs.spec(dataset, parameters, limits=limits)))
    threads = {**parameters, "n_threads": -1}  # the search is the same with other threads
    child = jobs.spec(dataset, threads, limits=limits, parent_job_id=first.spec.id, cores=-1)
    second = busy.ended(busy.submit_spec(child))
    whole = jobs.spec(dataset, parameters, limits={"time_limit": None, "max_expansions": 400})
    at_once = busy.ended(busy.submit_spec(whole))
    assert second.stop_reason is StopReason.EXPANSION_LIMIT
    assert second.progress.expansions == 200, "the job counts its own steps only"
    assert second.progress.lower_bound >= first.progress.lower_bound  # type: ignore[operator]
    assert second.progress.upper_bound == at_once.progress.upper_bound
    assert second.progress.objective <= first.progress.objective  # type: ignore[operator]


def test_a_parents_tree_serves_another_problem_without_its_bounds(busy: Bench) -> None:
    cells = jobs.noise(300, 4)
    first = busy.ended(busy.submit(cells, LONG, limits={"time_limit": None, "max_expansions": 500}))
    other = jobs.add_dataset(busy.store, busy.blobs, {**cells, "x9": np.zeros(300)})
    limits = {"time_limit": None, "max_expansions": 1}
    child = jobs.spec(other, {**LONG, "polish": False}, limits=limits, parent_job_id=first.spec.id)
    second = busy.ended(busy.submit_spec(child))
    assert second.progress.objective == first.progress.objective
    assert second.progress.upper_bound > first.progress.upper_bound  # type: ignore[operator]
    assert second.progress.lower_bound <= first.progress.lower_bound  # type: ignore[operator]


@pytest.mark.parametrize(
    ("parameters", "limits", "word"),
    [({}, {"memory_limit": 1000}, "memory_limit"), ({"class_weight": {"a": 0, "b": 0}}, {}, "classes")],
)
def test_what_cannot_be_searched_fails_with_the_librarys_message(
    busy: Bench, parameters: dict[str, Any], limits: dict[str, Any], word: str
) -> None:
    job = busy.ended(busy.submit(jobs.noise(), parameters, limits=limits))
    assert (job.state, job.stop_reason) == (JobState.FAILED, StopReason.ERROR)
    assert job.error is not None
    assert job.error.code == "DATA"
    assert word in job.error.message
    assert "LITERATI_WORKER_MEMORY_LIMIT" not in job.error.message  # the job's own


def test_a_dataset_that_is_gone_from_the_disk(busy: Bench) -> None:
    dataset = jobs.add_dataset(busy.store, busy.blobs, jobs.easy())
    busy.blobs.delete(dataset.blob)
    job = busy.ended(busy.submit_spec(jobs.spec(dataset)))
    assert job.error is not None
    assert job.error.code == "DATASET_GONE"


def test_a_damaged_checkpoint_means_starting_again_from_the_best_tree(bench: Bench) -> None:
    bench.start_worker()
    job_id = bench.submit(jobs.noise(), LONG)
    bench.wait(job_id, has_tree)
    bench.control(job_id, "pause")
    paused = bench.wait(job_id, lambda job: job.state is JobState.PAUSED)
    assert paused.snapshot is not None
    path = bench.blobs.path(paused.snapshot)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-40] + bytes(40))
    bench.control(job_id, "resume")
    bench.app.send_task(TASK)
    job = bench.wait(job_id, lambda job: job.state is JobState.RUNNING and job.attempts == 2)
    assert job.progress.objective <= paused.progress.objective  # type: ignore[operator]
    events = bench.store.jobs.events(jobs.TENANT, job_id, None, 1000).events
    assert any("starting again" in e.data["message"] for e in events if e.type == "log")
