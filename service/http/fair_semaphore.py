"""Limit concurrent work in this process, with fair shares for the tenants."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairSemaphore:
    """A semaphore of one event loop whose next slot goes to the waiting tenant that holds the fewest.

    Among equals it goes to the tenant whose last slot was granted earliest. `per_tenant` limits the slots
    of one tenant.
    """

    def __init__(self, slots: int, *, per_tenant: int | None = None) -> None:
        self._free = slots
        self._per_tenant = slots if per_tenant is None else per_tenant
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._granted = 0  # number of slots granted so far
        self._last_grant: dict[str, int] = {}  # of each tenant, since all slots were free

    @asynccontextmanager
    async def slot(self, tenant: str) -> AsyncIterator[None]:
        """Hold a slot while the context lasts."""
        await self._acquire(tenant)
        try:
            yield
        finally:
            self._release(tenant)

    async def _acquire(self, tenant: str) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(granted)
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.cancelled():
                self._forget(tenant, granted)
            else:  # the slot was granted in the moment of the cancellation
                self._release(tenant)
            raise

    def _release(self, tenant: str) -> None:
        self._free += 1
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        self._grant()
        if not self._running:
            self._last_grant.clear()

    def _grant(self) -> None:
        while self._free:
            eligible = [tenant for tenant in self._waiting if self._running[tenant] < self._per_tenant]
            if not eligible:
                return
            tenant = min(
                eligible, key=lambda tenant: (self._running[tenant], self._last_grant.get(tenant, 0))
            )
            granted = self._waiting[tenant].popleft()
            if not self._waiting[tenant]:
                del self._waiting[tenant]
            if not granted.cancelled():
                self._free -= 1
                self._running[tenant] += 1
                self._granted += 1
                self._last_grant[tenant] = self._granted
                granted.set_result(None)

    def _forget(self, tenant: str, granted: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(tenant, deque())
        if granted in waiting:
            waiting.remove(granted)
            if not waiting:
                del self._waiting[tenant]
