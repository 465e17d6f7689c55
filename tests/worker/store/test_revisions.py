"""Test models of trees other than the best one."""

from __future__ import annotations

import pytest
import redis

from tests.support.records.store_records import (
    CANCELLED,
    SUCCESS,
    TENANT,
    expire,
    look,
    progress_update,
    run,
    tree,
)
from worker.domain.errors import JobNotFoundError, LimitReachedError, RevisionNotFoundError
from worker.domain.jobs import ControlRequest, Job, JobState, Outcome, StopReason
from worker.domain.models import Model
from worker.store import Store
from worker.store.client import HistoryLimits

FAILED = Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR)


def search(store: Store, lower: float = 4.0) -> Job:
    """Return a job with trees of cost 10, 8 and 6."""
    claim = run(store)
    for objective in (8.0, 6.0):
        said = progress_update(objective, lower, objective)
        store.jobs.publish_progress(claim.spec.id, claim.epoch, said)
    return claim


def model(store: Store, model_id: str | None) -> Model:
    assert model_id is not None
    found = store.models.get(TENANT, model_id)
    assert found is not None
    return found


def told(found: Model) -> tuple[object, ...]:
    return (
        found.incumbent_revision,
        found.objective,
        found.upper_bound,
        found.lower_bound,
        found.proven_optimal,
    )


def test_a_running_job_is_finished_with_an_earlier_tree(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    asked = store.jobs.control(TENANT, job_id, "finish", revision=2)
    assert (asked.job.state, asked.repeated, asked.model_created) == (JobState.STOPPING, False, False)
    assert store.jobs.control(TENANT, job_id, "finish", revision=2).repeated
    assert store.jobs.control(TENANT, job_id, "finish").repeated
    assert store.jobs.read_control(job_id, claim.epoch).control_request is ControlRequest.FINISH
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH)
    store.jobs.finish(job_id, claim.epoch, outcome, progress_update(5.0, 5.0, 5.0))
    job = look(store, job_id)
    assert (job.state, job.stop_reason, job.progress.objective) == (
        JobState.SUCCEEDED,
        StopReason.PROVEN_OPTIMAL,  # of the search; the tree that was chosen is another
        5.0,
    )
    made = model(store, job.model_id)
    assert made.stop_reason is StopReason.USER_FINISH
    assert told(made) == (2, 8.0, 8.0, 5.0, False)
    assert made.metrics == {"accuracy": 0.08}
    data = store.models.tree(TENANT, made.id)
    assert data is not None
    proof = {**tree(8.0)["proof"], "upper_bound": 8.0, "lower_bound": 5.0, "beyond_space": False}
    assert data["proof"] == proof
    done = store.jobs.events(TENANT, job_id, None, 1000).events[-1]
    assert (done.type, done.data["model_id"]) == ("done", made.id)


def test_the_last_revision_that_was_named_counts(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.control(TENANT, job_id, "finish")
    assert not store.jobs.control(TENANT, job_id, "finish", revision=1).repeated
    assert not store.jobs.control(TENANT, job_id, "finish", revision=2).repeated
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    assert model(store, look(store, job_id).model_id).incumbent_revision == 2


def test_a_lost_worker_does_not_change_the_choice(store: Store) -> None:
    job_id = search(store).spec.id
    store.jobs.control(TENANT, job_id, "finish", revision=1)
    expire(store, job_id)
    store.jobs.reconcile()
    assert told(model(store, look(store, job_id).model_id)) == (1, 10.0, 10.0, 4.0, False)


def test_a_job_without_a_worker_is_finished_at_once(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.finish(job_id, claim.epoch, Outcome(state=JobState.PAUSED))
    done = store.jobs.control(TENANT, job_id, "finish", revision=2)
    assert done.job.state is JobState.SUCCEEDED
    assert model(store, done.job.model_id).incumbent_revision == 2


@pytest.mark.parametrize("outcome", [SUCCESS, CANCELLED, FAILED])
def test_an_ended_job_makes_a_model_of_any_of_its_trees(store: Store, outcome: Outcome) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.finish(job_id, claim.epoch, outcome)
    before = look(store, job_id)
    events = store.jobs.events(TENANT, job_id, None, 1000)
    made = store.jobs.control(TENANT, job_id, "finish", revision=1)
    assert (made.model_created, made.repeated) == (True, False)
    assert made.job.revision == before.revision + 1
    assert made.job.model_revision == 1
    same = {name: getattr(before, name) for name in ("model_id", "model_revision", "revision")}
    assert made.job.model_copy(update=same) == before
    found = model(store, made.job.model_id)
    assert found.id != before.model_id
    assert told(found) == (1, 10.0, 10.0, 4.0, False)
    assert found.stop_reason is StopReason.USER_FINISH
    assert store.jobs.events(TENANT, job_id, None, 1000) == events, "nothing comes after `done`"
    if before.model_id is not None:
        assert model(store, before.model_id).incumbent_revision == 3
    again = store.jobs.control(TENANT, job_id, "finish", revision=1)
    assert (again.repeated, again.job) == (True, made.job)
    best = store.jobs.control(TENANT, job_id, "finish", revision=3)
    assert best.repeated == (outcome is SUCCESS)
    assert told(model(store, best.job.model_id)) == (3, 6.0, 6.0, 4.0, False)
    back = store.jobs.control(TENANT, job_id, "finish", revision=1)
    assert (back.repeated, back.job.model_id) == (True, found.id)
    assert len(store.models.list(TENANT).items) == 2


def test_a_model_that_was_deleted_is_made_again(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    first = look(store, job_id).model_id
    assert first is not None
    store.models.delete(TENANT, first)
    again = store.jobs.control(TENANT, job_id, "finish", revision=3)
    assert again.model_created
    assert again.job.model_id != first


def test_a_job_of_an_older_version_knows_its_model(store: Store, client: redis.Redis) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    client.delete(f"literati:job:{job_id}:models")
    assert store.jobs.control(TENANT, job_id, "finish", revision=3).repeated
    assert len(store.models.list(TENANT).items) == 1


def test_only_a_tree_that_meets_the_bound_is_proven(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    proven = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL, proven_optimal=True)
    store.jobs.finish(job_id, claim.epoch, proven, progress_update(6.0, 6.0))
    for revision, expected in ((1, False), (2, False), (3, True)):
        made = store.jobs.control(TENANT, job_id, "finish", revision=revision).job
        assert model(store, made.model_id).proven_optimal is expected


def test_a_tree_below_the_bounds_and_one_at_them_are_both_proven(store: Store) -> None:
    """A polished tree may be outside the searched space and cost less than its optimum."""
    claim = run(store)
    job_id = claim.spec.id
    store.jobs.publish_progress(job_id, claim.epoch, progress_update(8.0, 4.0, 8.0))
    store.jobs.publish_progress(job_id, claim.epoch, progress_update(8.0, 8.0, 7.5))
    store.jobs.finish(job_id, claim.epoch, CANCELLED)
    for revision, expected in ((1, False), (2, True), (3, True)):
        made = store.jobs.control(TENANT, job_id, "finish", revision=revision).job
        assert model(store, made.model_id).proven_optimal is expected


@pytest.mark.parametrize("outcome", [None, SUCCESS])
def test_a_tree_that_is_not_there_is_refused(store: Store, outcome: Outcome | None) -> None:
    claim = search(store)
    job_id = claim.spec.id
    if outcome is not None:
        store.jobs.finish(job_id, claim.epoch, outcome)
    before = look(store, job_id)
    for revision in (4, 1 << 53):
        with pytest.raises(RevisionNotFoundError):
            store.jobs.control(TENANT, job_id, "finish", revision=revision)
    assert look(store, job_id) == before
    with pytest.raises(JobNotFoundError):
        store.jobs.control("other", job_id, "finish", revision=1)


def test_the_chosen_tree_is_kept_while_better_ones_push_others_out(client: redis.Redis) -> None:
    store = Store(client, history=HistoryLimits(max_incumbents=2))
    claim = search(store)  # keeps trees 2 and 3
    job_id = claim.spec.id
    with pytest.raises(RevisionNotFoundError):
        store.jobs.control(TENANT, job_id, "finish", revision=1)
    store.jobs.control(TENANT, job_id, "finish", revision=2)
    for objective in (5.5, 5.0, 4.5):
        store.jobs.publish_progress(job_id, claim.epoch, progress_update(objective, 4.0, objective))
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    assert model(store, look(store, job_id).model_id).objective == 8.0
    store.jobs.delete(TENANT, job_id)
    assert not list(client.scan_iter(f"literati:job:{job_id}*"))


def test_models_of_ended_jobs_count_too(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    with pytest.raises(LimitReachedError, match="models"):
        store.jobs.control(TENANT, job_id, "finish", revision=1, max_models=1)
    assert store.jobs.control(TENANT, job_id, "finish", revision=3, max_models=1).repeated
    assert store.jobs.control(TENANT, job_id, "finish", revision=1, max_models=2).model_created


def test_a_job_of_an_earlier_version_names_the_tree_of_its_model(store: Store, client: redis.Redis) -> None:
    claim = search(store)
    job_id = claim.spec.id
    assert look(store, job_id).model_revision is None
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    client.hdel(f"literati:job:{job_id}", "model_revision", "chosen")
    assert look(store, job_id).model_revision == 3
    assert store.jobs.list(TENANT).items[0].model_revision == 3
