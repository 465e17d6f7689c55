"""Limit what runs at once in this process, so that tenants take turns for it."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """A semaphore whose next free slot goes to the waiting tenant that holds the fewest.

    Among equals it goes to the one that has not had a turn for longest. It belongs to one event loop.
    `per_tenant` keeps the last slots free for other tenants.
    """

    def __init__(self, slots: int, *, per_tenant: int | None = None) -> None:
        self._free = slots
        self._per_tenant = slots if per_tenant is None else per_tenant
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._turns = 0  # given so far
        self._last: dict[str, int] = {}  # turn of each tenant, since all slots were free

    @asynccontextmanager
    async def slot(self, tenant: str) -> AsyncIterator[None]:
        await self._acquire(tenant)
        try:
            yield
        finally:
            self._release(tenant)

    async def _acquire(self, tenant: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(tenant, turn)
            else:  # it came in the moment in which the request was given up
                self._release(tenant)
            raise

    def _release(self, tenant: str) -> None:
        self._free += 1
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        self._grant()
        if not self._running:
            self._last.clear()

    def _grant(self) -> None:
        while self._free:
            able = [tenant for tenant in self._waiting if self._running[tenant] < self._per_tenant]
            if not able:
                return
            tenant = min(able, key=lambda tenant: (self._running[tenant], self._last.get(tenant, 0)))
            turn = self._waiting[tenant].popleft()
            if not self._waiting[tenant]:
                del self._waiting[tenant]
            if not turn.cancelled():
                self._free -= 1
                self._running[tenant] += 1
                self._turns += 1
                self._last[tenant] = self._turns
                turn.set_result(None)

    def _forget(self, tenant: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(tenant, deque())
        if turn in turns:
            turns.remove(turn)
            if not turns:
                del self._waiting[tenant]
