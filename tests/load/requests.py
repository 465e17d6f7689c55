"""Send requests to several API processes, and measure them as a client sees them."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter, defaultdict
from typing import Any

import httpx

TIMEOUT_SECONDS = 60.0
PAUSE_SECONDS = 0.2  # before a request is sent again
GIVE_UP_SECONDS = 120.0
RETRIED = frozenset({429, 502, 503, 504})


class Measurements:
    """The seconds of every request by its kind, and why attempts failed."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[tuple[float, float]]] = defaultdict(
            list
        )  # (end of the request, seconds)
        self.failed_attempts: Counter[str] = Counter()

    def add(self, kind: str, seconds: float) -> None:
        self.seconds[kind].append((time.monotonic(), seconds))


class Addresses:
    """The addresses of the API processes. They change when a container is started again."""

    def __init__(self, addresses: list[str]) -> None:
        self.addresses = addresses
        self._turns = itertools.count()

    def next(self) -> str:
        return self.addresses[next(self._turns) % len(self.addresses)]


class TenantClient:
    """A client with the key of a tenant. A request that fails is sent again to the next API process."""

    def __init__(self, addresses: Addresses, key: str, measurements: Measurements) -> None:
        self._addresses = addresses
        self._measurements = measurements
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
            limits=httpx.Limits(max_connections=None),
        )

    async def send(
        self, method: str, path: str, *, kind: str = "", content: Any = None, **headers: str
    ) -> dict[str, Any]:
        """Return the answer. A request with a kind is measured from the first attempt to the answer."""
        start = time.monotonic()
        while True:
            failure = await self._attempt(method, path, content, headers)
            if isinstance(failure, dict):
                if kind:
                    self._measurements.add(kind, time.monotonic() - start)
                return failure
            self._measurements.failed_attempts[failure] += 1
            if time.monotonic() - start > GIVE_UP_SECONDS:
                raise TimeoutError(
                    f"{method} {path} failed for {GIVE_UP_SECONDS:g} s, the last time: {failure}"
                )
            await asyncio.sleep(PAUSE_SECONDS)

    async def _attempt(
        self, method: str, path: str, content: Any, headers: dict[str, str]
    ) -> dict[str, Any] | str:
        """Return the answer, or why there is none."""
        body = {"content": content} if isinstance(content, bytes) else {"json": content}
        try:
            response = await self._client.request(
                method, self._addresses.next() + path, headers=headers, **body
            )
        except httpx.TransportError as error:
            return type(error).__name__
        if response.status_code in RETRIED:
            return f"status {response.status_code}"
        response.raise_for_status()
        return dict(response.json())

    async def close(self) -> None:
        await self._client.aclose()
