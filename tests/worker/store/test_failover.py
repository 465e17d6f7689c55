"""Test the store on a primary with replicas and sentinels: what follows a failover and what is waited for."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    look,
    progress_update,
    spec,
    submit,
)
from tests.support.stack.replicated import Node, ReplicatedStore, compile_clock_shift
from tests.support.stack.stack import poll
from worker.blobs.open import open_blobs
from worker.domain.errors import FencedError, NotReplicatedError
from worker.domain.jobs import Job, JobState
from worker.settings import WorkerSettings
from worker.store import Store, open_store
from worker.store.client import UNREPLICATED, script_source
from worker.store.connections import CHECK_SECONDS
from worker.store.model_names import ModelResolver
from worker.store.replication import WAIT_SECONDS
from worker.store.token_buckets import Bucket, Buckets

pytestmark = [
    pytest.mark.stack,
    # redis-py leaves its connections to sentinels to the garbage collector, which finds them at any time.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LEASE = 30.0
OPENED: list[Store] = []


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicatedStore]:
    """Provide a primary, two replicas and three sentinels. The clock of the first replica is a day ahead."""
    folder = tmp_path_factory.mktemp("replicated")
    ahead = {"LD_PRELOAD": compile_clock_shift(folder)}
    with ReplicatedStore(folder / "store", preferred=ahead) as servers:
        yield servers


def open_with(servers: ReplicatedStore, wait_replicas: int = 0) -> Store:
    changed = {"redis_wait_replicas": wait_replicas, "lease_seconds": LEASE}
    settings = WorkerSettings.model_validate({**servers.settings, **changed})
    OPENED.append(open_store(settings, open_blobs(settings)))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().client.close()


def until_answered(store: Store, seconds: float = 60.0) -> float:
    """Write until the store answers, and return how long that took. Only a store that is away may fail."""
    began = time.monotonic()

    def written() -> bool:
        try:
            submit(store)
        except (redis.ConnectionError, redis.TimeoutError):
            return False
        return True

    poll(written, seconds=seconds, what="an answer of the new primary")
    return time.monotonic() - began


def test_everything_follows_a_failover_to_a_server_whose_clock_is_a_day_ahead(
    servers: ReplicatedStore,
) -> None:
    """Leases are kept by the clock of the server, so all of them seem to have run out after this failover."""
    store = open_with(servers, wait_replicas=1)
    url = servers.url
    job = submit(store)
    claimed = store.jobs.claim("first")
    assert claimed is not None
    store.jobs.publish_progress(job.spec.id, claimed.epoch, progress_update(9.0, 2.0, objective=9.0))
    told = look(store, job.spec.id)
    old = servers.primary()

    async def subscribed() -> list[str]:
        """Use the connections of the event loop before, during and after the failover."""
        buckets, resolver = Buckets(url), ModelResolver(url)
        assert (await buckets.take(Bucket("b", 1.0, 5), 1)).given == 1
        assert await resolver.resolve(TENANT, "mdl_none") is None
        await asyncio.to_thread(old.kill)
        await asyncio.to_thread(until_answered, store)
        found = [
            str((await buckets.take(Bucket("b", 1.0, 5), 1)).given),
            str(await resolver.resolve(TENANT, "x")),
        ]
        await buckets.close()
        await resolver.close()
        return found

    assert asyncio.run(subscribed()) == ["1", "None"]
    new = servers.await_switch(old)
    assert new is servers.servers[1]
    assert server_time(servers, new) > time.time() + 80_000, "its clock is ahead"

    assert look(store, job.spec.id) == told, "what was told is still true"
    store.jobs.reconcile()
    assert look(store, job.spec.id).state is JobState.QUEUED, "its lease seems to have run out"
    with pytest.raises(FencedError):
        store.jobs.publish_progress(job.spec.id, claimed.epoch, progress_update(8.0, 3.0, objective=8.0))
    with pytest.raises(FencedError):
        store.jobs.finish(job.spec.id, claimed.epoch, SUCCESS)
    again = poll(lambda: next_claim(store, job.spec.id), what="the second claim")
    assert again == claimed.epoch + 1
    store.jobs.publish_progress(job.spec.id, again, progress_update(8.0, 3.0, objective=8.0))
    store.jobs.finish(job.spec.id, again, SUCCESS)
    assert look(store, job.spec.id).state is JobState.SUCCEEDED
    servers.start_server(old, new)
    servers.await_replicas()


def next_claim(store: Store, job_id: str) -> int | None:
    """Claim jobs until this one comes; return its epoch."""
    claimed = store.jobs.claim("second")
    return claimed.epoch if claimed is not None and claimed.spec.id == job_id else None


def server_time(servers: ReplicatedStore, server: Node) -> int:
    with servers.client(server) as client:
        return int(client.time()[0])


def test_a_demoted_primary_gets_no_writes(servers: ReplicatedStore) -> None:
    """The sentinels replace a primary that lives on. Connections to it must not stay with it."""
    store = open_with(servers)
    # On a busy machine the sentinels may doubt the new primary and name none, or replace it, too.
    assert any(writes_follow_the_sentinels(servers, store) for _ in range(3))
    servers.await_replicas()


def writes_follow_the_sentinels(servers: ReplicatedStore, store: Store) -> bool:
    """Return whether all writes reach the new primary while the old one still takes writes, too."""
    old = servers.await_replicas()
    submit_many(store)  # so that the pool has several connections to the old primary
    servers.begin_failover()
    servers.await_switch(old)
    time.sleep(1.5 * CHECK_SECONDS)
    until_answered(store)
    jobs = submit_many(store)
    takes_writes = servers.info(old).get("role") == "master"
    with servers.client(servers.await_switch(old)) as client:
        kept: int = client.exists(*(f"literati:job:{job.spec.id}" for job in jobs))
    return takes_writes and kept == len(jobs)


def submit_many(store: Store) -> list[Job]:
    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(lambda _: submit(store), range(32)))


def test_too_few_replicas(tmp_path: Path) -> None:
    """A client is not told of a change that only the primary has, also not if it repeats its request."""
    with ReplicatedStore(tmp_path / "store", replicas=1, sentinels=0) as servers:
        waiting, reading = open_with(servers, wait_replicas=1), open_with(servers)
        new = spec(add_dataset(waiting))
        once: Any = {"idempotency_key": "once", "body_digest": "same"}
        servers.servers[1].signal(signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(NotReplicatedError, match="1 replica did not confirm"):
            waiting.jobs.submit(new, **once)
        assert time.monotonic() - began >= 0.9 * WAIT_SECONDS
        assert look(reading, new.id).spec.id == new.id, "another connection sees what is not replicated yet"
        for change in (
            # Its connection has written nothing before, and nothing is written now.
            lambda: open_with(servers, wait_replicas=1).jobs.submit(new, **once),
            lambda: waiting.tenants.set_weight("t", 3),
        ):
            with pytest.raises(NotReplicatedError):
                change()
        with pytest.raises(NotReplicatedError):
            waiting.jobs.claim("w")
        assert look(reading, new.id).state == "QUEUED", "nobody runs a claimed job that nobody was told of"
        # Scripts that only read do not wait; otherwise they would raise the error.
        assert waiting.jobs.incumbent(TENANT, new.id) is None
        assert waiting.measure().writable
        servers.servers[1].signal(signal.SIGCONT)
        servers.await_replicas(servers.servers[0])
        repeated = waiting.jobs.submit(new, **once)
        assert repeated.job.spec.id == new.id


def test_scripts_that_do_not_wait_do_not_change_records(store: Store) -> None:
    """The server refuses all writes of EVAL_RO. Three scripts write what no client is told of."""
    arguments = {
        "count_expired": ("jobs", 0),
        "incumbent": ("job_none", TENANT, ""),
        "resolve_model": (TENANT, "none"),
    }
    assert set(arguments) == UNREPLICATED - {"mark_format", "measure", "report_alive"}
    client: Any = store.client
    for name, values in arguments.items():
        client.execute_command("EVAL_RO", script_source(name), 0, *values)
    with pytest.raises(redis.ResponseError, match=r"(?i)write commands are not allowed"):
        client.execute_command("EVAL_RO", script_source("set_weight"), 0, "t", 3)
