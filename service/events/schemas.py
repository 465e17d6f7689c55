"""The schema of a page of events, and the query options and headers of the routes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Query
from pydantic import BaseModel, Field

from service.schemas.problems import problems
from worker.domain.jobs import Event

STREAM_ID = r"^[0-9]{1,19}-[0-9]{1,19}$"
EVENT_STREAM = "text/event-stream"

After = Annotated[
    str | None, Query(pattern=STREAM_ID, description="Only events after the event with this id.")
]
EventCount = Annotated[int, Query(ge=1, le=1000, description="Only for JSON: the maximum number of events.")]
LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", description="Like `after`, and used instead of it. Browsers send it."),
]


class EventPage(BaseModel):
    items: list[Event]
    last_event_id: Annotated[str | None, Field(description="Send it as `after` to get the next page.")]
    resync: Annotated[
        bool,
        Field(description="Whether events after `after` were dropped; get the job or sweep for its state."),
    ]
    ended: Annotated[bool, Field(description="Whether the job or sweep has ended and this is its last page.")]


def event_responses(kind: str, page: dict[str, Any], stream: str) -> dict[int | str, dict[str, Any]]:
    """Return the `responses` of a route with these examples."""
    return {
        200: {
            "description": "A page of events, or a stream of events.",
            "content": {
                "application/json": {"example": page},
                EVENT_STREAM: {"schema": {"type": "string"}, "example": stream},
            },
        },
        204: {
            "description": f"Only for streams: the client has seen the last event of a {kind} that has "
            "ended. An `EventSource` does not reconnect."
        },
        **problems(404, 422, 503),
    }
