"""Generate load for a server. The generator is the same for every server.

Each of its keep-alive connections sends the next request when the response to the last one is complete.

    python -m benchmarks.service.load PORT CONNECTIONS SECONDS CORE < request > result.json

The request on standard input is sent unchanged, so the generator needs only a few microseconds per request.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from typing import cast

import uvloop

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_WARM_UP = 0.2  # additional share of the time before counting begins


@dataclass
class Tally:
    """The counts of all connections."""

    counting: bool = False
    seconds: list[float] = field(default_factory=list)
    failures: int = 0
    first_response: bytes = b""


class Connection(asyncio.Protocol):
    """A connection that sends the request again and again."""

    def __init__(self, request: bytes, tally: Tally) -> None:
        self.request = request
        self.tally = tally
        self.transport: asyncio.Transport | None = None
        self.buffer = bytearray()
        self.expected_bytes = 0  # length of the response, or 0 if it is not known yet
        self.sent_at = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's class is not a subclass
        self._send()

    def _send(self) -> None:
        assert self.transport is not None
        self.buffer.clear()
        self.expected_bytes = 0
        self.sent_at = time.perf_counter()
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.expected_bytes:
            head = self.buffer.find(b"\r\n\r\n")
            if head < 0:
                return
            length = _LENGTH.search(self.buffer, 0, head)
            if length is None:
                raise SystemExit("the response of the server has no Content-Length")
            self.expected_bytes = head + 4 + int(length[1])
        if len(self.buffer) >= self.expected_bytes:
            self._complete()

    def _complete(self) -> None:
        tally = self.tally
        if tally.counting:
            tally.seconds.append(time.perf_counter() - self.sent_at)
        if not self.buffer.startswith(b"HTTP/1.1 200"):
            tally.failures += 1
        if not tally.first_response:
            tally.first_response = bytes(self.buffer)
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        self.tally.failures += error is not None


async def run(port: int, connections: int, seconds: float, request: bytes) -> dict[str, object]:
    """Send the request over all connections for some seconds and return the measurements."""
    loop = asyncio.get_running_loop()
    tally = Tally()
    opened_at = time.perf_counter()
    opened = [
        await loop.create_connection(lambda: Connection(request, tally), "127.0.0.1", port)
        for _ in range(connections)
    ]
    await asyncio.sleep(_WARM_UP * seconds)
    cpu_start, tally.counting, start = time.process_time(), True, time.perf_counter()
    await asyncio.sleep(seconds)
    elapsed, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    tally.counting = False
    for transport, _ in opened:
        transport.abort()
    return {
        "requests": len(tally.seconds),
        "elapsed": elapsed,
        "all_seconds": time.perf_counter() - opened_at,
        "generator_cpu": cpu_seconds / elapsed,
        "failures": tally.failures,
        "seconds": tally.seconds,
        "first_response": tally.first_response.decode(errors="replace")[:2000],
    }


def main(port: str, connections: str, seconds: str, core: str) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    request = sys.stdin.buffer.read()
    json.dump(uvloop.run(run(int(port), int(connections), float(seconds), request)), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
