"""Test how the explored share and the stages of a search are merged: within a stage nothing gets worse."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.records.store_records import TENANT, expire, look, progress_update, start, state_of
from worker.domain.jobs import Job, JobState, Outcome, StopReason
from worker.domain.progress import Progress, ProgressUpdate, TracePoint
from worker.store import Store

PROVEN = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL, proven_optimal=True)
TIME_LIMIT = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.TIME_LIMIT)
FINISHED = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH)


def said(
    upper: float, lower: float, explored: float, stage: int = 0, *, expansions: int = 1, **fields: Any
) -> ProgressUpdate:
    """Return an update with its point of the trace."""
    seconds = expansions / 10
    update = progress_update(upper, lower, expansions=expansions, seconds=seconds, **fields)
    point = TracePoint(
        seconds=seconds, expansions=expansions, upper=upper, lower=lower, explored=explored, stage=stage
    )
    found = update.incumbent and update.incumbent.model_copy(update={"stage": stage})
    changes = {"explored": explored, "stage": stage, "trace": [point], "incumbent": found}
    return update.model_copy(update=changes)


def publish(store: Store, job: Job, *updates: ProgressUpdate) -> Progress:
    for update in updates:
        store.jobs.publish_progress(job.spec.id, job.epoch, update)
    return look(store, job.spec.id).progress


def stage_of(progress: Progress) -> tuple[float | None, float | None, float | None, int]:
    return progress.upper_bound, progress.lower_bound, progress.explored, progress.stage


def test_the_explored_share_never_falls_within_a_stage(store: Store) -> None:
    job = start(store)
    first = said(10, 1, 0.25, objective=10, seconds_left=40.0, space="adaptive")
    progress = publish(store, job, first)
    assert (progress.explored, progress.seconds_left, progress.space) == (0.25, 40.0, "adaptive")
    progress = publish(store, job, said(10, 1, 0.125, expansions=2, seconds_left=80.0, space="adaptive"))
    assert (progress.explored, progress.seconds_left) == (0.25, 80.0), "the estimate may change"
    progress = publish(store, job, said(10, 1, 0.5, expansions=3))
    assert (progress.explored, progress.seconds_left) == (0.5, None)
    points = store.jobs.trace(TENANT, job.spec.id)
    assert [point.explored for point in points] == [0.25, 0.25, 0.5]


def test_it_is_1_exactly_if_the_bounds_are_equal(store: Store) -> None:
    job = start(store)
    progress = publish(store, job, said(10, 1, 1.0, objective=10), said(10, 2, 0.5, expansions=2))
    assert progress.explored == 0.5, "a share of 1 with a gap is not believed"
    progress = publish(store, job, said(8, 2, 1.0, expansions=3))
    assert (progress.upper_bound, progress.explored) == (10, 0.5), "the tree of cost 8 has not been stored"
    progress = publish(store, job, said(8, 8, 0.9, objective=8, expansions=4, seconds_left=3.0))
    assert (progress.gap_absolute, progress.explored, progress.seconds_left) == (0, 1.0, 0.0)
    assert [point.explored for point in store.jobs.trace(TENANT, job.spec.id)][-1] == 1.0


def test_a_later_stage_replaces_the_bounds(store: Store) -> None:
    job = start(store)
    first = said(10, 10, 1.0, objective=10, space="narrow", proven_space="narrow", last_stage=False)
    assert stage_of(publish(store, job, first)) == (10, 10, 1.0, 0)
    wider = said(10, 3, 0.125, 1, expansions=5, space="wide", proven_space="narrow", last_stage=False)
    progress = publish(store, job, wider)
    assert stage_of(progress) == (10, 3, 0.125, 1)
    assert (progress.space, progress.gap_relative) == ("wide", 0.7)
    assert look(store, job.spec.id).proven_space == "narrow"
    progress = publish(store, job, said(7, 4, 0.25, 1, objective=7, expansions=6, space="wide"))
    assert stage_of(progress) == (7, 4, 0.25, 1)
    assert progress.objective == 7
    points = store.jobs.trace(TENANT, job.spec.id)
    assert [(point.stage, point.upper, point.lower, point.explored) for point in points] == [
        (0, 10, 10, 1.0),
        (1, 10, 3, 0.125),
        (1, 7, 4, 0.25),
    ]


def test_an_earlier_stage_changes_no_bounds_but_may_bring_a_tree(store: Store) -> None:
    """A search that goes on from an older snapshot passes its stages again."""
    job = start(store)
    wider = said(9, 4, 0.5, 2, objective=9, expansions=9, space="wide", seconds_left=5.0)
    publish(store, job, said(10, 10, 1.0, 1, objective=10), wider)
    expire(store, job.spec.id)
    store.jobs.reconcile()
    again = store.jobs.claim("next")
    assert again is not None
    late = said(8, 8, 1.0, 1, objective=8, expansions=10, space="narrow", seconds_left=0.0)
    progress = publish(store, again, late)
    assert stage_of(progress) == (9, 4, 0.5, 2)
    assert (progress.space, progress.seconds_left, progress.objective) == ("wide", 5.0, 8)
    point = store.jobs.trace(TENANT, job.spec.id)[-1]
    assert (point.seconds, point.stage, point.upper, point.lower, point.explored) == (1.0, 2, 9, 4, 0.5)
    found = store.jobs.incumbent(TENANT, job.spec.id)
    assert found is not None
    assert (found.objective, found.stage, found.tree_stage, found.space) == (8, 2, 1, "wide")


def test_a_proof_of_an_early_stage_does_not_prove_the_job(store: Store) -> None:
    job = start(store)
    early = said(6, 6, 1.0, objective=6, space="narrow", proven_space="narrow", last_stage=False)
    publish(store, job, early)
    store.jobs.finish(job.spec.id, job.epoch, TIME_LIMIT)
    ended = look(store, job.spec.id)
    assert (ended.stop_reason, ended.proven_optimal) == (StopReason.TIME_LIMIT, False)
    assert ended.model_id is not None
    model = store.models.get(TENANT, ended.model_id)
    assert model is not None
    assert (model.stop_reason, model.proven_optimal) == (StopReason.TIME_LIMIT, False)
    assert (model.space, model.proven_space, model.explored) == ("narrow", "narrow", 1.0)


def test_a_chosen_tree_is_not_proven_by_an_early_stage(store: Store) -> None:
    job = start(store)
    publish(store, job, said(6, 6, 1.0, objective=6, last_stage=False))
    expire(store, job.spec.id)
    store.jobs.control(TENANT, job.spec.id, "cancel")
    model_id = store.jobs.control(TENANT, job.spec.id, "finish", revision=1).job.model_id
    assert model_id is not None
    model = store.models.get(TENANT, model_id)
    assert model is not None
    assert not model.proven_optimal


def test_the_proof_of_the_last_stage_ends_the_job(store: Store) -> None:
    job = start(store)
    publish(store, job, said(6, 6, 1.0, objective=6, last_stage=False))
    last = said(5, 5, 1.0, 1, objective=5, expansions=2, space="all", proven_space="all")
    store.jobs.finish(job.spec.id, job.epoch, PROVEN, last)
    ended = look(store, job.spec.id)
    assert (ended.stop_reason, ended.proven_optimal) == (StopReason.PROVEN_OPTIMAL, True)
    assert (ended.proven_space, ended.progress.explored) == ("all", 1.0)


def test_a_request_to_finish_after_an_early_proof(store: Store) -> None:
    """The worker is lost, so the store ends the job by itself with what it knows."""
    job = start(store)
    publish(store, job, said(6, 6, 1.0, objective=6, last_stage=False))
    expire(store, job.spec.id)
    store.jobs.control(TENANT, job.spec.id, "finish")
    assert state_of(store, job.spec.id) is JobState.SUCCEEDED
    assert look(store, job.spec.id).stop_reason is StopReason.USER_FINISH


@pytest.mark.parametrize(("stage", "bound"), [(0, 4.0), (1, 0.0)])
def test_a_tree_shows_bounds_of_its_own_space(store: Store, stage: int, bound: float) -> None:
    """A tree was found in one stage, and the job ended in the same one or in a wider one."""
    job = start(store)
    publish(store, job, said(6, 3, 0.5, objective=6, space="narrow"))
    publish(store, job, said(6, 4, 0.75, stage, expansions=2, space="now"))
    store.jobs.finish(job.spec.id, job.epoch, FINISHED)
    model_id = look(store, job.spec.id).model_id
    assert model_id is not None
    found = store.models.tree(TENANT, model_id)
    assert found is not None
    assert found["proof"]["lower_bound"] == bound
    model = store.models.get(TENANT, model_id)
    assert model is not None
    assert (model.lower_bound, model.space, model.explored) == (4.0, "now", 0.75)


def test_a_tree_keeps_its_stage_when_updates_are_combined(store: Store) -> None:
    """The store did not answer while the search went on to the next stage."""
    job = start(store)
    late = said(6, 3, 0.5, objective=6, space="narrow").followed_by(
        said(6, 1, 0.25, 1, expansions=2, space="wide")
    )
    assert stage_of(publish(store, job, late)) == (6, 1, 0.25, 1)
    found = store.jobs.incumbent(TENANT, job.spec.id)
    assert found is not None
    assert (found.stage, found.tree_stage) == (1, 0)
    store.jobs.finish(job.spec.id, job.epoch, FINISHED, late)
    model_id = look(store, job.spec.id).model_id
    assert model_id is not None
    tree = store.models.tree(TENANT, model_id)
    assert tree is not None
    assert tree["proof"]["lower_bound"] == 0.0  # that of the tree's own proof


def test_an_event_for_each_hundredth_that_is_explored(store: Store) -> None:
    job = start(store)
    publish(store, job, said(10, 1, 0.0, objective=10))
    for step in range(1, 401):
        publish(store, job, said(10, 1, step / 1000, expansions=step))
    events = store.jobs.events(TENANT, job.spec.id, count=1000).events
    shares = [event.data["explored"] for event in events if event.type == "bound"]
    steps = [after - before for before, after in pairwise(shares)]
    assert len(steps) > 35
    assert all(0.00999 < step < 0.0111 for step in steps), steps
    publish(store, job, said(10, 1, 0.1, 1, expansions=500))
    last = store.jobs.events(TENANT, job.spec.id, count=1000).events[-1]
    assert (last.type, last.data["stage"], last.data["explored"]) == ("bound", 1, 0.1)


def test_a_search_that_goes_on_from_version_0_1_0(store: Store, client: redis.Redis) -> None:
    """Its record, its trace and its events have neither a stage nor an explored share."""
    job = start(store)
    publish(store, job, said(10, 2, 0.0, objective=10, expansions=1))
    key = f"literati:job:{job.spec.id}"
    new = (
        "explored",
        "explored_sent",
        "seconds_left",
        "stage",
        "space",
        "proven_space",
        "last_stage",
        "threads",
    )
    client.hdel(key, *new)
    client.hdel(f"{key}:incumbent:1", "explored", "seconds_left", "stage", "space", "tree_stage")
    client.delete(f"{key}:trace")
    client.rpush(f"{key}:trace", "0.1 1 10.0 2.0")
    progress = look(store, job.spec.id).progress
    assert (progress.explored, progress.seconds_left, progress.stage) == (None, None, 0)
    assert progress.space == look(store, job.spec.id).proven_space == "adaptive"
    assert look(store, job.spec.id).threads is None
    found = store.jobs.incumbent(TENANT, job.spec.id)
    assert found is not None
    assert (found.explored, found.stage) == (None, 0)
    assert stage_of(publish(store, job, said(10, 1, 0.25, expansions=2))) == (10, 2, 0.25, 0)
    points = store.jobs.trace(TENANT, job.spec.id)
    assert [(point.lower, point.explored) for point in points] == [(2.0, None), (2.0, 0.25)]


def test_the_share_of_a_job_that_version_0_1_0_proved(store: Store, client: redis.Redis) -> None:
    job = start(store)
    store.jobs.finish(job.spec.id, job.epoch, PROVEN, said(4, 4, 1.0, objective=4))
    client.hdel(f"literati:job:{job.spec.id}", "explored", "seconds_left", "stage")
    assert look(store, job.spec.id).progress.explored == 1.0


numbers = st.sampled_from([0.0, 1.0, 2.0, 3.5, 5.0, 8.0])
shares = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.999, 1.0])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    updates=st.lists(
        st.tuples(numbers, numbers, st.none() | numbers, shares, st.integers(0, 3)), min_size=1, max_size=12
    )
)
def test_whatever_is_said_nothing_gets_worse_within_a_stage(
    store: Store, updates: list[tuple[float, float, float | None, float, int]]
) -> None:
    job = start(store)
    before = look(store, job.spec.id).progress
    for number, (upper, lower, objective, explored, stage) in enumerate(updates, 1):
        now = publish(store, job, said(upper, lower, explored, stage, objective=objective, expansions=number))
        assert now.stage >= before.stage
        assert now.explored is not None
        assert before.explored is not None
        if now.upper_bound is not None and now.lower_bound is not None and now.objective is not None:
            assert now.lower_bound <= now.upper_bound
            assert (now.explored == 1.0) == (now.lower_bound == now.upper_bound)
            if (
                before.upper_bound is not None
                and before.lower_bound is not None
                and before.objective is not None
            ):
                assert now.objective <= before.objective
                if now.stage == before.stage:
                    assert now.upper_bound <= before.upper_bound
                    assert now.lower_bound >= before.lower_bound
                    assert now.explored >= before.explored
        before = now
    for earlier, later in pairwise(store.jobs.trace(TENANT, job.spec.id)):
        assert later.stage >= earlier.stage
        assert later.explored is not None
        assert earlier.explored is not None
        assert (later.explored == 1.0) == (later.lower == later.upper)
        if later.stage == earlier.stage:
            assert later.upper <= earlier.upper
            assert later.lower >= earlier.lower
            assert later.explored >= earlier.explored
