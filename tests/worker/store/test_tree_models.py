"""Test models that are made of a tree of a job while nothing of the job changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from tests.support.records import jobs, sweep_results, sweeps
from tests.support.records.store_records import CANCELLED, SUCCESS, TENANT, look, progress_update, run
from tests.worker.store.test_revisions import FAILED, model, search, told
from worker.blobs.local import Blobs
from worker.domain.errors import JobNotFoundError, LimitReachedError, RevisionNotFoundError
from worker.domain.jobs import JobState, Outcome, StopReason
from worker.store import Store
from worker.store.client import HistoryLimits

PAUSED = Outcome(state=JobState.PAUSED)


@pytest.mark.parametrize("outcome", [None, PAUSED, SUCCESS, CANCELLED, FAILED])
def test_a_model_of_any_tree_in_any_state(store: Store, outcome: Outcome | None) -> None:
    claim = search(store)
    job_id = claim.spec.id
    if outcome is not None:
        store.jobs.finish(job_id, claim.epoch, outcome)
    before = look(store, job_id)
    events = store.jobs.events(TENANT, job_id, None, 1000)
    made = store.models.make(TENANT, job_id, 2)
    assert made.created
    assert told(made.model) == (2, 8.0, 8.0, 4.0, False)
    assert (made.model.job_id, made.model.stop_reason) == (job_id, StopReason.USER_FINISH)
    found = store.jobs.incumbent(TENANT, job_id, 2)
    assert found is not None
    assert made.model.metrics == found.metrics == {"accuracy": 0.08}
    tree = store.models.tree(TENANT, made.model.id)
    assert tree is not None
    assert tree["nodes"] == [{"cost": 8.0, "bound": 4.0, "proven": False}]
    again = store.models.make(TENANT, job_id, 2)
    assert (again.created, again.model) == (False, made.model)
    assert model(store, made.model.id) == made.model
    assert look(store, job_id) == before, "the job does not change"
    assert store.jobs.events(TENANT, job_id, None, 1000) == events
    best = store.models.make(TENANT, job_id, 3)
    assert told(best.model) == (3, 6.0, 6.0, 4.0, False)
    assert best.created == (outcome is not SUCCESS)
    assert (best.model.id == before.model_id) == (outcome is SUCCESS)
    assert len(store.models.list(TENANT).items) == 2


def test_a_job_makes_its_own_model_when_it_ends(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    early = store.models.make(TENANT, job_id, 3).model
    store.models.set_alias(TENANT, "best", early.id)
    proven = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL, proven_optimal=True)
    store.jobs.finish(job_id, claim.epoch, proven, progress_update(6.0, 6.0))
    job = look(store, job_id)
    assert (job.state, job.model_revision) == (JobState.SUCCEEDED, 3)
    own = model(store, job.model_id)
    assert own.id != early.id
    assert (told(own), told(early)) == ((3, 6.0, 6.0, 6.0, True), (3, 6.0, 6.0, 4.0, False))
    assert model(store, "best") == early, "a model does not change"
    assert store.models.make(TENANT, job_id, 3).model == own


def test_only_a_tree_that_meets_the_bound_is_proven(store: Store) -> None:
    claim = search(store)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(6.0, 6.0))
    found = [store.models.make(TENANT, claim.spec.id, revision).model for revision in (1, 2, 3)]
    assert [made.proven_optimal for made in found] == [False, False, True]
    assert found[2].stop_reason is StopReason.PROVEN_OPTIMAL


def test_finish_finds_these_models_too(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    first = store.models.make(TENANT, job_id, 1).model
    store.jobs.finish(job_id, claim.epoch, CANCELLED)
    assert look(store, job_id).model_id is None
    asked = store.jobs.control(TENANT, job_id, "finish", revision=1)
    assert (asked.repeated, asked.job.model_id, asked.job.model_revision) == (True, first.id, 1)
    assert store.models.make(TENANT, job_id, 2).created
    assert look(store, job_id).model_id == first.id


def test_a_pending_choice_stays(store: Store) -> None:
    claim = search(store)
    job_id = claim.spec.id
    store.jobs.control(TENANT, job_id, "finish", revision=2)
    assert store.models.make(TENANT, job_id, 1).created
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    assert model(store, look(store, job_id).model_id).incumbent_revision == 2


def test_what_is_not_there(store: Store, client: redis.Redis) -> None:
    claim = search(store)
    job_id = claim.spec.id
    with pytest.raises(JobNotFoundError):
        store.models.make("other", job_id, 1)
    for revision in (4, 1 << 53):
        with pytest.raises(RevisionNotFoundError):
            store.models.make(TENANT, job_id, revision)
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    store.jobs.delete(TENANT, job_id, keep=True)
    with pytest.raises(JobNotFoundError):
        store.models.make(TENANT, job_id, 1)
    store.jobs.restore(TENANT, job_id)
    made = store.models.make(TENANT, job_id, 1).model
    store.jobs.delete(TENANT, job_id)
    assert not list(client.scan_iter(f"literati:job:{job_id}*"))
    assert model(store, made.id) == made, "a model outlives its job"


def test_trees_that_are_not_kept(client: redis.Redis) -> None:
    store = Store(client, history=HistoryLimits(max_incumbents=2))
    claim = search(store)
    with pytest.raises(RevisionNotFoundError):
        store.models.make(TENANT, claim.spec.id, 1)
    assert store.models.make(TENANT, claim.spec.id, 2).created
    assert store.jobs.incumbent(TENANT, claim.spec.id, 1) is None


def test_a_deleted_model_is_made_again(store: Store) -> None:
    job_id = search(store).spec.id
    first = store.models.make(TENANT, job_id, 1).model
    store.models.delete(TENANT, first.id, keep=True)
    second = store.models.make(TENANT, job_id, 1)
    assert second.created
    assert second.model.id != first.id
    assert store.models.restore(TENANT, first.id) == first


def test_a_lost_answer_is_no_second_model(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = search(store).spec.id
    run_script = store.models._scripts.run

    def twice(name: str, *arguments: str | bytes | int | float) -> object:
        run_script(name, *arguments)
        return run_script(name, *arguments)

    monkeypatch.setattr(store.models._scripts, "run", twice)
    assert store.models.make(TENANT, job_id, 1).created
    monkeypatch.undo()
    assert len(store.models.list(TENANT).items) == 1


def test_the_number_of_models_is_limited(store: Store) -> None:
    job_id = search(store).spec.id  # which may still make a model
    with pytest.raises(LimitReachedError, match="models"):
        store.models.make(TENANT, job_id, 1, max_models=1)
    assert store.models.make(TENANT, job_id, 1, max_models=2).created
    with pytest.raises(LimitReachedError, match="models"):
        store.models.make(TENANT, job_id, 2, max_models=2)
    assert not store.models.make(TENANT, job_id, 1, max_models=1).created


def test_a_job_of_an_older_version_knows_its_model(store: Store, client: redis.Redis) -> None:
    claim = run(store)
    job_id = claim.spec.id
    store.jobs.finish(job_id, claim.epoch, SUCCESS)
    client.delete(f"literati:job:{job_id}:models")
    made = store.models.make(TENANT, job_id, 1)
    assert (made.created, made.model.id) == (False, look(store, job_id).model_id)


def test_a_job_of_a_sweep(store: Store, tmp_path: Path) -> None:
    """A sweep alone controls its jobs, but a model of a tree changes nothing in them."""
    dataset = jobs.add_dataset(store, Blobs(tmp_path / "blobs"), jobs.easy(60))
    sweep = sweeps.submit(store, sweeps.spec(dataset), settings={"name": "tuned", "tags": {"team": "a"}})
    job = sweep_results.claim(store)
    sweep_results.publish_tree(store, job)
    before = sweeps.look(store, sweep.spec.id)
    made = store.models.make(TENANT, job.spec.id, 1).model
    assert (made.name, made.tags, made.sweep) == ("tuned", {"team": "a"}, job.spec.sweep)
    assert sweeps.look(store, sweep.spec.id).model_copy(update={"seconds": before.seconds}) == before
    sweep_results.end_with_tree(store, job)
    store.sweeps.control(TENANT, sweep.spec.id, "cancel")
    assert store.models.make(TENANT, job.spec.id, 1).model == made
    store.sweeps.delete(TENANT, sweep.spec.id)
    assert model(store, made.id) == made
