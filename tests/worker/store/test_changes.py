"""Test changes of the name, notes, tags, priority and limits of jobs."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import redis

from tests.support.records.store_records import (
    CANCELLED,
    SUCCESS,
    TENANT,
    add_dataset,
    expire,
    look,
    progress_update,
    run,
    start,
    submit,
)
from worker.domain.errors import JobNotFoundError, PreconditionFailedError, WrongStateError
from worker.domain.jobs import JobSettings, JobState, Outcome, StopReason
from worker.domain.parameters import Limits
from worker.store import Store

Change = Callable[[JobSettings], JobSettings]


def to(**fields: object) -> Change:
    return lambda present: present.model_copy(update=fields)


def limits(**fields: object) -> Change:
    return lambda present: present.model_copy(update={"limits": present.limits.model_copy(update=fields)})


def test_name_and_tags_change_at_any_time(store: Store) -> None:
    claim = run(store, name="before", tags={"team": "a"})
    job_id = claim.spec.id
    for ended in (False, True):
        if ended:
            store.jobs.finish(job_id, claim.epoch, SUCCESS)
        before = look(store, job_id)
        job = store.jobs.change(TENANT, job_id, to(name=f"after {ended}", tags={"né": "ja"}))
        assert (job.settings.name, job.settings.tags) == (f"after {ended}", {"né": "ja"})
        assert job.revision == before.revision + 1
        assert job == look(store, job_id)
        assert job.spec == before.spec


def test_notes_are_stored_only_if_there_are_any(store: Store, client: redis.Redis) -> None:
    """They are not among the settings, so a worker of an earlier version can run the job."""
    job_id = submit(store, name="one").spec.id
    key = f"literati:job:{job_id}"
    before = client.hget(key, "settings")
    assert b"notes" not in (before or b"")
    assert store.jobs.change(TENANT, job_id, to(notes="two\nlines")).settings.notes == "two\nlines"
    assert look(store, job_id).settings.notes == "two\nlines"
    assert store.jobs.list(TENANT).items[0].settings.notes == "two\nlines"
    assert store.jobs.change(TENANT, job_id, to(notes=None)).settings.notes is None
    assert client.hget(key, "settings") == before


def test_no_change_is_no_revision(store: Store) -> None:
    job = submit(store, name="same")
    assert store.jobs.change(TENANT, job.spec.id, to(name="same")) == job


def test_another_tenants_job_cannot_be_changed(store: Store) -> None:
    job = submit(store, name="mine")
    with pytest.raises(JobNotFoundError):
        store.jobs.change("other", job.spec.id, to(name="yours"))
    assert look(store, job.spec.id) == job


def test_a_new_priority_moves_a_queued_job(store: Store) -> None:
    data = add_dataset(store)
    first, second, third = (submit(store, data).spec.id for _ in range(3))
    store.jobs.change(TENANT, third, to(priority=5))
    store.jobs.change(TENANT, first, to(priority=-5))
    claimed = [store.jobs.claim("worker") for _ in range(4)]
    assert [claim and claim.spec.id for claim in claimed] == [third, second, first, None]


def test_a_new_priority_counts_when_a_job_is_queued_again(store: Store) -> None:
    data = add_dataset(store)
    paused, running, other = (submit(store, data).spec.id for _ in range(3))
    store.jobs.control(TENANT, paused, "pause")
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.spec.id == running
    for job_id in (paused, running):
        store.jobs.change(TENANT, job_id, to(priority=5))
    assert store.client.zcard(f"literati:queue:{TENANT}") == 1
    store.jobs.control(TENANT, paused, "resume")
    expire(store, running)
    store.jobs.reconcile()
    claimed = [store.jobs.claim("worker") for _ in range(3)]
    assert [claim and claim.spec.id for claim in claimed] == [paused, running, other]


def test_a_worker_reads_new_limits_and_the_next_one_has_them(store: Store) -> None:
    claim = run(store, limits=Limits(time_limit=10, max_expansions=7))
    job_id = claim.spec.id
    assert store.jobs.read_control(job_id, claim.epoch).limits_revision == claim.limits_revision
    store.jobs.change(TENANT, job_id, limits(time_limit=20.0))
    assert store.jobs.read_control(job_id, claim.epoch).limits_revision == claim.limits_revision + 1
    store.jobs.change(TENANT, job_id, to(name="only the name"))
    assert store.jobs.read_control(job_id, claim.epoch).limits_revision == claim.limits_revision + 1
    expire(store, job_id)
    store.jobs.reconcile()
    again = store.jobs.claim("another")
    assert again is not None
    assert again.settings.limits == Limits(time_limit=20.0, max_expansions=7)
    assert again.limits_revision == claim.limits_revision + 1


REACHED = (
    StopReason.TIME_LIMIT,
    StopReason.EXPANSION_LIMIT,
    StopReason.MEMORY_LIMIT,
    StopReason.NO_IMPROVEMENT,
    StopReason.GAP_REACHED,
)


@pytest.mark.parametrize("reason", REACHED)
def test_a_limit_that_was_changed_a_moment_ago_does_not_end_the_job(store: Store, reason: StopReason) -> None:
    claim = run(store)
    job_id = claim.spec.id
    store.jobs.change(TENANT, job_id, limits(time_limit=600.0))
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=reason)
    last = progress_update(9.0, 2.0, 9.0, snapshot="b" * 64)
    store.jobs.finish(job_id, claim.epoch, outcome, last, limits_revision=claim.limits_revision)
    job = look(store, job_id)
    assert (job.state, job.transitions[-1].reason) == (JobState.QUEUED, "LIMITS_CHANGED")
    assert (job.progress.objective, job.snapshot, job.model_id) == (9.0, "b" * 64, None)
    again = store.jobs.claim("worker")
    assert again is not None
    revision = again.limits_revision
    store.jobs.finish(job_id, again.epoch, outcome, last, limits_revision=revision)
    assert look(store, job_id).stop_reason is reason


@pytest.mark.parametrize("reason", [StopReason.PROVEN_OPTIMAL, StopReason.USER_FINISH])
def test_any_other_end_stands_whatever_the_limits(store: Store, reason: StopReason) -> None:
    claim = run(store)
    store.jobs.change(TENANT, claim.spec.id, limits(time_limit=600.0))
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=reason)
    store.jobs.finish(claim.spec.id, claim.epoch, outcome, limits_revision=0)
    assert look(store, claim.spec.id).stop_reason is reason


def test_a_finish_request_is_carried_out_whatever_the_limits(store: Store) -> None:
    claim = run(store)
    job_id = claim.spec.id
    store.jobs.control(TENANT, job_id, "finish")
    store.jobs.change(TENANT, job_id, limits(time_limit=600.0))
    store.jobs.finish(job_id, claim.epoch, SUCCESS, limits_revision=0)
    assert look(store, job_id).state is JobState.SUCCEEDED


@pytest.mark.parametrize("outcome", [SUCCESS, CANCELLED])
def test_the_limits_of_an_ended_job_are_past_changing(store: Store, outcome: Outcome) -> None:
    claim = run(store)
    store.jobs.finish(claim.spec.id, claim.epoch, outcome)
    before = look(store, claim.spec.id)
    with pytest.raises(WrongStateError, match=outcome.state):
        store.jobs.change(TENANT, claim.spec.id, limits(time_limit=600.0))
    assert look(store, claim.spec.id) == before


def test_two_clients_at_once_lose_nothing(store: Store) -> None:
    job_id = submit(store).spec.id
    calls = 0

    def slowly(present: JobSettings) -> JobSettings:
        nonlocal calls
        calls += 1
        if calls == 1:
            store.jobs.change(TENANT, job_id, to(name="another's"))
        return present.model_copy(update={"tags": {"mine": "1"}})

    job = store.jobs.change(TENANT, job_id, slowly)
    assert (job.settings.name, job.settings.tags, calls) == ("another's", {"mine": "1"}, 2)


def test_notes_and_a_name_at_once_lose_nothing(store: Store, client: redis.Redis) -> None:
    """Notes are a field of their own, because older programs refuse settings with an unknown name."""
    job_id = submit(store).spec.id
    calls = 0

    def slowly(present: JobSettings) -> JobSettings:
        nonlocal calls
        calls += 1
        if calls == 1:
            store.jobs.change(TENANT, job_id, to(notes="another's"))
        return present.model_copy(update={"name": "mine"})

    job = store.jobs.change(TENANT, job_id, slowly)
    assert (job.settings.name, job.settings.notes, calls) == ("mine", "another's", 2)
    assert b"notes" not in (client.hget(f"literati:job:{job_id}", "settings") or b"")
    assert store.jobs.change(TENANT, job_id, to(notes=None)).settings.notes is None
    assert look(store, job_id).settings.notes is None


def test_notes_among_the_settings_are_read(store: Store, client: redis.Redis) -> None:
    """For some time they were stored there."""
    job = submit(store)
    settings = job.settings.model_copy(update={"notes": "old"}).model_dump_json()
    client.hset(f"literati:job:{job.spec.id}", "settings", settings)
    assert look(store, job.spec.id).settings.notes == "old"
    assert store.jobs.change(TENANT, job.spec.id, to(name="a")).settings.notes == "old"
    assert store.jobs.change(TENANT, job.spec.id, to(notes="new")).settings.notes == "new"


def test_a_change_may_depend_on_the_revision(store: Store) -> None:
    job = submit(store)
    changed = store.jobs.change(TENANT, job.spec.id, to(name="a"), revision=lambda n: n == job.revision)
    with pytest.raises(PreconditionFailedError):
        store.jobs.change(TENANT, job.spec.id, to(name="b"), revision=lambda n: n == job.revision)

    def late(present: JobSettings) -> JobSettings:
        store.jobs.control(TENANT, job.spec.id, "pause")  # between the look and the change
        return present.model_copy(update={"name": "c"})

    with pytest.raises(PreconditionFailedError):
        store.jobs.change(TENANT, job.spec.id, late, revision=lambda n: n == changed.revision)
    assert look(store, job.spec.id).settings.name == "a"


def _as_version_0_1_0_kept_it(client: redis.Redis, job_id: str) -> None:
    """Store the job as version 0.1.0 did, with its settings in the spec."""
    key = f"literati:job:{job_id}"
    spec, settings = client.hmget(key, ["spec", "settings"])
    assert spec is not None
    assert settings is not None
    client.hset(key, "spec", json.dumps({**json.loads(spec), **json.loads(settings)}))
    client.hdel(key, "settings", "limits_revision")


def test_records_of_an_older_version_are_read_changed_and_finished(store: Store, client: redis.Redis) -> None:
    claim = run(store, name="old", tags={"a": "b"}, priority=3, limits=Limits(time_limit=5))
    job_id = claim.spec.id
    before = look(store, job_id)
    _as_version_0_1_0_kept_it(client, job_id)
    assert look(store, job_id) == before
    assert store.jobs.read_control(job_id, claim.epoch).limits_revision == 0
    store.jobs.finish(job_id, claim.epoch, SUCCESS, limits_revision=0)
    (model,) = store.models.list(TENANT).items
    assert model.name == "old"
    job = store.jobs.change(TENANT, job_id, to(name="new"))
    assert job.settings == before.settings.model_copy(update={"name": "new"})
    assert look(store, job_id).spec == before.spec


def test_the_limits_of_a_running_job_of_an_older_version_change_too(
    store: Store, client: redis.Redis
) -> None:
    claim = start(store, limits=Limits(time_limit=5))
    _as_version_0_1_0_kept_it(client, claim.spec.id)
    store.jobs.change(TENANT, claim.spec.id, limits(time_limit=50.0))
    assert store.jobs.read_control(claim.spec.id, claim.epoch).limits_revision == 1
    assert look(store, claim.spec.id).settings.limits.time_limit == 50
