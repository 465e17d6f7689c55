"""Read the event stream of a job or a sweep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import redis

from worker.domain import errors
from worker.domain.jobs import Event
from worker.store import codecs
from worker.store.archive_files import EventEntry
from worker.store.archives import Archives
from worker.store.atomic_reads import AtomicReads

_EVENT_ID = re.compile(r"[0-9]{1,19}(-[0-9]{1,19})?")
_TERMINAL = (b"SUCCEEDED", b"CANCELLED", b"FAILED")


@dataclass(frozen=True)
class EventPage:
    events: list[Event]
    resync: bool  # whether events between `after` and these were dropped
    ended: bool  # whether the job or sweep has ended and no events follow


def read_events(
    client: redis.Redis,
    key: str,
    tenant: str,
    after: str | None,
    count: int,
    archives: Archives | None = None,
) -> EventPage | None:
    """Return the events after `after` of the record at `key`; None if the tenant has no such record.

    Those of an archived job are read from `archives`; the caller needs `following_archives` then.
    """
    if after is not None and not _EVENT_ID.fullmatch(after):
        raise errors.InvalidTokenError(after)
    stream = f"{key}:events"
    reads = AtomicReads(client)
    reads.hmget(key, ["tenant", "state", "events", "archive"])
    reads.xlen(stream)
    reads.xrange(stream, count=1)
    reads.xrange(stream, min="-" if after is None else f"({after}", count=count)
    (owner, state, emitted, archive), kept, oldest, entries = reads.execute()
    if owner != tenant.encode():
        return None
    if archive and archives is not None:
        archived = archives.open(key, archive)
        emitted, stored = archived.fields()[b"events"], archived.events()
        kept, oldest, entries = len(stored), stored[:1], _entries_after(stored, after, count)
    dropped = kept < int(emitted) and (
        after is None or _event_order(after) < _event_order(oldest[0][0].decode())
    )
    events = [codecs.event(*entry) for entry in entries]
    return EventPage(events, dropped, state in _TERMINAL and (not events or events[-1].type == "done"))


def _entries_after(stored: Sequence[EventEntry], after: str | None, count: int) -> Sequence[EventEntry]:
    if after is not None:
        stored = [entry for entry in stored if _event_order(entry[0].decode()) > _event_order(after)]
    return stored[:count]


def _event_order(event_id: str) -> tuple[int, int]:
    milliseconds, _, number = event_id.partition("-")
    return int(milliseconds), int(number or 0)
