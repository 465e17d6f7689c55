"""Fair shares of tenants in an API process: slots for uploads, and requests that are held open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from service.http.fair_semaphore import FairSemaphore
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll

LARGE_UPLOADS = 8


class Guests:
    """Tasks that hold a slot until they are released."""

    def __init__(self, turns: FairSemaphore) -> None:
        self.turns = turns
        self.order: list[str] = []
        self.running: list[tuple[str, asyncio.Event]] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def come(self, *tenants: str) -> None:
        for tenant in tenants:
            self.tasks.append(asyncio.create_task(self._stay(tenant)))
            await asyncio.sleep(0)
        await self.settle()

    async def _stay(self, tenant: str) -> None:
        async with self.turns.slot(tenant):
            leave = asyncio.Event()
            self.order.append(tenant)
            self.running.append((tenant, leave))
            await leave.wait()

    async def settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def leave(self, tenant: str) -> None:
        found = next(entry for entry in self.running if entry[0] == tenant)
        self.running.remove(found)
        found[1].set()
        await self.settle()


async def _fewest_first() -> None:
    guests = Guests(FairSemaphore(2))
    await guests.come("a", "a", "a", "a", "b", "c")
    assert guests.order == ["a", "a"]
    await guests.leave("a")
    assert guests.order[2:] == ["b"], "not the one that has a slot already"
    await guests.leave("a")
    assert guests.order[3:] == ["c"]
    await guests.leave("b")
    await guests.leave("c")
    assert guests.order[4:] == ["a", "a"], "who is alone has them all"


async def _some_are_left_for_others() -> None:
    guests = Guests(FairSemaphore(3, per_tenant=2))
    await guests.come("a", "a", "a")
    assert guests.order == ["a", "a"]
    await guests.come("b")
    assert guests.order == ["a", "a", "b"]
    await guests.leave("b")
    assert guests.order == ["a", "a", "b"]
    await guests.leave("a")
    assert guests.order == ["a", "a", "b", "a"]


async def _who_gives_up_takes_no_slot() -> None:
    guests = Guests(FairSemaphore(1))
    await guests.come("a", "b", "b", "c")
    guests.tasks[1].cancel()
    guests.tasks[3].cancel()
    await guests.settle()
    await guests.leave("a")
    assert guests.order == ["a", "b"]
    await guests.leave("b")
    await guests.come("c")
    assert guests.order == ["a", "b", "c"]


async def _given_up_in_the_moment_of_its_turn() -> None:
    guests = Guests(FairSemaphore(1))
    await guests.come("a", "b", "c")
    leaving = next(leave for tenant, leave in guests.running if tenant == "a")
    guests.running.clear()
    leaving.set()
    await guests.tasks[0]  # the slot is b's now, whose task has not run yet
    guests.tasks[1].cancel()
    await guests.settle()
    assert guests.order in (["a", "c"], ["a", "b", "c"])
    assert [tenant for tenant, _ in guests.running][-1] == "c"


@pytest.mark.parametrize(
    "scenario",
    [
        _fewest_first,
        _some_are_left_for_others,
        _who_gives_up_takes_no_slot,
        _given_up_in_the_moment_of_its_turn,
    ],
)
def test_slots(scenario: object) -> None:
    async def run() -> None:
        await scenario()  # type: ignore[operator]
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    asyncio.run(run())


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, dict[str, str]]]:
    """Provide an API with keys of two tenants."""
    folder = tmp_path_factory.mktemp("turns")
    path = folder / "keys.json"
    scopes = frozenset({Scope.READ, Scope.TRAIN})
    keys = {tenant: key_file.add(path, tenant, tenant, scopes)[0] for tenant in ("a", "b")}
    keys["admin"] = key_file.add(path, "admin", "admin", frozenset({Scope.ADMIN}))[0]
    with Stack.with_api(
        folder / "stack", LITERATI_API_KEYS_FILE=str(path), LITERATI_MAX_WAITING="6"
    ) as stack:
        yield stack, keys


def table(folder: Path, rows: int, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    cells = rng.normal(size=(rows, 8)).round(6).astype(str)
    labels = rng.choice(["yes", "no"], rows)
    path = folder / f"{seed}.csv"
    path.write_text(
        "a,b,c,d,e,f,g,h,label\n"
        + "\n".join(f"{','.join(row)},{label}" for row, label in zip(cells, labels, strict=True))
    )
    return path


def test_a_small_upload_does_not_wait_behind_large_ones(
    shared: tuple[Stack, dict[str, str]], tmp_path: Path
) -> None:
    stack, keys = shared
    large = [table(tmp_path, 60_000, seed) for seed in range(LARGE_UPLOADS)]
    assert all(path.stat().st_size > 1 << 20 for path in large)

    def upload(tenant: str, body: bytes) -> int:
        headers = {"Authorization": f"Bearer {keys[tenant]}", "Content-Type": "text/csv"}
        return httpx.post(
            f"{stack.url}/v1/datasets?target=label", content=body, headers=headers, timeout=300
        ).status_code

    with ThreadPoolExecutor(LARGE_UPLOADS) as pool:
        others = [pool.submit(upload, "a", path.read_bytes()) for path in large]
        poll(lambda: any(other.done() for other in others), seconds=120, what="the first large upload's end")
        assert upload("b", b"x,label\n1,yes\n2,no\n3,yes\n") == 201
        left = sum(not other.done() for other in others)
        assert left >= LARGE_UPLOADS / 2, "it was answered while the large ones were read"
        assert {other.result() for other in others} == {201}


EVENTS = {"Accept": "text/event-stream"}


class Waiters:
    """Clients that wait for a change of a job that no worker runs."""

    def __init__(self, stack: Stack, keys: dict[str, str]) -> None:
        self._stack = stack
        self._keys = keys
        self._jobs = {tenant: self._job(tenant) for tenant in keys}
        self._pool = ThreadPoolExecutor(32)

    def __enter__(self) -> Waiters:
        return self

    def __exit__(self, *_: object) -> None:
        for tenant, job_id in self._jobs.items():
            self._stack.store.jobs.control(tenant, job_id, "cancel")  # which is the news
        self._pool.shutdown()
        self.count(0)

    def _job(self, tenant: str) -> str:
        dataset = jobs.add_dataset(self._stack.store, self._stack.blobs, jobs.easy(), tenant=tenant)
        return self._stack.store.jobs.submit(jobs.spec(dataset)).job.spec.id

    def client(self, tenant: str) -> httpx.Client:
        return self._stack.client(headers={"Authorization": f"Bearer {self._keys[tenant]}"})

    def stream(self, tenant: str) -> str:
        return f"/v1/jobs/{self._jobs[tenant]}/events"

    def wait(self, tenant: str, count: int) -> list[Future[httpx.Response]]:
        return [self._pool.submit(self._ask, tenant) for _ in range(count)]

    def _ask(self, tenant: str) -> httpx.Response:
        with self.client(tenant) as client:
            here = f"/v1/jobs/{self._jobs[tenant]}"
            tag = client.get(here).headers["etag"]
            return client.get(here, headers={"Prefer": "wait=60", "If-None-Match": tag})

    def count(self, expected: int) -> None:
        def seen() -> bool:
            with self.client("admin") as client:
                return f"literati_http_waiting {expected:.1f}" in client.get("/metrics").text

        poll(seen, what=f"{expected} waiting requests")


class TestWaitingRequests:
    """Provide an API with room for six waiting requests."""

    @pytest.fixture
    def waiters(self, shared: tuple[Stack, dict[str, str]]) -> Iterator[Waiters]:
        stack, keys = shared
        stack.connection.flushall()
        with Waiters(stack, keys) as waiters:
            yield waiters

    def test_a_tenant_below_its_share_may_wait(self, waiters: Waiters) -> None:
        ours = waiters.wait("a", 6)
        waiters.count(6)
        theirs = waiters.wait("b", 3)
        poll(lambda: sum(one.done() for one in ours) == 3, what="three of the others to be let go")
        waiters.count(6)
        assert {one.result().status_code for one in ours if one.done()} == {304}
        assert sum(one.done() for one in ours) == 3
        assert not any(one.done() for one in theirs)
        for tenant in ("a", "b"):  # each has its share now
            (refused,) = waiters.wait(tenant, 1)
            assert refused.result(10).elapsed.total_seconds() < 5
            with waiters.client(tenant) as client:
                assert client.get(waiters.stream(tenant), headers=EVENTS).status_code == 503
        waiters.count(6)

    def test_a_tenant_below_its_share_may_stream(self, waiters: Waiters) -> None:
        waiters.wait("a", 6)
        waiters.count(6)
        with waiters.client("b") as client, client.stream("GET", waiters.stream("b"), headers=EVENTS) as told:
            assert told.status_code == 200
            blocks = told.iter_raw()
            assert b"event: state" in next(blocks) + next(blocks)
            waiters.count(6)

    def test_a_single_tenant_may_use_all_places(self, waiters: Waiters) -> None:
        waiters.wait("a", 6)
        waiters.count(6)
        (late,) = waiters.wait("a", 1)
        assert late.result(10).status_code == 304, "it is answered at once"
