"""Notify waiting requests of changes to jobs, by one Redis subscription per process.

A message only tells a request to read the store again. Requests also read it every two seconds, so a lost
message delays a response but does not change it. All requests of a job are woken at the same time, so that
they can share one read.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import cycle

import structlog
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as SilentError

from service.auth import key_store
from service.http.shared_reads import SharedReads
from worker.store.connections import open_async_client

log = structlog.get_logger(__name__)
CHANNEL = "literati:changed"
POLL_SECONDS = 2.0
_POLL_GROUPS = 20  # of jobs, which are polled one after another, so that the reads are spread over time
SILENT_SECONDS = 10.0  # without a message after which the server is asked for an answer
# The subscription is renewed here and not by redis-py, because then everything has to be read again.
_OPTIONS = {"protocol": 2, "socket_connect_timeout": 5.0, "retry": Retry(NoBackoff(), 0)}
_MIN_DELAY, _MAX_DELAY = 0.1, 5.0  # seconds before the subscription is renewed


class TooManyWaitingError(Exception):
    """The maximum number of requests wait, and the tenant has its share of them."""


class Subscription:
    """The subscription of one request to one job."""

    def __init__(self, closing: asyncio.Event) -> None:
        self.changed = asyncio.Event()
        self._closing = closing
        self._evicted = False

    @property
    def closing(self) -> bool:
        """Whether the request must be answered now: the process stops, or another tenant takes its place."""
        return self._evicted or self._closing.is_set()

    def evict(self) -> None:
        self._evicted = True
        self.changed.set()

    async def wait(self, seconds: float) -> None:
        """Return when the job may have changed, or after this time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.changed.wait()
        self.changed.clear()


class JobNotifications:
    """The subscriptions of this process. They belong to one event loop."""

    def __init__(self, url: str, *, max_waiting: int, keys_changed: Callable[[], None]) -> None:
        self._url = url
        self._keys_changed = keys_changed
        self._max_waiting = max_waiting
        self._by_job: dict[str, set[Subscription]] = defaultdict(set)
        self._by_tenant: dict[str, dict[Subscription, None]] = {}  # the oldest first
        self._closing = asyncio.Event()
        self.waiting = 0
        self.reads = SharedReads()

    def is_full(self, tenant: str) -> bool:
        """Return whether the maximum number of requests wait and the tenant has its share of them."""
        if self.waiting < self._max_waiting:
            return False
        share = self._max_waiting // len({*self._by_tenant, tenant})
        return len(self._by_tenant.get(tenant, ())) >= share

    @contextmanager
    def subscribe(self, job_id: str, tenant: str) -> Iterator[Subscription]:
        """Subscribe to a job. Begin before reading the store, so that no change is missed in between."""
        if self.is_full(tenant):
            raise TooManyWaitingError
        if self.waiting >= self._max_waiting:
            self._evict_one()
        subscription = Subscription(self._closing)
        self.waiting += 1
        self._by_job[job_id].add(subscription)
        self._by_tenant.setdefault(tenant, {})[subscription] = None
        try:
            yield subscription
        finally:
            self._remove(tenant, subscription)
            self._by_job[job_id].discard(subscription)
            if not self._by_job[job_id]:
                del self._by_job[job_id]

    def _evict_one(self) -> None:
        """End the oldest subscription of the tenant that has most."""
        tenant, subscriptions = max(self._by_tenant.items(), key=lambda entry: len(entry[1]))
        oldest = next(iter(subscriptions))
        self._remove(tenant, oldest)
        oldest.evict()

    def _remove(self, tenant: str, subscription: Subscription) -> None:
        """Stop counting a subscription, if that has not been done."""
        subscriptions = self._by_tenant.get(tenant, {})
        if subscription in subscriptions:
            self.waiting -= 1
            del subscriptions[subscription]
            if not subscriptions:
                del self._by_tenant[tenant]

    def close(self) -> None:
        """End all waiting. This may be called from a signal handler in the loop's thread."""
        self._closing.set()
        self.wake_all()

    def end_all(self) -> None:
        """Answer all requests that wait now. Later ones may wait again."""
        for subscriptions in self._by_job.values():
            for subscription in subscriptions:
                subscription.evict()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Listen to the store and poll it while the context lasts."""
        tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._poll())]
        try:
            yield
        finally:
            self.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _poll(self) -> None:
        """Make the requests of every job read the store once in POLL_SECONDS."""
        for group in cycle(range(_POLL_GROUPS)):
            await asyncio.sleep(POLL_SECONDS / _POLL_GROUPS)
            self._wake(job_id for job_id in self._by_job if hash(job_id) % _POLL_GROUPS == group)

    async def _listen(self) -> None:
        delay = _MIN_DELAY
        while True:
            try:
                async with open_async_client(self._url, **_OPTIONS) as client, client.pubsub() as channel:
                    await channel.subscribe(CHANNEL, key_store.CHANNEL)
                    delay = _MIN_DELAY
                    self.wake_all()  # messages may have been missed before
                    self._keys_changed()
                    await self._receive(channel)
            except (RedisError, OSError) as error:
                log.warning("job notifications interrupted", error=type(error).__name__)
            await asyncio.sleep(delay)
            delay = min(2 * delay, _MAX_DELAY)

    async def _receive(self, channel: PubSub) -> None:
        """Handle messages. Raise redis.TimeoutError if the server is silent, as when its machine is lost."""
        asked = False
        while True:
            message = await channel.get_message(timeout=SILENT_SECONDS)
            if message is None and asked:
                raise SilentError("The server did not answer a ping.")
            asked = message is None
            if message is None:
                await channel.ping()
            elif message["type"] == "message":
                self._dispatch(message["channel"].decode(), message["data"].decode())

    def _dispatch(self, channel: str, text: str) -> None:
        if channel == key_store.CHANNEL:
            self._keys_changed()
            return
        self._wake([text])

    def wake_all(self) -> None:
        """Make every waiting request read the store again."""
        self._wake(self._by_job)

    def _wake(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            for subscription in self._by_job.get(job_id, ()):
                subscription.changed.set()
