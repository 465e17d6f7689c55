"""News of a sweep: events that can be taken up again, long polls, entity tags and metrics."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import httpx
import pytest

from tests.service.sweeps.test_submission import start
from tests.support.http.event_client import Seen, listen
from tests.support.http.service_client import pointers
from tests.support.records import sweep_results as acting
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset

SPACE = {"max_depth": [2, 3], "max_changepoints": [1]}


@pytest.fixture
def sweep(client: httpx.Client, dataset: Dataset) -> str:
    made = start(client, dataset, space=SPACE, validation={"folds": 2}, refit=False)
    return str(made["links"]["self"])


def work(api: Stack) -> None:
    acting.run_scores(api.store, [0.5, 0.5])
    acting.end(
        api.store, acting.claim(api.store), acting.FAILED
    )  # and the other job of the setting is dropped


class TestEvents:
    def test_replay(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        work(api)
        here = f"{sweep}/events"
        seen = list(listen(client, here))
        assert [event.event for event in seen] == [
            *("state", "state", "trial", "trial", "trial", "trial", "state", "state", "done")
        ]
        states = [event.data["state"] for event in seen if event.event == "state"]
        assert states == ["QUEUED", "RUNNING", "CHOOSING", "SUCCEEDED"]
        trials = [event.data for event in seen if event.event == "trial"]
        assert [(trial["setting"], trial["fold"], trial["state"]) for trial in trials] == [
            (0, 0, "SUCCEEDED"),
            (0, 1, "SUCCEEDED"),
            (1, 0, "FAILED"),
            (1, 1, "CANCELLED"),
        ]
        assert all(trial["job_id"].startswith("job_") for trial in trials)
        assert seen[-1].data["stop_reason"] == "COMPLETE"
        assert list(listen(client, here, last=seen[3].id)) == seen[4:]
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(seen[-1].id)}
        assert client.get(here, headers=headers).status_code == 204

    def test_pages_hold_the_same_events(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        work(api)
        here = f"{sweep}/events"
        paged: list[dict[str, Any]] = []
        after: dict[str, str] = {}
        while True:
            body = client.get(here, params={"page_size": 4, **after}).json()
            paged += body["items"]
            after = {"after": body["last_event_id"]}
            if body["ended"]:
                break
        streamed = list(listen(client, here))
        assert [Seen(e["type"], e["id"], {"at": e["at"], **e["data"]}) for e in paged] == streamed

    def test_events_come_as_they_happen(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        stream = listen(client, f"{sweep}/events")
        assert next(stream).data["state"] == "QUEUED"
        started = time.monotonic()
        acting.run_scores(api.store, [0.5])
        assert next(stream).data["state"] == "RUNNING"
        assert next(stream).event == "trial"
        assert time.monotonic() - started < 1.5
        client.post(f"{sweep}/cancel")
        assert list(stream)[-1].event == "done"

    def test_an_extended_sweep_goes_on(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        """A client that has seen the end sees what comes after it."""
        work(api)
        last = client.get(f"{sweep}/events").json()["last_event_id"]
        assert client.post(f"{sweep}/extend", json={}).status_code == 202
        acting.run_scores(api.store, [0.5, 0.5])
        seen = list(listen(client, f"{sweep}/events", last=last))
        assert (seen[0].event, seen[-1].event) == ("state", "done")
        whole = list(listen(client, f"{sweep}/events"))
        assert whole[-len(seen) :] == seen
        assert [event.event for event in whole].count("done") == 2

    def test_dropped_events_are_told(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        first = client.get(f"{sweep}/events").json()["last_event_id"]
        work(api)
        key = f"literati:sweep:{sweep.rpartition('/')[2]}:events"
        api.connection.xtrim(key, maxlen=2, approximate=False)
        seen = list(listen(client, f"{sweep}/events", last=first))
        assert [event.event for event in seen] == ["resync", "state", "done"]
        assert "Get the sweep" in seen[0].data["detail"]

    def test_bad_event_ids(self, client: httpx.Client, sweep: str) -> None:
        assert pointers(client.get(f"{sweep}/events?after=x")) == ["/query/after"]
        answer = client.get(f"{sweep}/events", headers={"Last-Event-ID": "x"})
        assert pointers(answer) == ["/header/Last-Event-ID"]


class TestLongPoll:
    def test_it_answers_when_a_job_ends(self, api: Stack, client: httpx.Client, sweep: str) -> None:
        job = acting.claim(api.store)
        tag = client.get(sweep).headers["etag"]
        timer = threading.Timer(0.5, acting.end, [api.store, job])
        timer.start()
        started = time.monotonic()
        answer = client.get(sweep, headers={"Prefer": "wait=20", "If-None-Match": tag})
        waited = time.monotonic() - started
        timer.join()
        assert answer.status_code == 200
        assert answer.headers["preference-applied"] == "wait=20"
        assert answer.json()["progress"]["done"] == 1
        assert 0.4 < waited < 5

    def test_it_gives_up(self, client: httpx.Client, sweep: str) -> None:
        tag = client.get(sweep).headers["etag"]
        started = time.monotonic()
        answer = client.get(sweep, headers={"Prefer": "wait=1", "If-None-Match": tag})
        assert (answer.status_code, answer.content) == (304, b"")
        assert 0.9 < time.monotonic() - started < 5

    def test_a_sweep_that_has_ended_does_not_wait(self, client: httpx.Client, sweep: str) -> None:
        client.post(f"{sweep}/cancel")
        started = time.monotonic()
        assert client.get(sweep, headers={"Prefer": "wait=30"}).json()["state"] == "CANCELLED"
        assert time.monotonic() - started < 2

    @pytest.mark.parametrize("part", ["", "/leaderboard", "/paths"])
    def test_entity_tags(self, api: Stack, client: httpx.Client, sweep: str, part: str) -> None:
        tag = client.get(f"{sweep}{part}").headers["etag"]
        assert client.get(f"{sweep}{part}", headers={"If-None-Match": tag}).status_code == 304
        acting.run_scores(api.store, [0.5])
        again = client.get(f"{sweep}{part}", headers={"If-None-Match": tag})
        assert again.status_code == 200
        assert again.headers["etag"] != tag


def test_metrics(api: Stack, client: httpx.Client, dataset: Dataset, sweep: str) -> None:
    def lines() -> set[str]:
        return set(client.get("/metrics").text.splitlines())

    before = lines()
    assert 'literati_sweeps{state="QUEUED"} 1.0' in before
    assert 'literati_sweeps{state="RUNNING"} 0.0' in before
    assert "literati_sweeps_submitted_total 1.0" in before
    assert 'literati_sweeps_ended_total{state="SUCCEEDED"} 0.0' in before
    work(api)
    other = start(client, dataset)["links"]["self"]
    client.post(f"{other}/cancel")
    after = lines()
    assert 'literati_sweeps{state="QUEUED"} 0.0' in after
    assert 'literati_sweeps{state="SUCCEEDED"} 1.0' in after
    assert "literati_sweeps_submitted_total 2.0" in after
    assert 'literati_sweeps_ended_total{state="SUCCEEDED"} 1.0' in after
    assert 'literati_sweeps_ended_total{state="CANCELLED"} 1.0' in after
    assert 'literati_sweeps_ended_total{state="FAILED"} 0.0' in after
    client.delete(other)
    assert 'literati_sweeps{state="CANCELLED"} 0.0' in lines()


def test_the_audit_log(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    """A sweep that is only validated is not a change."""
    path = api.folder / "state" / "logs" / "audit.log"
    before = len(path.read_text().splitlines()) if path.exists() else 0

    def lines() -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_text().splitlines()[before:]]

    client.post("/v1/sweeps?validate_only=true", json={"dataset_id": dataset.id})
    made = start(client, dataset)
    client.post(f"{made['links']['self']}/cancel")
    poll(lambda: path.exists() and len(lines()) >= 2, what="two lines")
    assert [(line["action"], line["object"], line["status"]) for line in lines()] == [
        ("create_sweep", made["id"], 202),
        ("cancel_sweep", made["id"], 202),
    ]
