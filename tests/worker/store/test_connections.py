"""Test what clients are told when the sentinels name no primary."""

from __future__ import annotations

import asyncio
import socket

import pytest
import redis

from worker.store.connections import open_async_client, open_client

PASSWORDS = ("hidden-password", "other-password")


@pytest.fixture
def url() -> str:
    """Return an address at which no sentinel listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    return f"redis+sentinel://:{PASSWORDS[0]}@{host}/mymaster/0?sentinel_password={PASSWORDS[1]}"


def check(error: redis.RedisError) -> None:
    """Check that the message is a sentence without the options of the connections."""
    assert str(error) == "No sentinel names a primary 'mymaster'."
    assert not any(password in repr(error) for password in PASSWORDS)


def test_no_sentinel_answers(url: str) -> None:
    with open_client(url) as client, pytest.raises(redis.ConnectionError) as raised:
        client.ping()
    check(raised.value)


def test_no_sentinel_answers_in_an_event_loop(url: str) -> None:
    async def ping() -> None:
        client = open_async_client(url)
        try:
            await client.ping()
        finally:
            await client.aclose()

    with pytest.raises(redis.ConnectionError) as raised:
        asyncio.run(ping())
    check(raised.value)
