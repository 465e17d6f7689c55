"""Test changes of the name, notes, tags and priority of sweeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.records import jobs, sweeps
from worker.blobs.local import Blobs
from worker.domain.errors import PreconditionFailedError, SweepNotFoundError
from worker.domain.jobs import Job
from worker.domain.sweeps import Sweep, SweepSettings
from worker.store import Store

Change = Callable[[SweepSettings], SweepSettings]


def to(**fields: object) -> Change:
    return lambda present: present.model_copy(update=fields)


@pytest.fixture
def sweep(store: Store, tmp_path: Path) -> Sweep:
    """A sweep of 42 jobs, of which 32 are queued."""
    dataset = jobs.add_dataset(store, Blobs(tmp_path / "blobs"), jobs.easy(60))
    space = {"max_depth": [*range(1, 8)], "max_changepoints": [1, 2]}
    return sweeps.submit(store, sweeps.spec(dataset, space=space), settings={"name": "first"})


def submit_single(store: Store, sweep: Sweep, priority: int) -> Job:
    dataset = store.datasets.get(jobs.TENANT, sweep.spec.dataset_id)
    assert dataset is not None
    return store.jobs.submit(jobs.spec(dataset, priority=priority)).job


def claimed(store: Store, count: int) -> list[Job]:
    found = [store.jobs.claim("worker") for _ in range(count)]
    return [job for job in found if job is not None]


def test_settings_change_and_the_rest_stays(store: Store, sweep: Sweep) -> None:
    fields = {"name": "new", "notes": "two\nlines", "tags": {"né": "ja"}, "priority": 4}
    changed = store.sweeps.change(jobs.TENANT, sweep.spec.id, to(**fields))
    assert changed.settings == SweepSettings.model_validate(fields)
    assert changed.revision == sweep.revision + 1
    same = {"settings": sweep.settings, "revision": sweep.revision, "seconds": sweep.seconds}
    assert changed.model_copy(update=same) == sweep
    assert sweeps.look(store, sweep.spec.id) == changed
    assert store.sweeps.list(jobs.TENANT).items[0].settings == changed.settings
    again = store.sweeps.change(jobs.TENANT, sweep.spec.id, to(**fields))
    assert again == changed, "no change is no revision"
    with pytest.raises(SweepNotFoundError):
        store.sweeps.change("other", sweep.spec.id, to(name="yours"))
    assert sweeps.look(store, sweep.spec.id) == changed


def test_records_without_notes(store: Store, sweep: Sweep) -> None:
    text = sweep.settings.model_dump_json(exclude={"notes"})
    store.client.hset(f"literati:sweep:{sweep.spec.id}", "settings", text)
    assert sweeps.look(store, sweep.spec.id) == sweep
    assert store.sweeps.change(jobs.TENANT, sweep.spec.id, to(notes="n")).settings.notes == "n"


@pytest.mark.parametrize(("priority", "first"), [(-5, "single"), (5, "sweep")])
def test_a_priority_applies_to_the_jobs_that_wait(
    store: Store, sweep: Sweep, priority: int, first: str
) -> None:
    running = claimed(store, 1)[0]
    single = submit_single(store, sweep, 0)
    store.sweeps.change(jobs.TENANT, sweep.spec.id, to(priority=priority))
    found = claimed(store, 50)
    order = ["single" if job.spec.sweep is None else "sweep" for job in found]
    assert len(found) == 42, "also those that were not created before the change"
    assert order.index("single") == (0 if first == "single" else 41)
    assert {job.settings.priority for job in found if job.spec.id != single.spec.id} == {priority}
    assert [job.spec.sweep and (job.spec.sweep.setting, job.spec.sweep.fold) for job in found[1:3]] == (
        [(0, 1), (0, 2)] if first == "single" else [(0, 2), (1, 0)]
    ), "the order within the sweep stays"
    now = store.jobs.get(jobs.TENANT, running.spec.id)
    assert now is not None
    assert now.settings.priority == priority


def test_a_priority_applies_to_paused_jobs(store: Store, sweep: Sweep) -> None:
    store.sweeps.control(jobs.TENANT, sweep.spec.id, "pause")
    store.sweeps.change(jobs.TENANT, sweep.spec.id, to(priority=-1))
    submit_single(store, sweep, 0)
    store.sweeps.control(jobs.TENANT, sweep.spec.id, "resume")
    first, second = claimed(store, 2)
    assert (first.spec.sweep, second.settings.priority) == (None, -1)


def test_two_clients_at_once_lose_nothing(store: Store, sweep: Sweep) -> None:
    calls = 0

    def slowly(present: SweepSettings) -> SweepSettings:
        nonlocal calls
        calls += 1
        if calls == 1:
            store.sweeps.change(jobs.TENANT, sweep.spec.id, to(name="another's"))
        return present.model_copy(update={"tags": {"mine": "1"}})

    found = store.sweeps.change(jobs.TENANT, sweep.spec.id, slowly)
    assert (found.settings.name, found.settings.tags, calls) == ("another's", {"mine": "1"}, 2)


def test_a_change_may_depend_on_the_revision(store: Store, sweep: Sweep) -> None:
    sweep_id = sweep.spec.id
    changed = store.sweeps.change(jobs.TENANT, sweep_id, to(name="a"), revision=lambda n: n == sweep.revision)
    with pytest.raises(PreconditionFailedError):
        store.sweeps.change(jobs.TENANT, sweep_id, to(name="b"), revision=lambda n: n == sweep.revision)

    def late(present: SweepSettings) -> SweepSettings:
        store.sweeps.control(jobs.TENANT, sweep_id, "pause")  # between the look and the change
        return present.model_copy(update={"name": "c"})

    with pytest.raises(PreconditionFailedError):
        store.sweeps.change(jobs.TENANT, sweep_id, late, revision=lambda n: n == changed.revision)
    assert sweeps.look(store, sweep_id).settings.name == "a"
