"""The route of a sweep's events, as a stream or as pages of JSON."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from service.dependencies import CallerDep, ServicesDep
from service.events.responses import event_response
from service.events.schemas import After, EventCount, EventPage, LastEventId, event_responses
from service.events.stream import EventSource
from service.examples import sweeps as examples
from service.http.strict_queries import CHECKED_OPTIONS
from service.schemas.parameters import SweepId

router = APIRouter(prefix="/v1/sweeps", tags=["sweeps"], dependencies=[CHECKED_OPTIONS])


@router.get(
    "/{sweep_id}/events",
    operation_id="get_sweep_events",
    summary="Get the events of a sweep",
    response_model=EventPage,
    responses=event_responses("sweep", examples.EVENTS, examples.EVENT_STREAM),
)
async def get_sweep_events(
    request: Request,
    sweep_id: SweepId,
    caller: CallerDep,
    services: ServicesDep,
    after: After = None,
    page_size: EventCount = 100,
    last_event_id: LastEventId = None,
) -> Response:
    """Get the events as JSON, or with `Accept: text/event-stream` as a stream of Server-Sent Events.

    The events are `state`, `trial` (a job of the sweep has ended) and `done`. The stream starts after the
    event with the given id, or with the oldest event that is kept, and continues until the sweep ends. If
    events in between were dropped, the first event is `resync`. A client that reconnects after the last event
    of a sweep that has ended gets 204.
    """
    source = EventSource("sweep", sweep_id, caller.tenant, services.store.sweeps.events)
    return await event_response(
        request, services, source, after=after, page_size=page_size, last_event_id=last_event_id
    )
