"""Streamed uploads: chunked, interrupted, too large, too slow, and the memory that they need."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.http.uploads import PLAIN
from tests.support.stack.memory_watch import MemoryWatch
from tests.support.stack.stack import Stack, poll

HEAD = "POST /v1/datasets?target=label HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/csv\r\n"
MEBIBYTE = 1 << 20


def drafts(stack: Stack) -> list[Path]:
    return list(stack.blobs.incoming.iterdir()) if stack.blobs.incoming.exists() else []


def connected(stack: Stack) -> socket.socket:
    address = urlsplit(stack.url)
    assert address.hostname is not None
    return socket.create_connection((address.hostname, address.port or 80), timeout=30)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunked(client: httpx.Client, size: int) -> None:
    data = PLAIN.encode()

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(data), size):
            yield data[start : start + size]

    answer = client.post("/v1/datasets?target=label", content=pieces(), headers={"Content-Type": "text/csv"})
    assert answer.status_code == 201
    assert answer.json()["sha256"] == hashlib.sha256(data).hexdigest()
    assert answer.json()["bytes"] == len(data)


@pytest.mark.parametrize("framing", [f"Content-Length: {4 * MEBIBYTE}", "Transfer-Encoding: chunked"])
def test_a_broken_connection_leaves_no_file(client: httpx.Client, api: Stack, framing: str) -> None:
    with connected(api) as wire:
        wire.sendall(f"{HEAD}{framing}\r\n\r\n".encode())
        row = b"1,2,3,4,5,6,7\n" * 4096
        for _ in range(40):
            wire.sendall((b"%x\r\n" % len(row) + row + b"\r\n") if "chunked" in framing else row)
        poll(lambda: drafts(api), what="a draft")
    poll(lambda: not drafts(api), what="the end of the draft")
    assert client.get("/v1/datasets").json()["items"] == []
    assert client.post(
        "/v1/datasets?target=label", content=PLAIN, headers={"Content-Type": "text/csv"}
    ).is_success


def test_a_wrong_media_type_is_rejected_before_the_body_is_sent(api: Stack) -> None:
    with connected(api) as wire:
        head = HEAD.replace("text/csv", "image/png") + "Content-Length: 100000000\r\n"
        wire.sendall(f"{head}\r\n".encode())
        assert b" 415 " in wire.recv(4096)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Start a stack with low limits."""
    with Stack.with_api(
        tmp_path_factory.mktemp("small"),
        LITERATI_MAX_UPLOAD_BYTES=str(MEBIBYTE),
        LITERATI_MAX_ROWS="1000",
        LITERATI_MAX_COLUMNS="5",
        LITERATI_MAX_CELL_BYTES="50",
        LITERATI_MAX_CATEGORIES="10",
        LITERATI_BODY_GRACE_SECONDS="1",
    ) as stack:
        yield stack


@pytest.mark.parametrize("chunked", [False, True])
def test_too_large(small: Stack, chunked: bool) -> None:
    data = b"x,label\n" + b"1,2\n" * MEBIBYTE
    with small.client() as client:
        try:
            answer = client.post(
                "/v1/datasets?target=label",
                content=iter([data]) if chunked else data,
                headers={"Content-Type": "text/csv"},
            )
        except httpx.WriteError:  # the server answered and closed before all was sent
            return
    assert answer.status_code == 413
    assert not drafts(small)


def test_too_slow(small: Stack) -> None:
    with connected(small) as wire:
        wire.sendall(f"{HEAD}Content-Length: 1000\r\n\r\nx,label\n".encode())
        assert b" 408 " in wire.recv(4096)
    assert not drafts(small)


@pytest.mark.parametrize(
    ("data", "code", "named"),
    [
        ("x,label\n" + "1,2\n" * 1001, "TOO_MANY_ROWS", "limit is 1,000 (LITERATI_MAX_ROWS)"),
        ("a,b,c,d,e,label\n1,2,3,4,5,x\n", "TOO_MANY_COLUMNS", "limit is 5 (LITERATI_MAX_COLUMNS)"),
        (f"x,label\n{'w' * 51},a\nv,b\n", "CELL_TOO_LONG", "limit is 50 (LITERATI_MAX_CELL_BYTES)"),
        (
            "x,label\n" + "".join(f"w{i},{i % 2}\n" for i in range(11)),
            "TOO_MANY_CATEGORIES",
            "limit for categories is 10 (LITERATI_MAX_CATEGORIES)",
        ),
    ],
)
def test_limits_of_the_settings(small: Stack, data: str, code: str, named: str) -> None:
    with small.client() as client:
        answer = client.post("/v1/datasets?target=label", content=data, headers={"Content-Type": "text/csv"})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["code"] == code
    assert f"the {named}" in error["message"]


def test_memory_does_not_grow_with_the_upload(tmp_path: Path) -> None:
    """The table is long as text and small in memory, so that only a held body would need memory."""
    line = b"1," + b" " * 1000 + b"2,a\n1," + b" " * 1000 + b"3,b\n"

    def table(blocks: int) -> Iterator[bytes]:
        yield b"x,y,label\n"
        for _ in range(blocks):
            yield line * 512

    with Stack(tmp_path) as stack:
        api = stack.start_api()
        peaks = []
        for blocks in (20, 200):
            with stack.client() as client, MemoryWatch(api.process.pid) as memory:
                answer = client.post(
                    "/v1/datasets?target=label", content=table(blocks), headers={"Content-Type": "text/csv"}
                )
            assert answer.status_code == 201, answer.text
            peaks.append(memory.peak)
    assert answer.json()["bytes"] > 200_000_000
    assert peaks[1] - peaks[0] < 64 * MEBIBYTE
