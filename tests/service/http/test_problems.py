"""Problems outside of routes: unknown addresses, wrong methods, an unavailable store, server errors."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from functools import partial
from typing import Any

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from service.ops.audit import Audit
from service.ops.metrics import Metrics
from service.request_middleware import RequestMiddleware
from tests.support.http.service_client import NOWHERE, problem, submit
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Stack, poll


@pytest.mark.parametrize(
    "path", ["/nope", "/v1", "/v1/jobs/", "/v2/jobs", "/assets/../settings.py", "/assets/nope"]
)
def test_unknown_addresses(client: httpx.Client, path: str) -> None:
    problem(client.get(path), 404, "not-found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/jobs", "GET, POST"),
        ("PUT", f"/v1/jobs/{NOWHERE}", "DELETE, GET, PATCH"),
        ("GET", f"/v1/jobs/{NOWHERE}/finish", "POST"),
        ("POST", "/healthz", "GET"),
        ("OPTIONS", "/v1/jobs", "GET, POST"),
    ],
)
def test_wrong_methods(client: httpx.Client, method: str, path: str, allow: str) -> None:
    answer = client.request(method, path)
    problem(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] == allow


def test_head_is_get_without_its_body(client: httpx.Client) -> None:
    got, head = client.get("/version"), client.head("/version")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]
    assert client.head("/nope").status_code == 404


def test_request_ids(client: httpx.Client) -> None:
    assert client.get("/nope", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    for bad in ("a b", "x" * 65, "<script>", ""):
        answer = client.get("/nope", headers={"X-Request-ID": bad})
        assert answer.headers["x-request-id"] not in (bad, "")
        problem(answer, 404)
    ids = {client.get("/healthz").headers["x-request-id"] for _ in range(20)}
    assert len(ids) == 20


def test_every_response_has_the_security_headers(client: httpx.Client) -> None:
    for path in ("/healthz", "/nope", "/v1/jobs", "/docs", "/assets/docs.js"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    assert client.get("/v1/jobs").headers["cache-control"] == "no-store"


def test_an_unavailable_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    with Stack(tmp_path_factory.mktemp("away")) as stack:
        stack.start_api()
        with stack.client() as client:
            assert client.get("/readyz").status_code == 200
            stack.server.stop()
            poll(lambda: client.get("/readyz").status_code == 503, what="the end of what was found good")
            for path in (
                "/readyz",
                "/v1/jobs",
                f"/v1/jobs/{NOWHERE}",
                f"/v1/jobs/{NOWHERE}/events",
            ):
                answer = client.get(path)
                problem(answer, 503, "unavailable")
                assert answer.headers["retry-after"] == "2"
            assert "literati_store_up 0.0" in client.get("/metrics").text
            assert client.get("/healthz").status_code == 200
            assert client.get("/openapi.json").status_code == 200
            stack.server.start()
            poll(lambda: client.get("/readyz").status_code == 200, what="readiness")
            assert client.get("/v1/jobs").status_code == 200
            check_that_news_come_again(stack, client)


def check_that_news_come_again(stack: Stack, client: httpx.Client) -> None:
    """The wait ends before the next regular poll, so a notification ended it."""
    job = submit(client, add_dataset(stack.store, stack.blobs, easy()))["id"]

    def wait_is_short() -> bool:
        paused = client.get(f"/v1/jobs/{job}").json()["state"] == "PAUSED"
        change = partial(stack.store.jobs.control, "default", job, "resume" if paused else "pause")
        timer = threading.Timer(0.1, change)
        timer.start()
        started = time.monotonic()
        client.get(f"/v1/jobs/{job}", headers={"Prefer": "wait=30"})
        timer.join()
        return time.monotonic() - started < 1

    poll(wait_is_short, what="news of jobs")


def test_a_client_that_disconnects_within_its_body(api: Stack, client: httpx.Client) -> None:
    address = httpx.URL(api.url)
    for path, kind in (("/v1/jobs", "application/json"), ("/v1/datasets?target=y", "text/csv")):
        with socket.create_connection((address.host, address.port or 0)) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n"
            connection.sendall(f"{head}X-Request-Id: left\r\nContent-Length: 99\r\n\r\n{{".encode())
        counted = f'method="POST",route="{path.partition("?")[0]}",status="400"'
        poll(partial(is_counted, client, counted), what="the end of the request")
    lines = "".join(log.read_text() for log in api.folder.glob("api-*.log")).splitlines()
    assert not [line for line in lines if '"left"' in line and "unexpected" in line]


def is_counted(client: httpx.Client, words: str) -> bool:
    return words in client.get("/metrics").text


def test_not_ready_when_blobs_cannot_be_written(tmp_path_factory: pytest.TempPathFactory, api: Stack) -> None:
    folder = tmp_path_factory.mktemp("full")
    with Stack(folder, server=api.server) as full:
        (folder / "state").mkdir()
        (folder / "state" / "blobs").write_text("a file where a folder should be")
        full.start_api()
        with full.client() as client:
            problem(client.get("/readyz"), 503, "unavailable")
            assert "literati_blobs_writable 0.0" in client.get("/metrics").text


def test_server_errors_have_no_details(api: Stack) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError("secret of the house")

    with capture_logs(processors=[merge_contextvars]) as logs:
        sent = asyncio.run(_through_the_front(api, broken))
    body = json.loads(sent[1]["body"])
    assert (sent[0]["status"], body["type"]) == (500, "urn:literati:problem:unexpected")
    assert b"secret" not in sent[1]["body"]
    assert body["instance"] == "urn:literati:request:r1"
    assert logs[0]["request_id"] == "r1"
    assert logs[0]["exc_info"]


def test_a_response_that_has_begun_is_broken_off(api: Stack) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    with capture_logs(), pytest.raises(ZeroDivisionError):
        asyncio.run(_through_the_front(api, broken))


def test_a_disconnected_client_is_not_a_server_error(api: Stack) -> None:
    """uvloop detects the disconnect before uvicorn does."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    closed = RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")
    with capture_logs() as logs:
        asyncio.run(_through_the_front(api, answer, closed))
    assert not logs
    with capture_logs(), pytest.raises(RuntimeError, match="our own"):
        asyncio.run(_through_the_front(api, answer, RuntimeError("a mistake of our own")))


async def _through_the_front(api: Stack, app: Any, failure: Exception | None = None) -> list[Message]:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(message: Message) -> None:
        sent.append(message)
        if failure is not None:
            raise failure

    front = RequestMiddleware(app, Metrics(api.store, api.blobs, lambda: 0), Audit(None), access_log=False)
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"x-request-id", b"r1")]}
    await front(scope, receive, send)
    return sent
