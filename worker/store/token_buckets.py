"""Token buckets on the server, for the event loop: the same limits hold in every process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from .client import script_source

SECONDS = 1.0  # that an answer may take: it is only about limits


@dataclass(frozen=True)
class Bucket:
    name: str
    rate: float  # tokens a second
    burst: int  # as many as it holds


@dataclass(frozen=True)
class Taken:
    given: int
    left: int
    one_after: float  # seconds until there is one again
    full_after: float


class Buckets:
    """Belongs to one loop, and connects when first asked."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: redis.Redis | None = None
        self._script: Any = None

    async def take(self, bucket: Bucket, wanted: int) -> Taken:
        """As many as there are, up to those wanted."""
        if self._client is None:
            self._client = redis.Redis.from_url(
                self._url,
                protocol=2,
                socket_timeout=SECONDS,
                socket_connect_timeout=SECONDS,
                retry=Retry(NoBackoff(), 1),
            )
            self._script = self._client.register_script(script_source("take"))
        given, left, one, full = await self._script(args=[bucket.name, bucket.rate, bucket.burst, wanted])
        return Taken(int(given), int(left), int(one) / 1000, int(full) / 1000)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
