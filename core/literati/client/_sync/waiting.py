# Written by `make client` from "_async/waiting.py". Change that file instead.
"""Wait for a job or a sweep by long polling: the server answers when the record changes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from literati.client._sync.runtime import Changed, detached, interruptions, sleep
from literati.client._sync.transport import Transport
from literati.client.call import Call, json_of
from literati.client.errors import (
    ClientError,
    ConnectionFailedError,
    RateLimitedError,
    UnavailableError,
    WaitTimeoutError,
)
from literati.client.records import EndingRecord
from literati.client.retry import limit_calls, seconds_left

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
            self._record.data = json_of(response)
            self._tag = response.headers.get("ETag")
            if self._record.ended:
                return
        # A server with too many waiting requests answers at once.
        pause = MIN_SECONDS if response.status_code != 304 else min(1.0, hold)
        sleep(max(0.0, min(pause, seconds) - (time.monotonic() - asked)))


@contextmanager
def waiting(record: EndingRecord, timeout: float | None, url: str) -> Iterator[None]:
    """Limit all calls to `timeout` seconds, and raise WaitTimeoutError when they are over.

    An interruption gets a message that says how to come back to the record.
    """
    with limit_calls(timeout):
        try:
            yield
        except interruptions() as error:
            if record.ended:
                raise
            raise detached(error, how_to_come_back(record, url)) from None
        except (ConnectionFailedError, RateLimitedError, UnavailableError) as error:
            if seconds_left() > 0:
                raise
            raise _late(record, timeout, error) from None


def _late(record: EndingRecord, timeout: float | None, error: ClientError | None = None) -> WaitTimeoutError:
    """Return the error of a wait whose time is over, perhaps while a call failed."""
    told, time_ = f"The {record.kind} {record.id}", "in time" if timeout is None else f"in {timeout:g} s"
    if record.ended:
        return WaitTimeoutError(f"{told} has ended, but its model was not read {time_}. {error}")
    # The server holds a request in which nothing changes, also beyond the time.
    if error is None or isinstance(error.__cause__, httpx2.ReadTimeout):
        return WaitTimeoutError(f"{told} has not ended {time_}; it continues.")
    return WaitTimeoutError(f"{told} is not known to have ended {time_}. {error}")


def wait_until_ended(poll: Poll, record: EndingRecord, timeout: float | None, changed: Changed) -> None:
    """Call `changed` after every change until the record has ended. Raise WaitTimeoutError if it is late."""
    while not record.ended:
        left = seconds_left()
        if left <= 0:
            raise _late(record, timeout)
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
