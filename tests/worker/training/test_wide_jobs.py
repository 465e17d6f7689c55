"""Test real workers with jobs of several threads: cores are never overused, and no job is starved."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.jobs import Job, JobState
from worker.processes.valkey import ValkeyServer

SHAPE = {"max_depth": 6, "max_changepoints": 3}


class Cluster:
    """A stack with datasets of two tenants."""

    def __init__(self, stack: Stack) -> None:
        stack.connection.flushall()
        self.stack = stack
        self.data = {
            tenant: jobs.add_dataset(stack.store, stack.blobs, jobs.noise(), tenant=tenant)
            for tenant in ("narrow", "wide")
        }

    def submit(self, tenant: str, n_threads: int, seconds: float = 1.0) -> str:
        parameters: dict[str, Any] = {**SHAPE, "n_threads": n_threads}
        spec = jobs.spec(self.data[tenant], parameters, limits={"time_limit": seconds}, cores=n_threads)
        return self.stack.store.jobs.submit(spec).job.spec.id

    def look(self, job_id: str) -> Job:
        found = (self.stack.store.jobs.get(tenant, job_id) for tenant in self.data)
        return next(job for job in found if job is not None)

    def wait(self, job_id: str, state: JobState) -> Job:
        poll(lambda: self.look(job_id).state is state, seconds=60, what=f"{job_id} to be {state}")
        return self.look(job_id)

    def ended(self, ids: Sequence[str]) -> list[Job]:
        found = [self.wait(job_id, JobState.SUCCEEDED) for job_id in ids]
        poll(lambda: self.stack.store.measure().busy_cores == 0, what="free cores")
        return found

    def messages(self, job: Job) -> list[str]:
        events = self.stack.store.jobs.events(job.spec.tenant, job.spec.id, count=1000).events
        return [str(event.data["message"]) for event in events if event.type == "log"]


def test_wide_and_narrow_jobs(tmp_path: Path, server: ValkeyServer) -> None:
    settings = {"LITERATI_WORKER_CONCURRENCY": "2", "LITERATI_RECONCILE_SECONDS": "0.5"}
    with Stack(tmp_path, server=server, **settings) as stack:
        cluster = Cluster(stack)
        narrow = [cluster.submit("narrow", 1) for _ in range(8)]
        stack.start_worker()
        poll(lambda: stack.store.tenants.get("narrow").busy_cores == 2, what="two jobs at once")
        wide = [cluster.submit("wide", n_threads) for n_threads in (2, -1, 7)]
        found = cluster.ended([*narrow, *wide])
        notes = [cluster.messages(cluster.look(job_id)) for job_id in wide]
    assert [job.threads for job in found] == [1] * 8 + [2] * 3
    assert notes == [
        [],
        ["threads of the search: 2, one for each core of its worker"],
        ["threads of the search: 2 instead of 7, because no worker has more cores"],
    ]
    spans = sorted(
        (job.started_at, job.finished_at, job.threads)
        for job in found
        if job.started_at and job.finished_at and job.threads
    )
    for moment, _, _ in spans:
        assert sum(cores for start, end, cores in spans if start <= moment < end) <= 2, spans
    assert any(first[1] > second[0] for first, second in pairwise(spans)), "narrow ones run beside each other"
    last_wide = max(index for index, span in enumerate(spans) if span[2] == 2)
    assert last_wide < len(spans) - 2, "they did not have to wait for the last of the narrow ones"


@pytest.mark.parametrize("n_threads", [3, -1])
def test_a_killed_process_frees_all_cores_of_its_job(
    tmp_path: Path, server: ValkeyServer, n_threads: int
) -> None:
    settings = {
        "LITERATI_WORKER_CONCURRENCY": "3",
        "LITERATI_RECONCILE_SECONDS": "0.5",
        "LITERATI_LEASE_SECONDS": "2",
    }
    with Stack(tmp_path, server=server, **settings) as stack:
        cluster = Cluster(stack)
        stack.start_worker()
        wide = cluster.submit("wide", n_threads, seconds=3.0)
        assert cluster.wait(wide, JobState.RUNNING).threads == 3
        assert stack.store.measure().busy_cores == 3
        narrow = cluster.submit("narrow", 1)
        child = stack.connection.hget(f"literati:job:{wide}", "worker")
        assert isinstance(child, bytes)
        os.kill(int(child.decode().rpartition(":")[2]), signal.SIGKILL)
        found = cluster.ended([wide, narrow])
    assert [(job.attempts, job.threads) for job in found] == [(2, 3), (1, 1)]


def test_a_small_worker_leaves_a_wide_job_to_a_large_one(tmp_path: Path, server: ValkeyServer) -> None:
    settings = {"LITERATI_RECONCILE_SECONDS": "0.5"}
    with Stack(tmp_path, server=server, **settings) as stack:
        cluster = Cluster(stack)
        for cores in ("1", "2"):
            stack.environment["LITERATI_WORKER_CONCURRENCY"] = cores
            stack.start_worker()
        poll(lambda: len(stack.store.measure().workers) == 2, what="two workers")
        ids = [
            cluster.submit("wide", 2, 0.3),
            cluster.submit("narrow", 1, 0.3),
            cluster.submit("wide", 2, 0.3),
        ]
        assert [job.threads for job in cluster.ended(ids)] == [2, 1, 2]
