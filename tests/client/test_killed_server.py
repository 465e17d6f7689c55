"""A submission that is sent again never starts a second job, wherever the API was killed in between."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from literati.client import AsyncClient, Client, WaitTimeoutError
from tests.client.conftest import FAST, Api
from tests.support.http.cutting_proxy import CuttingProxy
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker

START = {
    "jobs": lambda client, dataset: client.jobs.create(dataset, max_depth=2),
    "sweeps": lambda client, dataset: client.sweeps.create(dataset, space={"max_depth": [1]}),
}


def stored_ids(api: Api, kind: str) -> list[str]:
    with Client(api.stack.url) as client:
        return [record.id for record in getattr(client, kind).list()]


@pytest.mark.parametrize("kind", ["jobs", "sweeps"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_api_is_killed_between_request_and_answer(api: Api, kind: str, moment: str) -> None:
    """`before`: the request is lost with the API. `after`: it was carried out and its answer is lost."""
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy()).id
    kills: list[str] = []
    keys: list[bytes] = []

    def kill() -> bool:
        if kills:
            return False
        kills.append(moment)
        api.kill()
        api.start(delay=0.3)
        return True

    def on_request(data: bytes) -> bool:
        if not data.startswith(b"POST"):
            return False
        keys.extend(line for line in data.split(b"\r\n") if line.lower().startswith(b"idempotency-key"))
        return moment == "before" and kill()

    def on_answer(data: bytes) -> bool:
        return moment == "after" and data.startswith(b"HTTP/1.1 202") and kill()

    with (
        CuttingProxy(lambda: api.stack.url, on_request=on_request, on_answer=on_answer) as proxy,
        Client(proxy.url, retry=FAST) as client,
    ):
        made = START[kind](client, dataset)
    assert kills == [moment]
    assert len(keys) >= 2
    assert len(set(keys)) == 1
    assert stored_ids(api, kind) == [made.id]


@pytest.mark.slow
def test_the_api_is_killed_at_any_moment(api: Api) -> None:
    """Without a proxy: the process is killed while requests are under way, at moments that differ."""
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy()).id
    made: list[str] = []
    with Client(api.stack.url, retry=FAST) as client:
        client.version()
        for delay in (0.0, 0.002, 0.004, 0.008, 0.015):

            def fail(after: float = delay) -> None:
                time.sleep(after)
                api.kill()
                api.start().result()

            killer = threading.Thread(target=fail)
            killer.start()
            made.append(client.jobs.create(dataset, max_depth=2).id)
            killer.join()
    assert len(set(made)) == 5
    assert sorted(stored_ids(api, "jobs")) == sorted(made)


def test_a_wait_ends_in_time_although_the_server_is_gone(api: Api) -> None:
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy()).id

    async def wait(job_id: str) -> None:
        async with AsyncClient(api.stack.url) as client:
            job = await client.jobs.get(job_id)
            api.kill()
            await job.wait(timeout=0.8)

    with Client(api.stack.url) as client:
        job = client.jobs.create(dataset)
        for act in (lambda: asyncio.run(wait(job.id)), lambda: job.wait(timeout=0.8)):
            started = time.monotonic()
            with pytest.raises(WaitTimeoutError, match=f"The job {job.id} is not known to have ended"):
                act()
            assert time.monotonic() - started < 3


@pytest.mark.parametrize(("action", "state"), [("finish", "STOPPING"), ("pause", "PAUSING")])
def test_control_whose_answer_is_lost(api: Api, action: str, state: str) -> None:
    dataset = jobs.add_dataset(api.stack.store, api.stack.blobs, jobs.easy()).id
    controls: list[bytes] = []

    def on_request(data: bytes) -> bool:
        if f"/{action} ".encode() in data:
            controls.append(data)
        return False

    def on_answer(data: bytes) -> bool:
        return len(controls) == 1 and data.startswith(b"HTTP/1.1 202")

    with (
        CuttingProxy(lambda: api.stack.url, on_request=on_request, on_answer=on_answer) as proxy,
        Client(proxy.url, retry=FAST) as client,
    ):
        job = client.jobs.create(dataset)
        ActingWorker(api.stack.store).checkpoint(1, tree=0)
        control: Callable[[], Any] = getattr(job, action)
        assert control().state == state
    assert len(controls) == 2
