"""Which requests are sent again, when, and with which key. A small server answers as the tests say."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from literati.client import (
    Client,
    ConflictError,
    ConnectionFailedError,
    InvalidRequestError,
    RateLimitedError,
    RetryPolicy,
    ServerError,
    Sweep,
    UnavailableError,
    VersionWarning,
    WaitTimeoutError,
)
from literati.client.retry import Attempts, parse_retry_after
from literati.client.tables import rows_body
from tests.support.http.scripted_server import VERSION, Answer, ScriptedServer

QUICK = RetryPolicy(retries=3, first_delay=0.02, max_delay=0.05)
PROGRESS = {"objective": None, "elapsed_seconds": 0.0}
JOB = {"id": "job_1", "state": "QUEUED", "model_id": None, "progress": PROGRESS}


def problem(status: int, kind: str, **headers: str) -> Answer:
    body = {"type": f"urn:literati:problem:{kind}", "title": kind, "status": status, "detail": f"{kind}."}
    return Answer(status, body, {"Content-Type": "application/problem+json", **headers})


@pytest.mark.parametrize(("status", "kind"), [(429, "rate-limited"), (503, "unavailable")])
def test_the_server_says_when_to_come_back(status: int, kind: str) -> None:
    with ScriptedServer(problem(status, kind, **{"Retry-After": "1"}), Answer(202, JOB)) as server:
        with Client(server.url, retry=QUICK) as client:
            assert client.jobs.create("ds_1", max_depth=2).id == "job_1"
        first, second = server.asked
        assert 1.0 <= second.at - first.at < 2.5
        assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
        assert first.body == second.body
        assert json.loads(first.body) == {"dataset_id": "ds_1", "parameters": {"max_depth": 2}}


def test_connections_that_are_lost() -> None:
    lost = Answer(None)
    with ScriptedServer(lost, lost, Answer(202, JOB), Answer(202, JOB)) as server:
        with Client(server.url, retry=QUICK) as client:
            client.jobs.create("ds_1")
            client.jobs.create("ds_1")
            keys = [asked.headers["Idempotency-Key"] for asked in server.asked]
        assert len(keys) == 4
        assert keys[0] == keys[1] == keys[2] != keys[3], "a key belongs to one call"


def test_a_key_of_the_caller() -> None:
    with ScriptedServer(Answer(202, JOB), Answer(202, JOB)) as server, Client(server.url) as client:
        client.jobs.create("ds_1", idempotency_key="nightly")
        client.sweeps.create("ds_1", idempotency_key="nightly")
        assert [asked.headers["Idempotency-Key"] for asked in server.asked] == ["nightly", "nightly"]


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (409, "wrong-state", ConflictError),
        (500, "unexpected", ServerError),
        (502, "bad-gateway", ServerError),
    ],
)
def test_what_is_not_tried_again(status: int, kind: str, error: type[Exception]) -> None:
    with ScriptedServer(problem(status, kind)) as server, Client(server.url, retry=QUICK) as client:
        with pytest.raises(error):
            client.jobs.create("ds_1")
        assert len(server.asked) == 1


def test_it_gives_up() -> None:
    with ScriptedServer(*4 * [problem(503, "unavailable")]) as server:
        with Client(server.url, retry=QUICK) as client, pytest.raises(UnavailableError):
            client.jobs.get("job_1")
        assert len(server.asked) == 4


def test_a_long_delay_is_an_error_at_once() -> None:
    answer = problem(429, "rate-limited", **{"Retry-After": "3600"})
    with ScriptedServer(answer) as server, Client(server.url, retry=QUICK) as client:
        with pytest.raises(RateLimitedError) as caught:
            client.jobs.get("job_1")
        assert caught.value.retry_after == 3600


def test_nobody_there() -> None:
    with ScriptedServer() as server:
        url = server.url
    started = time.monotonic()
    with Client(url, retry=QUICK) as client, pytest.raises(ConnectionFailedError) as caught:
        client.jobs.get("job_1")
    assert url in str(caught.value)
    assert "from the argument `url`" in str(caught.value)
    assert "after 4 attempts" in str(caught.value)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("act", [lambda sweep: sweep.extend(time_limit=60), lambda sweep: sweep.finish()])
def test_what_must_not_be_sent_twice_is_not(act: Callable[[Sweep], object]) -> None:
    """A second `extend` would add its seconds twice, and a second `finish` would end the last fit."""
    sweep: dict[str, Any] = {"id": "swp_1", "progress": {}, "state": "SUCCEEDED", "model_id": None}
    with ScriptedServer(Answer(200, sweep), Answer(None)) as server:
        with Client(server.url, retry=QUICK) as client:
            found = client.sweeps.get("swp_1")
            with pytest.raises(ConnectionFailedError, match="may have been carried out"):
                act(found)
        assert [asked.method for asked in server.asked] == ["GET", "POST"]


def test_a_deletion_whose_answer_was_lost() -> None:
    gone = problem(404, "not-found")
    with ScriptedServer(Answer(None), gone, gone) as server, Client(server.url, retry=QUICK) as client:
        client.jobs.delete("job_1")
        with pytest.raises(LookupError):
            client.jobs.delete("job_1")


def test_versions_are_compared_once() -> None:
    old = {**VERSION, "version": "0.0.9"}
    with ScriptedServer(Answer(200, JOB), Answer(200, JOB), version=old) as server:
        with Client(server.url) as client:
            with pytest.warns(VersionWarning, match=r"The server has version 0\.0\.9 and this client"):
                client.jobs.get("job_1")
            client.jobs.get("job_1")
        assert server.versions_asked == 1


def test_versions_are_compared_after_an_error_too() -> None:
    """A request that an older server refuses is the very one for which the versions matter."""
    old = {**VERSION, "version": "0.0.9"}
    with ScriptedServer(problem(422, "invalid-request"), version=old) as server, Client(server.url) as client:
        with (
            pytest.warns(VersionWarning, match=r"The server has version 0\.0\.9"),
            pytest.raises(InvalidRequestError),
        ):
            client.jobs.create("ds_1", colour="red")
        assert server.versions_asked == 1


def test_delays_double_and_differ() -> None:
    drawn: list[tuple[float, float]] = []

    def draw(low: float, high: float) -> float:
        drawn.append((low, high))
        return high

    attempts = Attempts(RetryPolicy(retries=4, first_delay=0.5, max_delay=2.0), draw=draw)
    assert [attempts.next_delay() for _ in range(5)] == [0.5, 1.0, 2.0, 2.0, None]
    assert all(low == high / 2 for low, high in drawn)


def test_waiting_calls_are_patient() -> None:
    now = [0.0]
    policy = RetryPolicy(retries=1, reconnect_seconds=100.0)
    attempts = Attempts(policy, patient=True, clock=lambda: now[0])
    for second in range(100):
        now[0] = float(second)
        assert attempts.next_delay() is not None
    now[0] = 100.0
    assert attempts.next_delay() is None


def test_events_reconnect_after_a_long_time_without_any() -> None:
    """The time of a connection that was open does not count as time without a server."""
    policy = RetryPolicy(first_delay=0.01, max_delay=0.05, reconnect_seconds=0.2)
    quiet = Answer(200, b": no event\n\n", {"Content-Type": "text/event-stream"}, seconds=0.4)
    with ScriptedServer(Answer(200, JOB), quiet, Answer(204)) as server:
        with Client(server.url, retry=policy) as client:
            assert list(client.jobs.get("job_1").events()) == []
        assert len(server.asked) == 3


ENDED = {**JOB, "state": "SUCCEEDED", "model_id": "mdl_1"}
LOST, BUSY = Answer(None), problem(503, "unavailable", **{"Retry-After": "30"})


@pytest.mark.parametrize("answer", [LOST, BUSY], ids=["lost", "busy"])
@pytest.mark.parametrize("kind", ["jobs", "sweeps"])
def test_a_wait_ends_in_time_without_a_server(kind: str, answer: Answer) -> None:
    with ScriptedServer(Answer(200, JOB), *100 * [answer]) as server, Client(server.url) as client:
        record = getattr(client, kind).get("job_1")
        started = time.monotonic()
        with pytest.raises(WaitTimeoutError, match=r"is not known to have ended in 0\.8 s\. "):
            record.wait(timeout=0.8)
        assert 0.8 <= time.monotonic() - started < 1.8


@pytest.mark.parametrize("until", [None, lambda job: True], ids=["read", "finish"])
def test_a_wait_ends_in_time_if_the_server_is_silent(until: Any) -> None:
    """The time holds for a request that the server has, and for the one that finishes the job."""
    silent = Answer(200, JOB, seconds=6)
    with ScriptedServer(Answer(200, JOB), silent) as server, Client(server.url) as client:
        job = client.jobs.get("job_1")
        started = time.monotonic()
        with pytest.raises(WaitTimeoutError, match=r"The job job_1 has not ended in 0\.8 s; it continues\."):
            job.wait(timeout=0.8, until=until)
        assert 0.8 <= time.monotonic() - started < 1.8


def test_the_model_belongs_to_the_time_of_a_wait() -> None:
    with ScriptedServer(Answer(200, ENDED), *20 * [LOST]) as server, Client(server.url) as client:
        job = client.jobs.get("job_1")
        with pytest.raises(WaitTimeoutError, match=r"has ended, but its model was not read in 0\.6 s"):
            job.wait(timeout=0.6)


def test_an_answer_that_cannot_be_decompressed() -> None:
    broken = Answer(200, b"no gzip", {"Content-Encoding": "gzip"})
    with (
        ScriptedServer(*4 * [broken]) as server,
        Client(server.url, retry=QUICK) as client,
        pytest.raises(ConnectionFailedError),
    ):
        client.jobs.get("job_1")


def test_an_infinite_cell_is_refused() -> None:
    """JSON has no infinite numbers, and null would mean a missing value."""
    with pytest.raises(ValueError, match="infinite"):
        rows_body([{"x": 1.0}, {"x": float("inf")}], ["x"])


def test_retry_after() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert parse_retry_after("7") == 7
    assert 25 < (parse_retry_after(soon) or 0) <= 30
    cases: list[Any] = [None, "soon", "-1"]
    assert [parse_retry_after(text) for text in cases] == [None, None, None]
