"""Read lists page by page, newest record first."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import redis

from worker.domain.errors import InvalidTokenError
from worker.store.atomic_reads import AtomicReads
from worker.store.packed_records import FIRST_PIECES, long_form

Item = TypeVar("Item")
Filter = Callable[[Sequence[str]], Container[str]]
SCAN_BATCH = 500
MAX_SCANNED = 5_000  # records that one call examines
OLDER_SCORES = (b"scores", b"metrics")  # version 0.1.0 stored the scores only among the metrics


@dataclass(frozen=True)
class Page(Generic[Item]):
    items: list[Item]
    next_page_token: str | None = None


def newest_page(
    client: redis.Redis, indexes: Sequence[str], size: int, token: str | None
) -> tuple[list[str], str | None]:
    """Return the ids of a page and the token of the next page.

    The indexes are sorted sets by sequence number. A token holds the last number of a page, so pages do not
    shift when records are added or deleted. At most a page of each index is read, so the cost does not depend
    on the number of records.
    """
    ranked = _entries(client, indexes, size + 1, None if token is None else _number(token))
    ids = [member for member, _ in ranked[:size]]
    return ids, _token(ranked[size - 1][1]) if len(ranked) > size else None


def filtered_page(
    client: redis.Redis, indexes: Sequence[str], size: int, token: str | None, choose: Filter
) -> tuple[list[str], str | None]:
    """Return a page of the ids that `choose` selects.

    One call examines at most MAX_SCANNED ids. Therefore a page may have fewer ids than requested, even none,
    although there is a next page.
    """
    below = None if token is None else _number(token)
    ids: list[str] = []
    for _ in range(MAX_SCANNED // SCAN_BATCH):
        entries = _entries(client, indexes, SCAN_BATCH + 1, below)
        scanned = entries[:SCAN_BATCH]
        selected = choose([member for member, _ in scanned])
        for member, number in scanned:
            below = number
            ids += [member] if member in selected else []
            if len(ids) == size:
                return ids, None if number == entries[-1][1] else _token(number)
        if len(entries) <= SCAN_BATCH:
            return ids, None
    return ids, None if below is None else _token(below)


def _entries(
    client: redis.Redis, indexes: Sequence[str], size: int, below: int | None
) -> list[tuple[str, int]]:
    """Return ids with their sequence numbers, newest first."""
    top = "+inf" if below is None else f"({below}"
    reads = AtomicReads(client)
    for index in indexes:
        reads.zrevrangebyscore(index, top, "-inf", start=0, num=size, withscores=True)
    found: dict[bytes, int] = {}
    for entries in reads.execute():
        found.update((member, int(score)) for member, score in entries)
    ranked = sorted(found.items(), key=lambda entry: -entry[1])
    return [(member.decode(), number) for member, number in ranked[:size]]


def read_fields(
    client: redis.Redis,
    keys: Sequence[str],
    names: Sequence[bytes],
    *,
    older: tuple[bytes, bytes] | None = None,
) -> list[dict[bytes, bytes]]:
    """Return these fields of each record, without those that it lacks.

    If `archive` is among the names, archived records are returned with all fields that Redis has of them.
    `older` names a field that version 0.1.0 did not store, and the field to read from its records instead.
    """
    if b"archive" in names:
        names = (*names, *FIRST_PIECES)
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        pipeline.hmget(key, list(names))
    found = [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in pipeline.execute()
    ]
    long = [place for place, record in enumerate(found) if FIRST_PIECES[-1] in record]  # perhaps incomplete
    for place in long:
        pipeline.hgetall(keys[place])
    for place, record in zip(long, pipeline.execute() if long else (), strict=True):
        found[place] = record
    found = [long_form(record) for record in found]
    if older is not None:
        lacking = [
            (key, record)
            for key, record in zip(keys, found, strict=True)
            if record and older[0] not in record
        ]
        more = read_fields(client, [key for key, _ in lacking], older[1:])
        for (_, record), fields in zip(lacking, more, strict=True):
            record.update(fields)
    return found


def _token(number: int) -> str:
    return base64.urlsafe_b64encode(struct.pack(">Q", number)).decode().rstrip("=")


def _number(token: str) -> int:
    try:
        (number,) = struct.unpack(">Q", base64.b64decode(token + "=", altchars=b"-_", validate=True))
    except (ValueError, struct.error):  # not Base64, or not eight bytes
        raise InvalidTokenError(token) from None
    return int(number)
