"""Stream the events of a record as Server-Sent Events: past events first, then new ones until it ends."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import structlog
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from redis.exceptions import RedisError

from service.http.notifications import JobNotifications, TooManyWaitingError
from worker.domain.errors import StoreError
from worker.domain.jobs import Event
from worker.store.event_log import EventPage

log = structlog.get_logger(__name__)
_PAGE_SIZE = 500
_RECONNECT_MILLISECONDS = 1000  # the delay before a browser reconnects


@dataclass(frozen=True)
class EventSource:
    """A record with events."""

    kind: str  # `job` or `sweep`
    id: str
    tenant: str
    read: Callable[[str, str, str | None, int], EventPage]  # by tenant, id, last event and count

    def page(self, after: str | None, count: int) -> EventPage:
        return self.read(self.tenant, self.id, after, count)

    def next_bytes(self, after: str | None) -> tuple[EventPage, bytes]:
        """Return the events after `after`, and the bytes to send."""
        page = self.page(after, _PAGE_SIZE)
        events = b"".join(event_bytes(event) for event in page.events)
        return page, _resync(self.kind) + events if page.resync else events


def event_bytes(event: Event) -> bytes:
    data = {"at": event.model_dump(mode="json")["at"], **event.data}
    return format_sse_event(
        event=event.type, id=event.id, data_str=json.dumps(data, separators=(",", ":"), allow_nan=False)
    )


def _resync(kind: str) -> bytes:
    detail = (
        f"Events after your last one were dropped, because only the latest events of a {kind} are kept "
        f"(LITERATI_MAX_EVENTS). Get the {kind}."
    )
    return format_sse_event(event="resync", data_str=json.dumps({"detail": detail}, separators=(",", ":")))


async def stream(
    source: EventSource,
    notifications: JobNotifications,
    after: str | None,
    *,
    keep_alive: float,
    allowed: Callable[[], bool],
) -> AsyncIterator[bytes]:
    """Yield the events after `after`. A client that reconnects with the id of its last event misses none.

    The stream ends with the record. It also ends, without a last event, when the record is deleted, the store
    is unavailable, the server stops or the client's key is revoked; the client then reconnects and gets the
    error.
    """
    yield format_sse_event(retry=_RECONNECT_MILLISECONDS, comment=f"events of {source.id}")
    # TooManyWaitingError: the last free place was taken since the check; the client reconnects.
    with suppress(TooManyWaitingError), notifications.subscribe(source.id, source.tenant) as watch:
        last_sent = time.monotonic()
        while not watch.closing and allowed():
            try:
                page, content = await notifications.reads.read(
                    (source.tenant, source.id, after), partial(source.next_bytes, after)
                )
            except (RedisError, StoreError, OSError) as error:
                log.info("event stream ended by an error", record_id=source.id, error=type(error).__name__)
                return
            if content:
                yield content
            if page.events:
                after, last_sent = page.events[-1].id, time.monotonic()
            if page.ended:
                return
            if len(page.events) == _PAGE_SIZE:
                continue
            idle = time.monotonic() - last_sent
            if idle >= keep_alive:
                yield KEEPALIVE_COMMENT
                idle, last_sent = 0.0, time.monotonic()
            await watch.wait(keep_alive - idle)
