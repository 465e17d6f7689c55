"""Test submitting, reading and deleting jobs."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
import redis

from tests.support.records.store_records import (
    SUCCESS,
    TENANT,
    add_dataset,
    look,
    progress_update,
    run,
    spec,
    start,
    submit,
)
from worker.domain.base import new_id
from worker.domain.errors import (
    DatasetNotFoundError,
    IdempotencyConflictError,
    InvalidTokenError,
    JobNotEndedError,
    JobNotFoundError,
    LimitReachedError,
)
from worker.domain.jobs import ControlRequest, JobState, NewJob
from worker.domain.parameters import Limits
from worker.domain.validation import ValidationFraction
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect
from worker.store.jobs import Quota


def test_a_new_job_is_queued_and_reads_back_as_submitted(store: Store) -> None:
    wanted = spec(
        add_dataset(store),
        name="Ünïcode \U0001f333",
        tags={"a": "b"},
        priority=-3,
        limits=Limits(time_limit=0.1),
        validation=ValidationFraction(fraction=0.25, seed=7),
    )
    submitted = store.jobs.submit(wanted)
    assert submitted.created
    job = store.jobs.get(TENANT, wanted.id)
    assert job == submitted.job
    assert NewJob(**dict(job.spec), **dict(job.settings)) == wanted
    assert (job.state, job.control_request, job.epoch, job.attempts) == (
        JobState.QUEUED,
        ControlRequest.NONE,
        0,
        0,
    )
    assert job.revision == 1
    assert job.progress.upper_bound is None
    assert job.progress.expansions == 0
    assert (job.model_id, job.stop_reason, job.error, job.started_at, job.snapshot) == (None,) * 5
    assert [(step.state, step.reason) for step in job.transitions] == [(JobState.QUEUED, None)]
    assert abs(datetime.now(UTC) - job.created_at) < timedelta(seconds=60)
    assert job.created_at == job.queued_at == job.transitions[0].at


def test_an_absent_dataset_is_refused_and_leaves_nothing(store: Store, client: redis.Redis) -> None:
    theirs = add_dataset(store, "other")
    before = set(client.keys("*"))
    for dataset_id, tenant in ((new_id("ds"), TENANT), (theirs.id, TENANT)):
        with pytest.raises(DatasetNotFoundError):
            store.jobs.submit(spec(theirs).model_copy(update={"dataset_id": dataset_id, "tenant": tenant}))
    assert set(client.keys("*")) == before


def test_other_tenants_see_nothing(store: Store) -> None:
    claim = run(store)
    job_id = claim.spec.id
    assert store.jobs.get("other", job_id) is None
    assert store.jobs.list("other").items == []
    for call in (
        lambda: store.jobs.control("other", job_id, "cancel"),
        lambda: store.jobs.delete("other", job_id),
        lambda: store.jobs.incumbent("other", job_id),
        lambda: store.jobs.incumbent("other", job_id, 1),
        lambda: store.jobs.trace("other", job_id),
        lambda: store.jobs.events("other", job_id),
    ):
        with pytest.raises(JobNotFoundError):
            call()
    assert look(store, job_id).state is JobState.RUNNING


def test_the_same_key_and_body_is_the_same_job(store: Store) -> None:
    data = add_dataset(store)
    first = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1")
    again = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1")
    assert (first.created, again.created) == (True, False)
    assert again.job == first.job
    with pytest.raises(IdempotencyConflictError):
        store.jobs.submit(spec(data), idempotency_key="k", body_digest="2")
    assert store.jobs.submit(spec(data), idempotency_key="l", body_digest="1").created
    assert len(store.jobs.list(TENANT).items) == 2


def test_keys_belong_to_a_tenant_and_are_kept_for_a_day(store: Store, client: redis.Redis) -> None:
    # Joined naively, these two would be one.
    for tenant, key in (("a", "b:c"), ("a:b", "c"), ("a", "b")):
        data = add_dataset(store, tenant)
        assert store.jobs.submit(spec(data), idempotency_key=key, body_digest="1").created
    seen = client.keys("literati:idempotency:*")
    assert len(seen) == 3
    for name in seen:
        assert 86_000_000 < client.pttl(name) <= 86_400_000


def test_a_known_key_answers_although_the_limit_is_reached_and_the_dataset_gone(store: Store) -> None:
    data = add_dataset(store)
    first = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1", quota=Quota(max_live=1))
    again = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1", quota=Quota(max_live=1))
    assert again.job.spec.id == first.job.spec.id
    store.jobs.control(TENANT, first.job.spec.id, "cancel")
    store.datasets.delete(TENANT, data.id)
    assert not store.jobs.submit(spec(data), idempotency_key="k", body_digest="1").created


def test_a_deleted_job_sets_its_key_free(store: Store) -> None:
    data = add_dataset(store)
    first = store.jobs.submit(spec(data), idempotency_key="k", body_digest="1").job
    store.jobs.control(TENANT, first.spec.id, "cancel")
    store.jobs.delete(TENANT, first.spec.id)
    assert store.jobs.submit(spec(data), idempotency_key="k", body_digest="2").created


def test_many_at_once_with_one_key_make_one_job(store: Store, server: ValkeyServer) -> None:
    data = add_dataset(store)

    def attempt(_: int) -> tuple[str, bool]:
        with connect(server.url) as client:
            submitted = Store(client).jobs.submit(spec(data), idempotency_key="k", body_digest="1")
        return submitted.job.spec.id, submitted.created

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(attempt, range(64)))
    assert len({job_id for job_id, _ in answers}) == 1
    assert sum(created for _, created in answers) == 1
    assert len(store.jobs.list(TENANT).items) == 1


def test_submitting_twice_with_one_id_is_harmless(store: Store) -> None:
    """The client library sends the command again when the answer is lost."""
    wanted = spec(add_dataset(store))
    first = store.jobs.submit(wanted)
    assert store.jobs.submit(wanted) == first
    assert len(store.jobs.list(TENANT).items) == 1


def test_live_jobs_are_limited_by_tenant(store: Store) -> None:
    data, theirs = add_dataset(store), add_dataset(store, "other")
    job = submit(store, data)
    submit(store, data)
    with pytest.raises(LimitReachedError, match="live_jobs"):
        store.jobs.submit(spec(data), quota=Quota(max_live=2))
    store.jobs.submit(spec(theirs), quota=Quota(max_live=2))
    store.jobs.control(TENANT, job.spec.id, "pause")
    with pytest.raises(LimitReachedError, match="live_jobs"):
        store.jobs.submit(spec(data), quota=Quota(max_live=2))
    store.jobs.control(TENANT, job.spec.id, "cancel")
    store.jobs.submit(spec(data), quota=Quota(max_live=2))


def test_pages_go_from_the_newest_and_do_not_shift(store: Store) -> None:
    data = add_dataset(store)
    ids = [submit(store, data).spec.id for _ in range(7)]
    first = store.jobs.list(TENANT, page_size=3)
    assert [job.spec.id for job in first.items] == ids[:3:-1]
    submit(store, data)
    store.jobs.control(TENANT, ids[4], "cancel")
    store.jobs.delete(TENANT, ids[4])  # the one that the token points at
    second = store.jobs.list(TENANT, page_size=3, page_token=first.next_page_token)
    assert [job.spec.id for job in second.items] == ids[3:0:-1]
    last = store.jobs.list(TENANT, page_size=3, page_token=second.next_page_token)
    assert [job.spec.id for job in last.items] == ids[:1]
    assert last.next_page_token is None


def test_a_full_last_page_has_no_token(store: Store) -> None:
    data = add_dataset(store)
    for _ in range(4):
        submit(store, data)
    first = store.jobs.list(TENANT, page_size=2)
    assert store.jobs.list(TENANT, page_size=2, page_token=first.next_page_token).next_page_token is None


@pytest.mark.parametrize(
    "token", ["", "x", "AAAAAAAAAA", "AAAAAAAAAAA=", "(((((((((((", "é" * 11, "A" * 5000]
)
def test_strange_tokens_are_refused(store: Store, token: str) -> None:
    with pytest.raises(InvalidTokenError):
        store.jobs.list(TENANT, page_token=token)
    with pytest.raises(InvalidTokenError):
        store.datasets.list(TENANT, page_token=token)


def test_lists_by_state_follow_the_jobs(store: Store) -> None:
    data = add_dataset(store)
    ids = [submit(store, data).spec.id for _ in range(6)]
    store.jobs.control(TENANT, ids[1], "cancel")
    store.jobs.control(TENANT, ids[3], "pause")
    store.jobs.control(TENANT, ids[4], "cancel")

    def listed(*states: JobState, size: int = 50) -> list[str]:
        token, found = None, []
        while True:
            page = store.jobs.list(TENANT, states=states, page_size=size, page_token=token)
            found += [job.spec.id for job in page.items]
            token = page.next_page_token
            if token is None:
                return found

    assert listed(JobState.CANCELLED) == [ids[4], ids[1]]
    assert listed(JobState.PAUSED) == [ids[3]]
    assert listed(JobState.FAILED) == []
    for size in (1, 2, 3, 50):
        assert listed(JobState.PAUSED, JobState.CANCELLED, JobState.PAUSED, size=size) == [
            ids[4],
            ids[3],
            ids[1],
        ]
        assert listed(size=size) == ids[::-1]
    counts = store.measure().states
    assert counts[JobState.QUEUED] == 3
    assert counts[JobState.CANCELLED] == 2
    assert sum(counts.values()) == 6
    assert set(counts) == set(JobState)


def test_only_a_job_that_has_ended_is_deleted(store: Store) -> None:
    claim = run(store)
    job_id = claim.spec.id
    with pytest.raises(JobNotEndedError):
        store.jobs.delete(TENANT, job_id)
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    store.jobs.delete(TENANT, job_id)
    assert store.jobs.get(TENANT, job_id) is None
    with pytest.raises(JobNotFoundError):
        store.jobs.delete(TENANT, job_id)


def test_deleting_leaves_only_the_model_and_the_dataset(store: Store, client: redis.Redis) -> None:
    claim = start(store)
    job_id = claim.spec.id
    for i in range(3):
        store.jobs.publish_progress(job_id, 1, progress_update(objective=9.0 - i, snapshot=str(i) * 64))
    store.jobs.finish(job_id, 1, SUCCESS)
    model_id = look(store, job_id).model_id
    assert model_id is not None
    assert store.jobs.delete(TENANT, job_id) == ["2" * 64]
    assert not [key for key in client.keys("*") if job_id.encode() in key]
    assert store.models.get(TENANT, model_id) is not None
    assert store.jobs.list(TENANT).items == store.jobs.list(TENANT, states=list(JobState)).items == []
    assert sum(store.measure().states.values()) == 0
    assert store.jobs.claim("worker") is None


def test_numbers_come_back_to_the_last_digit(store: Store) -> None:
    claim = start(store)
    upper, lower, objective = 1e15 / 3, math.nextafter(0.1, 1), math.nextafter(1e15 / 3, 0)
    store.jobs.publish_progress(
        claim.spec.id,
        1,
        progress_update(
            upper=upper, lower=lower, objective=objective, expansions=(1 << 53) - 1, seconds=1 / 3
        ),
    )
    progress = look(store, claim.spec.id).progress
    assert (progress.upper_bound, progress.lower_bound, progress.objective) == (upper, lower, objective)
    assert (progress.expansions, progress.elapsed_seconds) == ((1 << 53) - 1, 1 / 3)
    assert progress.gap_absolute == upper - lower
    [point] = store.jobs.trace(TENANT, claim.spec.id)
    assert (point.upper, point.lower, point.seconds) == (upper, lower, 1 / 3)
    found = store.jobs.incumbent(TENANT, claim.spec.id)
    assert found is not None
    assert (found.upper_bound, found.lower_bound, found.objective) == (upper, lower, objective)


def test_ready_means_writable(store: Store, client: redis.Redis) -> None:
    store.ping()
    client.config_set("maxmemory", "1mb")
    client.config_set("maxmemory", "1")
    try:
        with pytest.raises(redis.RedisError):
            store.ping()
    finally:
        client.config_set("maxmemory", "0")
    store.ping()
