"""`Prefer: wait=N` (RFC 7240): hold a request until a job changes, for at most N seconds."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from service.http.notifications import JobNotifications, TooManyWaitingError

MAX_WAIT = 60  # seconds
_WAIT = re.compile(r"\s*wait\s*=\s*\"?([0-9]{1,9})\"?\s*(?:;.*)?", re.IGNORECASE)

View = TypeVar("View")


def preferred_wait(request: Request) -> int | None:
    """Return the seconds of `Prefer: wait`, at most MAX_WAIT. A preference that cannot be read is ignored."""
    for line in request.headers.getlist("prefer"):
        for preference in line.split(","):
            if wait := _WAIT.fullmatch(preference):
                return min(int(wait[1]), MAX_WAIT)
    return None


class LongPoll:
    """A request that reads a job until a condition holds or the preferred time is over."""

    def __init__(self, request: Request, notifications: JobNotifications, job_id: str, tenant: str) -> None:
        self._request = request
        self._notifications = notifications
        self._job_id = job_id
        self._tenant = tenant
        self._seconds = preferred_wait(request)
        self._read_key = (tenant, request.scope["path"], request.scope["query_string"])
        self.headers = {"Vary": "Prefer"}

    @property
    def preferred(self) -> bool:
        return self._seconds is not None

    async def until(self, read: Callable[[], View], done: Callable[[View], bool]) -> View:
        """Read the job until it is `done` or the time is over, and return what was read last.

        Requests of a tenant with the same address share a read, so `read` must not depend on headers.
        """
        if self._seconds is None:
            return await run_in_threadpool(read)
        try:
            with self._notifications.subscribe(self._job_id, self._tenant) as subscription:
                self.headers["Preference-Applied"] = f"wait={self._seconds}"
                deadline = time.monotonic() + self._seconds
                while True:
                    view = await self._notifications.reads.read(self._read_key, read)
                    left = deadline - time.monotonic()
                    if (
                        done(view)
                        or left <= 0
                        or subscription.closing
                        or await self._request.is_disconnected()
                    ):
                        return view
                    await subscription.wait(left)
        except TooManyWaitingError:  # a server may ignore a preference
            return await run_in_threadpool(read)
