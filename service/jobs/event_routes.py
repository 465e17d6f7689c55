"""The route of a job's events, as a stream or as pages of JSON."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from service.dependencies import CallerDep, KeysDep, NotificationsDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.http.etags import json_response
from service.http.media_types import prefers
from service.http.problems import FieldError, invalid, unavailable
from service.http.strict_queries import CHECKED_OPTIONS
from service.jobs.event_stream import stream
from service.jobs.schemas import EventPage
from service.schemas.parameters import JobId
from service.schemas.problems import problems

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])
_STREAM_ID = r"^[0-9]{1,19}-[0-9]{1,19}$"
_EVENT_STREAM = "text/event-stream"


@router.get(
    "/{job_id}/events",
    operation_id="get_events",
    summary="Get the events of a job",
    response_model=EventPage,
    responses={
        200: {
            "description": "A page of events, or a stream of events.",
            "content": {
                "application/json": {"example": examples.EVENTS},
                _EVENT_STREAM: {"schema": {"type": "string"}, "example": examples.EVENT_STREAM},
            },
        },
        204: {
            "description": "Only for streams: the client has seen the last event of a job that has ended. An "
            "`EventSource` does not reconnect."
        },
        **problems(404, 422, 503),
    },
)
async def get_events(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    notifications: NotificationsDep,
    settings: SettingsDep,
    keys: KeysDep,
    after: Annotated[
        str | None, Query(pattern=_STREAM_ID, description="Only events after the event with this id.")
    ] = None,
    page_size: Annotated[
        int, Query(ge=1, le=1000, description="Only for JSON: the maximum number of events.")
    ] = 100,
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="Like `after`, and used instead of it. Browsers send it."),
    ] = None,
) -> Response:
    """Get the events as JSON, or with `Accept: text/event-stream` as a stream of Server-Sent Events.

    The events are `state`, `incumbent`, `bound`, `log` and `done`. The stream starts after the event with the
    given id, or with the oldest event that is kept, and continues until the job ends. If events in between
    were dropped, the first event is `resync`. A client that reconnects after the last event of a job that has
    ended gets 204.
    """
    if last_event_id:
        if not re.fullmatch(_STREAM_ID, last_event_id):
            raise invalid(FieldError("/header/Last-Event-ID", "PATTERN", "This is not the id of an event."))
        after = last_event_id
    if not prefers(request, _EVENT_STREAM, "application/json"):
        page = await run_in_threadpool(store.jobs.events, caller.tenant, job_id, after, page_size)
        return json_response(
            EventPage.model_construct(
                items=page.events,
                last_event_id=page.events[-1].id if page.events else after,
                resync=page.resync,
                ended=page.ended,
            )
        )
    page = await run_in_threadpool(store.jobs.events, caller.tenant, job_id, after, 1)
    if after is not None and page.ended and not page.events:
        return Response(status_code=204)
    if notifications.is_full(caller.tenant):
        raise unavailable(
            f"Too many requests are waiting for changes; the limit is {settings.max_waiting:,}, shared by "
            "all tenants (LITERATI_MAX_WAITING). Get the events as JSON, or try again."
        )
    events = stream(
        store,
        notifications,
        caller.tenant,
        job_id,
        after,
        keep_alive=settings.keep_alive_seconds,
        allowed=lambda: keys.knows(caller.key_id),
    )
    return EventSourceResponse(events, headers={"X-Accel-Buffering": "no"})
