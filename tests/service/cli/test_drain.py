"""An API server behind a load balancer is told to stop."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.support.http.event_client import Seen, listen
from tests.support.http.service_client import problem
from tests.support.records import jobs
from tests.support.stack.stack import Process, Stack, poll
from worker.domain.jobs import Job

pytestmark = pytest.mark.stack


def start(tmp_path: Path, seconds: str) -> tuple[Stack, Process, Job]:
    stack = Stack(tmp_path, LITERATI_DRAIN_SECONDS=seconds)
    api = stack.start_api()
    dataset = jobs.add_dataset(stack.store, stack.blobs, jobs.easy())
    return stack, api, stack.store.jobs.submit(jobs.spec(dataset)).job


def is_ready(client: httpx.Client) -> bool:
    answer = client.get("/readyz")
    if answer.status_code == 503:
        assert problem(answer, 503, "unavailable")["detail"] == (
            "This server is about to stop; send requests to another one."
        )
    return answer.status_code == 200


def test_requests_are_answered_until_the_time_is_over(tmp_path: Path) -> None:
    stack, api, job = start(tmp_path, "4")
    path = f"/v1/jobs/{job.spec.id}"
    with stack, stack.client() as client:
        seen: list[Seen] = []
        stream = threading.Thread(target=lambda: seen.extend(listen(client, f"{path}/events")))
        stream.start()
        assert is_ready(client)
        began = time.monotonic()
        api.process.terminate()
        poll(lambda: not is_ready(client), seconds=4)
        answers = 0
        while time.monotonic() < began + 3:
            assert client.get(path).status_code == 200
            assert stream.is_alive(), "the stream goes on as long as requests are answered"
            answers += 1
            time.sleep(0.05)
        assert answers > 0
        stream.join(30)
        assert not stream.is_alive(), "the stream was ended in an orderly way: the client saw no error"
        assert [event.event for event in seen] == ["state"]
        assert api.process.wait(30) == -signal.SIGTERM
        assert time.monotonic() >= began + 4


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    stack, api, _ = start(tmp_path, "600")
    with stack, stack.client() as client:
        api.process.terminate()
        poll(lambda: not is_ready(client))
        api.process.terminate()
        assert api.process.wait(30) == -signal.SIGTERM
