"""Programs that find a store which only newer ones can read: at their start, and while they run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from literati import __version__
from tests.support.http.event_client import listen
from tests.support.http.service_client import problem
from tests.support.paths import ROOT
from tests.support.records import jobs
from tests.support.stack.embedded import Embedded
from tests.support.stack.stack import Process, Stack, poll
from worker.domain.jobs import JobState
from worker.store.store_format import FORMAT, KEY

pytestmark = pytest.mark.stack
NEWER: dict[Any, Any] = {"format": "99", "reader": "98", "version": "9.0"}
SENTENCE = (
    "Literati 9.0 has written to the store, and programs below format 98 cannot read it; this is Literati "
    f"{__version__} with format {FORMAT}. Install Literati 9.0 or newer here, or restore a backup from "
    "before the upgrade."
)
COMMANDS = [
    ["service.server"],
    ["worker"],
    ["service.keys", "add", "laptop"],
    ["service.cleanup", "--ended-before", "1d"],
]


@pytest.fixture
def newer(api: Stack) -> Iterator[Stack]:
    api.connection.hset(KEY, mapping=NEWER)
    yield api
    api.connection.delete(KEY)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_program_does_not_start(newer: Stack, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=newer.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == SENTENCE  # Celery may have warned of another thing before


def test_make_serve_does_not_start(newer: Stack, tmp_path: Path) -> None:
    assert Embedded(tmp_path, REDIS_URL=newer.server.url).refusal() == f"{SENTENCE}\n"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Stack, Process]]:
    with Stack.with_api(tmp_path, LITERATI_RECONCILE_SECONDS="0.2") as stack:
        yield stack, stack.start_worker()


def test_running_programs_notice(running: tuple[Stack, Process]) -> None:
    """The worker returns its job to the queue and ends. The API ends its streams and answers 503."""
    stack, worker = running
    dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.noise())
    job = stack.store.jobs.submit(jobs.spec(dataset, {"max_depth": 6})).job
    job_id = job.spec.id

    def state() -> JobState:
        found = stack.store.jobs.get(jobs.TENANT, job_id)
        assert found is not None
        return found.state

    poll(lambda: state() is JobState.RUNNING, what="the start of the job")
    with stack.client() as client:
        events = listen(client, f"/v1/jobs/{job_id}/events")
        next(events)
        stack.connection.hset(KEY, mapping=NEWER)
        list(events)
        assert problem(client.get(f"/v1/jobs/{job_id}"), 503, "unavailable")["detail"] == SENTENCE
        assert problem(client.get("/readyz"), 503, "unavailable")["detail"] == SENTENCE
        assert client.get("/healthz").status_code == 200
        assert worker.process.wait(60) == 1
        assert state() is JobState.QUEUED
        assert {line["detail"] for line in stack.log_lines("worker") if "detail" in line} == {SENTENCE}

        stack.connection.delete(KEY)  # a backup was restored

        def answer() -> httpx.Response | None:
            found = client.get(f"/v1/jobs/{job_id}")
            return found if found.status_code == 200 else None

        poll(answer)
