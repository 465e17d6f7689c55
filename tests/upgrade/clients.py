"""Clients that submit jobs, poll, wait, predict and follow events, and count every request that fails.

They do not try a request again, so that a failure that a patient client would not notice is counted.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.http.event_client import listen

ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
TIMEOUT = 120.0
# Seconds of search. Every sixtieth job runs so long that its stream outlives the server that sends it, and
# every twelfth long enough to be moved between workers. Both use all of their time; the others end at once.
LONG, MEDIUM = 60, 12


@dataclass
class Tally:
    """What the clients have seen."""

    requests: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    streams: dict[str, list[str]] = field(default_factory=dict)  # the ids of events by job
    continued: int = 0  # streams that the server ended before their job, and that were opened again
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, kind: str, began: float, failure: str | None = None) -> None:
        with self.lock:
            self.requests[kind] += 1
            self.seconds.setdefault(kind, []).append(time.monotonic() - began)
            if failure is not None:
                self.failures.append(f"{kind}: {failure}")


class Clients:
    """Threads that send requests to one address until they are stopped."""

    def __init__(self, url: str, easy: str, hard: str, model: str, rows: list[dict[str, Any]]) -> None:
        self.tally = Tally()
        self._url = url
        self._datasets = (easy, hard)
        self._model, self._rows = model, {"records": rows}
        self._expected: Any = None  # the answer to predict
        self._new: deque[str] = deque()  # jobs whose events nobody follows yet
        self._stop = threading.Event()  # no further jobs
        loops = [
            self._submit,
            *[self._poll] * 2,
            *[self._wait] * 2,
            *[self._predict] * 2,
            *[self._follow] * 4,
        ]
        self._threads = [threading.Thread(target=self._run, args=(loop,), daemon=True) for loop in loops]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Submit nothing more, wait until all jobs have ended and their events were read, and stop."""
        self._stop.set()
        for thread in self._threads:
            thread.join(300)
            assert not thread.is_alive()

    def _run(self, loop: Callable[[httpx.Client], None]) -> None:
        with httpx.Client(base_url=self._url, timeout=TIMEOUT) as client:
            try:
                loop(client)
            except Exception as error:
                self.tally.count("a client", time.monotonic(), f"{type(error).__name__}: {error}")

    def _request(self, client: httpx.Client, kind: str, method: str, path: str, **options: Any) -> Any:
        """Send a request once. Return the JSON of its answer, or None if it failed."""
        began = time.monotonic()
        try:
            answer = client.request(method, path, **options)
        except httpx.HTTPError as error:
            self.tally.count(kind, began, f"{type(error).__name__}: {error}")
            return None
        failed = None if answer.is_success else f"status {answer.status_code}: {answer.text[:200]}"
        self.tally.count(kind, began, failed)
        return answer.json() if answer.is_success else None

    def _submit(self, client: httpx.Client) -> None:
        for number in range(1_000_000):
            if self._stop.wait(1.0):
                return
            hard = number % 12 == 0
            time_limit = MEDIUM if hard and number % 60 else LONG
            body = {
                "dataset_id": self._datasets[hard],
                "parameters": {"max_depth": 5 if hard else 3},
                "limits": {"time_limit": time_limit},
            }
            key = {"Idempotency-Key": uuid.uuid4().hex}
            job = self._request(client, "submit", "POST", "/v1/jobs", json=body, headers=key)
            if job is not None:
                self.tally.jobs.append(job["id"])
                self._new.append(job["id"])

    def _any_job(self) -> str | None:
        return random.choice(self.tally.jobs[-20:]) if self.tally.jobs else None

    def _poll(self, client: httpx.Client) -> None:
        while not self._stop.wait(0.1):
            if job := self._any_job():
                self._request(client, "poll", "GET", f"/v1/jobs/{job}")

    def _wait(self, client: httpx.Client) -> None:
        while not self._stop.wait(0.05):
            if job := self._any_job():
                headers = {"Prefer": "wait=10"}
                self._request(client, "long poll", "GET", f"/v1/jobs/{job}", headers=headers)

    def _predict(self, client: httpx.Client) -> None:
        while not self._stop.wait(0.1):
            path = f"/v1/models/{self._model}/predict"
            answer = self._request(client, "predict", "POST", path, json=self._rows)
            self._expected = self._expected or answer
            if answer is not None and answer != self._expected:
                self.tally.count("predict", time.monotonic(), "another answer than before")

    def _follow(self, client: httpx.Client) -> None:
        """Follow the events of one job after another to its end, over as many streams as it takes."""
        while not (self._stop.is_set() and not self._new):
            try:
                job = self._new.popleft()
            except IndexError:
                self._stop.wait(0.1)
                continue
            seen = self.tally.streams[job] = []
            while not self._read_stream(client, job, seen):
                self.tally.continued += 1
                time.sleep(0.1)

    def _read_stream(self, client: httpx.Client, job: str, seen: list[str]) -> bool:
        """Read events after the last one until the stream ends. Return whether the job has ended."""
        began, state = time.monotonic(), None
        try:
            for event in listen(client, f"/v1/jobs/{job}/events", seen[-1] if seen else None):
                if event.id is not None:
                    seen.append(event.id)
                state = event.data.get("state", state)
        except (httpx.HTTPError, AssertionError) as error:
            self.tally.count("event stream", began, f"{type(error).__name__}: {error}")
            return False
        self.tally.count("event stream", began)
        return state in ENDED
