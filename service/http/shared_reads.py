"""Let requests that read the same thing from the store at the same time share one read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from starlette.concurrency import run_in_threadpool

Found = TypeVar("Found")


class SharedReads:
    """Reads by a key that says what is read. They belong to one event loop.

    A request shares only a read that has not begun when the request comes, so it never gets an answer that is
    older than the request. While a read runs, later requests wait together for the next one.
    """

    def __init__(self) -> None:
        self._waiting: dict[Hashable, asyncio.Task[Any]] = {}
        self._running: dict[Hashable, asyncio.Task[Any]] = {}

    async def read(self, key: Hashable, function: Callable[[], Found]) -> Found:
        """Return the result of the function, which runs in a thread."""
        task = self._waiting.get(key)
        if task is None:
            before = self._running.get(key)
            task = self._waiting[key] = asyncio.create_task(self._run(key, function, before))
            task.add_done_callback(_retrieve_exception)
        await asyncio.wait([task])  # a request that is cancelled does not end the read
        return cast(Found, task.result())

    async def _run(
        self, key: Hashable, function: Callable[[], Found], before: asyncio.Task[Any] | None
    ) -> Found:
        if before is not None:
            await asyncio.wait([before])
        self._running[key] = self._waiting.pop(key)
        try:
            return await run_in_threadpool(function)
        finally:
            del self._running[key]


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Prevent asyncio's message when all requests that shared a failed read were cancelled."""
    if not task.cancelled():
        task.exception()
