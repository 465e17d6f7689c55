"""Follow the events of a job or a sweep over any number of connections."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx2

from literati.client._async.runtime import Current, sleep
from literati.client._async.transport import AsyncTransport
from literati.client.call import Call, error_of
from literati.client.errors import ClientError, RateLimitedError, UnavailableError
from literati.client.events import DONE, RESYNC, Event, is_after, read_event
from literati.client.retry import Attempts

SILENCE_SECONDS = 60.0  # the server sends a comment more often than this


async def follow(
    transport: AsyncTransport, path: str, after: str | None, current: Current
) -> AsyncIterator[Event]:
    """Yield every event after `after` once, until the record ends.

    A connection that is lost is opened again with the id of the last event, so that no event is missed. If
    the server no longer has some events, an event `resync` has the record as `current` returns it.
    """
    last = after
    attempts = Attempts(transport.policy, patient=True)
    while True:
        failure: ClientError | None = None
        done = False
        opened = math.inf
        try:
            async with transport.stream(_call(path, last)) as response:
                if response.status_code == 204:
                    return
                if response.status_code >= 400:
                    raise error_of(response)
                opened = time.monotonic()
                async for message in httpx2.EventSource(response, max_event_size=None):
                    if message.event == RESYNC:
                        yield Event(None, RESYNC, datetime.now(UTC), await current())
                    elif message.data and is_after(message.id, last):
                        last, done = message.id, message.event == DONE
                        attempts = Attempts(transport.policy, patient=True)
                        yield read_event(message.event, message.id, message.data)
        except (RateLimitedError, UnavailableError) as error:
            failure = error
        except httpx2.RequestError as error:
            failure = transport.no_answer(_call(path, last), error, attempts)
        if time.monotonic() - opened > transport.policy.max_delay:
            attempts = Attempts(
                transport.policy, patient=True
            )  # the connection was good, though without events
        if failure is None and done:
            continue  # the server says whether anything follows the last event
        await sleep(attempts.delay_or_raise(failure))


def _call(path: str, last: str | None) -> Call:
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last} if last else {})
    return Call("GET", path, headers=headers, timeout=SILENCE_SECONDS)
