# Written by `make client` from "_async/waiting.py". Change that file instead.
"""Wait for a job or a sweep by long polling: the server answers when the record changes."""

from __future__ import annotations

import math
import time
from typing import Any

from literati.client._sync.runtime import Changed, sleep
from literati.client._sync.transport import Transport
from literati.client.call import Call
from literati.client.errors import WaitTimeoutError
from literati.client.records import EndingRecord

HOLD_SECONDS = 30  # that the server holds a request in which nothing changes
MIN_SECONDS = 0.2  # between two requests
GRACE_SECONDS = 30.0


class Poll:
    """Requests for one record, each of which the server holds until the record changes."""

    def __init__(self, transport: Transport, record: EndingRecord, path: str) -> None:
        self._transport, self._record, self._path = transport, record, path
        self._tag: str | None = None

    def next(self, seconds: float) -> None:
        """Update the record when it changes, or leave it after about these seconds."""
        hold = max(1, math.ceil(min(HOLD_SECONDS, seconds)))
        headers = {"Prefer": f"wait={hold}"} | ({"If-None-Match": self._tag} if self._tag else {})
        asked = time.monotonic()
        call = Call("GET", self._path, headers=headers, timeout=hold + GRACE_SECONDS, patient=True)
        response = self._transport.send(call)
        if response.status_code != 304:
            data: dict[str, Any] = response.json()
            self._record.data = data
            self._tag = response.headers.get("ETag")
            if self._record.ended:
                return
        # A server with too many waiting requests answers at once.
        pause = MIN_SECONDS if response.status_code != 304 else min(1.0, hold)
        sleep(max(0.0, min(pause, seconds) - (time.monotonic() - asked)))


def wait_until_ended(poll: Poll, record: EndingRecord, timeout: float | None, changed: Changed) -> None:
    """Call `changed` after every change until the record has ended. Raise WaitTimeoutError if it is late."""
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    while not record.ended:
        left = deadline - time.monotonic()
        if left <= 0:
            raise WaitTimeoutError(
                f"The {record.kind} {record.id} has not ended in {timeout:g} s; it continues."
            )
        poll.next(left)
        changed()


def how_to_come_back(record: EndingRecord, url: str) -> str:
    """Return what a user reads who stops waiting."""
    there = f'Client("{url}").{record.kind}s.get("{record.id}")'
    return (
        f"You no longer wait for the {record.kind} {record.id}, which continues on the server.\n"
        f"Come back with  {there}.wait()\n"
        f"or stop it with {there}.cancel()"
    )
