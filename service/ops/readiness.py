"""The readiness check: whether this process takes requests, and the store and the blobs accept writes."""

from __future__ import annotations

import asyncio
import time

from starlette.concurrency import run_in_threadpool

from service.http.problems import unavailable
from worker.blobs.local import Blobs
from worker.store import Store

VALID_SECONDS = 0.25


class Readiness:
    """A readiness check of one event loop.

    It writes to two disks and is public, so concurrent requests share one check, and a good result is
    kept for a moment.
    """

    def __init__(self, store: Store, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs
        self._valid_until = 0.0
        self._check_task: asyncio.Task[None] | None = None
        self._draining = False

    def drain(self) -> None:
        """Be not ready from now on, because the process will stop."""
        self._draining = True

    async def check(self) -> None:
        """Raise redis.RedisError or a Problem if the service is not ready."""
        if self._draining:
            raise unavailable("This server is about to stop; send requests to another one.")
        if self._store.format.refusal is not None:
            raise unavailable(self._store.format.refusal)
        if time.monotonic() < self._valid_until:
            return
        if self._check_task is None:
            self._check_task = asyncio.create_task(self._run())
        await asyncio.shield(self._check_task)

    async def _run(self) -> None:
        try:
            await run_in_threadpool(self._store.ping)
            try:
                await run_in_threadpool(self._blobs.check)
            except OSError:
                raise unavailable(
                    "The blob folder cannot be written; check its disk and permissions."
                ) from None
            self._valid_until = time.monotonic() + VALID_SECONDS
        finally:
            self._check_task = None
