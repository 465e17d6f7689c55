"""`Prefer: wait=N` (RFC 7240): hold a request until there is news, or for so long."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from service.hub import CrowdedError, Hub

LONGEST_WAIT = 60
_WAIT = re.compile(r"\s*wait\s*=\s*\"?([0-9]{1,9})\"?\s*(?:;.*)?", re.IGNORECASE)

Seen = TypeVar("Seen")


def preferred_wait(request: Request) -> int | None:
    """Seconds, at most a minute; None if nothing of the kind is preferred. What cannot be read is ignored."""
    for line in request.headers.getlist("prefer"):
        for preference in line.split(","):
            if wait := _WAIT.fullmatch(preference):
                return min(int(wait[1]), LONGEST_WAIT)
    return None


class Wait:
    """One request's way of looking at a job until it sees what it waits for."""

    def __init__(self, request: Request, hub: Hub, job_id: str, tenant: str) -> None:
        self._request = request
        self._hub = hub
        self._job_id = job_id
        self._tenant = tenant
        self._seconds = preferred_wait(request)
        self.headers = {"Vary": "Prefer"}

    @property
    def preferred(self) -> bool:
        return self._seconds is not None

    async def until(self, look: Callable[[], Seen], enough: Callable[[Seen], bool]) -> Seen:
        """What was seen last: enough, or all there was when the time was up."""
        if self._seconds is None:
            return await run_in_threadpool(look)
        try:
            with self._hub.watch(self._job_id, self._tenant) as watch:
                self.headers["Preference-Applied"] = f"wait={self._seconds}"
                until = time.monotonic() + self._seconds
                while True:
                    seen = await run_in_threadpool(look)
                    left = until - time.monotonic()
                    if enough(seen) or left <= 0 or watch.closing or await self._request.is_disconnected():
                        return seen
                    await watch.news(left)
        except CrowdedError:  # a preference may be left aside
            return await run_in_threadpool(look)
