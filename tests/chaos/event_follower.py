"""A client that reads the event stream of a job and reconnects whenever the stream breaks off."""

from __future__ import annotations

import threading
import time

import httpx

from tests.chaos.accepted import Accepted, AcceptedJob
from tests.chaos.findings import Findings
from tests.support.http.event_client import listen

SILENCE_SECONDS = 30.0  # the server sends something every 15 s


class EventFollower(threading.Thread):
    """Append the events of a job to its `streamed` until the stream ends."""

    def __init__(self, url: str, accepted_job: AcceptedJob, accepted: Accepted, findings: Findings) -> None:
        super().__init__(name=f"follower {accepted_job.id}", daemon=True)
        self._url = url
        self._accepted_job = accepted_job
        self._accepted = accepted
        self._findings = findings

    def run(self) -> None:
        streamed = self._accepted_job.streamed
        assert streamed is not None
        while not (streamed and streamed[-1]["type"] == "done") and not self._accepted.closed.is_set():
            try:
                self._follow(streamed)
            except httpx.ReadTimeout:
                self._findings.violation("nothing hangs", f"event stream of {self._accepted_job.id}")
            except (httpx.TransportError, AssertionError):  # broken off, or 503
                self._findings.count("event streams broken off")
            time.sleep(0.1)

    def _follow(self, streamed: list[dict[str, object]]) -> None:
        last = str(streamed[-1]["id"]) if streamed else None
        with httpx.Client(base_url=self._url, timeout=httpx.Timeout(SILENCE_SECONDS, connect=10.0)) as client:
            events = listen(client, f"/v1/jobs/{self._accepted_job.id}/events", last)
            streamed.extend({"id": seen.id, "type": seen.event} for seen in events)  # each as it arrives
