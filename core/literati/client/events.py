"""Events of jobs and sweeps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

RESYNC = "resync"
DONE = "done"


@dataclass(frozen=True)
class Event:
    """What happened to a job or sweep.

    The types are `state`, `incumbent`, `bound`, `log`, `trial` and `done`. The type `resync` means that the
    server no longer had some events after the last one; its data is the record as it is now.
    """

    id: str | None  # for `after`; None for `resync`
    type: str
    at: datetime
    data: dict[str, Any]


def read_event(type: str, id: str, data: str) -> Event:
    """Return the event of a message of the stream."""
    fields: dict[str, Any] = json.loads(data)
    at = fields.pop("at", None)
    return Event(id or None, type, datetime.fromisoformat(at) if at else datetime.now(UTC), fields)


def is_after(id: str, last: str | None) -> bool:
    """Return whether the event with this id is later than another one."""
    return last is None or _order(id) > _order(last)


def _order(id: str) -> tuple[int, int]:
    milliseconds, _, number = id.partition("-")
    return int(milliseconds), int(number or 0)
