"""Requests with `Prefer: wait` and event streams that wait at the same time, without a store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request

from service.events.stream import EventSource, stream
from service.http.long_polling import LongPoll
from service.http.notifications import POLL_SECONDS, JobNotifications
from worker.domain.jobs import Event
from worker.store.event_log import EventPage

NOWHERE = "redis://127.0.0.1:1"  # nothing listens, so no message of the store arrives
PATH = "/v1/jobs/job_1"


def request(path: str = PATH, query: bytes = b"") -> Request:
    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the client stays
        raise AssertionError

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query}
    return Request({**scope, "headers": [(b"prefer", b"wait=60")]}, receive)


class Records:
    """Values by tenant, address and query, with the number of reads."""

    def __init__(self, notifications: JobNotifications) -> None:
        self.values: dict[object, int] = {}
        self.reads: Counter[object] = Counter()
        self._notifications = notifications

    async def poll(self, tenant: str, query: bytes = b"", *, until: int = 0) -> int:
        """Wait for a value that is at least `until`."""
        key = (tenant, query)

        def read() -> int:
            self.reads[key] += 1
            return self.values.get(key, 0)

        wait = LongPoll(request(query=query), self._notifications, "job_1", tenant)
        return await wait.until(read, lambda value: value >= until)


def run(test: Callable[[JobNotifications, Records], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        notifications = JobNotifications(NOWHERE, max_waiting=100, keys_changed=lambda: None)
        async with asyncio.timeout(30):
            await test(notifications, Records(notifications))

    asyncio.run(limited())


async def until_waiting(notifications: JobNotifications, count: int) -> None:
    """Return when this number of requests have read their record and wait for a change."""
    reads = notifications.reads
    while notifications.waiting < count or reads._waiting or reads._running:
        await asyncio.sleep(0.01)


def test_tenants_and_queries_do_not_share_an_answer() -> None:
    async def test(_: JobNotifications, records: Records) -> None:
        records.values = {("a", b""): 1, ("b", b""): 2, ("a", b"revision=2"): 3}
        calls = [("a", b""), ("b", b""), ("a", b"revision=2")] * 3
        found = await asyncio.gather(*(records.poll(tenant, query) for tenant, query in calls))
        assert found == [1, 2, 3] * 3
        assert set(records.reads.values()) == {1}

    run(test)


def test_a_change_without_a_message_is_seen() -> None:
    """The store cannot be reached for messages, so only the poll can wake the request."""

    async def test(notifications: JobNotifications, records: Records) -> None:
        async with notifications.running():
            polls = [asyncio.create_task(records.poll("a", until=1)) for _ in range(10)]
            await until_waiting(notifications, 10)
            records.values["a", b""] = 1
            assert await asyncio.gather(*polls) == [1] * 10
        assert records.reads["a", b""] < 10 * POLL_SECONDS  # shared, not one for each request
        assert notifications.waiting == 0

    run(test)


def test_a_server_that_stops_answers_at_once() -> None:
    async def test(notifications: JobNotifications, records: Records) -> None:
        poll = asyncio.create_task(records.poll("a", until=1))
        await until_waiting(notifications, 1)
        notifications.close()
        assert await poll == 0

    run(test)


def test_streams_of_two_tenants_get_their_own_events() -> None:
    """The records have one id here, so only the tenant tells them apart."""

    def read(tenant: str, record_id: str, after: str | None, count: int) -> EventPage:
        event = Event(id="1-0", type="done", at=datetime.now(UTC), data={"of": tenant})
        return EventPage(events=[event], resync=False, ended=True)

    async def test(notifications: JobNotifications, records: Records) -> None:
        async def follow(tenant: str) -> bytes:
            source = EventSource("job", "job_1", tenant, read)
            parts = stream(source, notifications, None, keep_alive=15.0, allowed=lambda: True)
            return b"".join([part async for part in parts])

        one, two, again = await asyncio.gather(follow("a"), follow("b"), follow("a"))
        assert b'"of":"a"' in one
        assert b'"of":"b"' not in one
        assert b'"of":"b"' in two
        assert one == again
        assert notifications.waiting == 0

    run(test)
