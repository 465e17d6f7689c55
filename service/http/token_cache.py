"""Tokens of the store's rate limits that this process has fetched in advance.

Asking the store for every request would take as long as predicting a row, so tokens are fetched in batches,
the next batch while the last half is used. The store's buckets remain the only source of tokens.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

import structlog
from redis.exceptions import RedisError

from worker.store.token_buckets import Bucket, Buckets

log = structlog.get_logger(__name__)
BATCH_SECONDS = 0.05  # a batch has the tokens of this time


@dataclass(frozen=True)
class RateLimitResult:
    """Whether a request is allowed, and what the caller has left."""

    allowed: bool
    remaining: int
    reset_seconds: float  # until a request is allowed again, or until all tokens are back


class TokenCache:
    """The tokens fetched from one bucket, for requests of one event loop."""

    def __init__(self, buckets: Buckets, bucket: Bucket) -> None:
        self._buckets = buckets
        self._bucket = bucket
        self._batch = max(1, min(int(bucket.rate * BATCH_SECONDS), bucket.burst // 4))
        self._tokens = 0
        self._left = bucket.burst  # in the bucket after the last fetch
        self._full_at = 0.0
        self._empty_until = 0.0
        self._fetch_task: asyncio.Task[None] | None = None

    async def acquire(self) -> RateLimitResult:
        """Use a token if there is one."""
        loop = asyncio.get_running_loop()
        while self._tokens == 0:
            wait = self._empty_until - loop.time()
            if wait > 0:
                return RateLimitResult(False, 0, wait)
            await asyncio.shield(self._start_fetch())  # a cancelled request must not cancel it for the others
        self._tokens -= 1
        if 2 * self._tokens < self._batch > 1:
            self._start_fetch()
        return RateLimitResult(True, self._left + self._tokens, max(0.0, self._full_at - loop.time()))

    def _start_fetch(self) -> asyncio.Task[None]:
        if self._fetch_task is None:
            self._fetch_task = asyncio.create_task(self._fetch())
        return self._fetch_task

    async def _fetch(self) -> None:
        now = asyncio.get_running_loop().time()
        try:
            taken = await self._buckets.take(self._bucket, self._batch)
        except (RedisError, OSError) as error:
            # Requests are allowed while the store is unavailable; those that need it get 503 in any case.
            log.warning("rate limits unavailable", error=type(error).__name__)
            self._tokens += self._batch
        else:
            self._tokens += taken.given
            self._left = taken.left
            self._full_at = now + taken.full_after
            if not taken.given:
                self._empty_until = now + max(taken.one_after, 0.001)
        finally:
            self._fetch_task = None


def whole_seconds(seconds: float) -> int:
    """Return the seconds rounded up, at least 1."""
    return max(1, math.ceil(seconds))
