"""Test the fair queue: the order in which jobs start, by weight, cores and running jobs."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from typing import Any

import pytest
import redis

from literati.search.options import MAX_THREADS
from tests.support.records.store_records import (
    SUCCESS,
    add_dataset,
    expire,
    look,
    progress_update,
    spec,
    submit,
)
from worker.domain.datasets import Dataset
from worker.domain.errors import LimitReachedError
from worker.domain.jobs import Job, JobState
from worker.store import Store
from worker.store.jobs import Quota
from worker.store.leases import WorkerCores
from worker.store.measurements import WorkerInfo


@pytest.fixture
def datasets(store: Store) -> dict[str, Dataset]:
    return {tenant: add_dataset(store, tenant) for tenant in "abc"}


def fill(store: Store, of: Dataset, count: int, **fields: Any) -> list[str]:
    return [submit(store, of, **fields).spec.id for _ in range(count)]


def claim(store: Store, cores: WorkerCores | None = None) -> Job:
    found = store.jobs.claim("worker", cores)
    assert found is not None
    return found


def finish(store: Store, claim: Job) -> None:
    last = progress_update(objective=1.0)
    store.jobs.finish(claim.spec.id, claim.epoch, SUCCESS, last)


def one_slot(store: Store, count: int) -> list[str]:
    """Return the tenants of the next jobs if one job runs at a time."""
    order = []
    for _ in range(count):
        job = claim(store)
        order.append(job.spec.tenant)
        finish(store, job)
    return order


def test_a_single_job_is_next(store: Store, datasets: dict[str, Dataset]) -> None:
    fill(store, datasets["a"], 1000)
    one_slot(store, 5)
    (single,) = fill(store, datasets["b"], 1)
    assert claim(store).spec.id == single


def test_it_is_next_while_the_others_run(store: Store, datasets: dict[str, Dataset]) -> None:
    fill(store, datasets["a"], 50)
    running = [claim(store) for _ in range(4)]
    (single,) = fill(store, datasets["b"], 1)
    finish(store, running[0])
    assert claim(store).spec.id == single


def test_tenants_take_turns(store: Store, datasets: dict[str, Dataset]) -> None:
    for tenant in "abc":
        fill(store, datasets[tenant], 10)
    order = one_slot(store, 30)
    for start in range(0, 30, 3):
        assert sorted(order[start : start + 3]) == ["a", "b", "c"]
    assert store.jobs.claim("worker") is None


def test_priority_orders_the_tenants_own_jobs_only(store: Store, datasets: dict[str, Dataset]) -> None:
    late, early = fill(store, datasets["a"], 1), fill(store, datasets["a"], 1, priority=1)
    urgent = fill(store, datasets["b"], 3, priority=100)
    order = []
    for _ in range(5):
        job = claim(store)
        order.append(job.spec.id)
        finish(store, job)
    assert order == [early[0], urgent[0], late[0], urgent[1], urgent[2]]


def test_who_was_idle_gains_nothing(store: Store, datasets: dict[str, Dataset]) -> None:
    fill(store, datasets["b"], 1)
    one_slot(store, 1)
    fill(store, datasets["a"], 40)
    one_slot(store, 20)
    fill(store, datasets["b"], 10)
    order = one_slot(store, 10)
    assert Counter(order) == {"a": 5, "b": 5}, "no credit for the turns that it did not want"


def test_who_comes_one_at_a_time_gains_nothing(store: Store, datasets: dict[str, Dataset]) -> None:
    """A tenant whose queue is often empty gets no more than its share."""
    fill(store, datasets["a"], 30)
    order = []
    fill(store, datasets["b"], 1)
    for _ in range(20):
        job = claim(store)
        order.append(job.spec.tenant)
        if job.spec.tenant == "b":
            fill(store, datasets["b"], 1)
        finish(store, job)
    assert Counter(order) == {"a": 10, "b": 10}


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("weights", [{"a": 300, "b": 100}, {"a": 50}, {"a": 200, "b": 300, "c": 500}])
def test_weights(store: Store, datasets: dict[str, Dataset], weights: dict[str, int], slots: int) -> None:
    tenants = ["a", "b", "c"] if "c" in weights else ["a", "b"]
    for tenant in tenants:
        fill(store, datasets[tenant], 200)
        store.tenants.set_weight(tenant, weights.get(tenant, 100))
    started = simulate(store, slots, 200, lambda _: random.uniform(0.9, 1.1))
    total = sum(weights.get(tenant, 100) for tenant in tenants)
    for tenant in tenants:
        share = weights.get(tenant, 100) / total
        assert started[tenant] / 200 == pytest.approx(share, abs=0.04), started


def simulate(store: Store, slots: int, starts: int, seconds: Any) -> Counter[str]:
    """Return how many jobs of each tenant start, for a number of slots and a duration of each job."""
    random.seed(0)
    started: Counter[str] = Counter()
    running: list[tuple[float, int, Job]] = []
    now = 0.0
    for number in range(starts):
        if len(running) == slots:
            now, _, ended = heapq.heappop(running)
            finish(store, ended)
        job = claim(store)
        tenant = job.spec.tenant
        started[tenant] += 1
        heapq.heappush(running, (now + seconds(tenant), number, job))
    return started


def test_long_jobs_do_not_take_every_core(store: Store, datasets: dict[str, Dataset]) -> None:
    """Virtual time alone would soon give all cores to the tenant with the long jobs."""
    for tenant in "ab":
        fill(store, datasets[tenant], 200)
    started = simulate(store, 4, 150, {"a": 1000.0, "b": 1.0}.__getitem__)
    assert started == {"a": 2, "b": 148}


def test_the_last_one_gets_all_cores(store: Store, datasets: dict[str, Dataset]) -> None:
    fill(store, datasets["a"], 6)
    assert [claim(store).spec.tenant for _ in range(6)] == ["a"] * 6


def test_paused_and_cancelled_jobs_do_not_delay_others(store: Store, datasets: dict[str, Dataset]) -> None:
    (first, second), (other,) = fill(store, datasets["a"], 2), fill(store, datasets["b"], 1)
    store.jobs.control("a", first, "cancel")
    store.jobs.control("a", second, "pause")
    assert claim(store).spec.id == other
    assert store.jobs.claim("worker") is None
    store.jobs.control("a", second, "resume")
    assert claim(store).spec.id == second


def test_what_is_counted_goes_back_to_nothing(
    store: Store, client: redis.Redis, datasets: dict[str, Dataset]
) -> None:
    for tenant in "ab":
        fill(store, datasets[tenant], 3)
    ends = [claim(store) for _ in range(6)]
    assert {tenant: store.tenants.get(tenant).busy_cores for tenant in "ab"} == {"a": 3, "b": 3}
    finish(store, ends[0])
    store.jobs.release(ends[1].spec.id, ends[1].epoch)
    expire(store, ends[2].spec.id)
    store.jobs.reconcile()
    assert store.measure().busy_cores == 3
    assert store.measure().queue_tenants == 2
    while again := store.jobs.claim("worker"):
        ends.append(again)
    for end in ends[3:]:
        finish(store, end)
    assert client.hgetall("literati:running") == {}
    assert client.zcard("literati:turns") == 0
    assert store.measure().busy_cores == 0


class TestCores:
    """Jobs of several cores and jobs of one core."""

    def test_a_job_that_does_not_fit_is_not_given(self, store: Store, datasets: dict[str, Dataset]) -> None:
        store.report_alive(WorkerInfo("large", 8), 60)
        fill(store, datasets["a"], 1, cores=4)
        assert store.jobs.claim("child", WorkerCores("small", 2, 2)) is None
        assert claim(store, WorkerCores("large", 4, 8)).threads == 4

    def test_a_worker_that_is_too_small_runs_the_others(
        self, store: Store, datasets: dict[str, Dataset]
    ) -> None:
        store.report_alive(WorkerInfo("large", 4), 60)
        fill(store, datasets["a"], 1, cores=4)
        (narrow,) = fill(store, datasets["a"], 1)
        assert claim(store, WorkerCores("small", 1, 2)).spec.id == narrow

    def test_a_wide_job_is_not_starved_by_narrow_ones(
        self, store: Store, datasets: dict[str, Dataset]
    ) -> None:
        """The worker reserves the cores that become free for the wide job."""
        (wide,) = fill(store, datasets["a"], 1, cores=3)
        fill(store, datasets["b"], 50)
        fill(store, datasets["c"], 50)
        assert store.jobs.claim("w1", WorkerCores("w", 1, 4)) is None, "it is the turn of the wide job"
        assert store.jobs.claim("w1", WorkerCores("w", 2, 4)) is None
        assert claim(store, WorkerCores("w", 3, 4)).spec.id == wide
        assert claim(store, WorkerCores("w", 1, 4)).spec.tenant in "bc"

    def test_one_worker_keeps_cores_for_it_and_the_others_go_on(
        self, store: Store, datasets: dict[str, Dataset]
    ) -> None:
        (wide,) = fill(store, datasets["a"], 1, cores=3)
        fill(store, datasets["b"], 5)
        assert store.jobs.claim("w", WorkerCores("first", 1, 4)) is None
        assert claim(store, WorkerCores("second", 1, 4)).spec.tenant == "b"
        assert claim(store, WorkerCores("third", 4, 4)).spec.id == wide, "it fits there at once"
        assert claim(store, WorkerCores("first", 1, 4)).spec.tenant == "b", "nothing is kept for it any more"

    def test_a_worker_that_is_gone_keeps_nothing(
        self, store: Store, client: redis.Redis, datasets: dict[str, Dataset]
    ) -> None:
        (wide,) = fill(store, datasets["a"], 1, cores=3)
        assert store.jobs.claim("w", WorkerCores("gone", 1, 4)) is None
        assert 0 < client.pttl("literati:kept-cores:gone") <= 60_000
        client.delete("literati:kept-cores:gone")
        assert store.jobs.claim("w", WorkerCores("other", 2, 4)) is None
        assert claim(store, WorkerCores("other", 3, 4)).spec.id == wide

    def test_a_worker_without_a_free_core_keeps_none(
        self, store: Store, client: redis.Redis, datasets: dict[str, Dataset]
    ) -> None:
        fill(store, datasets["a"], 5)
        assert store.jobs.claim("w", WorkerCores("full", 0, 4)) is None
        (single,) = fill(store, datasets["b"], 1)
        assert [claim(store, WorkerCores("full", 1, 4)).spec.tenant for _ in range(2)] == ["a", "b"]
        assert look(store, single, "b").state is JobState.STARTING
        assert client.exists("literati:kept-cores:full") == 0

    def test_a_wide_job_uses_more_virtual_time(self, store: Store, datasets: dict[str, Dataset]) -> None:
        fill(store, datasets["a"], 10, cores=4)
        fill(store, datasets["b"], 40)
        order = one_slot(store, 40)
        assert order.count("b") == pytest.approx(4 * order.count("a"), abs=4)

    def test_cores_are_counted(self, store: Store, datasets: dict[str, Dataset]) -> None:
        fill(store, datasets["a"], 1, cores=4)
        running = claim(store)
        assert look(store, running.spec.id, "a").threads == 4
        assert store.tenants.get("a").busy_cores == 4
        finish(store, running)
        assert store.tenants.get("a").busy_cores == 0


def test_no_job_waits_for_more_cores_than_the_largest_worker_has(
    store: Store, datasets: dict[str, Dataset]
) -> None:
    for worker in (WorkerInfo("small", 2), WorkerInfo("large", 3)):
        store.report_alive(worker, 60)
    (wide,) = fill(store, datasets["a"], 1, cores=256)
    assert store.jobs.claim("child", WorkerCores("small", 2, 2)) is None
    assert store.jobs.claim("child", WorkerCores("large", 2, 3)) is None, "it reserves them"
    running = claim(store, WorkerCores("large", 3, 3))
    assert (running.spec.id, running.threads) == (wide, 3)
    assert store.tenants.get("a").busy_cores == 3
    finish(store, running)
    assert store.tenants.get("a").busy_cores == 0


def test_a_large_worker_that_is_gone_is_not_waited_for(
    store: Store, client: redis.Redis, datasets: dict[str, Dataset]
) -> None:
    store.report_alive(WorkerInfo("large", 8), 60)
    (wide,) = fill(store, datasets["a"], 1, cores=4)
    assert store.jobs.claim("child", WorkerCores("small", 2, 2)) is None
    client.zadd("literati:workers", {"large 8": 1})  # its last report is too old
    running = claim(store, WorkerCores("small", 2, 2))
    assert (running.spec.id, running.threads) == (wide, 2)


def test_cores_are_not_reserved_for_a_job_of_a_larger_worker(
    store: Store, datasets: dict[str, Dataset]
) -> None:
    (wide,) = fill(store, datasets["a"], 1, cores=4)
    (narrow,) = fill(store, datasets["a"], 1)
    assert store.jobs.claim("child", WorkerCores("small", 1, 2)) is None, "it reserves two cores"
    store.report_alive(WorkerInfo("large", 8), 60)
    assert claim(store, WorkerCores("small", 1, 2)).spec.id == narrow
    assert store.jobs.claim("child", WorkerCores("large", 1, 8)) is None, "this one reserves four"
    assert claim(store, WorkerCores("large", 4, 8)).spec.id == wide


def test_all_cores_of_whichever_worker_takes_the_job(store: Store, datasets: dict[str, Dataset]) -> None:
    store.report_alive(WorkerInfo("large", 8), 60)
    (wide,) = fill(store, datasets["a"], 1, cores=-1)
    assert store.jobs.claim("child", WorkerCores("small", 1, 2)) is None, "it reserves two cores"
    running = claim(store, WorkerCores("small", 2, 2))
    assert (running.spec.id, running.threads) == (wide, 2)
    assert store.tenants.get("a").busy_cores == 2
    store.jobs.release(running.spec.id, running.epoch)
    assert store.tenants.get("a").busy_cores == 0
    assert claim(store, WorkerCores("large", 8, 8)).threads == 8, "another worker has others"
    assert store.tenants.get("a").busy_cores == 8


def test_no_search_has_more_threads_than_the_library_allows(
    store: Store, datasets: dict[str, Dataset]
) -> None:
    fill(store, datasets["a"], 1, cores=-1)
    assert claim(store, WorkerCores("huge", 1024, 1024)).threads == MAX_THREADS


class TestAFullQueue:
    def test_a_tenant_below_its_share_gets_in(self, store: Store, datasets: dict[str, Dataset]) -> None:
        quota = Quota(max_queued=6)

        def submit_as(tenant: str) -> None:
            store.jobs.submit(spec(datasets[tenant]), quota=quota)

        for _ in range(6):
            submit_as("a")
        with pytest.raises(LimitReachedError, match="queue"):
            submit_as("a")
        for _ in range(3):
            submit_as("b")
        with pytest.raises(LimitReachedError, match="queue"):
            submit_as("b")
        with pytest.raises(LimitReachedError, match="queue"):
            submit_as("a")


class TestAStoreOfTheFirstFormat:
    """One sorted set holds all queued jobs, and neither jobs nor tenants have a number of cores."""

    @pytest.fixture
    def old(self, store: Store, client: redis.Redis, datasets: dict[str, Dataset]) -> dict[str, list[str]]:
        jobs = {
            "a": fill(store, datasets["a"], 3) + fill(store, datasets["a"], 1, priority=5),
            "b": fill(store, datasets["b"], 1),
        }
        running = claim(store)
        jobs["running"] = [running.spec.id, running.spec.tenant]
        for tenant in "ab":
            members: Any = client.zrange(f"literati:queue:{tenant}", 0, -1, withscores=True)
            if members:
                client.zadd("literati:queue", dict(members))
            client.delete(f"literati:queue:{tenant}")
        client.delete(
            "literati:turns",
            "literati:rested",
            "literati:virtual-time",
            "literati:running",
            "literati:format",
        )
        for job_id in [*jobs["a"], *jobs["b"]]:
            client.hdel(f"literati:job:{job_id}", "cores", "kept_by")
        return jobs

    def test_is_taken_over(self, store: Store, client: redis.Redis, old: dict[str, list[str]]) -> None:
        running_id, running_tenant = old["running"]
        store.jobs.reconcile()
        assert client.exists("literati:queue") == 0
        assert store.measure().busy_cores == 1
        started = [claim(store).spec.id for _ in range(4)]
        assert {*started, running_id} == {*old["a"], *old["b"]}
        assert started[0] == old["b"][0], "the other tenant has a core already"
        assert store.jobs.claim("worker") is None
        assert look(store, running_id, running_tenant).state is JobState.STARTING

    def test_once(self, store: Store, client: redis.Redis, old: dict[str, list[str]]) -> None:
        for _ in range(3):
            store.jobs.reconcile()
        assert store.measure().queue_depth == 4
        assert store.tenants.get("a").busy_cores == 1
        job_id, tenant = old["running"]
        epoch = int(client.hget(f"literati:job:{job_id}", "epoch") or 0)
        store.jobs.finish(job_id, epoch, SUCCESS, progress_update(objective=1.0))
        assert store.tenants.get(tenant).busy_cores == 0


def test_many_tenants(store: Store) -> None:
    for number in range(300):
        of = add_dataset(store, f"tenant-{number}")
        fill(store, of, 2)
    order = one_slot(store, 300)
    assert len(set(order)) == 300, "each has had one turn"


def test_weights_are_kept_and_reset(store: Store, client: redis.Redis) -> None:
    assert store.tenants.get("a").weight == 100
    assert store.tenants.set_weight("a", 250).weight == 250
    assert store.tenants.names() == {"a"}
    assert store.tenants.set_weight("a", 100).weight == 100
    assert store.tenants.names() == set()
    assert client.hgetall("literati:weights") == {}


def test_the_others_start_narrow_jobs_while_one_worker_keeps_cores(
    store: Store, datasets: dict[str, Dataset]
) -> None:
    fill(store, datasets["a"], 1, cores=3)
    fill(store, datasets["b"], 2)
    assert store.jobs.claim("w", WorkerCores("first", 1, 4)) is None, "it keeps its core for the wide job"
    assert claim(store, WorkerCores("second", 1, 4)).spec.tenant == "b"
    assert store.jobs.claim("w", WorkerCores("first", 2, 4)) is None


def test_another_worker_keeps_cores_when_the_one_that_did_is_gone(
    store: Store, client: redis.Redis, datasets: dict[str, Dataset]
) -> None:
    (wide,) = fill(store, datasets["a"], 1, cores=3)
    fill(store, datasets["b"], 2)
    assert store.jobs.claim("w", WorkerCores("gone", 1, 4)) is None
    client.delete("literati:kept-cores:gone")
    assert store.jobs.claim("w", WorkerCores("other", 1, 4)) is None, (
        "it keeps its core, though b has a narrow job"
    )
    assert look(store, wide, "a").state is JobState.QUEUED
    assert claim(store, WorkerCores("other", 3, 4)).spec.id == wide
