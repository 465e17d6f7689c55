"""Faults of a worker or one of its processes affect one job at most, and not for long."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tests.chaos import rows
from tests.chaos.cluster import Cluster
from tests.chaos.job_client import JobClient
from tests.chaos.limits import full_disk, little_memory
from tests.chaos.rules import ended
from tests.chaos.supervision import Unit
from tests.support.records import jobs
from tests.support.stack.stack import poll
from worker.app import QUEUE
from worker.store.leases import MAX_STALLS

HERE = Path(__file__).resolve().parent


@contextmanager
def only(cluster: Cluster, *kept: Unit) -> Iterator[None]:
    """Stop the other workers for the time of the block."""
    others = [worker for worker in cluster.workers if worker not in kept]
    for worker in others:
        worker.keep_stopped()
        worker.kill()
    try:
        yield
    finally:
        for worker in others:
            worker.allow_restart()


def test_a_wake_up_that_dies_with_its_reader(cluster: Cluster, job_client: JobClient) -> None:
    """The broker gives a message to a worker that is suspended while it waits, and then killed."""
    reader = cluster.workers[0]
    with only(cluster, reader):
        job_id = poll(lambda: _lost(cluster, job_client, reader), what="a wake-up handed to a stopped worker")
        reader.kill()
    cluster.await_ready(reader)
    started = time.monotonic()
    assert job_client.until_end(job_id)["state"] == "SUCCEEDED"
    assert time.monotonic() - started < cluster.lease + 10


def _lost(cluster: Cluster, job_client: JobClient, reader: Unit) -> str | None:
    """Submit a job whose message the broker gave away without a record; None if no worker waited."""
    reader.send(signal.SIGSTOP)
    recorded = cluster.connection.hlen("unacked")
    clients: Any = cluster.connection.client_list()
    if any("b" in client["flags"] for client in clients):
        job_id = job_client.submit(rows.easy(), {"max_depth": 2})
        if cluster.connection.llen(QUEUE) == 0 and cluster.connection.hlen("unacked") == recorded:
            return job_id
    reader.send(signal.SIGCONT)
    return None


def test_a_job_that_kills_its_worker_is_given_up(cluster: Cluster, job_client: JobClient) -> None:
    job_id = job_client.submit(rows.hard(1))
    bystander = job_client.submit(rows.easy(), {"max_depth": 3})
    killed: set[int] = set()
    deadline = time.monotonic() + 60
    while not ended(job := job_client.job(job_id)):
        holder = cluster.holder(job_id)
        if holder is not None and holder.pid not in killed:
            holder.kill()
            killed.add(holder.pid)
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert (job["state"], job["stop_reason"], job["error"]["code"]) == (
        "FAILED",
        "WORKER_LOST",
        "WORKER_LOST",
    )
    assert MAX_STALLS <= len(killed) <= MAX_STALLS + 3  # an attempt that made progress does not count
    assert job_client.until_end(bystander)["state"] == "SUCCEEDED"


def test_out_of_memory_hits_one_job_only(cluster: Cluster, job_client: JobClient) -> None:
    rng = np.random.default_rng(0)
    cells = {f"x{j}": rng.normal(size=600_000) for j in range(10)} | {
        "label": rng.choice(["a", "b"], 600_000)
    }
    large = jobs.add_dataset(cluster.store, cluster.blobs, cells)
    children = poll(lambda: _children_that_have_trained(cluster, job_client), what="a job in every process")
    with little_memory(children, more=192 << 20):  # a small job needs at most 75 MiB, the large one 440 MiB
        job_id = job_client.request("POST", "/v1/jobs", 202, json={"dataset_id": large.id}).json()["id"]
        others = [job_client.submit(rows.easy(), {"max_depth": 3}) for _ in range(6)]
        job = job_client.until_end(job_id)
        assert [job_client.until_end(other)["state"] for other in others] == 6 * ["SUCCEEDED"]
    assert job["state"] == "FAILED"
    assert job["error"]["code"] in ("MEMORY", "WORKER_LOST")
    assert all(worker.ready for worker in cluster.workers), "no worker went down with it"


def _children_that_have_trained(cluster: Cluster, job_client: JobClient) -> list[psutil.Process] | None:
    """Return all processes that train, once each of them has run a job; until then, submit some.

    The first job of a process imports scikit-learn, which takes more than a gigabyte of address space.
    """
    for job_id in [job_client.submit(rows.easy(), {"max_depth": 3}) for _ in range(6)]:
        job_client.until_end(job_id)
    children = [child for worker in cluster.workers for child in cluster.children(worker)]
    with suppress(psutil.NoSuchProcess):  # it has just been replaced
        if all(any("sklearn" in area.path for area in child.memory_maps()) for child in children):
            return children
    return None


def test_a_search_that_cannot_be_saved_goes_on(cluster: Cluster, job_client: JobClient) -> None:
    children = [child.pid for worker in cluster.workers for child in cluster.children(worker)]
    with full_disk(children):
        job_id = job_client.submit(rows.hard(1))
        poll(lambda: "could not be saved" in job_client.log_messages(job_id), what="a save that failed")
        before = job_client.job(job_id)["progress"]["expansions"]
        job_client.until(job_id, lambda job: job["progress"]["expansions"] > before, "more search")
        job_client.steer(job_id, "pause")
        job_client.until(job_id, lambda job: job["state"] == "PAUSED")
    assert cluster.fields(job_id, "blob") == [None]
    job_client.steer(job_id, "resume")
    poll(lambda: cluster.fields(job_id, "blob") != [None], what="a saved search")
    job_client.steer(job_id, "finish")
    assert job_client.until_end(job_id)["state"] == "SUCCEEDED"


def test_a_clock_that_is_a_day_off(cluster: Cluster, job_client: JobClient, tmp_path: Path) -> None:
    shim = tmp_path / "clock_shift.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", shim, HERE / "clock_shift.c", "-ldl"], check=True
    )
    tomorrow = [f"{datetime.now(UTC) + timedelta(days=1, minutes=minutes):%Y-%m-%d}" for minutes in (0, 5)]
    early = cluster.add_worker(LD_PRELOAD=str(shim))
    try:
        cluster.await_ready(early)
        with cluster.blobs.temporary_file() as draft, only(cluster, early):
            assert any(day in early.log_since_start() for day in tomorrow), (
                "its clock is as wrong as it should be"
            )
            job_id = job_client.submit(rows.hard(1))
            job = job_client.until_tree(job_id)
            assert cluster.holder(job_id) in cluster.children(early)
            assert datetime.fromisoformat(job["heartbeat_at"]) < datetime.now(UTC) + timedelta(minutes=1)
            time.sleep(1.2 * cluster.lease)
            assert cluster.fields(job_id, "epoch") == [b"1"], "its lease was renewed all the while"
            assert Path(draft.name).exists(), "it took a draft of a second ago for one of yesterday"
        early.keep_stopped()
        early.kill()
        job_client.until(
            job_id, lambda job: cluster.fields(job_id, "epoch") != [b"1"], "another worker has it"
        )
        job_client.until(job_id, lambda job: job["state"] == "RUNNING")
        job_client.steer(job_id, "finish")
        assert job_client.until_end(job_id)["state"] == "SUCCEEDED"
    finally:
        cluster.remove_worker(early)
