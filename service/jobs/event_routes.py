"""The events of a job: as a stream, or as pages of JSON."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from service.conditional import json_answer
from service.dependencies import CallerDep, HubDep, KeysDep, SettingsDep, StoreDep
from service.errors import FieldError, invalid, unavailable
from service.event_stream import stream
from service.negotiation import prefers
from service.query_options import CHECKED_OPTIONS
from service.schemas import examples
from service.schemas.jobs import EventPage
from service.schemas.problem import problems
from service.schemas.requests import JobId

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])
_STREAM_ID = r"^[0-9]{1,19}-[0-9]{1,19}$"
_EVENT_STREAM = "text/event-stream"


@router.get(
    "/{job_id}/events",
    operation_id="get_events",
    summary="What happens to a job",
    response_model=EventPage,
    responses={
        200: {
            "description": "A page of events, or the stream of them.",
            "content": {
                "application/json": {"example": examples.EVENTS},
                _EVENT_STREAM: {"schema": {"type": "string"}, "example": examples.EVENT_STREAM},
            },
        },
        204: {
            "description": "As a stream, to a client that has seen the last event: there is nothing to come "
            "back for, and an `EventSource` does not."
        },
        **problems(404, 422, 503),
    },
)
async def get_events(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    hub: HubDep,
    settings: SettingsDep,
    keys: KeysDep,
    after: Annotated[
        str | None, Query(pattern=_STREAM_ID, description="Only events after the one of this id.")
    ] = None,
    page_size: Annotated[int, Query(ge=1, le=1000, description="Of the JSON form: how many at most.")] = 100,
    last_event_id: Annotated[
        str | None,
        Header(alias="Last-Event-ID", description="As `after`, and before it; browsers send it."),
    ] = None,
) -> Response:
    """`Accept: text/event-stream` gives Server-Sent Events: `state`, `incumbent`, `bound`, `log`, `done`.

    The stream begins after the event of the given id, or with the oldest that is kept, and goes on until the
    job ends. If events in between were dropped, it says `resync` first. A client that comes back after the
    last event of a job that has ended gets 204. Otherwise this is a page of the same events as JSON.
    """
    if last_event_id:
        if not re.fullmatch(_STREAM_ID, last_event_id):
            raise invalid(FieldError("/header/Last-Event-ID", "PATTERN", "Not the id of an event."))
        after = last_event_id
    if not prefers(request, _EVENT_STREAM, "application/json"):
        page = await run_in_threadpool(store.jobs.events, caller.tenant, job_id, after, page_size)
        return json_answer(
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
    if hub.crowded(caller.tenant):
        most = f"at most {settings.max_waiting:,} may, shared by the tenants (LITERATI_MAX_WAITING)"
        raise unavailable(f"Too many requests wait for news: {most}; read the events as JSON, or try again.")
    events = stream(
        store,
        hub,
        caller.tenant,
        job_id,
        after,
        keep_alive=settings.keep_alive_seconds,
        allowed=lambda: keys.knows(caller.key_id),
    )
    return EventSourceResponse(events, headers={"X-Accel-Buffering": "no"})
