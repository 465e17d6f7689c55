"""A job's events as Server-Sent Events: what was, then what comes, until the job ends."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import structlog
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from redis.exceptions import RedisError
from starlette.concurrency import run_in_threadpool

from service.hub import CrowdedError, Hub
from worker.errors import StoreError
from worker.messages import Event
from worker.store import Store

log = structlog.get_logger(__name__)
_PAGE = 500
_RECONNECT = 1000  # milliseconds: what a browser waits before it comes back


def event_bytes(event: Event) -> bytes:
    data = {"at": event.model_dump(mode="json")["at"], **event.data}
    return format_sse_event(
        event=event.type, id=event.id, data_str=json.dumps(data, separators=(",", ":"), allow_nan=False)
    )


RESYNC = format_sse_event(
    event="resync",
    data_str='{"detail":"Events after the last one that you saw were dropped: a job\'s last ones are kept '
    '(LITERATI_MAX_EVENTS). Read the job."}',
)


async def stream(
    store: Store,
    hub: Hub,
    tenant: str,
    job_id: str,
    after: str | None,
    *,
    keep_alive: float,
    allowed: Callable[[], bool],
) -> AsyncIterator[bytes]:
    """A client that comes back with the id of the last event it saw misses none.

    The stream ends when the job has; or, without a last event, when the job is deleted, the store goes away,
    the server stops or the client's key is revoked: a client then comes back, and is told.
    """
    yield format_sse_event(retry=_RECONNECT, comment=f"events of {job_id}")
    with (
        suppress(CrowdedError),
        hub.watch(job_id, tenant) as watch,
    ):  # there was room a moment ago: it comes back
        said = time.monotonic()
        while not watch.closing and allowed():
            try:
                page = await run_in_threadpool(store.jobs.events, tenant, job_id, after, _PAGE)
            except (RedisError, StoreError) as error:
                log.info("event stream broken off", job_id=job_id, error=type(error).__name__)
                return
            if page.resync:
                yield RESYNC
            if page.events:
                yield b"".join(event_bytes(event) for event in page.events)
                after, said = page.events[-1].id, time.monotonic()
            if page.ended:
                return
            if len(page.events) == _PAGE:
                continue
            silence = time.monotonic() - said
            if silence >= keep_alive:
                yield KEEPALIVE_COMMENT
                silence, said = 0.0, time.monotonic()
            await watch.news(keep_alive - silence)
