"""A job's events: as a stream that can be taken up again, and as pages."""

from __future__ import annotations

import os
import random
import signal
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from tests.support.http.event_client import Seen, listen
from tests.support.http.service_client import pointers, submit
from tests.support.stack.acting_worker import ActingWorker, costs, trees
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset


@pytest.fixture
def here(client: httpx.Client, dataset: Dataset) -> str:
    return f"/v1/jobs/{submit(client, dataset)['id']}/events"


_STREAM = "text/event-stream"


def work(worker: ActingWorker) -> None:
    for tree in range(len(trees())):
        worker.checkpoint(10 * tree, tree=tree, log=f"tree {tree}")
        worker.checkpoint(10 * tree + 5)
    worker.prove()


def page(client: httpx.Client, here: str, **query: Any) -> dict[str, Any]:
    answer = client.get(here, params=query)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_finished_job_replays_and_closes(api: Stack, client: httpx.Client, here: str) -> None:
    work(ActingWorker(api.store))
    seen = list(listen(client, here))
    assert seen[0].event == "state"
    assert seen[-1].event == "done"
    assert [event.data["objective"] for event in seen if event.event == "incumbent"] == costs()
    assert {"state", "incumbent", "bound", "log", "done"} == {event.event for event in seen}
    assert all(event.id and event.data["at"].endswith("Z") for event in seen)
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(seen[-1].id)}
    answer = client.get(here, headers=headers)
    assert (answer.status_code, answer.content) == (204, b"")
    later = client.get(here, headers={**headers, "Last-Event-ID": "9999999999999-0"})
    assert later.status_code == 204
    assert client.get(here, params={"after": seen[-1].id}, headers={"Accept": _STREAM}).status_code == 204
    assert [event.event for event in listen(client, here, last=seen[-2].id)] == ["done"]
    assert page(client, here, after=seen[-1].id) == {
        "items": [],
        "last_event_id": seen[-1].id,
        "resync": False,
        "ended": True,
    }


def test_a_job_that_has_not_ended_is_streamed_whatever_was_seen(
    api: Stack, client: httpx.Client, here: str
) -> None:
    last = page(client, here)["last_event_id"]
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    stream = listen(client, here, last=last)
    assert next(stream).data["state"] == "STARTING"
    stream.close()  # type: ignore[attr-defined]


def test_events_come_as_they_happen(api: Stack, client: httpx.Client, here: str) -> None:
    stream = listen(client, here)
    assert next(stream).event == "state"
    worker = ActingWorker(api.store)
    assert next(stream).data["state"] == "STARTING"
    started = time.monotonic()
    worker.checkpoint(10, tree=0)
    assert next(event for event in stream if event.event == "incumbent").data["revision"] == 1
    assert time.monotonic() - started < 1.5  # news, not the look that is taken anyway
    worker.prove()
    assert list(stream)[-1].event == "done"


def test_pages_hold_the_same_events(api: Stack, client: httpx.Client, here: str) -> None:
    work(ActingWorker(api.store))
    streamed = list(listen(client, here))
    paged: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        body = page(client, here, page_size=3, **after)
        assert set(body) == {"items", "last_event_id", "resync", "ended"}
        assert not body["resync"]
        paged += body["items"]
        after = {"after": body["last_event_id"]}
        if body["ended"]:
            break
    assert [Seen(e["type"], e["id"], {"at": e["at"], **e["data"]}) for e in paged] == streamed
    assert page(client, here, **after) == {
        "items": [],
        "last_event_id": streamed[-1].id,
        "resync": False,
        "ended": True,
    }


def test_a_client_that_drops_and_comes_back_misses_nothing(
    api: Stack, client: httpx.Client, here: str
) -> None:
    chance = random.Random(5)
    worker = threading.Thread(target=work, args=[ActingWorker(api.store)])
    worker.start()
    seen: list[Seen] = []
    while not (seen and seen[-1].event == "done"):
        hang_up_after = chance.randrange(1, 4)
        for event in listen(client, here, last=seen[-1].id if seen else None):
            seen.append(event)
            if (hang_up_after := hang_up_after - 1) == 0:
                break
    worker.join()
    assert seen == list(listen(client, here))


def test_dropped_history_is_told(api: Stack, client: httpx.Client, here: str) -> None:
    first = page(client, here)["last_event_id"]
    work(ActingWorker(api.store))
    stream = f"literati:job:{here.split('/')[3]}:events"
    api.connection.xtrim(stream, maxlen=2, approximate=False)
    seen = list(listen(client, here, last=first))
    assert [event.event for event in seen] == ["resync", *[event.event for event in seen[1:]]]
    assert len(seen) == 3
    assert seen[0].id is None
    assert "LITERATI_MAX_EVENTS" in seen[0].data["detail"]
    assert page(client, here, after=first)["resync"]
    assert not page(client, here, after=seen[1].id)["resync"]


@pytest.mark.parametrize("bad", ["x", "1", "-1-0", "1-2-3", "9" * 40 + "-0", " "])
def test_bad_event_ids(client: httpx.Client, here: str, bad: str) -> None:
    assert pointers(client.get(here, params={"after": bad})) == ["/query/after"]
    if bad.strip():
        assert pointers(client.get(here, headers={"Last-Event-ID": bad})) == ["/header/Last-Event-ID"]


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/event-stream", "text/event-stream"),
        ("text/event-stream, application/json;q=0.5", "text/event-stream"),
        ("application/json", "application/json"),
        ("application/json, text/event-stream;q=0.5", "application/json"),
        ("*/*", "application/json"),
        ("text/event-stream;q=0, */*", "application/json"),
        ("text/event-stream;q=x", "application/json"),
    ],
)
def test_the_form_that_the_client_prefers(
    api: Stack, client: httpx.Client, here: str, accept: str, kind: str
) -> None:
    client.post(here.replace("events", "cancel"))
    answer = client.get(here, headers={"Accept": accept})
    assert answer.headers["content-type"].partition(";")[0] == kind


def test_a_silent_stream_is_kept_alive(narrow: Stack, here: str) -> None:
    with (
        narrow.client() as visitor,
        visitor.stream("GET", here, headers={"Accept": "text/event-stream"}) as answer,
    ):
        signs = (chunk for chunk in answer.iter_raw() if chunk == b": ping\n\n")
        next(signs)
        started = time.monotonic()
        next(signs)
        assert 0.3 < time.monotonic() - started < 3


def test_a_client_that_hangs_up_is_let_go(api: Stack, client: httpx.Client, here: str) -> None:
    address = httpx.URL(api.url)
    with socket.create_connection((address.host, address.port or 0)) as connection:
        request = f"GET {here} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
        connection.sendall(request.encode())
        assert connection.recv(4096)
        poll(lambda: "literati_http_waiting 1.0" in client.get("/metrics").text, what="a waiting request")
    poll(lambda: "literati_http_waiting 0.0" in client.get("/metrics").text, what="none waiting")


def test_streams_and_waits_do_not_hold_up_a_shutdown(
    tmp_path_factory: pytest.TempPathFactory, api: Stack, client: httpx.Client, here: str
) -> None:
    with Stack(tmp_path_factory.mktemp("leaving"), server=api.server) as leaving:
        process = leaving.start_api().process
        with leaving.client() as visitor:
            stream = listen(visitor, here)
            assert next(stream).event == "state"
            answers: list[int] = []

            def wait() -> None:
                with leaving.client() as other:
                    answers.append(
                        other.get(here.replace("/events", ""), headers={"Prefer": "wait=60"}).status_code
                    )

            waiting = threading.Thread(target=wait)
            waiting.start()
            poll(lambda: "literati_http_waiting 2.0" in visitor_metrics(leaving), what="both waiting")
            started = time.monotonic()
            os.kill(process.pid, signal.SIGTERM)
            assert list(stream) == []
            waiting.join()
            process.wait(20)
            assert answers == [200]
            assert time.monotonic() - started < 4


def visitor_metrics(stack: Stack) -> str:
    with stack.client() as client:
        return client.get("/metrics").text


def test_too_many_waiting_requests(narrow: Stack, here: str) -> None:
    with narrow.client() as visitor:
        poll(lambda: "literati_http_waiting 0.0" in visitor.get("/metrics").text, what="none waiting")
        stream = listen(visitor, here)
        assert next(stream).event == "state"
        answer = visitor.get(here, headers={"Accept": "text/event-stream"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert "the limit is 1, shared by all tenants (LITERATI_MAX_WAITING)" in answer.json()["detail"]
        started = time.monotonic()
        answer = visitor.get(here.replace("/events", ""), headers={"Prefer": "wait=30"})
        assert answer.status_code == 200
        assert "preference-applied" not in answer.headers
        assert time.monotonic() - started < 5
