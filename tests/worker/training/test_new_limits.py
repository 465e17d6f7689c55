"""Test changes of the limits while a real worker runs the job."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis

from literati import Search, SearchLimits, StopReason
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.jobs import Job, JobState
from worker.domain.parameters import Limits
from worker.processes.valkey import ValkeyServer

LONG = {"max_depth": 6, "max_changepoints": 3}  # on noise it does not end by itself


@pytest.fixture
def bench(tmp_path: Path, server: ValkeyServer, client: redis.Redis) -> Iterator[Stack]:
    with Stack(tmp_path, server=server, LITERATI_LEASE_SECONDS="2") as stack:
        yield stack


def submit(stack: Stack, **limits: Any) -> str:
    dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.noise())
    return stack.store.jobs.submit(jobs.spec(dataset, LONG, limits=limits)).job.spec.id


def wait(stack: Stack, job_id: str, wanted: Callable[[Job], object], seconds: float = 60.0) -> Job:
    def look() -> Job | None:
        job = stack.store.jobs.get(jobs.TENANT, job_id)
        return job if job is not None and wanted(job) else None

    return poll(look, seconds=seconds, what="the job's change")


def change(stack: Stack, job_id: str, **limits: Any) -> None:
    stack.store.jobs.change(
        jobs.TENANT,
        job_id,
        lambda now: now.model_copy(update={"limits": now.limits.model_copy(update=limits)}),
    )


def test_a_running_search_gets_more_time_without_a_new_start(bench: Stack) -> None:
    job_id = submit(bench, time_limit=3.0)
    bench.start_worker()
    wait(bench, job_id, lambda job: job.progress.incumbents)
    change(bench, job_id, time_limit=6.0)
    job = wait(bench, job_id, lambda job: job.state.terminal)
    assert job.stop_reason == "TIME_LIMIT"
    assert 4.8 <= job.progress.elapsed_seconds < 9.0  # the last fifth may be for finishing the tree
    assert job.attempts == 1
    events = bench.store.jobs.events(jobs.TENANT, job_id, None, 1000).events
    assert any("limits were changed" in e.data["message"] for e in events if e.type == "log")


REACHED: list[tuple[dict[str, Any], str]] = [
    ({"time_limit": 0.5}, "TIME_LIMIT"),
    ({"max_expansions": 1}, "EXPANSION_LIMIT"),
    ({"gap_absolute": 1e6}, "GAP_REACHED"),
    ({"patience": 0.5}, "NO_IMPROVEMENT"),
    ({"memory_limit": 1000}, "MEMORY_LIMIT"),
]


def test_every_limit_reaches_a_running_search(bench: Stack) -> None:
    ids = [submit(bench, time_limit=None) for _ in REACHED]
    bench.start_worker()
    for job_id, (limits, reason) in zip(ids, REACHED, strict=True):
        wait(bench, job_id, lambda job: job.progress.incumbents)
        change(bench, job_id, **limits)
        job = wait(bench, job_id, lambda job: job.state.terminal, 20)
        assert (job.state, job.stop_reason, job.attempts) == (JobState.SUCCEEDED, reason, 1)


def test_the_next_worker_has_the_new_limits_and_counts_the_seconds_of_the_first(bench: Stack) -> None:
    job_id = submit(bench, time_limit=600.0)
    worker = bench.start_worker()
    saved = wait(bench, job_id, lambda job: job.snapshot is not None)
    for child in psutil.Process(worker.process.pid).children(recursive=True):
        child.send_signal(signal.SIGKILL)
    change(bench, job_id, time_limit=saved.progress.elapsed_seconds + 3.0)
    job = wait(bench, job_id, lambda job: job.state.terminal)
    assert (job.stop_reason, job.attempts) == ("TIME_LIMIT", 2)
    assert 2.4 <= job.progress.elapsed_seconds - saved.progress.elapsed_seconds < 6.0


def test_a_search_goes_on_under_other_limits() -> None:
    cells = jobs.noise(200, 4)
    X, y = [[a, b] for a, b in zip(cells["x0"], cells["x1"], strict=True)], cells["label"]
    search = Search(X, y, limits=SearchLimits(time_limit=None, max_expansions=50), max_depth=5)
    assert search.run().stop_reason is StopReason.EXPANSION_LIMIT
    search.change_limits(SearchLimits(time_limit=None, max_expansions=80))
    report = search.run()
    assert (report.stop_reason, report.expansions) == (StopReason.EXPANSION_LIMIT, 80)
    search.change_limits(SearchLimits(memory_limit=1))
    assert search.run().stop_reason is StopReason.MEMORY_LIMIT
    search.change_limits(SearchLimits(time_limit=None, max_expansions=100))
    start = time.monotonic()
    assert search.run().expansions == 100
    assert time.monotonic() - start < 30
    with pytest.raises(TypeError, match="limits"):
        search.change_limits(Limits())  # type: ignore[arg-type]
