"""A client that follows a job by its event stream, and comes back whenever the stream breaks off."""

from __future__ import annotations

import threading
import time

import httpx

from event_client import listen

from .findings import Findings
from .ledger import Entry, Ledger

SILENCE = 30.0  # the server says something every 15 s


class Follower(threading.Thread):
    def __init__(self, url: str, entry: Entry, ledger: Ledger, findings: Findings) -> None:
        super().__init__(name=f"follower {entry.id}", daemon=True)
        self._url = url
        self._entry = entry
        self._ledger = ledger
        self._findings = findings

    def run(self) -> None:
        told = self._entry.told
        assert told is not None
        while not (told and told[-1]["type"] == "done") and not self._ledger.closed.is_set():
            try:
                self._follow(told)
            except httpx.ReadTimeout:
                self._findings.violation("nothing hangs", f"event stream of {self._entry.id}")
            except (httpx.TransportError, AssertionError):  # broken off, or 503
                self._findings.count("event streams broken off")
            time.sleep(0.1)

    def _follow(self, told: list[dict[str, object]]) -> None:
        last = str(told[-1]["id"]) if told else None
        with httpx.Client(base_url=self._url, timeout=httpx.Timeout(SILENCE, connect=10.0)) as client:
            events = listen(client, f"/v1/jobs/{self._entry.id}/events", last)
            told.extend({"id": seen.id, "type": seen.event} for seen in events)  # each as it comes
