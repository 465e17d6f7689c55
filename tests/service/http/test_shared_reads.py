"""Requests that read the same thing at the same time share one read, and never get an old answer."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from service.http.shared_reads import SharedReads


class Source:
    """A value and a read of it that can be held back."""

    def __init__(self) -> None:
        self.value = 0
        self.reads = 0
        self.held = threading.Event()
        self.may_end = threading.Event()

    def read(self) -> int:
        found = self.value
        self.reads += 1
        self.held.set()
        assert self.may_end.wait(10)
        return found


def run(test: Callable[[SharedReads, Source], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test(SharedReads(), Source()))


def test_requests_at_the_same_time_share_a_read() -> None:
    async def test(reads: SharedReads, source: Source) -> None:
        source.may_end.set()
        assert await asyncio.gather(*(reads.read("a", source.read) for _ in range(50))) == [0] * 50
        assert source.reads == 1

    run(test)


def test_a_request_never_shares_a_read_that_has_begun() -> None:
    async def test(reads: SharedReads, source: Source) -> None:
        first = asyncio.create_task(reads.read("a", source.read))
        await asyncio.to_thread(source.held.wait, 10)
        source.value = 1
        later = [asyncio.create_task(reads.read("a", source.read)) for _ in range(3)]
        await asyncio.sleep(0.05)
        source.may_end.set()
        assert await first == 0
        assert await asyncio.gather(*later) == [1, 1, 1]
        assert source.reads == 2

    run(test)


def test_reads_of_different_keys_do_not_wait_for_each_other() -> None:
    async def test(reads: SharedReads, source: Source) -> None:
        first = asyncio.create_task(reads.read("a", source.read))
        await asyncio.to_thread(source.held.wait, 10)
        assert await reads.read("b", lambda: 7) == 7
        source.may_end.set()
        assert await first == 0

    run(test)


def test_a_cancelled_request_does_not_end_the_read_of_others() -> None:
    async def test(reads: SharedReads, source: Source) -> None:
        tasks = [asyncio.create_task(reads.read("a", source.read)) for _ in range(2)]
        await asyncio.to_thread(source.held.wait, 10)
        tasks[0].cancel()
        await asyncio.sleep(0)
        source.may_end.set()
        assert await tasks[1] == 0

    run(test)


def test_an_error_reaches_every_request_and_the_next_one_reads_again() -> None:
    def fail() -> int:
        raise ConnectionError

    async def test(reads: SharedReads, source: Source) -> None:
        for found in await asyncio.gather(*(reads.read("a", fail) for _ in range(3)), return_exceptions=True):
            assert isinstance(found, ConnectionError)
        with pytest.raises(ConnectionError):
            await reads.read("a", fail)
        source.may_end.set()
        assert await reads.read("a", source.read) == 0

    run(test)


def test_a_failed_read_whose_requests_are_gone_is_no_message(caplog: pytest.LogCaptureFixture) -> None:
    """A client that leaves while its record is deleted must not look like a fault of the server."""

    async def test(reads: SharedReads, source: Source) -> None:
        def fail() -> int:
            source.read()
            raise ConnectionError

        task = asyncio.create_task(reads.read("a", fail))
        await asyncio.to_thread(source.held.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        source.may_end.set()
        next_one = reads.read("a", lambda: 1)  # begins when the first has ended
        assert await next_one == 1

    run(test)
    gc.collect()  # asyncio complains when it deletes a task whose exception nobody has seen
    assert caplog.text == ""


def test_nothing_is_kept_when_all_reads_have_ended() -> None:
    async def test(reads: SharedReads, source: Source) -> None:
        source.may_end.set()
        await asyncio.gather(*(reads.read(key, source.read) for key in (*range(20), *range(20))))
        assert source.reads == 20
        assert not reads._waiting
        assert not reads._running

    run(test)
