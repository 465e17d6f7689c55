"""Test the API and a worker on a replicated store: a failover, and replicas that do not confirm changes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest

from service.http.notifications import CHANNEL
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.replicated import ReplicatedStore
from tests.support.stack.stack import Stack, poll
from worker.processes.valkey import ValkeyServer

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicatedStore]:
    with ReplicatedStore(tmp_path_factory.mktemp("replicated") / "store") as servers:
        yield servers


@pytest.fixture(scope="module")
def stack(servers: ReplicatedStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Provide a worker and an API that wait for one replica. They know only the sentinels."""
    environment = {
        **servers.environment,
        "LITERATI_REDIS_WAIT_REPLICAS": "1",
        "LITERATI_RECONCILE_SECONDS": "1",
    }
    folder = tmp_path_factory.mktemp("stack")
    with Stack.with_worker_and_api(folder, server=cast(ValkeyServer, servers), **environment) as stack:
        yield stack


def start_job(client: httpx.Client, dataset_id: str, key: str) -> httpx.Response:
    body = {"dataset_id": dataset_id, "parameters": {"max_depth": 2}}
    return client.post("/v1/jobs", json=body, headers={"Idempotency-Key": key})


def accepted(client: httpx.Client, dataset_id: str, key: str) -> str:
    """Submit a job as a client should: again after a 503, with the same key. Return its id."""

    def submit() -> str | None:
        answer = start_job(client, dataset_id, key)
        assert answer.status_code in (202, 503), answer.text
        return str(answer.json()["id"]) if answer.status_code == 202 else None

    return poll(submit, seconds=60, what="an accepted job")


def succeeded(client: httpx.Client, job_id: str) -> bool:
    answer = client.get(f"/v1/jobs/{job_id}")
    assert answer.status_code in (200, 503), answer.text
    return bool(answer.status_code == 200 and answer.json()["state"] == "SUCCEEDED")


class Requests:
    """Read and write all the time in a thread, and remember the statuses."""

    def __init__(self, stack: Stack, dataset_id: str) -> None:
        self._stack, self._dataset_id = stack, dataset_id
        self.answers: list[httpx.Response] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        with self._stack.client() as client:
            number = 0
            while not self._stop.is_set():
                number += 1
                self.answers.append(client.get("/v1/jobs"))
                self.answers.append(start_job(client, self._dataset_id, f"load-{number}"))
                self.answers.append(client.get("/readyz"))
                self._stop.wait(0.05)

    def statuses(self) -> set[int]:
        return {answer.status_code for answer in self.answers}

    def __enter__(self) -> Requests:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def test_requests_during_a_failover_get_503_and_everything_goes_on(
    stack: Stack, servers: ReplicatedStore
) -> None:
    dataset_id = add_dataset(stack.store, stack.blobs, easy()).id
    old = servers.primary()
    with stack.client() as client:
        before = accepted(client, dataset_id, "before")
        poll(lambda: succeeded(client, before), what="the end of the first job")
        with Requests(stack, dataset_id) as requests:
            old.kill()
            new = servers.await_switch(old)
            after = accepted(client, dataset_id, "after")
            poll(lambda: 202 in requests.statuses(), seconds=60, what="an accepted job among other requests")
        servers.start_server(old, new)
        poll(lambda: succeeded(client, after), seconds=60, what="the end of a job after the failover")
        assert succeeded(client, before)
        assert accepted(client, dataset_id, "before") == before
    assert requests.statuses() == {200, 202, 503}
    refused = [answer for answer in requests.answers if answer.status_code == 503]
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)

    def subscribed() -> bool:
        with servers.client(new) as admin:
            found: Any = admin.pubsub_numsub(CHANNEL)
        return bool(found[0][1] == 1)

    poll(subscribed, what="the subscription of the API to the new primary")
    servers.await_replicas()


def test_a_change_that_too_few_replicas_confirm_is_a_503(stack: Stack, servers: ReplicatedStore) -> None:
    primary = servers.await_replicas()
    dataset_id = add_dataset(stack.store, stack.blobs, easy(seed=1)).id
    replicas = [server for server in servers.servers if server is not primary]
    with stack.client() as client:
        for replica in replicas:
            replica.signal(signal.SIGSTOP)
        try:
            answer = start_job(client, dataset_id, "unsafe")
            read = client.get("/v1/jobs")
        finally:
            for replica in replicas:
                replica.signal(signal.SIGCONT)
        assert answer.status_code == 503
        assert answer.json()["detail"].startswith("Too few replicas of the store confirmed the change")
        assert int(answer.headers["retry-after"]) > 0
        assert read.status_code == 200, "reading does not wait"
        job_id = accepted(client, dataset_id, "unsafe")
        poll(lambda: succeeded(client, job_id), seconds=60, what="its end")
        ids = [job["id"] for job in client.get("/v1/jobs", params={"dataset_id": dataset_id}).json()["items"]]
        assert ids == [job_id], "the repeated request has made no second job"
