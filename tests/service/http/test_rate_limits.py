"""Rate limits by key or by address, shared by all API processes, with their response headers."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from service.http.token_cache import RateLimitResult, TokenCache
from tests.support.http.service_client import problem
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.stack import Stack
from worker.processes.valkey import ValkeyServer
from worker.store.token_buckets import Bucket, Buckets, Taken

RATES = {
    "LITERATI_CALLS_PER_SECOND": "2",
    "LITERATI_CALLS_BURST": "5",
    "LITERATI_SUBMISSIONS_PER_MINUTE": "6",
    "LITERATI_SUBMISSIONS_BURST": "2",
}
STATE = re.compile(r'"(calls|submissions)";r=(\d+);t=(\d+)')


@pytest.fixture(scope="module")
def keys_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    key_file.add(path, "the first", "default", frozenset(Scope))
    return path


@pytest.fixture(scope="module")
def limited_stack(
    tmp_path_factory: pytest.TempPathFactory, keys_path: Path
) -> Iterator[tuple[Stack, list[str]]]:
    """Provide a stack, and the addresses of two API servers on its store."""
    settings = {**RATES, "LITERATI_API_KEYS_FILE": str(keys_path)}
    with Stack(tmp_path_factory.mktemp("limited"), server=None, **settings) as stack:
        addresses = []
        for _ in range(2):
            stack.start_api()
            addresses.append(stack.url)
        yield stack, addresses


@pytest.fixture
def limited(limited_stack: tuple[Stack, list[str]]) -> list[str]:
    return limited_stack[1]


@pytest.fixture
def key(keys_path: Path, limited_stack: tuple[Stack, list[str]]) -> dict[str, str]:
    """Provide a new key on an empty store."""
    limited_stack[0].connection.flushall()
    text, _ = key_file.add(keys_path, "test", "default", frozenset({Scope.READ, Scope.TRAIN}))
    return {"Authorization": f"Bearer {text}"}


def state(answer: httpx.Response) -> tuple[str, int, int]:
    found = STATE.fullmatch(answer.headers["ratelimit"])
    assert found is not None, answer.headers["ratelimit"]
    return found[1], int(found[2]), int(found[3])


def test_calls(limited: list[str], key: dict[str, str], keys_path: Path) -> None:
    """Calls to either server use the same tokens; then both refuse."""
    started = time.monotonic()
    allowed = [httpx.get(f"{limited[0]}/v1/jobs", headers=key)]
    while (refused := httpx.get(f"{limited[len(allowed) % 2]}/v1/jobs", headers=key)).status_code == 200:
        allowed.append(refused)
    seconds = time.monotonic() - started
    assert 5 <= len(allowed) <= 5 + 2 * seconds + 1
    assert allowed[0].headers["ratelimit-policy"] == '"calls";q=5;w=3'
    assert state(allowed[0])[:2] == ("calls", 4)
    detail = problem(refused, 429, "rate-limited")["detail"]
    assert "LITERATI_CALLS_PER_SECOND" in detail
    assert "2 calls a second" in detail
    assert state(refused)[1] == 0
    other, _ = key_file.add(keys_path, "other", "default", frozenset({Scope.READ}))
    assert httpx.get(f"{limited[0]}/v1/jobs", headers={"Authorization": f"Bearer {other}"}).status_code == 200
    for path in ("/healthz", "/readyz", "/version", "/openapi.json"):
        assert httpx.get(limited[0] + path, headers=key).status_code == 200
    time.sleep(int(refused.headers["retry-after"]))
    assert httpx.get(f"{limited[1]}/v1/jobs", headers=key).status_code == 200


def test_submissions_have_their_own_bucket(
    limited: list[str], limited_stack: tuple[Stack, list[str]], key: dict[str, str]
) -> None:
    here = limited_stack[0]
    body = {"dataset_id": add_dataset(here.store, here.blobs, easy()).id}
    for left in (1, 0):
        answer = httpx.post(f"{limited[0]}/v1/jobs", json=body, headers=key)
        assert answer.status_code == 202
        assert state(answer)[:2] == ("submissions", left)
    answer = httpx.post(f"{limited[1]}/v1/jobs", json=body, headers=key)
    assert "LITERATI_SUBMISSIONS_PER_MINUTE" in problem(answer, 429, "rate-limited")["detail"]
    assert 1 <= int(answer.headers["retry-after"]) <= 10
    upload = httpx.post(f"{limited[0]}/v1/datasets?target=y", content="x,y\n", headers=key)
    assert upload.status_code == 429
    assert httpx.get(f"{limited[0]}/v1/jobs", headers=key).status_code == 200


def test_unauthenticated_calls_use_no_tokens(limited: list[str], key: dict[str, str]) -> None:
    """A wrong key is refused before the rate limit."""
    for _ in range(10):
        answer = httpx.get(f"{limited[0]}/v1/jobs", headers={"Authorization": "Bearer lit_no"})
        assert answer.status_code == 401
        assert "ratelimit" not in answer.headers
    assert state(httpx.get(f"{limited[0]}/v1/jobs", headers=key))[1] == 4


def test_no_limits_without_keys(client: httpx.Client) -> None:
    assert "ratelimit" not in client.get("/v1/jobs").headers


def test_limits_by_address(tmp_path: Path, api: Stack) -> None:
    settings = {**RATES, "LITERATI_RATE_LIMITS": "on"}
    with Stack(tmp_path, server=api.server, **settings) as stack:
        stack.start_api()
        with stack.client() as client:
            statuses = [client.get("/v1/jobs").status_code for _ in range(20)]
    assert statuses[:5] == [200] * 5
    assert 429 in statuses[5:]


class TestBuckets:
    def take(self, server: ValkeyServer, bucket: Bucket, *wanted: int) -> list[Taken]:
        async def ask() -> list[Taken]:
            buckets = Buckets(server.url)
            try:
                return [await buckets.take(bucket, number) for number in wanted]
            finally:
                await buckets.close()

        return asyncio.run(ask())

    def test_a_bucket_empties_and_fills(self, api: Stack) -> None:
        slow = Bucket("slow", 0.01, 5)
        first, second, third = self.take(api.server, slow, 3, 3, 3)
        assert (first.given, first.left) == (3, 2)
        assert (second.given, second.left) == (2, 0)
        assert (third.given, third.left) == (0, 0)
        assert 90 < third.one_after <= 100
        assert 490 < third.full_after <= 500
        quick = Bucket("quick", 1000.0, 5)
        self.take(api.server, quick, 5)
        time.sleep(0.02)
        assert self.take(api.server, quick, 9)[0].given == 5  # never more than it holds

    def test_full_buckets_expire(self, api: Stack) -> None:
        self.take(api.server, Bucket("b", 100.0, 5), 5)
        assert 0 < api.connection.pttl("literati:rate:b") <= 1050

    def test_a_cancelled_request_does_not_cancel_others(self, api: Stack) -> None:
        async def ask() -> list[RateLimitResult | BaseException]:
            buckets = Buckets(api.server.url)
            token_cache = TokenCache(buckets, Bucket("calls:someone", 10.0, 10))
            try:
                asking = [asyncio.create_task(token_cache.acquire()) for _ in range(3)]
                await asyncio.sleep(0)
                asking[0].cancel()
                return await asyncio.gather(*asking, return_exceptions=True)
            finally:
                await buckets.close()

        gone, *others = asyncio.run(ask())
        assert isinstance(gone, asyncio.CancelledError)
        assert [isinstance(other, RateLimitResult) and other.allowed for other in others] == [True, True]
