"""Test claims, leases and fencing: one worker has a job, and updates of earlier workers are rejected."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from tests.support.records.store_records import (
    CANCELLED,
    PAUSED,
    SUCCESS,
    TENANT,
    add_dataset,
    expire,
    look,
    progress_update,
    run,
    start,
    state_of,
    submit,
    wait_until,
)
from worker.app import QUEUE
from worker.domain.errors import FencedError, NoTreeError
from worker.domain.jobs import ControlRequest, JobError, JobState, Outcome, StopReason
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect
from worker.store.jobs import ControlAction
from worker.store.leases import CELERY_QUEUE


def test_a_claim_starts_the_job(store: Store) -> None:
    job = submit(store)
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert (claim.spec.id, claim.epoch, claim.snapshot) == (job.spec.id, 1, None)
    now = look(store, job.spec.id)
    assert now == claim
    assert (now.state, now.attempts, now.epoch) == (JobState.STARTING, 1, 1)
    assert now.started_at is not None
    assert now.heartbeat_at is not None
    assert store.jobs.claim("other") is None


def test_the_first_checkpoint_makes_it_run(store: Store) -> None:
    claim = start(store)
    store.jobs.publish_progress(claim.spec.id, 1, progress_update())
    assert state_of(store, claim.spec.id) is JobState.RUNNING


def test_higher_priority_first_then_submission_order(store: Store) -> None:
    data = add_dataset(store)
    ids = [submit(store, data, priority=priority).spec.id for priority in (0, 5, -5, 0, 5, 0)]
    order = []
    while claim := store.jobs.claim("worker"):
        order.append(ids.index(claim.spec.id))
    assert order == [1, 4, 0, 3, 5, 2]


def test_a_job_that_comes_back_keeps_its_place(store: Store) -> None:
    data = add_dataset(store)
    first, second = submit(store, data), submit(store, data)
    store.jobs.claim("worker")
    store.jobs.release(first.spec.id, 1)
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.spec.id == first.spec.id
    assert state_of(store, second.spec.id) is JobState.QUEUED


def test_many_workers_never_share_a_job(store: Store, server: ValkeyServer) -> None:
    data = add_dataset(store)
    ids = {submit(store, data).spec.id for _ in range(60)}

    def work(name: int) -> list[str]:
        mine = []
        with connect(server.url) as client:
            jobs = Store(client).jobs
            while claim := jobs.claim(str(name)):
                mine.append(claim.spec.id)
        return mine

    with ThreadPoolExecutor(12) as pool:
        taken = [job_id for mine in pool.map(work, range(12)) for job_id in mine]
    assert len(taken) == 60
    assert set(taken) == ids


def test_a_lease_runs_out_and_another_worker_goes_on(client: redis.Redis) -> None:
    store = Store(client, lease_seconds=0.2)
    claim = start(store)
    job_id = claim.spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(objective=9.0, expansions=5, snapshot="d" * 64))
    store.jobs.reconcile()
    assert state_of(store, job_id) is JobState.RUNNING
    wait_until(lambda: store.jobs.reconcile() == 1)
    job = look(store, job_id)
    assert job.state is JobState.QUEUED
    assert job.transitions[-1].reason == "WORKER_LOST"
    again = store.jobs.claim("next")
    assert again is not None
    assert (again.epoch, again.snapshot, again.attempts) == (2, "d" * 64, 2)


def test_beats_keep_the_lease(client: redis.Redis) -> None:
    store = Store(client, lease_seconds=0.3)
    job_id = start(store).spec.id
    before = look(store, job_id)
    first = before.heartbeat_at
    assert first is not None

    def beaten() -> bool:
        store.jobs.renew_lease(job_id, 1)
        store.jobs.reconcile()
        return (look(store, job_id).heartbeat_at or first).timestamp() > first.timestamp() + 1

    wait_until(beaten)
    now = look(store, job_id)
    assert now.model_copy(update={"heartbeat_at": first}) == before, "only the heartbeat is seen"


@pytest.mark.parametrize("word", ["beat", "checkpoint"])
def test_a_late_update_counts_until_the_lease_is_reconciled(store: Store, word: str) -> None:
    job_id = run(store).spec.id
    expire(store, job_id)
    if word == "beat":
        assert store.jobs.renew_lease(job_id, 1) is ControlRequest.NONE
    else:
        assert (
            store.jobs.publish_progress(job_id, 1, progress_update()).control_request is ControlRequest.NONE
        )
    store.jobs.reconcile()
    assert state_of(store, job_id) is JobState.RUNNING


@pytest.mark.parametrize("replaced", [False, True], ids=["queued again", "claimed again"])
def test_whatever_a_lost_worker_says_is_refused(store: Store, replaced: bool) -> None:
    job_id = run(store).spec.id
    expire(store, job_id)
    store.jobs.reconcile()
    if replaced:
        store.jobs.claim("next")
    before = look(store, job_id), store.jobs.trace(TENANT, job_id), store.jobs.events(TENANT, job_id)
    better = progress_update(upper=1.0, objective=1.0, expansions=99, seconds=9.0, snapshot="e" * 64)
    for word in (
        lambda: store.jobs.publish_progress(job_id, 1, better),
        lambda: store.jobs.renew_lease(job_id, 1),
        lambda: store.jobs.read_control(job_id, 1).control_request,
        lambda: store.jobs.finish(job_id, 1, SUCCESS, better),
        lambda: store.jobs.finish(job_id, 1, PAUSED),
        lambda: store.jobs.release(job_id, 1),
    ):
        with pytest.raises(FencedError):
            word()
    assert before == (
        look(store, job_id),
        store.jobs.trace(TENANT, job_id),
        store.jobs.events(TENANT, job_id),
    )
    assert store.models.list(TENANT).items == []


@pytest.mark.parametrize("epoch", [0, 2, -1])
def test_other_epochs_are_refused(store: Store, epoch: int) -> None:
    job_id = start(store).spec.id
    with pytest.raises(FencedError):
        store.jobs.publish_progress(job_id, epoch, progress_update())
    with pytest.raises(FencedError):
        store.jobs.finish(job_id, epoch, SUCCESS, progress_update(objective=1.0))
    assert state_of(store, job_id) is JobState.STARTING


def test_a_deleted_job_fences(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.finish(job_id, 1, CANCELLED)
    store.jobs.delete(TENANT, job_id)
    for word in (store.jobs.renew_lease, store.jobs.read_control, store.jobs.release):
        with pytest.raises(FencedError):
            word(job_id, 1)
    with pytest.raises(FencedError):
        store.jobs.finish(job_id, 1, SUCCESS)


def test_finish_makes_the_model_in_the_same_step(store: Store) -> None:
    job_id = run(store).spec.id
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL, proven_optimal=True)
    store.jobs.finish(job_id, 1, outcome, progress_update(upper=8.0, lower=8.0, objective=8.0, expansions=77))
    job = look(store, job_id)
    assert (job.state, job.stop_reason, job.proven_optimal) == (
        JobState.SUCCEEDED,
        StopReason.PROVEN_OPTIMAL,
        True,
    )
    assert (job.progress.objective, job.progress.expansions, job.progress.incumbents) == (8.0, 77, 2)
    assert job.metrics == {"accuracy": 0.08}
    assert job.model_id is not None
    model = store.models.get(TENANT, job.model_id)
    assert model is not None
    assert (model.objective, model.upper_bound, model.lower_bound, model.proven_optimal) == (
        8.0,
        8.0,
        8.0,
        True,
    )
    assert model.incumbent_revision == 2


def test_finishing_twice_is_harmless(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.finish(job_id, 1, SUCCESS)
    before = look(store, job_id)
    store.jobs.finish(job_id, 1, SUCCESS, progress_update(objective=1.0))
    store.jobs.finish(job_id, 1, CANCELLED)
    assert look(store, job_id) == before
    assert len(store.models.list(TENANT).items) == 1


def test_pausing_twice_after_a_resume_is_harmless(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.finish(job_id, 1, PAUSED)
    store.jobs.control(TENANT, job_id, "resume")
    store.jobs.finish(job_id, 1, PAUSED)
    store.jobs.release(job_id, 1)
    assert state_of(store, job_id) is JobState.QUEUED


def test_success_needs_a_tree(store: Store) -> None:
    job_id = start(store).spec.id
    for last in (None, progress_update()):
        with pytest.raises(NoTreeError):
            store.jobs.finish(job_id, 1, SUCCESS, last)
    assert state_of(store, job_id) is JobState.STARTING
    store.jobs.finish(job_id, 1, SUCCESS, progress_update(objective=4.0))
    assert state_of(store, job_id) is JobState.SUCCEEDED


def test_a_failure_says_why(store: Store) -> None:
    job_id = start(store).spec.id
    error = JobError(code="DATA", message="Column 'ü' is \"odd\"")
    store.jobs.finish(job_id, 1, Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR, error=error))
    job = look(store, job_id)
    assert (job.state, job.error, job.model_id) == (JobState.FAILED, error, None)


def test_a_job_that_kills_its_workers_is_given_up(store: Store) -> None:
    poison, good = submit(store), submit(store)
    for attempt in range(1, 6):
        claim = store.jobs.claim("worker")
        assert claim is not None
        assert (claim.spec.id, claim.attempts) == (poison.spec.id, attempt)
        expire(store, poison.spec.id)
        assert store.jobs.reconcile() == 2
    claim = store.jobs.claim("worker")
    assert claim is not None
    assert claim.spec.id == good.spec.id, "the same call goes on to the next one"
    job = look(store, poison.spec.id)
    assert (job.state, job.stop_reason, job.attempts) == (JobState.FAILED, StopReason.WORKER_LOST, 5)
    assert job.error is not None
    assert job.error.code == "WORKER_LOST"
    assert store.jobs.events(TENANT, poison.spec.id).ended


def test_a_job_that_gets_further_each_time_is_not_given_up(store: Store) -> None:
    job_id = submit(store).spec.id
    for attempt in range(1, 12):
        claim = store.jobs.claim("worker")
        assert claim is not None
        store.jobs.publish_progress(job_id, claim.epoch, progress_update(objective=5.0, expansions=attempt))
        expire(store, job_id)
        store.jobs.reconcile()
    assert state_of(store, job_id) is JobState.QUEUED


def test_soft_shutdowns_and_pauses_are_not_failures(store: Store) -> None:
    job_id = submit(store).spec.id
    for _ in range(8):
        claim = store.jobs.claim("worker")
        assert claim is not None
        store.jobs.release(job_id, claim.epoch)
        store.jobs.release(job_id, claim.epoch)  # said twice
    for _ in range(8):
        claim = store.jobs.claim("worker")
        assert claim is not None
        store.jobs.finish(job_id, claim.epoch, PAUSED)
        store.jobs.control(TENANT, job_id, "resume")
    assert state_of(store, job_id) is JobState.QUEUED


def test_release_says_so(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.release(job_id, 1)
    job = look(store, job_id)
    assert (job.state, job.transitions[-1].reason) == (JobState.QUEUED, "WORKER_STOPPED")


@pytest.mark.parametrize("how", ["lost", "released"])
@pytest.mark.parametrize(
    ("verb", "state", "reason"),
    [
        ("pause", JobState.PAUSED, None),
        ("cancel", JobState.CANCELLED, StopReason.USER_CANCEL),
        ("finish", JobState.SUCCEEDED, StopReason.USER_FINISH),
    ],
)
def test_the_request_to_a_lost_worker_is_carried_out(
    store: Store, verb: ControlAction, state: JobState, reason: StopReason | None, how: str
) -> None:
    job_id = run(store).spec.id
    store.jobs.control(TENANT, job_id, verb)
    if how == "lost":
        expire(store, job_id)
        assert store.jobs.reconcile() == 0
    else:
        store.jobs.release(job_id, 1)
    job = look(store, job_id)
    assert (job.state, job.stop_reason, job.control_request) == (state, reason, ControlRequest.NONE)
    assert (job.model_id is not None) == (verb == "finish")


def test_reconciling_takes_any_number(store: Store) -> None:
    data = add_dataset(store)
    ids = [submit(store, data).spec.id for _ in range(250)]
    while store.jobs.claim("worker"):
        pass
    for job_id in ids:
        expire(store, job_id)
    assert store.jobs.reconcile() == 32
    assert store.measure().states[JobState.QUEUED] == 250
    assert store.jobs.reconcile() == 32


def test_wakeups_stand_for_jobs_that_no_message_stands_for(store: Store, client: redis.Redis) -> None:
    assert CELERY_QUEUE == QUEUE
    data = add_dataset(store)
    for _ in range(3):
        submit(store, data)
    assert store.jobs.wakeups_wanted() == 3
    client.rpush(CELERY_QUEUE, b"message", b"message")
    assert store.jobs.wakeups_wanted() == 1
    client.rpush(CELERY_QUEUE, b"message", b"message")
    assert store.jobs.wakeups_wanted() == 0
    client.delete(CELERY_QUEUE)
    for _ in range(40):
        submit(store, data)
    assert store.jobs.wakeups_wanted() == 32


def test_a_lease_from_before_the_clock_was_set_back_has_expired(store: Store, client: redis.Redis) -> None:
    data = add_dataset(store)
    kept, lost = (submit(store, data).spec.id for _ in range(2))
    while store.jobs.claim("worker"):
        pass
    day = 86_400_000.0
    client.zincrby("literati:leases", day, lost)
    client.hincrbyfloat(f"literati:job:{lost}", "lease_until", day)
    store.jobs.reconcile()
    assert state_of(store, lost) is JobState.QUEUED
    assert state_of(store, kept) is JobState.STARTING
