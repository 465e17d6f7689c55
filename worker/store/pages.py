"""Lists, newest first, a page at a time."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import redis

from worker.errors import BadTokenError

Item = TypeVar("Item")


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
    top = "+inf" if token is None else f"({_number(token)}"
    pipeline = client.pipeline(transaction=True)
    for index in indexes:
        pipeline.zrevrangebyscore(index, top, "-inf", start=0, num=size + 1, withscores=True)
    found: dict[bytes, int] = {}
    for entries in pipeline.execute():
        found.update((member, int(score)) for member, score in entries)
    ranked = sorted(found.items(), key=lambda entry: -entry[1])
    ids = [member.decode() for member, _ in ranked[:size]]
    return ids, _token(ranked[size - 1][1]) if len(ranked) > size else None


def hashes(client: redis.Redis, keys: Sequence[str]) -> list[Any]:
    """Those that are there, in one round trip."""
    pipeline = client.pipeline(transaction=False)
    for key in keys:
        pipeline.hgetall(key)
    return pipeline.execute()


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
