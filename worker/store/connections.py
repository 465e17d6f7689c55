"""Open connections to the store: to one server, or to the primary that sentinels name."""

from __future__ import annotations

import copy
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.retry
import redis.asyncio.sentinel
import redis.sentinel
from redis.backoff import NoBackoff
from redis.retry import Retry

from worker.store_address import SentinelAddress, sentinel_address

SENTINEL_SECONDS = 1.0  # time limit of an answer of one sentinel; then the next one is asked


def open_client(url: str, **options: Any) -> redis.Redis:
    """Return a client whose options are those of redis-py. The first command connects."""
    address = sentinel_address(url)
    if address is None:
        return redis.Redis.from_url(url, **options)
    sentinels = _Sentinel(address.hosts, sentinel_kwargs=sentinel_options(address))
    client: redis.Redis = sentinels.master_for(address.primary, **_server_options(address), **options)
    return client


def open_async_client(url: str, **options: Any) -> redis.asyncio.Redis:
    """Return the same for asyncio. A client belongs to one event loop."""
    address = sentinel_address(url)
    if address is None:
        return redis.asyncio.Redis.from_url(url, **options)
    asking = {**sentinel_options(address), "retry": redis.asyncio.retry.Retry(NoBackoff(), 0)}
    sentinels = _AsyncSentinel(address.hosts, sentinel_kwargs=asking)
    client: redis.asyncio.Redis = sentinels.master_for(address.primary, **_server_options(address), **options)
    return client


def sentinel_options(address: SentinelAddress) -> dict[str, Any]:
    """Return the options of connections to the sentinels. One that is gone is not asked twice."""
    return {
        **address.sentinel_credentials,
        **_tls_options(address),
        "socket_timeout": SENTINEL_SECONDS,
        "socket_connect_timeout": SENTINEL_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }


def _server_options(address: SentinelAddress) -> dict[str, Any]:
    return {"db": address.database, **address.credentials, **_tls_options(address)}


def _tls_options(address: SentinelAddress) -> dict[str, Any]:
    return {} if address.tls is None else {"ssl": True, **address.tls}


# redis-py moves the sentinel that answered to the front of the list. If two threads or tasks do that at the
# same time, one sentinel is in the list twice and another is lost, so each moves it in a copy of its own.


class _Sentinel(redis.sentinel.Sentinel):
    def discover_master(self, service_name: str) -> tuple[str, int]:
        asked = copy.copy(self)
        asked.sentinels = list(self.sentinels)
        address: tuple[str, int] = super(_Sentinel, asked).discover_master(service_name)
        self.sentinels = asked.sentinels
        return address


class _AsyncSentinel(redis.asyncio.sentinel.Sentinel):
    async def discover_master(self, service_name: str) -> tuple[str, int]:
        asked = copy.copy(self)
        asked.sentinels = list(self.sentinels)
        address: tuple[str, int] = await super(_AsyncSentinel, asked).discover_master(service_name)
        self.sentinels = asked.sentinels
        return address
