"""Sweeps in the store: the control verbs, the limits, the queue, deletion. Workers are acted."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support.records import jobs, sweeps
from worker.blobs.local import Blobs
from worker.domain import errors
from worker.domain.jobs import ControlRequest, Job, JobError, JobState, Outcome, StopReason
from worker.domain.sweeps import Sweep, SweepState, SweepStopReason
from worker.store import Store
from worker.store.jobs import Quota
from worker.store.sweeps import SweepQuota
from worker.sweeps.advance import advance, reconcile
from worker.sweeps.jobs import trial_jobs
from worker.sweeps.plan import settings_to_try

FOUND = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL, proven_optimal=True)
FAILED = Outcome(
    state=JobState.FAILED, stop_reason=StopReason.ERROR, error=JobError(code="DATA", message="wrong")
)
CANCELLED = Outcome(state=JobState.CANCELLED, stop_reason=StopReason.USER_CANCEL)


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def result(score: float, leaves: int = 2) -> str:
    """Return the result of a path with one tree."""
    metrics = dict.fromkeys(("accuracy", "balanced_accuracy", "log_loss", "macro_f1", "roc_auc"), score)
    tree = {
        "penalty_from": 0.0,
        "found_penalty": 1.0,
        "leaves": leaves,
        "changepoints": 0,
        "proven": True,
        "gap": 0.0,
        "train": metrics,
        "validation": metrics,
    }
    return json.dumps({"segments": [tree], "stop_reason": "PROVEN_OPTIMAL", "seconds": 1.0})


def start(store: Store, blobs: Blobs, **fields: Any) -> Sweep:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(60))
    return sweeps.submit(store, sweeps.spec(dataset, **fields))


def claim(store: Store) -> Job:
    job = store.jobs.claim("acting")
    assert job is not None
    return job


def end(store: Store, job: Job, outcome: Outcome = FOUND, score: float = 0.5) -> None:
    text = result(score) if outcome is FOUND else ""
    store.jobs.finish(job.spec.id, job.epoch, outcome, result=text)


def run_setting(store: Store, folds: int = 3, score: float = 0.5) -> None:
    """Act all jobs of the next setting."""
    for _ in range(folds):
        end(store, claim(store), score=score)


def state(store: Store, sweep: Sweep) -> SweepState:
    return sweeps.look(store, sweep.spec.id).state


def test_states_from_the_start_to_the_choice(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, refit=False)
    assert sweep.state is SweepState.QUEUED
    first = claim(store)
    assert state(store, sweep) is SweepState.RUNNING
    progress = store.sweeps.progress(sweep)
    assert (progress.settings, progress.jobs, progress.done) == (2, 6, 0)
    assert (progress.running, progress.queued) == (1, 5)
    time.sleep(0.02)
    end(store, first)
    assert 0.02 <= sweeps.look(store, sweep.spec.id).seconds < 10
    for _ in range(5):
        end(store, claim(store))
    assert state(store, sweep) is SweepState.CHOOSING
    assert store.jobs.claim("acting") is None
    assert not advance(store, sweep.spec.id)
    ended = sweeps.look(store, sweep.spec.id)
    assert (ended.state, ended.stop_reason) == (SweepState.SUCCEEDED, SweepStopReason.COMPLETE)
    assert ended.model_id is None
    kinds = [event.type for event in store.sweeps.events(jobs.TENANT, sweep.spec.id).events]
    assert kinds == ["state", "state", *6 * ["trial"], "state", "state", "done"]
    assert store.sweeps.events(jobs.TENANT, sweep.spec.id).ended
    totals = store.measure().totals
    assert (totals["sweeps_submitted"], totals["sweeps_ended:SUCCEEDED"]) == (1, 1)


def test_the_choice_is_made_by_a_reconciler_if_the_worker_died(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    run_setting(store)
    run_setting(store)
    assert reconcile(store) == 1
    assert state(store, sweep) is SweepState.REFITTING
    assert reconcile(store) == 0
    refit = claim(store)
    assert refit.spec.sweep is not None
    assert refit.spec.sweep.setting is None
    store.jobs.finish(refit.spec.id, refit.epoch, FAILED)
    assert state(store, sweep) is SweepState.FAILED


def test_a_repeated_finish_of_a_job_counts_once(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    job = claim(store)
    for _ in range(2):
        end(store, job)
    assert store.sweeps.progress(sweep).done == 1
    events = store.sweeps.events(jobs.TENANT, sweep.spec.id).events
    assert sum(event.type == "trial" for event in events) == 1
    other = claim(store)
    store.client.delete(f"literati:job:{other.spec.id}")  # its record is lost
    with pytest.raises(errors.FencedError):
        end(store, other)


def test_cancel(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    running = claim(store)
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "cancel").sweep.state is SweepState.STOPPING
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "cancel").repeated
    assert store.jobs.claim("acting") is None
    control = store.jobs.read_control(running.spec.id, running.epoch)
    assert control.control_request is ControlRequest.CANCEL
    end(store, running)  # it ended before it saw the request, which wins all the same
    ended = sweeps.look(store, sweep.spec.id)
    assert (ended.state, ended.stop_reason) == (SweepState.CANCELLED, SweepStopReason.USER_CANCEL)
    assert store.sweeps.results(sweep.spec.id).scores == {}
    assert not store.client.exists(f"literati:dataset-live:{sweep.spec.dataset_id}")
    assert all(
        job.state is JobState.CANCELLED for job in store.jobs.list(jobs.TENANT, sweep_id=sweep.spec.id).items
    )


def test_cancel_of_a_sweep_that_nobody_runs(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "cancel").sweep.state is SweepState.CANCELLED
    assert store.jobs.claim("acting") is None


def test_finish_chooses_among_complete_settings(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    with pytest.raises(errors.WrongStateError, match="no trial is complete yet"):
        store.sweeps.control(jobs.TENANT, sweep.spec.id, "finish")
    run_setting(store, score=0.7)
    running = claim(store)
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "finish").sweep.state is SweepState.CHOOSING
    assert advance(store, sweep.spec.id)
    end(store, running, score=0.9)  # too late
    found = sweeps.look(store, sweep.spec.id)
    assert found.state is SweepState.REFITTING
    assert found.choice is not None
    assert found.choice.setting == 0
    assert found.choice.mean == pytest.approx(0.7)
    assert (1, 0) not in store.sweeps.results(sweep.spec.id).scores
    with pytest.raises(errors.WrongStateError, match="no tree yet"):
        store.sweeps.control(jobs.TENANT, sweep.spec.id, "finish")
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "cancel").sweep.state is SweepState.CANCELLED


def test_pause_lets_running_jobs_end_and_resume_continues(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    running = claim(store)
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "pause").sweep.state is SweepState.PAUSING
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "pause").repeated
    assert store.jobs.claim("acting") is None
    assert store.jobs.wakeups_wanted() == 0
    end(store, running)
    assert state(store, sweep) is SweepState.PAUSED
    assert store.sweeps.results(sweep.spec.id).scores.keys() == {(0, 0)}
    reconcile(store)
    assert state(store, sweep) is SweepState.PAUSED
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "resume").sweep.state is SweepState.RUNNING
    assert store.sweeps.control(jobs.TENANT, sweep.spec.id, "resume").repeated
    for _ in range(5):
        end(store, claim(store))
    assert state(store, sweep) is SweepState.CHOOSING


def test_a_paused_sweep_whose_last_job_ends_is_chosen_from(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, refit=False)
    run_setting(store)
    for _ in range(2):
        end(store, claim(store))
    last = claim(store)
    store.sweeps.control(jobs.TENANT, sweep.spec.id, "pause")
    end(store, last)
    assert state(store, sweep) is SweepState.CHOOSING


def test_the_time_limit_counts_running_time(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, limits={"time_limit": 100.0})
    assert store.client.zcard("literati:sweep-deadlines") == 0, "it has not started"
    run_setting(store)
    assert store.client.zcard("literati:sweep-deadlines") == 1
    store.sweeps.control(jobs.TENANT, sweep.spec.id, "pause")
    assert store.client.zcard("literati:sweep-deadlines") == 0
    store.sweeps.control(jobs.TENANT, sweep.spec.id, "resume")
    store.client.zadd("literati:sweep-deadlines", {sweep.spec.id: 1})
    store.sweeps.reconcile()
    found = sweeps.look(store, sweep.spec.id)
    assert (found.state, found.stop_reason) == (SweepState.CHOOSING, SweepStopReason.TIME_LIMIT)


def test_a_time_limit_before_the_first_complete_setting(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, limits={"time_limit": 100.0})
    job = claim(store)
    store.client.zadd("literati:sweep-deadlines", {sweep.spec.id: 1})
    store.sweeps.reconcile()
    found = sweeps.look(store, sweep.spec.id)
    assert (found.state, found.stop_reason) == (SweepState.FAILED, SweepStopReason.TIME_LIMIT)
    assert found.error is not None
    assert found.error.code == "NO_COMPLETE_TRIAL"
    end(store, job)
    assert state(store, sweep) is SweepState.FAILED


def test_extend_adds_settings_and_repeats_what_did_not_end(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, limits={"max_trials": 1}, refit=False)
    run_setting(store)
    advance(store, sweep.spec.id)
    ended = sweeps.look(store, sweep.spec.id)
    assert ended.state is SweepState.SUCCEEDED
    spec = sweep.spec.model_copy(update={"limits": sweep.spec.limits.model_copy(update={"max_trials": 5})})
    units = settings_to_try(spec)
    assert units[0] == settings_to_try(sweep.spec)[0]
    done = store.sweeps.results(sweep.spec.id).scores
    made = trial_jobs(spec, sweep.settings, units, done)
    assert len(made) == 3
    assert store.sweeps.extend(sweep, spec, units, made) is None, "it has changed since"
    with pytest.raises(errors.LimitReachedError, match="live_jobs"):
        store.sweeps.extend(ended, spec, units, made, max_live=0)
    extended = store.sweeps.extend(ended, spec, units, made, max_live=1)
    assert extended is not None
    assert (extended.state, extended.choice, extended.stop_reason) == (SweepState.QUEUED, None, None)
    with pytest.raises(errors.WrongStateError):
        store.sweeps.extend(extended, spec, units, made)
    run_setting(store, score=0.9)
    advance(store, sweep.spec.id)
    found = sweeps.look(store, sweep.spec.id)
    assert found.state is SweepState.SUCCEEDED
    assert found.choice is not None
    assert found.choice.setting == 1


def test_a_single_job_does_not_wait_behind_a_sweep(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, validation={"folds": 50})
    claim(store)
    dataset = jobs.add_dataset(store, blobs, jobs.easy(50))
    single = [store.jobs.submit(jobs.spec(dataset)).job.spec.id for _ in range(3)]
    order = [claim(store).spec for _ in range(7)]
    assert [job.id in single for job in order] == [True, False, True, False, True, False, False]
    other = start(store, blobs)
    turns = [place.sweep_id for place in (claim(store).spec.sweep for _ in range(4)) if place is not None]
    assert turns == [other.spec.id, sweep.spec.id, other.spec.id, sweep.spec.id]


def test_priorities_come_before_turns(store: Store, blobs: Blobs) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(60))
    low = sweeps.submit(store, sweeps.spec(dataset), settings={"priority": 0})
    high = sweeps.submit(store, sweeps.spec(dataset), settings={"priority": 5})
    turns = [place.sweep_id for place in (claim(store).spec.sweep for _ in range(7)) if place is not None]
    assert turns == [*6 * [high.spec.id], low.spec.id]


def test_few_jobs_are_created_at_a_time(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, validation={"folds": 50})
    assert store.client.zcard(f"literati:queue:sweep:{sweep.spec.id}") == 32
    assert store.tenants.get(jobs.TENANT).queued_jobs == 32
    claim(store)
    assert store.client.zcard(f"literati:queue:sweep:{sweep.spec.id}") == 32
    assert store.sweeps.progress(sweep).queued == 99


def test_a_job_of_a_sweep_is_controlled_by_its_sweep(store: Store, blobs: Blobs) -> None:
    start(store, blobs)
    job = claim(store)
    with pytest.raises(errors.JobOfSweepError):
        store.jobs.control(jobs.TENANT, job.spec.id, "cancel")
    with pytest.raises(errors.JobOfSweepError):
        store.jobs.delete(jobs.TENANT, job.spec.id)
    with pytest.raises(errors.JobOfSweepError):
        store.jobs.change(jobs.TENANT, job.spec.id, lambda s: s.model_copy(update={"priority": 3}))


def test_quotas(store: Store, blobs: Blobs) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(60))
    sweeps.submit(store, sweeps.spec(dataset))
    for quota, name in (
        (SweepQuota(max_live=1), "live_jobs"),
        (SweepQuota(max_sweeps=1), "sweeps"),
        (SweepQuota(max_models=1), "models"),
    ):
        with pytest.raises(errors.LimitReachedError, match=name):
            sweeps.submit(store, sweeps.spec(dataset), quota=quota)
    sweeps.submit(store, sweeps.spec(dataset), quota=SweepQuota(2, 2, 2))


def test_idempotent_submission(store: Store, blobs: Blobs) -> None:
    dataset = jobs.add_dataset(store, blobs, jobs.easy(60))
    first = sweeps.submit(store, sweeps.spec(dataset), idempotency_key="key", body_digest="a")
    again = sweeps.submit(store, sweeps.spec(dataset), idempotency_key="key", body_digest="a")
    assert first.spec.id == again.spec.id
    with pytest.raises(errors.IdempotencyConflictError):
        sweeps.submit(store, sweeps.spec(dataset), idempotency_key="key", body_digest="b")
    assert store.sweeps.submitted_before(jobs.TENANT, "key", "a") == first
    repeated = sweeps.submit(store, first.spec)  # the answer was lost, and the call is repeated
    assert repeated.spec.id == first.spec.id
    assert store.sweeps.progress(first).jobs == 6
    assert len(store.jobs.list(jobs.TENANT, sweep_id=first.spec.id).items) == 6


def test_delete_and_restore(store: Store, blobs: Blobs, client: redis.Redis) -> None:
    sweep = start(store, blobs, refit=False)
    with pytest.raises(errors.SweepNotEndedError):
        store.sweeps.delete(jobs.TENANT, sweep.spec.id)
    run_setting(store)
    run_setting(store)
    advance(store, sweep.spec.id)
    store.sweeps.delete(jobs.TENANT, sweep.spec.id, keep=True)
    assert store.sweeps.get(jobs.TENANT, sweep.spec.id) is None
    assert store.sweeps.restore(jobs.TENANT, sweep.spec.id).state is SweepState.SUCCEEDED
    assert len(store.sweeps.list(jobs.TENANT).items) == 1
    store.sweeps.delete(jobs.TENANT, sweep.spec.id)
    with pytest.raises(errors.SweepNotFoundError):
        store.sweeps.restore(jobs.TENANT, sweep.spec.id)
    left = {key.decode() for key in client.scan_iter("*")}
    assert not [key for key in left if sweep.spec.id in key or ":job" in key], "nothing is left of it"


def test_old_sweeps_expire(store: Store, blobs: Blobs, client: redis.Redis) -> None:
    live = start(store, blobs)
    old = start(store, blobs)
    store.sweeps.control(jobs.TENANT, old.spec.id, "cancel")
    assert store.retention.count("sweeps", 0.0) == 1
    assert store.retention.expire("sweeps", 0.0, 10) == 1
    assert [found.spec.id for found in store.sweeps.list(jobs.TENANT).items] == [live.spec.id]
    assert store.retention.expire("jobs", 0.0, 10) == 0


def test_lists_by_state(store: Store, blobs: Blobs) -> None:
    first, second = start(store, blobs), start(store, blobs)
    store.sweeps.control(jobs.TENANT, first.spec.id, "cancel")
    found = store.sweeps.list(jobs.TENANT, states=[SweepState.CANCELLED]).items
    assert [sweep.spec.id for sweep in found] == [first.spec.id]
    page = store.sweeps.list(jobs.TENANT, page_size=1)
    assert [sweep.spec.id for sweep in page.items] == [second.spec.id]
    assert store.sweeps.list(jobs.TENANT, page_token=page.next_page_token).items[0].spec.id == first.spec.id
    assert store.sweeps.list("another").items == []


def test_a_lost_worker_puts_the_job_back(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    job = claim(store)
    store.client.zadd("literati:leases", {job.spec.id: 1})
    store.client.hset(f"literati:job:{job.spec.id}", "lease_until", "1")
    store.jobs.reconcile()
    with pytest.raises(errors.FencedError):
        end(store, job)
    again = claim(store)
    places = {again.spec.id, *(claim(store).spec.id for _ in range(5))}
    assert job.spec.id in places
    assert store.sweeps.results(sweep.spec.id).scores == {}


def test_the_dataset_of_a_live_sweep_cannot_be_deleted(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    with pytest.raises(errors.DatasetInUseError):
        store.datasets.delete(jobs.TENANT, sweep.spec.dataset_id)


def test_a_dropped_setting_gets_no_more_jobs(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, validation={"folds": 50})
    first, second = claim(store), claim(store)
    end(store, first, FAILED)
    control = store.jobs.read_control(second.spec.id, second.epoch)
    assert control.control_request is ControlRequest.CANCEL
    end(store, second, CANCELLED)
    settings = [place.setting for place in (claim(store).spec.sweep for _ in range(50)) if place is not None]
    assert settings == 50 * [1], "the folds of the other setting"
    assert store.jobs.claim("acting") is None
    results = store.sweeps.results(sweep.spec.id)
    assert set(results.dropped) == {0}
    assert set(results.failures) == {(0, 0)}


def test_only_the_first_choice_counts(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, refit=False)
    run_setting(store)
    run_setting(store)
    advance(store, sweep.spec.id)
    first = sweeps.look(store, sweep.spec.id).choice
    assert first is not None
    other = first.model_copy(update={"explanation": "something else"})
    assert not store.sweeps.choose(sweep, other, None)
    assert sweeps.look(store, sweep.spec.id).choice == first
    events = store.sweeps.events(jobs.TENANT, sweep.spec.id).events
    assert sum(event.type == "done" for event in events) == 1


def test_settings_after_the_end_of_patience_are_not_chosen(store: Store, blobs: Blobs) -> None:
    """The last setting is fast and the best one, but patience ends before it in the order of settings."""
    sweep = start(
        store,
        blobs,
        space={"max_depth": [1, 2, 3, 4], "max_changepoints": [1]},
        limits={"patience_trials": 2},
        select="BEST",
        refit=False,
    )
    run_setting(store, score=0.7)
    run_setting(store, score=0.6)
    third = [claim(store) for _ in range(3)]
    run_setting(store, score=0.9)
    for job in third:
        end(store, job, score=0.5)
        advance(store, sweep.spec.id)
    found = sweeps.look(store, sweep.spec.id)
    assert found.state is SweepState.SUCCEEDED
    assert found.choice is not None
    assert found.choice.setting == 0
    assert found.choice.mean == pytest.approx(0.7)


def test_a_repeated_finish_does_not_cut_the_last_fit_short(
    store: Store, blobs: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to the first call was lost, so the client library sends it again, with the same id."""
    monkeypatch.setattr("worker.store.sweeps.new_id", lambda prefix: f"{prefix}_1")
    sweep = start(store, blobs)
    run_setting(store)
    store.sweeps.control(jobs.TENANT, sweep.spec.id, "finish")
    advance(store, sweep.spec.id)
    refit = claim(store)
    again = store.sweeps.control(jobs.TENANT, sweep.spec.id, "finish").sweep
    assert again.state is SweepState.REFITTING
    control = store.jobs.read_control(refit.spec.id, refit.epoch)
    assert control.control_request is ControlRequest.NONE


def test_a_choice_from_before_an_extension_is_ignored(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs, limits={"max_trials": 1}, refit=False)
    run_setting(store)
    before = sweeps.look(store, sweep.spec.id)  # of a process that is suspended now
    advance(store, sweep.spec.id)
    ended = sweeps.look(store, sweep.spec.id)
    assert ended.choice is not None
    spec = sweep.spec.model_copy(update={"limits": sweep.spec.limits.model_copy(update={"max_trials": 2})})
    units = settings_to_try(spec)
    done = store.sweeps.results(sweep.spec.id).scores
    store.sweeps.extend(ended, spec, units, trial_jobs(spec, sweep.settings, units, done))
    store.sweeps.stop_units(before, [1], stop=True)
    assert state(store, sweep) is SweepState.QUEUED
    run_setting(store, score=0.9)
    assert state(store, sweep) is SweepState.CHOOSING
    store.sweeps.choose(before, ended.choice, None)
    assert state(store, sweep) is SweepState.CHOOSING
    advance(store, sweep.spec.id)
    found = sweeps.look(store, sweep.spec.id)
    assert found.choice is not None
    assert found.choice.setting == 1


def test_a_sweep_with_an_error_does_not_keep_others_waiting(store: Store, blobs: Blobs) -> None:
    broken, other = start(store, blobs, refit=False), start(store, blobs, refit=False)
    for _ in range(4):
        run_setting(store)
    store.client.hset(f"literati:sweep:{broken.spec.id}:results", "0 0", "not JSON")
    reconcile(store)
    assert state(store, broken) is SweepState.FAILED
    assert state(store, other) is SweepState.SUCCEEDED


def test_a_damaged_number_does_not_keep_workers_from_jobs(store: Store, blobs: Blobs) -> None:
    damaged, other = start(store, blobs, refit=False), start(store, blobs, refit=False)
    names = ("time_limit", "used", "max_failed", "priority", "running_since")
    store.client.hset(f"literati:sweep:{damaged.spec.id}", mapping=dict.fromkeys(names, "wrong"))
    for _ in range(4):
        run_setting(store)
    reconcile(store)
    assert state(store, damaged) is SweepState.SUCCEEDED
    assert state(store, other) is SweepState.SUCCEEDED


def test_a_result_survives_a_script_that_fails(store: Store, blobs: Blobs) -> None:
    """The job has ended, but its sweep was not told; the reconciler does it."""
    sweep = start(store, blobs)
    job = claim(store)
    end(store, job)
    key = f"literati:sweep:{sweep.spec.id}"
    found = store.client.hget(f"{key}:results", "0 0")
    assert found is not None
    store.client.hdel(f"{key}:results", "0 0")
    store.client.sadd(f"{key}:live", job.spec.id)
    store.client.hset(f"literati:job:{job.spec.id}", "result", found)
    reconcile(store)
    assert store.sweeps.results(sweep.spec.id).scores.keys() == {(0, 0)}
    store.client.hdel(f"{key}:results", "0 0")
    store.client.sadd(f"{key}:live", job.spec.id)
    reconcile(store)
    assert store.sweeps.results(sweep.spec.id).failures[0, 0].code == "INTERNAL"


def test_a_last_job_whose_record_is_lost(store: Store, blobs: Blobs) -> None:
    sweep = start(store, blobs)
    run_setting(store)
    run_setting(store)
    advance(store, sweep.spec.id)
    refit = sweeps.look(store, sweep.spec.id).refit_job_id
    store.client.delete(f"literati:job:{refit}")
    reconcile(store)
    found = sweeps.look(store, sweep.spec.id)
    assert (found.state, found.error and found.error.code) == (SweepState.FAILED, "INTERNAL")


def test_nothing_is_pruned_with_patience(store: Store, blobs: Blobs) -> None:
    """A pruned setting would count as one that is not better, so the choice would depend on the order."""
    sweep = start(
        store,
        blobs,
        space={"max_depth": [1, 2, 3], "max_changepoints": [1], "split_penalty": [1.0]},
        limits={"patience_trials": 1},
        select="BEST",
    )
    claim(store)
    store.client.hset(
        f"literati:sweep:{sweep.spec.id}:results",
        mapping={
            f"{setting} {fold}": result(score)
            for setting, score in ((0, 0.9), (2, 0.98))
            for fold in range(3)
        },
    )
    store.client.hset(f"literati:sweep:{sweep.spec.id}:results", "1 0", result(0.1))
    advance(store, sweep.spec.id)
    assert store.sweeps.results(sweep.spec.id).dropped == frozenset()


def test_the_jobs_of_sweeps_do_not_fill_the_queue(store: Store, blobs: Blobs) -> None:
    start(store, blobs, validation={"folds": 50})
    dataset = jobs.add_dataset(store, blobs, jobs.easy(50))
    quota = Quota(max_queued=2)
    for _ in range(2):
        store.jobs.submit(jobs.spec(dataset), quota=quota)
    with pytest.raises(errors.LimitReachedError, match="queue"):
        store.jobs.submit(jobs.spec(dataset), quota=quota)
