"""Bodies that are too large or pause too long, with and without a Content-Length."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from tests.support.http.service_client import problem
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.stack import Stack

# As the fixture `narrow` sets them.
REQUEST_BYTES = 10_000
PREDICT_BYTES = 30_000
UPLOAD_BYTES = 50_000


def pieces(size: int) -> Iterator[bytes]:
    """Yield the body in chunks, so that it is sent without a Content-Length."""
    for start in range(0, size, 1000):
        yield b" " * min(1000, size - start)


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("path", "kind", "most"),
    [
        ("/v1/jobs", "application/json", REQUEST_BYTES),
        ("/v1/models/MODEL/predict", "application/json", PREDICT_BYTES),
        ("/v1/models/MODEL/predict", "text/csv", PREDICT_BYTES),
        ("/v1/datasets?target=y", "text/csv", UPLOAD_BYTES),
    ],
)
def test_bodies_that_are_too_large(narrow: Stack, path: str, kind: str, most: int, chunked: bool) -> None:
    path = path.replace("MODEL", add_model(narrow, mixed_tree()))
    with narrow.client() as client:
        for size, refused in ((most, False), (most + 1, True), (most + 100_000, True)):
            content = pieces(size) if chunked else b" " * size
            answer = client.post(path, content=content, headers={"Content-Type": kind})
            assert (answer.status_code == 413) == refused, (size, answer.text)
            if refused:
                detail = problem(answer, 413, "body-too-large")["detail"]
                assert f"{most:,}" in detail
                assert "LITERATI_MAX_" in detail


def talk(stack: Stack, head: str, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send a request over a socket and read the whole response."""
    address = httpx.URL(stack.url)
    with socket.create_connection((address.host, address.port or 0), timeout=30) as connection:
        connection.sendall(head.encode())
        with suppress(BrokenPipeError, ConnectionResetError):  # answered before it was all sent
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
        answer = b""
        while more := connection.recv(65536):
            answer += more
        return answer


def head(length: int) -> str:
    return (
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    )


def test_a_large_content_length_is_refused_at_once(narrow: Stack) -> None:
    assert b" 413 " in talk(narrow, head(REQUEST_BYTES + 1))  # nothing of it was sent


def test_a_body_that_does_not_arrive(narrow: Stack) -> None:
    started = time.monotonic()
    answer = talk(narrow, head(100), b"{")
    assert b" 408 " in answer
    assert b"body-too-slow" in answer
    assert time.monotonic() - started < 10


def test_a_body_with_short_pauses(narrow: Stack) -> None:
    parts = [b" " * 500] * 8
    answer = talk(narrow, head(4000).replace("Host", "Connection: close\r\nHost"), *parts, pause=0.2)
    assert b" 400 " in answer  # read to its end: blanks are no JSON


@pytest.mark.parametrize("length", ["-1", "abc", "1e3", "99999999999999999999999"])
def test_invalid_content_lengths(narrow: Stack, length: str) -> None:
    request = head(0).replace("Content-Length: 0", f"Content-Length: {length}\r\nConnection: close")
    assert talk(narrow, request).split(b" ", 2)[1] in (b"400", b"413")
