"""Test the store on a primary with replicas and sentinels: what follows a failover and what is waited for."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

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
from worker.domain.errors import FencedError, NotReplicatedError
from worker.domain.jobs import JobState
from worker.settings import WorkerSettings
from worker.store import Store, open_store
from worker.store.client import UNREPLICATED, connect, script_source
from worker.store.model_names import ModelResolver
from worker.store.replication import WAIT_SECONDS
from worker.store.token_buckets import Bucket, Buckets

pytestmark = pytest.mark.stack
LEASE = 30.0


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicatedStore]:
    """Provide a primary, two replicas and three sentinels. The clock of the first replica is a day ahead."""
    folder = tmp_path_factory.mktemp("replicated")
    ahead = {"LD_PRELOAD": compile_clock_shift(folder)}
    with ReplicatedStore(folder / "store", preferred=ahead) as servers:
        yield servers


def open_with(servers: ReplicatedStore, wait_replicas: int = 0) -> Store:
    settings = {**servers.settings, "redis_wait_replicas": wait_replicas, "lease_seconds": LEASE}
    return open_store(WorkerSettings.model_validate(settings))


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
    url = WorkerSettings.model_validate(servers.settings).store_url
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
    old = servers.await_replicas()
    with ThreadPoolExecutor(8) as threads:  # so that the pool has several connections to the old primary
        list(threads.map(lambda _: submit(store), range(32)))
    with redis.Redis(port=servers.sentinels[0].port, password=servers.sentinel_password) as sentinel:
        servers.await_sentinels()
        poll(lambda: begin_failover(sentinel), seconds=60, what="the begin of a failover")
    new = servers.await_switch(old)
    until_answered(store)
    with ThreadPoolExecutor(8) as threads:
        jobs = list(threads.map(lambda _: submit(store), range(32)))
    with servers.client(new) as client:
        assert client.exists(*(f"literati:job:{job.spec.id}" for job in jobs)) == len(jobs)
    servers.await_replicas()


def begin_failover(sentinel: redis.Redis) -> bool:
    try:
        sentinel.execute_command("SENTINEL", "FAILOVER", "mymaster")
    except redis.ResponseError:  # it has not seen good replicas yet
        return False
    return True


def test_too_few_replicas(servers: ReplicatedStore) -> None:
    """A client is not told of a change that only the primary has, also not if it repeats its request."""
    primary = servers.await_replicas()
    waiting, reading = open_with(servers, wait_replicas=2), open_with(servers)
    dataset = add_dataset(waiting)
    replica = next(server for server in servers.servers if server is not primary)
    new = spec(dataset)
    replica.signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.raises(NotReplicatedError, match="2 replicas did not confirm"):
            waiting.jobs.submit(new, idempotency_key="once", body_digest="same")
        assert time.monotonic() - began >= WAIT_SECONDS
        assert reading.jobs.get(TENANT, new.id) is not None, (
            "another connection sees what is not replicated yet"
        )
        with connect(waiting_url(servers)) as client, pytest.raises(NotReplicatedError):
            # A connection of its own, which has written nothing before.
            Store(client, wait_replicas=2).jobs.submit(new, idempotency_key="once", body_digest="same")
        began = time.monotonic()
        assert waiting.jobs.incumbent(TENANT, new.id) is None
        waiting.measure()
        assert time.monotonic() - began < WAIT_SECONDS, "scripts that only read do not wait"
        for change in (
            lambda: waiting.tenants.set_weight("t", 3),
            lambda: waiting.models.delete_alias(TENANT, "none"),
        ):
            with pytest.raises(NotReplicatedError):
                change()
    finally:
        replica.signal(signal.SIGCONT)
    servers.await_replicas()
    repeated = waiting.jobs.submit(new, idempotency_key="once", body_digest="same")
    assert (repeated.created, repeated.job.spec.id) == (False, new.id)


def waiting_url(servers: ReplicatedStore) -> str:
    return WorkerSettings.model_validate(servers.settings).store_url


def test_scripts_that_do_not_wait_do_not_change_records(store: Store) -> None:
    """The server refuses all writes of EVAL_RO. Two scripts write what no client is told of."""
    arguments = {
        "count_expired": ("jobs", 0),
        "incumbent": ("job_none", TENANT, ""),
        "resolve_model": (TENANT, "none"),
    }
    assert set(arguments) == UNREPLICATED - {"measure", "report_alive"}
    for name, values in arguments.items():
        store.client.execute_command("EVAL_RO", script_source(name), 0, *values)
    with pytest.raises(redis.ResponseError, match=r"(?i)write commands are not allowed"):
        store.client.execute_command("EVAL_RO", script_source("set_weight"), 0, "t", 3)
