"""Tokens that this process has fetched from the store's buckets, to be spent without asking it every time.

A question to the store for each request would cost as much as predicting a row. So tokens are fetched by the
handful, those for the next requests while the last of them are spent; the buckets stay the only source.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from dataclasses import dataclass

import structlog
from redis.exceptions import RedisError

from worker.store.buckets import Bucket, Buckets

log = structlog.get_logger(__name__)
SHARE = 0.05  # seconds' worth of tokens in a handful
MOST_PURSES = 10_000


@dataclass(frozen=True)
class Spent:
    allowed: bool
    left: int
    after: float  # seconds: until it is allowed again, or until all tokens are back


class Purse:
    def __init__(self, buckets: Buckets, bucket: Bucket) -> None:
        self._buckets = buckets
        self._bucket = bucket
        self._handful = max(1, min(int(bucket.rate * SHARE), bucket.burst // 4))
        self._tokens = 0
        self._left = bucket.burst  # in the bucket, when last heard
        self._full_at = 0.0
        self._empty_until = 0.0
        self._fetching: asyncio.Task[None] | None = None

    async def spend(self) -> Spent:
        loop = asyncio.get_running_loop()
        while self._tokens == 0:
            wait = self._empty_until - loop.time()
            if wait > 0:
                return Spent(False, 0, wait)
            await asyncio.shield(self._fetch())
        self._tokens -= 1
        if 2 * self._tokens < self._handful > 1:
            self._fetch()
        return Spent(True, self._left + self._tokens, max(0.0, self._full_at - loop.time()))

    def _fetch(self) -> asyncio.Task[None]:
        """One at a time; who waits for it may go away."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._ask())
        return self._fetching

    async def _ask(self) -> None:
        now = asyncio.get_running_loop().time()
        try:
            taken = await self._buckets.take(self._bucket, self._handful)
        except (RedisError, OSError) as error:
            # Limits are for good days; what needs the store says by itself that it is away.
            log.warning("rate limits not asked for", error=type(error).__name__)
            self._tokens += self._handful
        else:
            self._tokens += taken.given
            self._left = taken.left
            self._full_at = now + taken.full_after
            if not taken.given:
                self._empty_until = now + max(taken.one_after, 0.001)
        finally:
            self._fetching = None


class Purses:
    """Belongs to one event loop. Who was not seen for long goes when there are too many."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets
        self._purses: OrderedDict[str, Purse] = OrderedDict()

    def of(self, kind: str, who: str, rate: float, burst: int) -> Purse:
        name = f"{kind}:{who}"
        purse = self._purses.get(name)
        if purse is None:
            purse = self._purses[name] = Purse(self._buckets, Bucket(name, rate, burst))
            if len(self._purses) > MOST_PURSES:
                self._purses.popitem(last=False)
        else:
            self._purses.move_to_end(name)
        return purse


def whole_seconds(seconds: float) -> int:
    return max(1, math.ceil(seconds))
