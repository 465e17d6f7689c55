"""Limits of the HTTP protocol: long and slow heads, ambiguous headers, too many requests."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.http.service_client import submit
from tests.support.http.wire import connected, rest, status, talk
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset

HEAD_BYTES = 2048
CONNECTIONS = 20
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, api_stack: Stack) -> Iterator[Stack]:
    settings = {
        "LITERATI_MAX_HEAD_BYTES": str(HEAD_BYTES),
        "LITERATI_HEAD_SECONDS": "1",
        "LITERATI_MAX_CONNECTIONS": str(CONNECTIONS),
        "LITERATI_BODY_GRACE_SECONDS": "2",
        "LITERATI_MAX_REQUEST_BYTES": "8000000",
        "LITERATI_MAX_HELD_BYTES": "5000000",
    }
    with Stack.with_api(tmp_path_factory.mktemp("strict"), server=api_stack.server, **settings) as stack:
        yield stack


def problem_of(answer: bytes) -> dict[str, object]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    found: dict[str, object] = json.loads(body)
    return found


@pytest.mark.parametrize(
    "parts",
    [
        [GET, b"X-Long: " + b"a" * HEAD_BYTES + b"\r\n\r\n"],  # complete, in two parts
        [GET + b"X-Long: " + b"a" * HEAD_BYTES + b"\r\n\r\n"],  # in one
        [GET, b"X-Long: ", *[b"a" * 500] * 10],  # never complete
        [GET, *[b"X-%d: a\r\n" % number * 20 for number in range(50)]],
        [b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ],
)
def test_heads_that_are_too_large(strict: Stack, parts: list[bytes]) -> None:
    answer = talk(strict, *parts, pause=0.001)
    if answer:  # or it was reset while we still sent
        assert status(answer) == 431
        assert "LITERATI_MAX_HEAD_BYTES" in str(problem_of(answer)["detail"])


def test_a_head_below_the_limit(strict: Stack) -> None:
    answer = talk(strict, GET + b"X-Long: " + b"a" * (HEAD_BYTES - 200) + b"\r\nConnection: close\r\n\r\n")
    assert status(answer) == 200


def test_a_large_body_does_not_count_as_head(strict: Stack) -> None:
    body = b" " * (5 * HEAD_BYTES)
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = talk(strict, head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    assert status(answer) == 400


def test_endless_trailers(strict: Stack) -> None:
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    opened = head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    started = time.monotonic()
    talk(strict, opened, *[b"X-Trailer: " + b"a" * 500 + b"\r\n"] * 20, pause=0.001)
    assert time.monotonic() - started < 1.5  # cut, not waited for


@pytest.mark.parametrize("parts", [[], [b"GET /heal"], [GET + b"X-Slow: a", *[b"a"] * 8]])
def test_incomplete_heads_time_out(strict: Stack, parts: list[bytes]) -> None:
    started = time.monotonic()
    answer = talk(strict, *parts, pause=0.2)
    assert 0.9 < time.monotonic() - started < 5
    if parts:
        assert status(answer) == 408
        assert "LITERATI_HEAD_SECONDS" in str(problem_of(answer)["detail"])
    else:
        assert answer == b""


def test_the_second_head_on_a_connection_times_out(strict: Stack) -> None:
    with connected(strict) as wire:
        wire.sendall(GET + b"\r\n")
        answer = b""
        while not answer.endswith(b"}"):  # head and body may come apart
            answer += wire.recv(65536)
        assert status(answer) == 200
        wire.sendall(b"GET /he")
        assert status(rest(wire)) == 408


def test_idle_connections_do_not_count(strict: Stack) -> None:
    with ExitStack() as held:
        for _ in range(2 * CONNECTIONS):
            held.enter_context(connected(strict)).sendall(GET)
        assert httpx.get(f"{strict.url}/healthz").status_code == 200


def test_too_many_requests_in_progress(strict: Stack, client: httpx.Client, dataset: Dataset) -> None:
    """Requests that wait for a job take all places, and the next one gets 503."""
    job = submit(client, dataset)["id"]
    head = f"GET /v1/jobs/{job} HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=60\r\n\r\n".encode()
    with ExitStack() as held:
        for _ in range(CONNECTIONS):
            wire = held.enter_context(connected(strict))
            wire.sendall(head)
        answer = poll(lambda: _unless_ok(talk(strict, GET + b"Connection: close\r\n\r\n")))
        assert status(answer) == 503
        assert "LITERATI_MAX_CONNECTIONS" in str(problem_of(answer)["detail"])
    poll(lambda: "literati_http_waiting 0.0" in httpx.get(f"{strict.url}/metrics").text, what="their end")
    assert status(talk(strict, GET + b"Connection: close\r\n\r\n")) == 200


def _unless_ok(answer: bytes) -> bytes | None:
    return None if answer.startswith(b"HTTP/1.1 200") else answer


def test_memory_of_bodies(strict: Stack) -> None:
    """Two unfinished bodies fill the memory; a third large one is refused, a small one is not."""
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    length = b"Content-Length: 2400001\r\n\r\n"
    with ExitStack() as held:
        for _ in range(2):
            held.enter_context(wire := connected(strict))
            wire.sendall(head + length + b" " * 2_400_000)
        answer = poll(lambda: _refused(strict), what="a refusal")
        assert "LITERATI_MAX_HELD_BYTES" in answer.json()["detail"]
        small = httpx.post(
            f"{strict.url}/v1/jobs", content=b"{}", headers={"Content-Type": "application/json"}
        )
        assert small.status_code == 422


def _refused(stack: Stack) -> httpx.Response | None:
    try:
        answer = httpx.post(
            f"{stack.url}/v1/jobs", content=b" " * 2_400_000, headers={"Content-Type": "application/json"}
        )
    except httpx.TransportError:  # cut while we still sent
        return None
    return answer if answer.status_code == 503 else None


def test_too_many_pipelined_requests(strict: Stack) -> None:
    waiting = b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    answer = talk(strict, waiting * 1000)
    assert answer.count(b"HTTP/1.1 ") < 1000


def test_pipelined_requests(strict: Stack) -> None:
    answer = talk(strict, (GET + b"\r\n") * 20 + GET + b"Connection: close\r\n\r\n")
    assert answer.count(b"HTTP/1.1 200") == 21


def test_a_body_that_continues_after_the_response(strict: Stack) -> None:
    head = b"POST /v1/datasets?target=y HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/png\r\n"
    started = time.monotonic()
    answer = talk(strict, head + b"Content-Length: 100000000\r\n\r\n", *[b"a" * 1000] * 100, pause=0.05)
    assert status(answer) == 415
    assert time.monotonic() - started < 8


def test_no_websockets(strict: Stack) -> None:
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    with connected(strict) as wire:
        wire.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\n" + upgrade + key)
        assert status(wire.recv(65536)) == 200


POST = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
CHUNK = b"2\r\n{}\r\n0\r\n"


@pytest.mark.parametrize("value", [b"chunked", b"Chunked", b" chunked "])
def test_chunked_bodies(strict: Stack, value: bytes) -> None:
    answer = talk(strict, POST + b"Transfer-Encoding: " + value + b"\r\n\r\n" + CHUNK + b"\r\n")
    assert status(answer) == 422, "the body was read"


@pytest.mark.parametrize(
    "lines",
    [
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        b"transfer-encoding: gzip\r\n",
        b"Transfer-Encoding: identity\r\n",
        b"Transfer-Encoding: identity\r\nContent-Length: 2\r\n",
        b"Transfer-Encoding: x-chunked\r\n",
        b"Transfer-Encoding: chunked;q=1\r\n",
    ],
)
def test_other_transfer_encodings_are_refused(strict: Stack, lines: bytes) -> None:
    answer = talk(strict, POST + lines + b"\r\n" + CHUNK + b"\r\n")
    assert status(answer) == 501, answer
    assert "Transfer-Encoding" in str(problem_of(answer)["detail"])
    assert answer.count(b"HTTP/1.1 ") == 1, "what follows is not taken for a request"


@pytest.mark.parametrize(
    "lines",
    [
        b"Transfer-Encoding: chunked, gzip\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
        b"Transfer-Encoding:\r\n",
    ],
)
def test_ambiguous_body_lengths(strict: Stack, lines: bytes) -> None:
    answer = talk(strict, POST + lines + b"\r\n" + CHUNK + b"\r\n")
    assert status(answer) in (400, 501)
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (b"Host: localhost\r\n", "Host"),
        (b"host: evil.example\r\n", "Host"),
        (b"Authorization: Bearer a\r\nAuthorization: Bearer a\r\n", "Authorization"),
        (b"Authorization: Bearer a\r\nX-Other: b\r\nauthorization: Bearer b\r\n", "Authorization"),
    ],
)
def test_repeated_headers(strict: Stack, lines: bytes, name: str) -> None:
    answer = talk(strict, GET + lines + b"Connection: close\r\n\r\n")
    assert status(answer) == 400
    assert problem_of(answer)["detail"] == f"Send the header {name} once."


def test_a_request_without_host(strict: Stack) -> None:
    answer = talk(strict, b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert status(answer) == 400
    assert problem_of(answer)["detail"] == "Send the header Host: HTTP/1.1 requires it in every request."
    assert status(talk(strict, b"GET /healthz HTTP/1.0\r\n\r\n")) == 200, "HTTP/1.0 has no such header"
    assert status(talk(strict, b"GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n")) == 200


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, bytes]]:
    """Provide an API with a key."""
    folder = tmp_path_factory.mktemp("closed")
    key, _ = key_file.add(folder / "keys.json", "me", "default", frozenset({Scope.READ, Scope.TRAIN}))
    with Stack.with_api(folder / "stack", LITERATI_API_KEYS_FILE=str(folder / "keys.json")) as stack:
        yield stack, key.encode()


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_trailers_are_ignored(closed: tuple[Stack, bytes], pause: float) -> None:
    """A key in a trailer has no effect, whether it arrives with the head or later."""
    stack, key = closed
    head = POST + b"Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n"
    trailer = b"Authorization: Bearer " + key + b"\r\n\r\n"
    body = [CHUNK, trailer] if pause else [CHUNK + trailer]
    opened = [head + b"\r\n", *body] if pause else [head + b"\r\n" + body[0]]
    assert status(talk(stack, *opened, pause=pause)) == 401
    allowed = head + b"Authorization: Bearer " + key + b"\r\n\r\n" + CHUNK
    assert status(talk(stack, allowed + b"Authorization: Bearer wrong\r\n\r\n")) == 422, (
        "nor does it shut out"
    )
    assert status(talk(stack, allowed + b"Content-Type: text/plain\r\n\r\n")) == 422


def test_headers_of_the_next_request_after_trailers(closed: tuple[Stack, bytes]) -> None:
    """The headers of the next request on the connection are used."""
    stack, key = closed
    first = POST.replace(b"Connection: close\r\n", b"") + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNK
    second = b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    answer = talk(stack, first + b"X-T: 1\r\n\r\n" + second + b"Authorization: Bearer " + key + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 401")
    assert answer.count(b"HTTP/1.1 200") == 1
