"""Answer a request for events in the form that the client prefers."""

from __future__ import annotations

import re

from fastapi import Request, Response
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from service.dependencies import Services
from service.events.schemas import EVENT_STREAM, STREAM_ID, EventPage
from service.events.stream import EventSource, stream
from service.http.etags import json_response
from service.http.media_types import prefers
from service.http.problems import FieldError, invalid, unavailable


async def event_response(
    request: Request,
    services: Services,
    source: EventSource,
    *,
    after: str | None,
    page_size: int,
    last_event_id: str | None,
) -> Response:
    """Return a page of events as JSON, or with `Accept: text/event-stream` a stream."""
    if last_event_id:
        if not re.fullmatch(STREAM_ID, last_event_id):
            raise invalid(FieldError("/header/Last-Event-ID", "PATTERN", "This is not the id of an event."))
        after = last_event_id
    if not prefers(request, EVENT_STREAM, "application/json"):
        page = await run_in_threadpool(source.page, after, page_size)
        return json_response(
            EventPage.model_construct(
                items=page.events,
                last_event_id=page.events[-1].id if page.events else after,
                resync=page.resync,
                ended=page.ended,
            )
        )
    page = await run_in_threadpool(source.page, after, 1)
    if after is not None and page.ended and not page.events:
        return Response(status_code=204)
    settings, notifications = services.settings, services.notifications
    if notifications.is_full(source.tenant):
        raise unavailable(
            f"Too many requests are waiting for changes; the limit is {settings.max_waiting:,}, shared by "
            "all tenants (LITERATI_MAX_WAITING). Get the events as JSON, or try again."
        )
    key_id = request.scope["literati.caller"].key_id
    events = stream(
        source,
        notifications,
        after,
        keep_alive=settings.keep_alive_seconds,
        allowed=lambda: services.keys.knows(key_id),
    )
    return EventSourceResponse(events, headers={"X-Accel-Buffering": "no"})
