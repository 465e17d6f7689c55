"""Open connections to the store: to one server, or to the primary that sentinels name."""

# The sentinels of redis-py have no types.
# mypy: allow-untyped-calls

from __future__ import annotations

import copy
import threading
import time
from contextlib import suppress
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
# A primary that is replaced while it lives takes writes for about ten seconds more, until the sentinels make
# it a replica and it discards them. So the sentinels are asked this often which server is the primary.
CHECK_SECONDS = 1.0


def open_client(url: str, **options: Any) -> redis.Redis:
    """Return a client whose options are those of redis-py. The first command connects."""
    address = sentinel_address(url)
    if address is None:
        return redis.Redis.from_url(url, **options)
    sentinels = _Sentinel(address.hosts, sentinel_kwargs=sentinel_options(address))
    client: redis.Redis = sentinels.master_for(
        address.primary, connection_pool_class=_Pool, **_server_options(address), **options
    )
    return client


def open_async_client(url: str, **options: Any) -> redis.asyncio.Redis:
    """Return the same for asyncio. A client belongs to one event loop."""
    address = sentinel_address(url)
    if address is None:
        return redis.asyncio.Redis.from_url(url, **options)
    asking = {**sentinel_options(address), "retry": redis.asyncio.retry.Retry(NoBackoff(), 0)}
    sentinels = _AsyncSentinel(address.hosts, sentinel_kwargs=asking)
    client: redis.asyncio.Redis = sentinels.master_for(
        address.primary, connection_pool_class=_AsyncPool, **_server_options(address), **options
    )
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
        start = time.monotonic()
        try:
            address: tuple[str, int] = super(_Sentinel, asked).discover_master(service_name)
        except redis.sentinel.MasterNotFoundError:
            raise _no_primary(service_name, time.monotonic() - start) from None
        self.sentinels = asked.sentinels
        return address


class _AsyncSentinel(redis.asyncio.sentinel.Sentinel):
    async def discover_master(self, service_name: str) -> tuple[str, int]:
        asked = copy.copy(self)
        asked.sentinels = list(self.sentinels)
        start = time.monotonic()
        try:
            address: tuple[str, int] = await super(_AsyncSentinel, asked).discover_master(service_name)
        except redis.asyncio.sentinel.MasterNotFoundError:
            raise _no_primary(service_name, time.monotonic() - start) from None
        self.sentinels = asked.sentinels
        return address


def _no_primary(name: str, seconds: float) -> redis.RedisError:
    """Return an error without the options of the connections, which contain passwords.

    Sentinels that do not answer are a timeout, after which a command is not tried again.
    """
    if seconds >= SENTINEL_SECONDS:
        return redis.TimeoutError("The sentinels do not answer.")
    return redis.sentinel.MasterNotFoundError(f"No sentinel names a primary {name!r}.")


class _Pool(redis.sentinel.SentinelConnectionPool):
    """Close connections to a server that is no longer the primary, before they are used."""

    _check_at = 0.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._checking = threading.Lock()

    def get_connection(self, *arguments: Any, **options: Any) -> Any:
        if time.monotonic() >= self._check_at and self._checking.acquire(blocking=False):
            try:
                with suppress(redis.RedisError):  # without sentinels the connections that exist are used
                    self.get_master_address()  # closes idle connections to another server
            finally:
                self._check_at = time.monotonic() + CHECK_SECONDS
                self._checking.release()
        return super().get_connection(*arguments, **options)

    def disconnect(self, inuse_connections: bool = True) -> None:
        super().disconnect(inuse_connections)
        if inuse_connections:  # the client is closed
            self.sentinel_manager.close()


class _AsyncPool(redis.asyncio.sentinel.SentinelConnectionPool):
    """Do the same in an event loop."""

    _check_at = 0.0

    async def get_connection(self, *arguments: Any, **options: Any) -> Any:
        if time.monotonic() >= self._check_at:
            self._check_at = time.monotonic() + CHECK_SECONDS
            with suppress(redis.RedisError):
                await self.get_master_address()
        return await super().get_connection(*arguments, **options)

    async def disconnect(self, inuse_connections: bool = True) -> None:
        await super().disconnect(inuse_connections)
        if inuse_connections:
            for sentinel in self.sentinel_manager.sentinels:
                await sentinel.aclose()
