"""Measure what ended jobs cost in Redis before and after they are archived, for docs/deployment.md.

    python -m benchmarks.service.archive --real 200 --jobs 100000 --processes 2

Some jobs are really run, by a worker and through the API. The others are made of one of them by the functions
of the store that the API and workers call: submit, claim, publish, finish, archive. Each job has an
idempotency key, a model and, with `--searches`, a saved search.
"""

from __future__ import annotations

import argparse
import os
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service.servers import stop
from benchmarks.service.sizing import SMALL, write
from benchmarks.service.stack import Stack, running_stack
from worker.blobs.local import Blobs
from worker.domain.base import new_id
from worker.domain.jobs import Job, JobState, NewJob, Outcome
from worker.domain.progress import NewIncumbent, ProgressUpdate
from worker.store import Store
from worker.store.client import connect

TENANT = "default"
BATCH = 1000  # jobs that a process makes before it archives what has ended
MARKS = (100_000, 300_000)  # numbers of jobs after which memory and requests are measured
REQUESTS = 60


class JobMaker:
    """Make jobs like one that was really run."""

    def __init__(self, store: Store, job: Job, *, searches: bool) -> None:
        self._store = store
        self._spec = NewJob(**dict(job.spec) | dict(job.settings))
        self._searches = searches
        found = [store.jobs.incumbent(TENANT, job.spec.id, n + 1) for n in range(job.progress.incumbents)]
        self._trees = [tree for tree in found if tree is not None]
        progress, trace = job.progress, store.jobs.trace(TENANT, job.spec.id)
        assert progress.upper_bound is not None
        assert progress.lower_bound is not None
        self._update = ProgressUpdate(
            upper_bound=progress.upper_bound,
            lower_bound=progress.lower_bound,
            expansions=progress.expansions,
            states_live=progress.states_live,
            elapsed_seconds=progress.elapsed_seconds,
            memory_bytes=progress.memory_bytes,
            explored=progress.explored or 0.0,
            space=progress.space,
            proven_space=job.proven_space,
            trace=trace,
        )
        self._outcome = Outcome(
            state=JobState.SUCCEEDED, stop_reason=job.stop_reason, proven_optimal=job.proven_optimal
        )
        self._rng = np.random.default_rng(0)

    def make(self) -> None:
        """Make an ended job whose scores are its own."""
        jobs = self._store.jobs
        new = self._spec.model_copy(update={"id": new_id("job")})
        jobs.submit(
            new,
            idempotency_key=secrets.token_hex(16),
            body_digest=secrets.token_hex(32),
            request_id=secrets.token_hex(8),
        )
        claim = jobs.claim(f"benchmark-{os.getpid()}:1")  # perhaps a job that another process made
        assert claim is not None
        for tree in self._trees[:-1]:
            update = {"incumbent": self._incumbent(tree), "upper_bound": tree.upper_bound, "trace": []}
            first = self._update.model_copy(
                update={**update, "lower_bound": tree.lower_bound, "explored": tree.explored or 0.0}
            )
            jobs.publish_progress(claim.spec.id, claim.epoch, first)
        search = {"snapshot": secrets.token_hex(32), "snapshot_bytes": 40_000} if self._searches else {}
        effort = {
            "elapsed_seconds": float(self._rng.random()),
            "memory_bytes": int(self._rng.integers(1 << 22)),
        }
        last = self._update.model_copy(
            update={"incumbent": self._incumbent(self._trees[-1]), **search, **effort}
        )
        jobs.finish(claim.spec.id, claim.epoch, self._outcome, last)

    def _incumbent(self, tree: Any) -> NewIncumbent:
        """Return a tree with other digits in its scores, which would otherwise compress too well."""
        metrics = {**tree.metrics, "train": self._other(tree.metrics["train"])}
        return NewIncumbent(
            objective=tree.objective, tree=tree.tree, metrics=metrics, found_seconds=tree.found_seconds or 0.0
        )

    def _other(self, scores: dict[str, Any]) -> dict[str, Any]:
        return {
            name: float(self._rng.random()) if isinstance(value, float) else value
            for name, value in scores.items()
        }


def cpu_milliseconds(stack: Stack, client: Any, request: Callable[[int], Any]) -> tuple[float, float]:
    """Return the CPU time of the API and of the store for a request, which hardly depends on other load."""

    def used() -> np.ndarray[Any, Any]:
        info = client.info("cpu")
        return np.array([stack.api_cpu_seconds(), info["used_cpu_user"] + info["used_cpu_sys"]])

    before = used()
    for number in range(REQUESTS):
        request(number)
    api, store = 1000 * (used() - before) / REQUESTS
    return float(api), float(store)


def measure_requests(stack: Stack, client: Any, job_ids: list[str], what: str) -> None:
    """Write the CPU time of requests for these jobs."""
    rng = np.random.default_rng(1)
    chosen = [job_ids[i] for i in rng.choice(len(job_ids), REQUESTS, replace=len(job_ids) < REQUESTS)]
    middle = stack.client.get("/v1/jobs?page_size=1").json()["next_page_token"]

    def get(path: str) -> None:
        stack.client.get(path).raise_for_status()

    for name, request in (
        ("GET of 50 jobs", lambda _: get(f"/v1/jobs?page_size=50&page_token={middle}")),
        ("GET of 50 models", lambda _: get("/v1/models?page_size=50")),
        ("GET of a job", lambda n: get(f"/v1/jobs/{chosen[n]}")),
        ("GET of the same job again", lambda _: get(f"/v1/jobs/{chosen[0]}")),
        ("GET of its tree", lambda n: get(f"/v1/jobs/{chosen[n]}/incumbent")),
        ("GET of its events", lambda n: get(f"/v1/jobs/{chosen[n]}/events")),
    ):
        api, store = cpu_milliseconds(stack, client, request)
        write(f"  {what}: {name}: API {api:.2f} ms, store {store:.2f} ms")


def used_memory(client: Any) -> int:
    client.execute_command("MEMORY", "PURGE")
    time.sleep(1.0)  # parts are freed in the background
    return int(client.info("memory")["used_memory"])


def run(stack: Stack, real: int, jobs: int, processes: int, searches: bool) -> None:
    client: Any = connect(stack.valkey.url)
    server = client.info("server")
    write(f"{server.get('server_name', 'redis')} {server.get('valkey_version', server['redis_version'])}")
    blobs = Blobs(stack.folder / "state" / "blobs")
    store = Store(client, blobs=blobs)
    worker = stack.start_worker()
    stack.wait(stack.submit(SMALL))
    empty = used_memory(client)
    ids = run_jobs(stack, real)
    write(f"{real:,} jobs through the API: {(used_memory(client) - empty) / real:,.0f} bytes of Redis each")
    stop(worker)  # it would take the jobs that are made now
    measure_requests(stack, client, ids, "not archived")
    write_archived(store, blobs)
    write(f"  {(used_memory(client) - empty) / real:,.0f} bytes of Redis for each job")
    measure_requests(stack, client, ids, "archived")
    client.config_set("appendonly", "no")  # making jobs is not what is measured
    makers = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    begin, done = time.monotonic(), 0
    for mark in sorted({*(mark for mark in MARKS if mark < jobs), jobs}):
        shares = np.diff(np.linspace(done, mark, processes + 1).astype(int)).tolist()
        arguments = (stack.valkey.url, blobs.folder, ids[0], searches)
        for future in [makers.submit(make_and_archive, *arguments, share) for share in shares]:
            future.result()
        done = mark
        store.archiver.archive(blobs, 0.0, max_seconds=float("inf"))
        used = used_memory(client)
        each, kept = (used - empty) / (real + done), idempotency_bytes(client)
        write(f"{done:,} more by the store, after {time.monotonic() - begin:,.0f} s")
        write(f"  {each:,.0f} bytes of Redis each, of which {kept:,.0f} are the idempotency key")
        write(f"  Redis uses {used / 1e6:,.1f} MB in all, for {real + done + 1:,} jobs")
        newest = [job.spec.id for job in store.jobs.list(TENANT, page_size=REQUESTS).items]
        measure_requests(stack, client, newest, f"among {real + done:,}")
    makers.shutdown()
    size, count = blob_sizes(blobs)
    write(f"blobs: {count:,} files of {size / max(1, count):,.0f} bytes on average")


def run_jobs(stack: Stack, count: int) -> list[str]:
    """Run jobs through the API, each with an idempotency key, and return their ids."""
    ids = []
    for number in range(count):
        body, key = {"dataset_id": stack.dataset, **SMALL}, {"Idempotency-Key": f"real-{number}"}
        answer = stack.client.post("/v1/jobs", json=body, headers=key)
        answer.raise_for_status()
        ids.append(str(answer.json()["id"]))
    for job_id in ids:
        stack.wait(job_id)
    return ids


def make_and_archive(url: str, folder: Path, model: str, searches: bool, count: int) -> None:
    """Make jobs like the job `model` and archive them, in a process of its own."""
    blobs = Blobs(folder)
    store = Store(connect(url), blobs=blobs)
    found = store.jobs.get(TENANT, model)
    assert found is not None
    maker = JobMaker(store, found, searches=searches)
    for number in range(1, count + 1):
        maker.make()
        if number % BATCH == 0:
            store.archiver.archive(blobs, 0.0, max_seconds=float("inf"))


def write_archived(store: Store, blobs: Blobs) -> None:
    """Archive the jobs that have ended, and write how long this takes."""
    begin, cpu = time.monotonic(), time.process_time()
    archived = store.archiver.archive(blobs, 0.0, max_seconds=float("inf"))
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    write(f"archiving: {1000 * seconds / archived:.2f} ms for each of {archived:,} records, of which")
    write(f"  {1000 * cpu / archived:.2f} ms are CPU time of the process")


def idempotency_bytes(client: Any) -> float:
    """Return the mean size of some idempotency keys, without the entries of their time limits."""
    found = list(islice(client.scan_iter("literati:idempotency:*", count=1000), 1000))
    return float(np.mean([client.memory_usage(key, samples=0) for key in found]))


def blob_sizes(blobs: Blobs) -> tuple[int, int]:
    sizes = [entry.stat().st_size for folder in blobs.folder.glob("??") for entry in os.scandir(folder)]
    return sum(sizes), len(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", type=int, default=200, help="jobs that are really run")
    parser.add_argument("--jobs", type=int, default=20_000, help="jobs that the functions of the store make")
    parser.add_argument("--processes", type=int, default=2, help="processes that make these jobs")
    parser.add_argument("--searches", action="store_true", help="with saved searches, which are kept 7 days")
    arguments = parser.parse_args()
    with running_stack() as stack:
        run(stack, arguments.real, arguments.jobs, arguments.processes, arguments.searches)


if __name__ == "__main__":
    main()
