"""News of jobs for those who wait: one subscription a process, any number of waiting requests.

A message only says "look again". Whoever waits looks at the store, and does so every two seconds anyway,
so a lost message costs a moment and nothing else.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import redis.asyncio as redis
import structlog
from redis.exceptions import RedisError

from service import key_store

log = structlog.get_logger(__name__)
CHANNEL = "literati:changed"
LOOK_ANYWAY = 2.0  # seconds
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0


class CrowdedError(Exception):
    """As many requests wait as the settings allow, and the tenant has its share of them."""


class Watch:
    """One request's interest in one job."""

    def __init__(self, closing: asyncio.Event) -> None:
        self.changed = asyncio.Event()
        self._closing = closing
        self._let_go = False

    @property
    def closing(self) -> bool:
        """The process is about to end, or another tenant needs the room: answer with what there is."""
        return self._let_go or self._closing.is_set()

    def let_go(self) -> None:
        self._let_go = True
        self.changed.set()

    async def news(self, seconds: float) -> None:
        """Return when there may be something new, or after so long (at most two seconds)."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, LOOK_ANYWAY)):
                await self.changed.wait()
        self.changed.clear()


class Hub:
    def __init__(self, url: str, *, most: int, keys_changed: Callable[[], None]) -> None:
        self._url = url
        self._keys_changed = keys_changed
        self._most = most
        self._watches: dict[str, set[Watch]] = defaultdict(set)
        self._tenants: dict[str, dict[Watch, None]] = {}  # each tenant's watches, the oldest first
        self._closing = asyncio.Event()
        self.waiting = 0

    def crowded(self, tenant: str) -> bool:
        """Return whether all places are taken and the tenant has its share of them."""
        if self.waiting < self._most:
            return False
        share = self._most // len({*self._tenants, tenant})
        return len(self._tenants.get(tenant, ())) >= share

    @contextmanager
    def watch(self, job_id: str, tenant: str) -> Iterator[Watch]:
        """Begin before reading the store, so that no change falls between the two."""
        if self.crowded(tenant):
            raise CrowdedError
        if self.waiting >= self._most:
            self._make_room()
        watch = Watch(self._closing)
        self.waiting += 1
        self._watches[job_id].add(watch)
        self._tenants.setdefault(tenant, {})[watch] = None
        try:
            yield watch
        finally:
            self._leave(tenant, watch)
            self._watches[job_id].discard(watch)
            if not self._watches[job_id]:
                del self._watches[job_id]

    def _make_room(self) -> None:
        """Let go of the request that has waited longest, of the tenant that has most of them."""
        tenant, watches = max(self._tenants.items(), key=lambda entry: len(entry[1]))
        oldest = next(iter(watches))
        self._leave(tenant, oldest)
        oldest.let_go()

    def _leave(self, tenant: str, watch: Watch) -> None:
        """Count a watch out, once."""
        watches = self._tenants.get(tenant, {})
        if watch in watches:
            self.waiting -= 1
            del watches[watch]
            if not watches:
                del self._tenants[tenant]

    def close(self) -> None:
        """Let every waiting request go. Safe to call from a signal handler of the loop's thread."""
        self._closing.set()
        self.wake_all()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            self.close()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _listen(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                async with redis.from_url(self._url) as client, client.pubsub() as channel:
                    await channel.subscribe(CHANNEL, key_store.CHANNEL)
                    pause = _FIRST_PAUSE
                    self.wake_all()  # whatever was said while nobody listened
                    self._keys_changed()
                    async for message in channel.listen():
                        if message["type"] == "message":
                            self._hear(message["channel"].decode(), message["data"].decode())
            except (RedisError, OSError) as error:
                log.warning("news of jobs interrupted", error=type(error).__name__)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _hear(self, channel: str, text: str) -> None:
        if channel == key_store.CHANNEL:
            self._keys_changed()
            return
        for watch in self._watches.get(text, ()):
            watch.changed.set()

    def wake_all(self) -> None:
        """Let every waiting request look again."""
        for watches in self._watches.values():
            for watch in watches:
                watch.changed.set()
