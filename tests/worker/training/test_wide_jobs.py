"""Test a real worker of two cores: a job of two cores runs alone and is not starved by smaller jobs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.jobs import Job
from worker.processes.valkey import ValkeyServer

LONG: dict[str, Any] = {"parameters": {"max_depth": 6, "max_changepoints": 3}, "limits": {"time_limit": 1.0}}


def test_wide_and_narrow_jobs(tmp_path: Path, server: ValkeyServer) -> None:
    settings = {"LITERATI_WORKER_CONCURRENCY": "2", "LITERATI_RECONCILE_SECONDS": "0.5"}
    with Stack(tmp_path, server=server, **settings) as stack:
        stack.connection.flushall()
        data = {
            tenant: jobs.add_dataset(stack.store, stack.blobs, jobs.noise(), tenant=tenant)
            for tenant in ("narrow", "wide")
        }

        def submit(tenant: str, cores: int) -> str:
            spec = jobs.spec(data[tenant], LONG["parameters"], limits=LONG["limits"], cores=cores)
            return stack.store.jobs.submit(spec).job.spec.id

        narrow = [submit("narrow", 1) for _ in range(8)]
        stack.start_worker()
        poll(lambda: stack.store.tenants.get("narrow").busy_cores == 2, what="two jobs at once")
        wide = [submit("wide", 2) for _ in range(2)]

        def ended() -> list[Job] | None:
            found = [
                stack.store.jobs.get(tenant, job_id)
                for tenant, ids in (("narrow", narrow), ("wide", wide))
                for job_id in ids
            ]
            done = [job for job in found if job is not None and job.state.terminal]
            return done if len(done) == len(found) else None

        found = poll(ended, seconds=90, what="the end of all jobs")
    spans = sorted(
        (job.started_at, job.finished_at, job.spec.cores)
        for job in found
        if job.started_at and job.finished_at
    )
    for moment, _, _ in spans:
        assert sum(cores for start, end, cores in spans if start <= moment < end) <= 2, spans
    assert any(first[1] > second[0] for first, second in pairwise(spans)), "narrow ones run beside each other"
    last_wide = max(index for index, span in enumerate(spans) if span[2] == 2)
    assert last_wide < len(spans) - 2, "they did not have to wait for the last of the narrow ones"
