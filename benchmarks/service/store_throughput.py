"""Measure how many progress updates per second one store accepts. Workers send these updates most often.

Threads of a few processes send them instead of workers. Each thread has its own job and waits for every
response, as workers do.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from worker.domain.base import new_id
from worker.domain.datasets import ClassInfo, ColumnInfo, Dataset
from worker.domain.jobs import NewJob
from worker.domain.progress import ProgressUpdate, TracePoint
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect

PROCESSES, THREADS = 2, (1, 16)
SECONDS = 5.0


def updates_per_second(write: Callable[[str], None]) -> None:
    """Measure the updates per second with few and with many jobs, and write the results."""
    for threads in THREADS:
        with tempfile.TemporaryDirectory() as name, ValkeyServer(Path(name) / "valkey") as valkey:
            _measure(valkey.url, threads, write)


def _measure(url: str, threads: int, write: Callable[[str], None]) -> None:
    client: Any = connect(url)
    store = Store(client)
    dataset = store.datasets.add(_dataset(), content_key="throughput")
    claims = []
    for _ in range(PROCESSES * threads):
        spec = {"id": new_id("job"), "tenant": "default", "dataset_id": dataset.id, "engine_version": "0"}
        store.jobs.submit(NewJob.model_validate({**spec, "dataset_sha256": dataset.sha256}))
        claim = store.jobs.claim("throughput")
        assert claim is not None
        claims.append((claim.spec.id, claim.epoch))
    context = multiprocessing.get_context("spawn")
    before = client.info("cpu")
    with context.Pool(PROCESSES) as pool:
        parts = [(url, claims[number::PROCESSES]) for number in range(PROCESSES)]
        counts = pool.starmap(send_updates, parts)
    used = _cpu_seconds(client.info("cpu")) - _cpu_seconds(before)
    total = sum(counts)
    write(
        f"progress updates, {PROCESSES * threads} jobs at a time: {total / SECONDS:.0f} per second, "
        f"{1e6 * used / total:.0f} us of the store's CPU time each"
    )
    client.close()


def send_updates(url: str, claims: list[tuple[str, int]]) -> int:
    """Send updates for all these jobs and return their number."""
    store = Store(connect(url))
    counts = [0] * len(claims)

    def run(number: int) -> None:
        job_id, epoch = claims[number]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            counts[number] += 1
            store.jobs.publish_progress(job_id, epoch, _update(counts[number]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(claims))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


def _update(number: int) -> ProgressUpdate:
    """Return an update as a running search sends it twice a second: bounds and two points of the trace."""
    lower = 1.0 - 1.0 / (number + 1)
    points = [TracePoint(seconds=number / 2, expansions=number, upper=100.0, lower=lower)] * 2
    return ProgressUpdate(
        upper_bound=100.0,
        lower_bound=lower,
        expansions=number,
        states_live=number,
        elapsed_seconds=number / 2,
        memory_bytes=1 << 20,
        trace=points,
    )


def _dataset() -> Dataset:
    return Dataset(
        id=new_id("ds"),
        tenant="default",
        sha256="b" * 64,
        blob="a" * 64,
        bytes=10,
        rows=2,
        target="y",
        columns=[ColumnInfo(name="x", type="number", role="feature", missing=0)],
        classes=[ClassInfo(label="a", count=1), ClassInfo(label="b", count=1)],
        created_at=datetime.now(UTC),
    )


def _cpu_seconds(info: Any) -> float:
    return sum(cast(float, info[name]) for name in ("used_cpu_user", "used_cpu_sys"))
