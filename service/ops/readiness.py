"""Whether the store and the blobs take writes. Anyone may ask, without a key and as often as they like."""

from __future__ import annotations

import asyncio
import time

from starlette.concurrency import run_in_threadpool

from service.errors import unavailable
from worker.blobs import Blobs
from worker.store import Store

KEEP_SECONDS = 0.25


class Readiness:
    """Belongs to one event loop. To find out is a write on two disks, so it is done once for all who ask at
    the same time, and what was found good counts for a moment.
    """

    def __init__(self, store: Store, blobs: Blobs) -> None:
        self._store = store
        self._blobs = blobs
        self._good_until = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def check(self) -> None:
        """Raises redis.RedisError, or the problem to answer with."""
        if time.monotonic() < self._good_until:
            return
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        await asyncio.shield(self._looking)

    async def _look(self) -> None:
        try:
            await run_in_threadpool(self._store.ping)
            try:
                await run_in_threadpool(self._blobs.check)
            except OSError:
                raise unavailable("The blobs cannot be written.") from None
            self._good_until = time.monotonic() + KEEP_SECONDS
        finally:
            self._looking = None
