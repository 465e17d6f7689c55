"""Token buckets in the store, so that all processes share the same rate limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from worker.store.client import script_source
from worker.store.connections import open_async_client

TIMEOUT_SECONDS = 1.0  # short, because a rate limit is not worth a long wait


@dataclass(frozen=True)
class Bucket:
    name: str
    rate: float  # tokens a second
    burst: int  # the capacity


@dataclass(frozen=True)
class Taken:
    given: int
    left: int
    one_after: float  # seconds until there is a token again
    full_after: float


class Buckets:
    """The token buckets, for use on one event loop. The first call connects to the server."""

    def __init__(self, url: str) -> None:
        self._client = open_async_client(
            url,
            protocol=2,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1),
        )
        self._script: Any = self._client.register_script(script_source("take_tokens"))

    async def take(self, bucket: Bucket, wanted: int) -> Taken:
        """Take as many tokens as there are, up to `wanted`."""
        given, left, one, full = await self._script(args=[bucket.name, bucket.rate, bucket.burst, wanted])
        return Taken(int(given), int(left), int(one) / 1000, int(full) / 1000)

    async def close(self) -> None:
        await self._client.aclose()
