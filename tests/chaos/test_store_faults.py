"""Faults of the store: it is killed, suspended or has no disk space, and nothing acknowledged is lost."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import redis

from tests.chaos import rows
from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.chaos.job_client import JobClient
from tests.chaos.retrying_client import RetryingClient
from tests.support.records import jobs, store_records
from tests.support.stack.stack import poll
from worker.blobs.local import Blobs
from worker.domain.jobs import JobState, Outcome, StopReason
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect
from worker.store.retry import ANSWER_SECONDS
from worker.training.runner import JobRun


class Writer(threading.Thread):
    """Take jobs from submission to a model, one by one, and record what was acknowledged."""

    def __init__(self, url: str, dataset: Any) -> None:
        super().__init__(daemon=True)
        self.client = connect(url)
        self.store = Store(self.client)
        self.dataset = dataset
        self.submitted: list[str] = []
        self.bounds: dict[str, float] = {}  # the lower bound that was acknowledged
        self.ended: list[str] = []
        self.stopping = False

    def run(self) -> None:
        while not self.stopping:
            try:
                self._one_job()
            except redis.RedisError:
                continue  # nothing was acknowledged

    def _one_job(self) -> None:
        self.submitted.append(self.store.jobs.submit(jobs.spec(self.dataset)).job.spec.id)
        claim = self.store.jobs.claim("writer")
        if claim is None:
            return
        job_id = claim.spec.id
        for lower in (1.0, 2.0, 3.0):
            word = store_records.progress_update(10.0, lower, objective=10.0)
            self.store.jobs.publish_progress(job_id, claim.epoch, word)
            self.bounds[job_id] = lower
        outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.TIME_LIMIT)
        self.store.jobs.finish(job_id, claim.epoch, outcome)
        self.ended.append(job_id)


def test_what_was_acknowledged_survives_kills_in_mid_write(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "valkey") as server, connect(server.url) as client:
        store = Store(client)
        dataset = jobs.add_dataset(store, Blobs(tmp_path / "blobs"), jobs.easy())
        writers = [Writer(server.url, dataset) for _ in range(4)]
        for writer in writers:
            writer.start()
        for _ in range(6):
            before = sum(len(writer.submitted) for writer in writers)
            poll(lambda goal=before + 20: sum(len(w.submitted) for w in writers) >= goal, what="writes")  # type: ignore[misc]
            assert server.process is not None
            server.process.kill()
            server.process.wait()
            server.start()
        for writer in writers:
            writer.stopping = True
        for writer in writers:
            writer.join(30)
            writer.client.close()
        assert sum(len(writer.ended) for writer in writers) > 20
        for writer in writers:
            found = {job_id: store.jobs.get(jobs.TENANT, job_id) for job_id in writer.submitted}
            assert [job_id for job_id, job in found.items() if job is None] == []
            for job_id, lower in writer.bounds.items():
                job = store.jobs.get(jobs.TENANT, job_id)
                assert job is not None
                assert job.progress.lower_bound is not None
                assert job.progress.lower_bound >= lower
            for job_id in writer.ended:
                job = store.jobs.get(jobs.TENANT, job_id)
                assert job is not None
                assert job.state is JobState.SUCCEEDED
                assert job.model_id is not None
                assert store.models.tree(jobs.TENANT, job.model_id) is not None


def test_a_restart_in_mid_job_costs_no_search(cluster: Cluster, job_client: JobClient) -> None:
    job_id = job_client.submit(rows.hard(1))
    before = job_client.until_tree(job_id)
    cluster.valkey.kill()
    after = job_client.until(
        job_id, lambda job: job["progress"]["elapsed_seconds"] > before["progress"]["elapsed_seconds"] + 0.5
    )
    assert cluster.fields(job_id, "epoch") == [b"1"], "the same worker goes on with it"
    assert after["progress"]["expansions"] > before["progress"]["expansions"]
    job_client.steer(job_id, "finish")
    assert job_client.until_end(job_id)["state"] == "SUCCEEDED"


def test_a_store_that_hangs_is_answered_for_in_seconds(
    cluster: Cluster, job_client: JobClient, findings: Findings
) -> None:
    job_id = job_client.submit(rows.hard(1))
    job_client.until_tree(job_id)
    answers: list[tuple[int, float]] = []

    def ask(method: str, path: str) -> None:
        with RetryingClient(cluster.url, findings) as client:
            started = time.monotonic()
            answer = client.try_once(method, path, **({"json": {"rows": []}} if method == "POST" else {}))
            assert answer is not None
            answers.append((answer.status_code, time.monotonic() - started))

    read = [("GET", f"/v1/jobs/{job_id}"), ("GET", "/readyz"), ("GET", "/v1/models")]
    asked = [("POST", "/v1/models/x/predict"), *(20 * read)]
    threads = [threading.Thread(target=ask, args=words) for words in asked]
    cluster.valkey.send(signal.SIGSTOP)
    try:
        for thread in threads:
            thread.start()
        assert job_client.try_once("GET", "/healthz") is not None, "it lives"
        for thread in threads:
            thread.join()
    finally:
        cluster.valkey.send(signal.SIGCONT)
    assert len(answers) == len(threads)
    assert {status for status, _ in answers} == {503}
    assert max(seconds for _, seconds in answers) < 2.5 * ANSWER_SECONDS
    before = job_client.job(job_id)["progress"]["expansions"]
    job_client.until(job_id, lambda job: job["progress"]["expansions"] > before, "more search")
    job_client.steer(job_id, "cancel")
    assert job_client.until_end(job_id)["state"] == "CANCELLED"


def test_a_full_disk_of_the_store(cluster: Cluster, job_client: JobClient) -> None:
    """The store exits at the first write that fails, and after every restart, until there is space again."""
    log = max(cluster.server.folder.glob("appendonlydir/*.incr.aof"), key=lambda path: path.stat().st_size)
    blocks = (log.stat().st_size + 30_000) // 512
    cluster.valkey.prefix = ["sh", "-c", 'ulimit -S -f "$0" && exec "$@"', str(blocks)]
    cluster.valkey.kill()
    accepted: list[str] = []
    starts = cluster.valkey.starts
    _, dataset_id = job_client.upload(rows.easy().csv)
    body = {"dataset_id": dataset_id, "parameters": {"max_depth": 2}, "priority": -1}
    refused: httpx.Response | None = None
    deadline = time.monotonic() + 30
    while (refused is None or cluster.valkey.starts < starts + 3) and time.monotonic() < deadline:
        answer = job_client.try_once("POST", "/v1/jobs", json=body)
        assert answer is not None
        if answer.status_code == 202:
            accepted.append(answer.json()["id"])
        else:
            refused = answer
    assert refused is not None
    assert refused.status_code == 503
    assert int(refused.headers["retry-after"]) > 0
    assert "AOF write error" in cluster.valkey.log.read_text()
    cluster.valkey.prefix = []
    cluster.valkey.kill()
    cluster.await_ready()
    for job_id in accepted:
        assert job_client.until_end(job_id)["state"] == "SUCCEEDED"
    assert accepted


def test_a_job_whose_data_cannot_be_read_now_goes_back_to_the_queue(tmp_path: Path) -> None:
    """The store stops between the claim and the first read of the dataset; the job must not fail by that."""
    with ValkeyServer(tmp_path / "valkey") as server, connect(server.url) as client:
        store, blobs = Store(client), Blobs(tmp_path / "blobs")
        job_id = store.jobs.submit(jobs.spec(jobs.add_dataset(store, blobs, jobs.easy()))).job.spec.id
        claim = store.jobs.claim("here")
        assert claim is not None
        assert server.process is not None
        server.process.kill()
        server.process.wait()
        run = JobRun(store, blobs, claim, 30.0, lambda: False, 1 << 30)
        thread = threading.Thread(target=run.run, daemon=True)
        thread.start()
        poll(
            lambda: run.search_thread.ident is not None and not run.search_thread.is_alive(),
            what="the search gives up",
        )
        server.start()
        thread.join(20)
        job = store.jobs.get(jobs.TENANT, job_id)
        assert job is not None
        assert (job.state, job.error) == (JobState.QUEUED, None)
        assert store.jobs.claim("again") is not None
