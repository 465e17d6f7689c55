"""Test finish, cancel, pause and resume in every state, with and without a worker."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import get_args

import pytest

from tests.support.records.store_records import (
    PAUSED,
    SUCCESS,
    TENANT,
    expire,
    look,
    progress_update,
    run,
    start,
    state_of,
    submit,
)
from worker.domain.errors import FencedError, JobNotFoundError, WrongStateError
from worker.domain.jobs import ControlRequest, JobError, JobState, Outcome, StopReason
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect
from worker.store.jobs import ControlAction


def queued(store: Store) -> str:
    return submit(store).spec.id


def queued_with_tree(store: Store) -> str:
    claim = run(store)
    store.jobs.release(claim.spec.id, 1)
    return claim.spec.id


def starting(store: Store) -> str:
    return start(store).spec.id


def running(store: Store) -> str:
    return run(store).spec.id


def requested(verb: ControlAction) -> Callable[[Store], str]:
    def arrange(store: Store) -> str:
        job_id = running(store)
        store.jobs.control(TENANT, job_id, verb)
        return job_id

    return arrange


def paused(store: Store) -> str:
    job_id = queued(store)
    store.jobs.control(TENANT, job_id, "pause")
    return job_id


def paused_with_tree(store: Store) -> str:
    job_id = running(store)
    store.jobs.finish(job_id, 1, PAUSED)
    return job_id


def ended(outcome: Outcome) -> Callable[[Store], str]:
    def arrange(store: Store) -> str:
        job_id = running(store)
        store.jobs.finish(job_id, 1, outcome)
        return job_id

    return arrange


succeeded = ended(SUCCESS)
finished = ended(Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH))
failed = ended(
    Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR, error=JobError(code="DATA", message="bad"))
)


def cancelled(store: Store) -> str:
    job_id = queued(store)
    store.jobs.control(TENANT, job_id, "cancel")
    return job_id


def stopped_by_finish(store: Store) -> str:
    """Return a job whose worker proved its tree while a finish was pending."""
    job_id = running(store)
    store.jobs.control(TENANT, job_id, "finish")
    store.jobs.finish(job_id, 1, Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL))
    return job_id


def resumed(store: Store) -> str:
    job_id = paused(store)
    store.jobs.control(TENANT, job_id, "resume")
    return job_id


S = JobState
TABLE = {
    # What was arranged: the state after finish, cancel, pause, resume. None is refused, + is a repeat.
    queued: (None, "CANCELLED", "PAUSED", None),
    queued_with_tree: ("SUCCEEDED", "CANCELLED", "PAUSED", None),
    resumed: (None, "CANCELLED", "PAUSED", "QUEUED+"),
    starting: ("STOPPING", "STOPPING", "PAUSING", None),
    running: ("STOPPING", "STOPPING", "PAUSING", None),
    requested("pause"): ("STOPPING", "STOPPING", "PAUSING+", None),
    requested("finish"): ("STOPPING+", None, None, None),
    requested("cancel"): (None, "STOPPING+", None, None),
    paused: (None, "CANCELLED", "PAUSED+", "QUEUED"),
    paused_with_tree: ("SUCCEEDED", "CANCELLED", "PAUSED+", "QUEUED"),
    succeeded: (None, None, None, None),
    stopped_by_finish: ("SUCCEEDED+", None, None, None),
    cancelled: (None, "CANCELLED+", None, None),
    failed: (None, None, None, None),
}
VERBS: tuple[ControlAction, ...] = ("finish", "cancel", "pause", "resume")


@pytest.mark.parametrize(
    ("arrange", "verb", "expected"),
    [
        pytest.param(arrange, verb, expected, id=f"{i}-{getattr(arrange, '__name__', '')}-{verb}")
        for i, (arrange, row) in enumerate(TABLE.items())
        for verb, expected in zip(VERBS, row, strict=True)
    ],
)
def test_every_verb_in_every_state(
    store: Store, arrange: Callable[[Store], str], verb: ControlAction, expected: str | None
) -> None:
    job_id = arrange(store)
    before = look(store, job_id)
    if expected is None:
        with pytest.raises(WrongStateError) as refused:
            store.jobs.control(TENANT, job_id, verb)
        assert refused.value.state is before.state
        assert before.state in refused.value.detail
        assert look(store, job_id) == before
        return
    answer = store.jobs.control(TENANT, job_id, verb)
    assert answer.job == look(store, job_id)
    assert answer.job.state == expected.rstrip("+")
    assert answer.repeated == expected.endswith("+")
    if answer.repeated:
        assert answer.job == before
    else:
        assert answer.job.revision > before.revision
        assert answer.job.transitions[-1].state is answer.job.state
        again = store.jobs.control(TENANT, job_id, verb)
        assert again.repeated
        assert again.job == answer.job


def test_the_table_is_whole() -> None:
    assert set(VERBS) == set(get_args(ControlAction))


def test_a_finish_that_the_worker_granted_is_repeated(store: Store) -> None:
    job_id = running(store)
    store.jobs.control(TENANT, job_id, "finish")
    store.jobs.finish(job_id, 1, Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH))
    assert store.jobs.control(TENANT, job_id, "finish").repeated


def test_an_absent_job(store: Store) -> None:
    with pytest.raises(JobNotFoundError):
        store.jobs.control(TENANT, "job_0", "cancel")


def test_no_tree_yet_says_what_to_do(store: Store) -> None:
    with pytest.raises(WrongStateError, match=r"no tree yet.*cancel"):
        store.jobs.control(TENANT, queued(store), "finish")


def test_a_cancelled_queued_job_is_not_claimed(store: Store) -> None:
    cancelled(store)
    paused(store)
    assert store.jobs.claim("worker") is None
    assert store.jobs.wakeups_wanted() == 0


def test_cancel_without_a_worker_ends_at_once(store: Store) -> None:
    job = look(store, cancelled(store))
    assert (job.stop_reason, job.model_id) == (StopReason.USER_CANCEL, None)
    assert job.finished_at is not None
    assert job.transitions[-1].reason == "USER_CANCEL"


def test_finish_without_a_worker_keeps_the_stored_tree(store: Store) -> None:
    job_id = paused_with_tree(store)
    job = store.jobs.control(TENANT, job_id, "finish").job
    assert (job.state, job.stop_reason) == (JobState.SUCCEEDED, StopReason.USER_FINISH)
    assert not job.proven_optimal
    assert job.model_id is not None
    model = store.models.get(TENANT, job.model_id)
    assert model is not None
    assert (model.objective, model.stop_reason, model.job_id) == (10.0, StopReason.USER_FINISH, job_id)


def test_finish_without_a_worker_of_a_proven_tree_says_so(store: Store) -> None:
    claim = start(store)
    job_id = claim.spec.id
    store.jobs.publish_progress(job_id, 1, progress_update(upper=10.0, lower=10.0, objective=10.0))
    store.jobs.release(job_id, 1)
    job = store.jobs.control(TENANT, job_id, "finish").job
    assert (job.proven_optimal, job.stop_reason) == (True, StopReason.PROVEN_OPTIMAL)


@pytest.mark.parametrize(
    "reason",
    [StopReason.USER_FINISH, StopReason.GAP_REACHED, StopReason.TIME_LIMIT, StopReason.NO_IMPROVEMENT],
)
def test_a_worker_that_ends_a_job_with_equal_bounds_has_proven_it(store: Store, reason: StopReason) -> None:
    job_id = start(store).spec.id
    last = progress_update(upper=10.0, lower=10.0, objective=9.0)
    store.jobs.finish(job_id, 1, Outcome(state=JobState.SUCCEEDED, stop_reason=reason), last)
    job = look(store, job_id)
    assert (job.proven_optimal, job.stop_reason) == (True, StopReason.PROVEN_OPTIMAL)
    assert job.model_id is not None
    model = store.models.get(TENANT, job.model_id)
    assert model is not None
    assert (model.proven_optimal, model.stop_reason) == (True, StopReason.PROVEN_OPTIMAL)


@pytest.mark.parametrize(
    ("verb", "expected"),
    [("finish", ControlRequest.FINISH), ("cancel", ControlRequest.CANCEL), ("pause", ControlRequest.PAUSE)],
)
def test_every_call_of_a_worker_returns_the_control_request(
    store: Store, verb: ControlAction, expected: ControlRequest
) -> None:
    job_id = running(store)
    assert store.jobs.renew_lease(job_id, 1) is ControlRequest.NONE
    store.jobs.control(TENANT, job_id, verb)
    assert look(store, job_id).control_request is expected
    assert store.jobs.renew_lease(job_id, 1) is expected
    assert store.jobs.read_control(job_id, 1).control_request is expected
    assert store.jobs.publish_progress(job_id, 1, progress_update()).control_request is expected
    assert state_of(store, job_id) is (JobState.PAUSING if verb == "pause" else JobState.STOPPING)


def test_a_stronger_request_replaces_pause(store: Store) -> None:
    job_id = requested("pause")(store)
    store.jobs.control(TENANT, job_id, "finish")
    assert store.jobs.read_control(job_id, 1).control_request is ControlRequest.FINISH
    job_id = requested("pause")(store)
    store.jobs.control(TENANT, job_id, "cancel")
    assert store.jobs.read_control(job_id, 1).control_request is ControlRequest.CANCEL


@pytest.mark.parametrize(
    "outcome", [SUCCESS, PAUSED, Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR)]
)
def test_a_pending_cancel_wins(store: Store, outcome: Outcome) -> None:
    job_id = requested("cancel")(store)
    store.jobs.finish(job_id, 1, outcome, progress_update(objective=5.0))
    job = look(store, job_id)
    assert (job.state, job.stop_reason, job.model_id) == (JobState.CANCELLED, StopReason.USER_CANCEL, None)
    assert store.models.list(TENANT).items == []
    assert job.progress.objective == 5.0


def test_a_pending_finish_wins_over_paused(store: Store) -> None:
    job_id = requested("finish")(store)
    store.jobs.finish(job_id, 1, PAUSED)
    assert look(store, job_id).stop_reason is StopReason.USER_FINISH


def test_a_pending_finish_without_a_tree_goes_to_the_next_worker(store: Store) -> None:
    job_id = starting(store)
    store.jobs.control(TENANT, job_id, "finish")
    store.jobs.release(job_id, 1)
    job = look(store, job_id)
    assert (job.state, job.control_request) == (JobState.QUEUED, ControlRequest.FINISH)
    assert store.jobs.control(TENANT, job_id, "finish").repeated
    with pytest.raises(WrongStateError):
        store.jobs.control(TENANT, job_id, "pause")
    claim = store.jobs.claim("next")
    assert claim is not None
    assert claim.control_request is ControlRequest.FINISH
    assert (
        store.jobs.publish_progress(job_id, 2, progress_update(objective=3.0)).control_request
        is ControlRequest.FINISH
    )
    assert state_of(store, job_id) is JobState.STOPPING


@pytest.mark.parametrize(
    ("verb", "state"),
    [("finish", JobState.SUCCEEDED), ("cancel", JobState.CANCELLED), ("pause", JobState.PAUSED)],
)
def test_a_lease_that_ran_out_is_not_waited_for(store: Store, verb: ControlAction, state: JobState) -> None:
    job_id = running(store)
    expire(store, job_id)
    assert store.jobs.control(TENANT, job_id, verb).job.state is state
    with pytest.raises(FencedError):
        store.jobs.renew_lease(job_id, 1)
    with pytest.raises(FencedError):
        store.jobs.finish(job_id, 1, SUCCESS)
    assert state_of(store, job_id) is state


def test_pause_and_resume_keep_the_search(store: Store) -> None:
    claim = start(store)
    job_id = claim.spec.id
    store.jobs.control(TENANT, job_id, "pause")
    store.jobs.finish(job_id, 1, PAUSED, progress_update(objective=9.0, expansions=50, snapshot="c" * 64))
    job = look(store, job_id)
    assert (job.state, job.control_request, job.stop_reason, job.finished_at) == (
        JobState.PAUSED,
        ControlRequest.NONE,
        None,
        None,
    )
    assert store.jobs.claim("worker") is None
    store.jobs.control(TENANT, job_id, "resume")
    again = store.jobs.claim("worker")
    assert again is not None
    assert (again.epoch, again.snapshot) == (2, "c" * 64)
    assert again.progress.expansions == 50
    assert again.started_at == claim.started_at


def test_pausing_and_resuming_for_ever_does_no_harm(store: Store) -> None:
    job_id = queued(store)
    for _ in range(400):
        store.jobs.control(TENANT, job_id, "pause")
        store.jobs.control(TENANT, job_id, "resume")
    job = look(store, job_id)
    assert job.state is JobState.QUEUED
    assert job.transitions[0].at == job.created_at
    assert 100 < len(job.transitions) < 800
    claim = store.jobs.claim("worker")
    assert claim is not None


def test_cancel_and_success_at_once_end_in_one_state(store: Store, server: ValkeyServer) -> None:
    jobs = [running(store) for _ in range(20)]

    def cancel(job_id: str) -> None:
        with connect(server.url) as client, suppress(WrongStateError):
            Store(client).jobs.control(TENANT, job_id, "cancel")

    def succeed(job_id: str) -> None:
        with connect(server.url) as client:
            Store(client).jobs.finish(job_id, 1, SUCCESS)

    with ThreadPoolExecutor(8) as pool:
        tasks = [pool.submit(act, job_id) for job_id in jobs for act in (cancel, succeed)]
        for task in tasks:
            task.result()
    for job_id in jobs:
        job = look(store, job_id)
        terminal = [step.state for step in job.transitions if step.state.terminal]
        assert terminal == [job.state]
        assert (job.model_id is not None) == (job.state is JobState.SUCCEEDED)


def test_a_pause_whose_worker_is_gone_is_done_before_the_job_is_resumed(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.control(TENANT, job_id, "pause")
    expire(store, job_id)
    job = store.jobs.control(TENANT, job_id, "resume").job
    assert [(step.state, step.reason) for step in job.transitions[-2:]] == [
        (JobState.PAUSED, "WORKER_LOST"),
        (JobState.QUEUED, "RESUMED"),
    ]


def test_a_finish_whose_worker_is_gone_is_done_before_the_job_is_cancelled(store: Store) -> None:
    job_id = run(store).spec.id
    store.jobs.control(TENANT, job_id, "finish")
    expire(store, job_id)
    with pytest.raises(WrongStateError):
        store.jobs.control(TENANT, job_id, "cancel")
    job = look(store, job_id)
    assert (job.state, job.stop_reason) == (JobState.SUCCEEDED, StopReason.USER_FINISH)
    assert job.model_id is not None
