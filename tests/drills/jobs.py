"""A job that kills its workers."""

from __future__ import annotations

import time

from tests.drills.lab import NOISE, WAIT_SECONDS, Lab


def poison(lab: Lab) -> None:
    job_id = lab.submit(lab.dataset(NOISE), parameters={"max_depth": 6}, limits={"time_limit": 3000})
    killed: set[int] = set()
    deadline = time.monotonic() + WAIT_SECONDS
    while (job := lab.job(job_id))["state"] != "FAILED":
        holder = lab.cluster.holder(job_id)
        if holder is not None and holder.pid not in killed:
            holder.kill()
            killed.add(holder.pid)
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(killed) >= 5
    lab.page.sees(f"{job['error']['code']}: {job['error']['message']}")
    lab.metric('literati_jobs_ended_total{stop_reason="WORKER_LOST"}', lambda value: value == 1)
    lab.alert("LiteratiPoisonJob")
    lab.alert("LiteratiLeaseLosses")
    other = lab.submit(lab.dataset(), priority=2)
    lab.succeeds(other)
