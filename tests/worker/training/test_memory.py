"""Test that no job may use more memory than its worker has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.jobs import Job, JobState
from worker.processes.valkey import ValkeyServer
from worker.settings import WorkerSettings
from worker.training.memory import available_memory, job_memory_limit


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_a_container_may_have_less_than_its_machine(tmp_path: Path, name: str) -> None:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert available_memory(tmp_path) == machine
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("123456789\n")
    assert available_memory(tmp_path) == 123456789
    file.write_text("max\n")
    assert available_memory(tmp_path) == machine


def test_jobs_share_what_there_is() -> None:
    alone = job_memory_limit(WorkerSettings(worker_concurrency=1))
    assert 0 < alone < available_memory()
    assert job_memory_limit(WorkerSettings(worker_concurrency=4)) == pytest.approx(alone / 4, abs=1)
    assert job_memory_limit(WorkerSettings(worker_concurrency=4), cores=4) == pytest.approx(alone, abs=1)
    assert job_memory_limit(WorkerSettings(worker_concurrency=4, worker_memory_limit=1000), cores=4) == 1000


@pytest.mark.parametrize("wanted", [None, 1 << 40])
def test_a_job_that_wants_more_is_told(tmp_path: Path, server: ValkeyServer, wanted: int | None) -> None:
    with Stack(tmp_path, server=server, LITERATI_WORKER_MEMORY_LIMIT="1234567") as stack:
        stack.connection.flushall()
        small, large = (jobs.add_dataset(stack.store, stack.blobs, jobs.noise(rows)) for rows in (600, 6000))
        limits = {"max_expansions": 300, "memory_limit": wanted}
        specs = [jobs.spec(dataset, {"max_depth": 5}, limits=limits) for dataset in (small, large)]
        for spec in specs:
            stack.store.jobs.submit(spec)
        stack.start_worker()

        def ended() -> list[Job] | None:
            found = [stack.store.jobs.get(jobs.TENANT, spec.id) for spec in specs]
            done = [job for job in found if job and job.state in (JobState.SUCCEEDED, JobState.FAILED)]
            return done if len(done) == len(specs) else None

        enough, too_little = poll(ended, seconds=60, what="the end of both jobs")
        assert enough.state is JobState.SUCCEEDED
        assert 0 < enough.progress.memory_bytes <= 1234567
        assert too_little.error is not None
        assert "1234567" in too_little.error.message
        assert "LITERATI_WORKER_MEMORY_LIMIT" in too_little.error.message
        assert too_little.settings.limits.memory_limit == wanted  # as it was submitted
