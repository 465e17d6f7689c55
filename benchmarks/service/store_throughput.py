"""How many checkpoints a second one store takes: the workers' word that is said most often, without workers.

Threads of a few processes say it, each for a job of its own, and wait for every answer, as workers do.
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

from worker.messages import Checkpoint, ClassInfo, ColumnInfo, Dataset, NewJob, TracePoint, new_id
from worker.store import Store, connect
from worker.valkey import ValkeyServer

PROCESSES, THREADS = 2, (1, 16)
SECONDS = 5.0


def checkpoints_per_second(say: Callable[[str], None]) -> None:
    for threads in THREADS:
        with tempfile.TemporaryDirectory() as name, ValkeyServer(Path(name) / "valkey") as valkey:
            _measure(valkey.url, threads, say)


def _measure(url: str, threads: int, say: Callable[[str], None]) -> None:
    client: Any = connect(url)
    store = Store(client)
    dataset = store.datasets.add(_dataset(), content_key="ceiling")
    claims = []
    for _ in range(PROCESSES * threads):
        spec = {"id": new_id("job"), "tenant": "default", "dataset_id": dataset.id, "engine_version": "0"}
        store.jobs.submit(NewJob.model_validate({**spec, "dataset_sha256": dataset.sha256}))
        claim = store.jobs.claim("ceiling")
        assert claim is not None
        claims.append((claim.job.spec.id, claim.epoch))
    context = multiprocessing.get_context("spawn")
    before = client.info("cpu")
    with context.Pool(PROCESSES) as pool:
        parts = [(url, claims[number::PROCESSES]) for number in range(PROCESSES)]
        counts = pool.starmap(speak, parts)
    used = _used(client.info("cpu")) - _used(before)
    total = sum(counts)
    say(
        f"checkpoints, {PROCESSES * threads} jobs at once: {total / SECONDS:.0f} a second, "
        f"{1e6 * used / total:.0f} us of the store's core each"
    )
    client.close()


def speak(url: str, claims: list[tuple[str, int]]) -> int:
    """How often all of them were answered."""
    store = Store(connect(url))
    counts = [0] * len(claims)

    def run(number: int) -> None:
        job_id, epoch = claims[number]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            counts[number] += 1
            store.jobs.checkpoint(job_id, epoch, _word(counts[number]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(claims))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


def _word(number: int) -> Checkpoint:
    """As a running search has it twice a second: bounds, and two points of their trace."""
    lower = 1.0 - 1.0 / (number + 1)
    points = [TracePoint(seconds=number / 2, expansions=number, upper=100.0, lower=lower)] * 2
    return Checkpoint(
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


def _used(info: Any) -> float:
    return sum(cast(float, info[name]) for name in ("used_cpu_user", "used_cpu_sys"))
