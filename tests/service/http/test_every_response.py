"""Every kind of response has the security headers and leaks neither internals nor input."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.http.service_client import NOWHERE, problem
from tests.support.http.wire import connected, talk
from tests.support.records.model_maker import add_job, add_model, mixed_tree
from tests.support.stack.stack import Stack

SECRET = "tell-nobody-7531"
ROW = {"size": 0.5, "age": 30, "colour": SECRET, "member": True, "zone": 1}
ARROW = "application/vnd.apache.arrow.stream"
LEAKS = re.compile(
    r"Traceback|\.py\b|/tmp/|/home/|/work|site-packages|redis|valkey|pyarrow|pydantic|0x[0-9a-f]{6}"
)


def check(status: int, headers: httpx.Headers, content: bytes) -> None:
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "default-src" in headers["content-security-policy"]
    assert "unsafe-eval" not in headers["content-security-policy"]
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", headers["x-request-id"])
    assert headers["cache-control"]
    assert not {"server", "x-powered-by", "access-control-allow-origin", "set-cookie"} & set(headers)
    if status >= 400:
        assert headers["content-type"] == "application/problem+json"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        text = content.decode()
        assert not LEAKS.search(text), text
        assert SECRET not in text


def parted(answer: bytes) -> tuple[int, httpx.Headers, bytes]:
    """Split a raw response."""
    head, _, body = answer.partition(b"\r\n\r\n")
    start, *lines = head.split(b"\r\n")
    pairs = [line.split(b": ", 1) for line in lines]
    return int(start.split()[1]), httpx.Headers([(name, value) for name, value in pairs]), body


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, api_stack: Stack) -> Iterator[Stack]:
    """Provide an API with short time limits."""
    with Stack.with_api(
        tmp_path_factory.mktemp("strict"),
        server=api_stack.server,
        LITERATI_HEAD_SECONDS="0.3",
        LITERATI_BODY_GRACE_SECONDS="0.3",
        LITERATI_MAX_REQUEST_BYTES="1000",
        LITERATI_MAX_LIVE_JOBS="1",
        LITERATI_RATE_LIMITS="on",
        LITERATI_SUBMISSIONS_PER_MINUTE="1",
        LITERATI_SUBMISSIONS_BURST="3",
    ) as stack:
        yield stack


def test_successful_responses(api: Stack, client: httpx.Client) -> None:
    model = add_model(api, mixed_tree())
    job = add_job(api, mixed_tree())
    predict = f"/v1/models/{model}/predict"
    upload = {"Content-Type": "text/csv"}
    table = f"x,label\n1,{SECRET}\n2,b\n"
    tag = client.get(f"/v1/models/{model}").headers["etag"]
    dataset = client.post("/v1/datasets?target=label", content=table, headers=upload)
    found = [
        (201, dataset),
        (200, client.post("/v1/datasets?target=label", content=table, headers=upload)),
        (202, client.post("/v1/jobs", json={"dataset_id": dataset.json()["id"]})),
        *(
            (200, client.get(path))
            for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics")
        ),
        *(
            (200, client.get(f"/v1/models/{model}{tail}"))
            for tail in ("", "/tree.svg", "/rules", "/export?format=java")
        ),
        *(
            (200, client.get(f"/v1/jobs/{job.spec.id}{tail}"))
            for tail in ("", "/incumbent", "/trace", "/events")
        ),
        (304, client.get(f"/v1/models/{model}", headers={"If-None-Match": tag})),
        (200, client.head("/v1/jobs")),
        (200, client.get("/assets/docs.js")),
        *(
            (200, client.post(predict, json={"records": [ROW]}, headers={"Accept": kind}))
            for kind in ("text/csv", ARROW)
        ),
        (204, client.delete(f"/v1/models/{model}")),
        (202, client.post(f"/v1/jobs/{job.spec.id}/cancel")),
    ]
    events = {"Accept": "text/event-stream"}
    with client.stream("GET", f"/v1/jobs/{job.spec.id}/events", headers=events) as stream:
        check(stream.status_code, stream.headers, b"")
    for status, answer in found:
        assert answer.status_code == status, answer.text
        check(status, answer.headers, answer.content)


def test_problems(api: Stack, client: httpx.Client) -> None:
    job = add_job(api, mixed_tree())
    model = add_model(api, mixed_tree())
    predict = f"/v1/models/{model}/predict"
    bad_row = {"records": [{**ROW, "age": SECRET}]}
    json_type = {"Content-Type": "application/json"}
    found = [
        (400, client.post("/v1/jobs", content=f"{{{SECRET}", headers=json_type)),
        (400, client.post(predict, content=f"{{{SECRET}", headers=json_type)),
        (403, client.get("/v1/jobs", headers={"Host": f"{SECRET}.example"})),
        (404, client.get(f"/{SECRET}")),
        (404, client.get(f"/v1/jobs/{SECRET}")),
        (405, client.put("/v1/jobs", content=SECRET)),
        (406, client.post(predict, json=bad_row, headers={"Accept": "image/png"})),
        (409, client.delete(f"/v1/jobs/{job.spec.id}")),
        (415, client.post("/v1/jobs", content=SECRET, headers={"Content-Type": f"text/{SECRET}"})),
        (415, client.post("/v1/jobs", content=SECRET, headers={"Content-Encoding": "gzip"})),
        (422, client.post("/v1/jobs", json={"dataset_id": SECRET, "tags": {"a": [SECRET]}})),
        (422, client.get("/v1/jobs", params={"page_token": SECRET, "state": SECRET})),
        (422, client.post(predict, json=bad_row)),
        (422, client.post("/v1/jobs", json={}, headers={"Idempotency-Key": f"{SECRET} {SECRET}"})),
    ]
    for status, answer in found:
        problem(answer, status)
        check(status, answer.headers, answer.content)


def test_problems_of_the_protocol(strict: Stack) -> None:
    post = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for status, parts in (
        (400, [SECRET.encode() + b"\r\n\r\n"]),
        (408, [f"GET /{SECRET}".encode()]),
        (408, [post + b"Content-Length: 10\r\n\r\n", b"{"]),
        (413, [post + b"Content-Length: 9999\r\n\r\n"]),
        (431, [b"GET / HTTP/1.1\r\nX-Long: " + SECRET.encode() * 9000 + b"\r\n\r\n"]),
    ):
        answer = talk(strict, *parts)
        if not answer and status == 431:
            continue  # reset while we still sent
        found, headers, body = parted(answer)
        assert found == status, answer[:200]
        check(status, headers, body)


def test_limits(strict: Stack, api: Stack) -> None:
    """Exceed the limits of live jobs and of calls."""
    job = add_job(strict, mixed_tree())
    body = {"dataset_id": job.spec.dataset_id, "name": SECRET}
    with strict.client() as client:
        answers = [client.post("/v1/jobs", json=body) for _ in range(4)]
    for answer, kind in zip(answers, (*["too-many-jobs"] * 3, "rate-limited"), strict=True):
        problem(answer, 429, kind)
        assert int(answer.headers["retry-after"]) > 0
        check(429, answer.headers, answer.content)


def test_a_wrong_key(tmp_path: Path) -> None:
    key_file.add(tmp_path / "keys.json", "x", "default", frozenset({Scope.READ}))
    with Stack(tmp_path / "stack", LITERATI_API_KEYS_FILE=str(tmp_path / "keys.json")) as stack:
        stack.start_api()
        with stack.client() as client:
            answer = client.get("/v1/jobs", headers={"Authorization": f"Bearer {SECRET}"})
            check(401, answer.headers, answer.content)
            (tmp_path / "keys.json").write_text(SECRET)
            answer = client.get("/v1/jobs")
            problem(answer, 503)
            check(503, answer.headers, answer.content)


def test_server_errors(api: Stack, client: httpx.Client) -> None:
    """A damaged record causes a 500."""
    job = add_job(api, mixed_tree())
    api.connection.hset(f"literati:job:{job.spec.id}", "spec", f'{{"{SECRET}": 1}}')
    answer = client.get(f"/v1/jobs/{job.spec.id}")
    problem(answer, 500, "unexpected")
    check(500, answer.headers, answer.content)


BAD_IDS = [
    *("..%2f..%2fetc%2fpasswd", "%2e%2e", "..", "x" * 5000, "%00", "a%0d%0aX-Evil:%201", "job_*", "%ff%fe"),
    *("job_" + 31 * "0", "JOB_" + 32 * "0", "'%20OR%201=1", "%7B%7B7*7%7D%7D", "literati:job:x"),
]


@pytest.mark.parametrize("bad", BAD_IDS)
def test_malformed_ids(api: Stack, bad: str) -> None:
    for method, path in (
        ("GET", "/v1/jobs/{}"),
        ("GET", "/v1/jobs/{}/incumbent"),
        ("DELETE", "/v1/jobs/{}"),
        ("GET", "/v1/datasets/{}"),
        ("GET", "/v1/datasets/{}/preview"),
        ("DELETE", "/v1/datasets/{}"),
        ("GET", "/v1/models/{}"),
        ("GET", "/v1/models/{}/tree.svg"),
        ("DELETE", "/v1/models/{}"),
        ("GET", "/v1/models/aliases/{}"),
        ("DELETE", "/v1/models/aliases/{}"),
    ):
        head = f"{method} {path.format(bad)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        found, headers, body = parted(talk(api, head.encode()))
        assert found in (404, 405, 422), (method, path, body)
        check(found, headers, body)
        assert "x-evil" not in headers


@pytest.mark.parametrize(
    "bad",
    [
        *(bad for bad in BAD_IDS if not bad.startswith("job_0")),
        *("mdl_x", "UPPER", "-a", "a" * 65, "aliases"),
    ],
)
def test_invalid_alias_names(api: Stack, client: httpx.Client, bad: str) -> None:
    body = f'{{"model_id": "{add_model(api, mixed_tree())}"}}'
    head = f"PUT /v1/models/aliases/{bad} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    framing = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    found, headers, content = parted(talk(api, (head + framing).encode()))
    assert found in (404, 405, 422), content
    assert "x-evil" not in headers
    assert client.get("/v1/models/aliases").json()["items"] == []


@pytest.mark.parametrize(
    "line",
    [
        b"X-Request-ID: a\r\n X-Evil: 1",
        b"X-Request-ID: a%0d%0aX-Evil: 1",
        b"X-Request-ID: a\x0bX-Evil: 1",
        b'Prefer: wait=1\xff\r\nIf-None-Match: "\xff"',
        b"Accept: \xff/\xff;q=\xff",
        b"Idempotency-Key: \xe2\x80\x8b",
        b"Host: localhost\r\nHost: evil.example",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
    ],
)
def test_request_headers_are_not_echoed(api: Stack, line: bytes) -> None:
    head = b"GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + line + b"\r\n\r\n"
    found, headers, body = parted(talk(api, head))
    assert found in (200, 400, 403, 422)
    assert "x-evil" not in headers
    check(found, headers, body)


def test_request_smuggling(api: Stack, client: httpx.Client) -> None:
    """A Content-Length with chunks, which two servers could read differently, is refused."""
    inner = b"DELETE /v1/jobs/x HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for framing, refusal in (
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        (b"Transfer-Encoding: identity, chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 501),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345", 400),
        (b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501),
    ):
        answer = talk(api, head + framing + inner)
        assert parted(answer)[0] == refusal
        assert answer.count(b"HTTP/1.1 ") == 1


def _ask_on_and_on(wire: socket.socket) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        wire.sendall(10 * b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_a_client_that_does_not_read(tmp_path: Path, api: Stack) -> None:
    """Its connection is closed, and others are served."""
    with Stack(tmp_path, server=api.server, LITERATI_BODY_GRACE_SECONDS="0.5") as stack:
        stack.start_api()
        with connected(stack) as wire, pytest.raises((BrokenPipeError, ConnectionResetError)):
            _ask_on_and_on(wire)
        assert httpx.get(f"{stack.url}/v1/jobs/{NOWHERE}").status_code == 404
