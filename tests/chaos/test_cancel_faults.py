"""Cancel is quick, and once it is acknowledged nothing undoes it."""

from __future__ import annotations

import math
import time

from chaos import rows
from chaos.cluster import Cluster
from chaos.visitor import Visitor
from stack import poll

QUEUED, RUNNING, SLOTS = 30, 24, 4
QUEUED_SECONDS, RUNNING_SECONDS = 0.2, 2.0


def test_cancel_is_quick(cluster: Cluster, visitor: Visitor) -> None:
    busy = [visitor.submit(rows.hard(1), priority=5) for _ in range(SLOTS)]
    for job_id in busy:
        visitor.until_tree(job_id)
    waiting = [visitor.submit(rows.hard(1), priority=-5) for _ in range(QUEUED)]
    queued = [_seconds(visitor, job_id) for job_id in waiting]
    running = [_seconds(visitor, job_id) for job_id in busy]
    for _ in range(RUNNING // SLOTS - 1):
        busy = [visitor.submit(rows.hard(1)) for _ in range(SLOTS)]
        for job_id in busy:
            visitor.until_tree(job_id)
        running += [_seconds(visitor, job_id) for job_id in busy]
    assert _p99(queued) < QUEUED_SECONDS
    assert _p99(running) < RUNNING_SECONDS


def _seconds(visitor: Visitor, job_id: str) -> float:
    """From the wish to an answer that says CANCELLED."""
    started = time.monotonic()
    job = visitor.steer(job_id, "cancel")
    while job["state"] != "CANCELLED":
        job = visitor.job(job_id)
    return time.monotonic() - started


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[math.ceil(0.99 * len(seconds)) - 1]


def test_cancel_survives_a_restart_of_everything(cluster: Cluster, visitor: Visitor) -> None:
    job_id = visitor.submit(rows.hard(1))
    visitor.until_tree(job_id)
    holder = cluster.holder(job_id)
    assert holder is not None
    holder.suspend()  # so that it cannot obey
    assert visitor.steer(job_id, "cancel")["state"] == "STOPPING"
    for unit in (cluster.valkey, cluster.api, *cluster.workers):
        unit.kill()
    poll(lambda: cluster.valkey.ready and cluster.api.ready, seconds=60, what="a restart of everything")
    job = visitor.until_end(job_id)
    assert (job["state"], job["stop_reason"], job["model_id"]) == ("CANCELLED", "USER_CANCEL", None)
