"""Attacks on a running server, and the latency of another client during them."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
import pyarrow as pa

from tests.support.http import hostile
from tests.support.http.wire import connected, rest, status
from tests.support.stack.stack import Stack

PROBE_CLIENT = Path(__file__).resolve().parent / "probe_client.py"
MEBIBYTE = 1 << 20
UPLOAD = "/v1/datasets?target=label"

Attack = Callable[[Stack, str], list[int]]  # called with a stack and a path to predict; returns statuses


@dataclass
class ProbeResult:
    """The latencies and errors of the probe client."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    slowdown: float = 1.0  # seconds that a second of CPU time takes on this machine now

    def p99(self, name: str) -> float:
        times = sorted(self.latencies[name])
        return times[max(0, math.ceil(0.99 * len(times)) - 1)]

    @property
    def worst(self) -> float:
        """The larger 99th percentile, corrected for the load of the machine."""
        return max(map(self.p99, self.latencies)) / self.slowdown

    def __str__(self) -> str:
        return f"slowdown {self.slowdown:.1f}, " + ", ".join(
            f"{name} p99 {1000 * self.p99(name):.0f} ms, max {1000 * max(times):.0f} ms of {len(times)}"
            for name, times in self.latencies.items()
        )


class Probe:
    """A probe client that runs while the context lasts."""

    def __init__(self, stack: Stack, path: str, row: dict[str, Any]) -> None:
        self.result = ProbeResult()
        port = str(urlsplit(stack.url).port)
        command = [sys.executable, "-S", str(PROBE_CLIENT), port, path]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._body = json.dumps({"records": [row]})

    def __enter__(self) -> Self:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(self._body + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "ready\n"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        output, _ = self._process.communicate()
        self.result = ProbeResult(**json.loads(output))


def upload(stack: Stack, content: Any, kind: str = "application/vnd.apache.parquet", **more: Any) -> int:
    return post(stack, UPLOAD, content, kind, **more)


def post(stack: Stack, path: str, content: Any, kind: str, **more: str) -> int:
    """Return the status; 0 if the server closed the connection and the response was lost."""
    try:
        with stack.client() as client:
            return client.post(path, content=content, headers={"Content-Type": kind, **more}).status_code
    except httpx.TransportError:
        return 0


def at_once(count: int, act: Callable[[], int]) -> list[int]:
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(act())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


# Uploads


def claimed_rows(stack: Stack, _: str) -> list[int]:
    return [upload(stack, hostile.claimed_rows(claimed)) for claimed in (10**9, 2**62)]


def long_words(stack: Stack, _: str) -> list[int]:
    bomb = hostile.long_words(2, 256 * MEBIBYTE)
    return at_once(2, lambda: upload(stack, bomb))


def repeated_rows(stack: Stack, _: str) -> list[int]:
    bomb = hostile.many_rows(2_000_000, 30)
    return at_once(3, lambda: upload(stack, bomb))


def one_line(stack: Stack, _: str) -> list[int]:
    """Upload two gigabytes without a line break."""
    line = b"a" * MEBIBYTE
    return at_once(2, lambda: upload(stack, (line for _ in range(2048)), "text/csv"))


def long_line(stack: Stack, _: str) -> list[int]:
    """Upload a line of the maximum size."""
    return [upload(stack, b"x,label\n" + b"a," * (25 * MEBIBYTE), "text/csv")]


def endless_chunks(stack: Stack, _: str) -> list[int]:
    def chunks() -> Iterator[bytes]:
        while True:
            yield b" " * 65536

    return [
        upload(stack, chunks(), "text/csv"),
        post(stack, "/v1/jobs", chunks(), "application/json"),
    ]


def packed(stack: Stack, _: str) -> list[int]:
    """Upload damaged data, and zeros that decompress to more than the limit."""
    zeros = pa.compress(bytes(64 * MEBIBYTE), "zstd", asbytes=True) * 20
    return [
        upload(stack, b"\x1f\x8b" + bytes(1000), "text/csv", **{"Content-Encoding": "gzip"}),
        upload(stack, zeros, "text/csv", **{"Content-Encoding": "zstd"}),
    ]


def many_parts(stack: Stack, _: str) -> list[int]:
    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\nx\r\n'
    kind = "multipart/form-data; boundary=b"
    found = [upload(stack, part % b"other" * 200_000 + b"--b--\r\n", kind)]
    found.append(upload(stack, part % b"file" * 200_000 + b"--b--\r\n", kind))
    headers = b"--b\r\n" + b"X-Many: a\r\n" * 2_000_000
    found.append(upload(stack, headers, kind))
    found.append(upload(stack, b"--b\r\nX-Long: " + b"a" * 20 * MEBIBYTE, kind))
    near = b"\r\n--" * (4 * MEBIBYTE)  # repeats the beginning of a boundary
    found.append(upload(stack, part % b"file" + near + b"\r\n--b--\r\n", kind))
    return found


def lying_arrow(stack: Stack, path: str) -> list[int]:
    kind = "application/vnd.apache.arrow.stream"
    found = [upload(stack, bomb, kind) for bomb in hostile.arrow_streams()]
    return found + [post(stack, path, bomb, kind) for bomb in hostile.arrow_streams()]


# Rows to predict


def deep_json(stack: Stack, path: str) -> list[int]:
    bodies = [b"[" * (60 * MEBIBYTE), b'{"a":' * (MEBIBYTE // 2), b'{"records":' + b"[" * MEBIBYTE]
    found = [post(stack, path, body, "application/json") for body in bodies]
    return found + [post(stack, "/v1/jobs", body[: MEBIBYTE // 4], "application/json") for body in bodies]


def many_keys(stack: Stack, path: str) -> list[int]:
    keys = b",".join(b'"k%d":1' % number for number in range(2_000_000))
    rows = b",".join([b'{"a":1}'] * 2_000_000)
    arrays = b",".join([b'[":"]'] * 3_000_000)
    found: list[int] = []
    for body in (
        b'{"records":[{' + keys + b"}]}",
        b'{"records":[' + rows + b"]}",
        b'{"columns":["a"],"data":[' + arrays + b"]}",
    ):
        found += at_once(3, lambda body=body: post(stack, path, body, "application/json"))  # type: ignore[misc]
    found += at_once(3, lambda: post(stack, "/v1/jobs", b"{" + keys[:250_000], "application/json"))
    few = b",".join(b'"k%d":1' % number for number in range(20_000))
    found += at_once(3, lambda: post(stack, "/v1/jobs", b"{" + few + b"}", "application/json"))
    return found


def wide_csv(stack: Stack, path: str) -> list[int]:
    found = [post(stack, path, b"a," * (30 * MEBIBYTE), "text/csv")]
    found.append(post(stack, path, b",".join(b"c%d" % i for i in range(120_000)) + b"\n1\n", "text/csv"))
    return found


# Connections


def slow_heads(stack: Stack, _: str, count: int = 2000, seconds: float = 4.0) -> list[int]:
    return _trickle(stack, [b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: "], count, seconds)


def slow_bodies(stack: Stack, path: str, count: int = 1500, seconds: float = 5.0) -> list[int]:
    framing = b"HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nContent-Type: "
    heads = [
        b"POST " + path.encode() + b" " + framing + b"application/json\r\n\r\n",
        b"POST /v1/jobs " + framing + b"application/json\r\n\r\n",
        b"POST /v1/datasets?target=y " + framing + b"text/csv\r\n\r\n",
    ]
    return _trickle(stack, heads, count, seconds)


def silent_connections(stack: Stack, _: str, count: int = 6000, seconds: float = 2.0) -> list[int]:
    return _trickle(stack, [b""], count, seconds)


def _trickle(stack: Stack, heads: list[bytes], count: int, seconds: float) -> list[int]:
    """Open more and more connections, each of which sends a byte now and then."""
    with ExitStack() as held:
        wires: list[socket.socket] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for number in range(min(count // 10, count - len(wires))):
                with suppress(OSError):
                    wires.append(held.enter_context(connected(stack)))
                    wires[-1].sendall(heads[number % len(heads)])
            for wire in wires if heads != [b""] else []:
                with suppress(OSError):
                    wire.send(b"a")
            time.sleep(0.2)
    return []


def pipelined(stack: Stack, _: str) -> list[int]:
    request = b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    return at_once(4, lambda: _flood(stack, request * 1500, 200))


def _flood(stack: Stack, block: bytes, times: int) -> int:
    with connected(stack) as wire:
        with suppress(OSError):
            for _ in range(times):
                wire.sendall(block)
        answer = rest(wire)
    return status(answer) if answer else 0


def huge_heads(stack: Stack, _: str) -> list[int]:
    block = b"X-Long: " + b"a" * MEBIBYTE
    return at_once(4, lambda: _flood(stack, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + block, 100))


ATTACKS: dict[
    str, tuple[Attack, set[int]]
] = {  # the attack and its allowed statuses; 0 is a closed connection
    "parquet that claims a billion rows": (claimed_rows, {422}),
    "parquet of words that are half a gigabyte": (long_words, {422}),
    "parquet of one row, millions of times": (repeated_rows, {422}),
    "a line of two gigabytes": (one_line, {413, 0}),
    "a line as long as is taken": (long_line, {422}),
    "chunks without end": (endless_chunks, {413, 0}),
    "a packed body": (packed, {413, 422}),
    "a form of many parts": (many_parts, {400, 413, 422, 0}),
    "arrow streams that lie": (lying_arrow, {400, 422}),
    "deep JSON": (deep_json, {400, 422}),
    "JSON with very many keys": (many_keys, {400, 413, 422, 0}),
    "rows of very many columns": (wide_csv, {400, 422}),
    "slow heads": (slow_heads, set()),
    "slow bodies": (slow_bodies, set()),
    "silent connections": (silent_connections, set()),
    "requests without waiting for answers": (pipelined, {200, 400, 0}),
    "huge heads": (huge_heads, {431, 0}),
}
