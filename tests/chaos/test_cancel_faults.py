"""Cancelling is quick, and what was acknowledged stays cancelled."""

from __future__ import annotations

import math
import time

import pytest

from tests.chaos import rows
from tests.chaos.cluster import Cluster
from tests.chaos.job_client import JobClient
from tests.support.stack.stack import poll

QUEUED, RUNNING, SLOTS = 30, 24, 4
QUEUED_SECONDS, RUNNING_SECONDS = 0.2, 2.0


@pytest.mark.alone
def test_cancel_is_quick(cluster: Cluster, job_client: JobClient) -> None:
    busy = [job_client.submit(rows.hard(1), priority=5) for _ in range(SLOTS)]
    for job_id in busy:
        job_client.until_tree(job_id)
    waiting = [job_client.submit(rows.hard(1), priority=-5) for _ in range(QUEUED)]
    queued = [_seconds(job_client, job_id) for job_id in waiting]
    running = [_seconds(job_client, job_id) for job_id in busy]
    for _ in range(RUNNING // SLOTS - 1):
        busy = [job_client.submit(rows.hard(1)) for _ in range(SLOTS)]
        for job_id in busy:
            job_client.until_tree(job_id)
        running += [_seconds(job_client, job_id) for job_id in busy]
    assert _p99(queued) < QUEUED_SECONDS
    assert _p99(running) < RUNNING_SECONDS


def _seconds(job_client: JobClient, job_id: str) -> float:
    """Cancel a job; return the seconds until a response says CANCELLED."""
    started = time.monotonic()
    job = job_client.steer(job_id, "cancel")
    while job["state"] != "CANCELLED":
        job = job_client.job(job_id)
    return time.monotonic() - started


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[math.ceil(0.99 * len(seconds)) - 1]


def test_cancel_survives_a_restart_of_everything(cluster: Cluster, job_client: JobClient) -> None:
    job_id = job_client.submit(rows.hard(1))
    job_client.until_tree(job_id)
    holder = cluster.holder(job_id)
    assert holder is not None
    holder.suspend()  # so that it cannot stop the search
    assert job_client.steer(job_id, "cancel")["state"] == "STOPPING"
    for unit in (cluster.valkey, cluster.api, *cluster.workers):
        unit.kill()
    poll(lambda: cluster.valkey.ready and cluster.api.ready, seconds=60, what="a restart of everything")
    job = job_client.until_end(job_id)
    assert (job["state"], job["stop_reason"], job["model_id"]) == ("CANCELLED", "USER_CANCEL", None)
