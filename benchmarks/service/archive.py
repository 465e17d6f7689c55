"""Measure what ended jobs cost in Redis before and after they are archived, for docs/deployment.md.

    python -m benchmarks.service.archive --real 200 --jobs 2000 --copies 98000

Some jobs are really run, by a worker and through the API. Others are made of one of them by the functions of
the store that the API and workers call: submit, claim, publish, finish, archive. Then there are copies of
archived jobs, written to Redis as the functions leave them but without their blobs, because making a million
jobs by the functions takes hours. Each job has an idempotency key, a model and, with `--searches`, a saved
search.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import time
from collections.abc import Callable
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
from worker.store.packed_records import Record, long_form, short_form

TENANT = "default"
BATCH = 500
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

    def make(self) -> str:
        """Make an ended job whose scores are its own, and return its id."""
        jobs = self._store.jobs
        new = self._spec.model_copy(update={"id": new_id("job")})
        jobs.submit(
            new,
            idempotency_key=secrets.token_hex(16),
            body_digest=secrets.token_hex(32),
            request_id=secrets.token_hex(8),
        )
        claim = jobs.claim("benchmark:1")
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
        return new.id

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


def run(stack: Stack, real: int, jobs: int, copies: int, searches: bool) -> None:
    client: Any = connect(stack.valkey.url)
    blobs = Blobs(stack.folder / "state" / "blobs")
    store = Store(client, blobs=blobs)
    worker = stack.start_worker()
    stack.wait(stack.submit(SMALL))
    before = used_memory(client)
    headers = {"Content-Type": "application/json"}
    ids = []
    for number in range(real):
        body = {"dataset_id": stack.dataset, **SMALL}
        key = {"Idempotency-Key": f"real-{number}"}
        ids.append(stack.client.post("/v1/jobs", json=body, headers=headers | key).json()["id"])
    for job_id in ids:
        stack.wait(job_id)
    write(f"{real} jobs through the API: {(used_memory(client) - before) / real:,.0f} bytes of Redis each")
    stop(worker)  # it would take the jobs that are made now
    found = store.jobs.get(TENANT, ids[0])
    assert found is not None
    maker = JobMaker(store, found, searches=searches)
    client.config_set("appendfsync", "no")  # making jobs is not what is measured
    before = used_memory(client)
    begin = time.process_time()
    made = [maker.make() for _ in range(jobs)]
    write(f"{jobs:,} jobs by the store: {(used_memory(client) - before) / jobs:,.0f} bytes of Redis each")
    write(f"  made in {1000 * (time.process_time() - begin) / jobs:.2f} ms of CPU time of this process each")
    measure_requests(stack, client, made, "not archived")
    write_archived(store, client, blobs, before, made)
    measure_requests(stack, client, made, "archived")
    if copies:
        begin_memory = used_memory(client)
        Copies(client, made[0], searches=searches).make(copies)
        used = used_memory(client)
        write(f"{copies:,} copies: {(used - begin_memory) / copies:,.0f} bytes of Redis each")
        write(f"Redis uses {used / 1e6:,.1f} MB in all, for {real + jobs + copies + 1:,} jobs")
        measure_requests(stack, client, made, f"among {copies:,}")
    size, count = blob_sizes(blobs)
    write(f"blobs: {count:,} files of {size / max(1, count):,.0f} bytes on average")


def write_archived(store: Store, client: Any, blobs: Blobs, before: int, made: list[str]) -> None:
    """Archive the jobs, and write what they cost then."""
    begin, cpu = time.monotonic(), time.process_time()
    archived = store.archiver.archive(blobs, 0.0, max_seconds=float("inf"))
    seconds, cpu = time.monotonic() - begin, time.process_time() - cpu
    write(f"archiving: {1000 * seconds / archived:.2f} ms for each of {archived:,} records, of which")
    write(f"  {1000 * cpu / archived:.2f} ms are CPU time of the process")
    used = used_memory(client)
    # The jobs that were really run are archived too, which is less memory than before.
    write(f"{len(made):,} archived jobs: at most {(used - before) / len(made):,.0f} bytes of Redis each")


class Copies:
    """Write copies of an archived job and its model, each with ids, times and scores of its own."""

    def __init__(self, client: Any, job_id: str, *, searches: bool) -> None:
        self._client = client
        self._searches = searches
        self._job_short: Record = client.hgetall(f"literati:job:{job_id}")
        self._job = long_form(self._job_short)
        self._model_short: Record = client.hgetall(f"literati:model:{self._job[b'model_id'].decode()}")
        self._model = long_form(self._model_short)
        self._rng = np.random.default_rng(2)

    def make(self, count: int) -> None:
        last = int(self._client.incrby("literati:seq", 2 * count))
        pipeline = self._client.pipeline(transaction=False)
        for number in range(count):
            self._copy(pipeline, last - 2 * number)
            if number % BATCH == BATCH - 1:
                pipeline.execute()
        pipeline.execute()

    def _copy(self, pipeline: Any, seq: int) -> None:
        job_id, model_id, now = new_id("job"), new_id("mdl"), int(1000 * time.time())
        archives = [secrets.token_hex(32), secrets.token_hex(32)]
        own = self._own_fields(job_id, now)
        times = dict.fromkeys((b"created_at", b"queued_at", b"started_at"), b"%d" % (now - 100))
        effort = {
            b"elapsed": repr(self._rng.random()).encode(),
            b"memory": b"%d" % self._rng.integers(1 << 22),
        }
        job = {**self._job, **own, **times, **effort, b"model_id": model_id.encode(), b"seq": b"%d" % seq}
        model = {**self._model, **own, b"created_at": b"%d" % now, b"seq": b"%d" % (seq - 1)}
        short = {**short_form("job", job), b"archive": bytes.fromhex(archives[0])}
        if self._searches:
            short[b"blob"] = secrets.token_hex(32).encode()
            archives.append(short[b"blob"].decode())
            pipeline.hset("literati:saved-searches", short[b"blob"], 40_000)
            pipeline.zadd("literati:ended-searches", {job_id: now})
        pipeline.hset(f"literati:job:{job_id}", mapping=short)
        short_model = {**short_form("model", model), b"archive": bytes.fromhex(archives[1])}
        pipeline.hset(f"literati:model:{model_id}", mapping=short_model)
        for name in archives:
            pipeline.hset("literati:blob-references", name, 1)
        for index in (f"literati:tenant-jobs:{TENANT}", f"literati:tenant-state:SUCCEEDED:{TENANT}"):
            pipeline.zadd(index, {job_id: seq})
        pipeline.zadd("literati:ended", {job_id: now})
        pipeline.zadd(f"literati:tenant-models:{TENANT}", {model_id: seq - 1})
        known = f"literati:idempotency:{secrets.token_hex(32)}"
        pipeline.hset(known, mapping={"job": job_id, "body": secrets.token_hex(32)})
        pipeline.pexpire(known, 86_400_000)

    def _own_fields(self, job_id: str, now: int) -> Record:
        spec = json.loads(self._job[b"spec"]) | {"id": job_id}
        scores = {
            name: float(self._rng.random()) if isinstance(value, float) else value
            for name, value in json.loads(self._job[b"scores"]).items()
        }
        texts = {b"spec": spec, b"scores": scores}
        own = {name: json.dumps(value, separators=(",", ":")).encode() for name, value in texts.items()}
        return {**own, b"finished_at": b"%d" % now, b"first_incumbent_at": b"%d" % (now - 50)}


def blob_sizes(blobs: Blobs) -> tuple[int, int]:
    sizes = [entry.stat().st_size for folder in blobs.folder.glob("??") for entry in os.scandir(folder)]
    return sum(sizes), len(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", type=int, default=200, help="jobs that are really run")
    parser.add_argument("--jobs", type=int, default=2_000, help="jobs that the functions of the store make")
    parser.add_argument("--copies", type=int, default=98_000, help="copies of an archived job")
    parser.add_argument("--searches", action="store_true", help="with saved searches, which are kept 7 days")
    arguments = parser.parse_args()
    with running_stack() as stack:
        run(stack, arguments.real, arguments.jobs, arguments.copies, arguments.searches)


if __name__ == "__main__":
    main()
