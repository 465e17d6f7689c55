"""Lists, newest first, a page at a time."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import redis

from worker.errors import BadTokenError

from . import records

Item = TypeVar("Item")
Choose = Callable[[Sequence[str]], Container[str]]
LOOKED_AT_ONCE = 500
MOST_LOOKED_AT = 5_000  # by one call


@dataclass(frozen=True)
class Page(Generic[Item]):
    items: list[Item]
    next_page_token: str | None = None


def newest(
    client: redis.Redis, indexes: Sequence[str], size: int, token: str | None
) -> tuple[list[str], str | None]:
    """Ids from sorted sets by sequence number, those after the token's, and the token of the next page.

    A token holds the number of the last one seen, so a page does not shift when others come or go. At most a
    page of each index is read and merged here: the work does not grow with what is stored.
    """
    ranked = _entries(client, indexes, size + 1, None if token is None else _number(token))
    ids = [member for member, _ in ranked[:size]]
    return ids, _token(ranked[size - 1][1]) if len(ranked) > size else None


def chosen(
    client: redis.Redis, indexes: Sequence[str], size: int, token: str | None, choose: Choose
) -> tuple[list[str], str | None]:
    """As `newest`, of those ids that `choose` wants.

    So that the work of one call is bounded, at most MOST_LOOKED_AT are looked at: a page may hold fewer ids
    than it could, even none, and still have a next one.
    """
    below = None if token is None else _number(token)
    ids: list[str] = []
    for _ in range(MOST_LOOKED_AT // LOOKED_AT_ONCE):
        entries = _entries(client, indexes, LOOKED_AT_ONCE + 1, below)
        looked_at = entries[:LOOKED_AT_ONCE]
        wanted = choose([member for member, _ in looked_at])
        for member, number in looked_at:
            below = number
            ids += [member] if member in wanted else []
            if len(ids) == size:
                return ids, None if number == entries[-1][1] else _token(number)
        if len(entries) <= LOOKED_AT_ONCE:
            return ids, None
    return ids, None if below is None else _token(below)


def _entries(
    client: redis.Redis, indexes: Sequence[str], size: int, below: int | None
) -> list[tuple[str, int]]:
    """Ids with their sequence numbers, the newest first."""
    top = "+inf" if below is None else f"({below}"
    pipeline = client.pipeline(transaction=True)
    for index in indexes:
        pipeline.zrevrangebyscore(index, top, "-inf", start=0, num=size, withscores=True)
    found: dict[bytes, int] = {}
    for entries in pipeline.execute():
        found.update((member, int(score)) for member, score in entries)
    ranked = sorted(found.items(), key=lambda entry: -entry[1])
    return [(member.decode(), number) for member, number in ranked[:size]]


def fields(client: redis.Redis, keys: Sequence[str], names: Sequence[bytes]) -> list[dict[bytes, bytes]]:
    """These fields of each record, as far as it has them; nothing of a record that is not there."""
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        pipeline.hmget(key, list(names))
    return [records.present(names, values) for values in pipeline.execute()]


def summaries(client: redis.Redis, keys: Sequence[str], names: Sequence[bytes]) -> list[dict[bytes, bytes]]:
    """As `fields`, with the scores of a job or a model; of version 0.1.0 they are read from its metrics."""
    found = fields(client, keys, names)
    older = [place for place, record in enumerate(found) if record and b"scores" not in record]
    if older:
        metrics = fields(client, [keys[place] for place in older], (b"metrics",))
        for place, more in zip(older, metrics, strict=True):
            found[place].update(more)
    return found


def _token(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(8, "big")).decode().rstrip("=")


def _number(token: str) -> int:
    try:
        data = base64.b64decode(token + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadTokenError(token) from None
    if len(data) != 8:
        raise BadTokenError(token)
    return int.from_bytes(data, "big")
