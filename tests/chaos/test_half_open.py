"""Connections to the store on which nothing arrives any more are given up within seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chaos.silent_proxy import SilentProxy
from tests.support.records import jobs, store_records
from tests.support.stack.stack import Stack, poll
from worker.store.retry import ANSWER_SECONDS

pytestmark = pytest.mark.alone

Json = dict[str, Any]


@pytest.fixture
def proxy_and_stack(tmp_path: Path) -> Iterator[tuple[SilentProxy, Stack]]:
    """Return a proxy, and a stack that reaches its store through it."""
    with Stack(tmp_path, LITERATI_WORKER_CONCURRENCY="2", LITERATI_RECONCILE_SECONDS="0.5") as stack:
        proxy = SilentProxy(stack.server.socket)
        stack.environment["REDIS_URL"] = proxy.url
        stack.start_worker()
        stack.start_api()
        yield proxy, stack
        stack.stop()
        proxy.close()


def test_connections_on_which_nothing_arrives(proxy_and_stack: tuple[SilentProxy, Stack]) -> None:
    proxy, stack = proxy_and_stack
    endless, easy = (jobs.add_dataset(stack.store, stack.blobs, rows) for rows in (jobs.noise(), jobs.easy()))
    with stack.client() as client:
        running = _submit(client, endless.id)
        poll(lambda: _job(client, running)["progress"]["incumbents"], what="a tree")
        before = _job(client, running)["progress"]["expansions"]
        assert proxy.go_silent() > 4
        new = _submit(client, easy.id)
        # A worker that does not give up its connection needs 51 seconds.
        poll(lambda: _job(client, new)["state"] == "SUCCEEDED", seconds=45, what="the end of a new job")
        poll(lambda: _job(client, running)["progress"]["expansions"] > before, what="more search")
        assert store_records.look(stack.store, running).epoch == 1, "its worker found its way back in time"
        _ask(client, "POST", f"/v1/jobs/{running}/finish")
        poll(lambda: _job(client, running)["state"] == "SUCCEEDED", what="the end of the old one")


def _submit(client: httpx.Client, dataset_id: str) -> str:
    body = {"dataset_id": dataset_id, "parameters": {"max_depth": 6}, "limits": {"time_limit": 300}}
    return str(_ask(client, "POST", "/v1/jobs", json=body)["id"])


def _job(client: httpx.Client, job_id: str) -> Json:
    return _ask(client, "GET", f"/v1/jobs/{job_id}")


def _ask(client: httpx.Client, method: str, path: str, **more: Any) -> Json:
    """Send a request, again after every 503. Each response must come within seconds."""
    while True:
        answer = client.request(method, path, timeout=2.5 * ANSWER_SECONDS, **more)
        if answer.status_code != 503:
            assert answer.is_success, answer.text
            found: Json = answer.json()
            return found
