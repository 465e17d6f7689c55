"""Test that what a search reports about its stages and its explored share reaches the store."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from literati import Search, SearchReport
from tests.support.records import jobs, store_records
from worker.blobs.local import Blobs
from worker.domain.jobs import Job, StopReason
from worker.store import Store
from worker.training import search_thread
from worker.training.runner import JobRun


def run(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, **said: Any) -> Job:
    """Run a job of a fraction of a second, whose search reports what the test says."""
    original = Search.report

    def report(search: Search) -> SearchReport:
        found = original(search)
        lower = found.upper_bound if said.get("explored") == 1.0 else found.lower_bound
        return replace(found, **{"lower_bound": lower, **said})

    monkeypatch.setattr(Search, "report", report)
    blobs = Blobs(folder / "blobs")
    dataset = jobs.add_dataset(store, blobs, jobs.noise())
    store.jobs.submit(jobs.spec(dataset, {"max_depth": 5}, limits={"time_limit": 0.3}))
    claim = store.jobs.claim("here")
    assert claim is not None
    JobRun(store, blobs, claim, 30.0, lambda: False, 1 << 30).run()
    return store_records.look(store, claim.spec.id, jobs.TENANT)


def test_everything_that_is_reported_is_stored(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[str, Any] = {"explored": 0.5, "seconds_left": 12.5, "stage": 2, "space": "shape 17"}
    job = run(store, tmp_path, monkeypatch, **said, proven_space="adaptive 17")
    progress = job.progress
    assert {name: getattr(progress, name) for name in said} == said
    assert job.proven_space == "adaptive 17"
    found = store.jobs.incumbent(jobs.TENANT, job.spec.id)
    assert found is not None
    assert {name: getattr(found, name) for name in said} == said
    point = store.jobs.trace(jobs.TENANT, job.spec.id)[-1]
    assert (point.explored, point.stage) == (0.5, 2)


def test_a_search_that_names_no_space(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = run(store, tmp_path, monkeypatch, space="", proven_space="")
    assert (job.progress.space, job.proven_space) == ("adaptive", "adaptive")


@pytest.mark.parametrize(
    ("widening", "reason"), [(True, StopReason.TIME_LIMIT), (False, StopReason.PROVEN_OPTIMAL)]
)
def test_equal_bounds_of_a_stage_are_a_proof_only_of_the_stage(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, widening: bool, reason: StopReason
) -> None:
    """The search stands between two stages when its time is over."""
    if widening:
        monkeypatch.setattr(search_thread, "WIDENING", "adaptive")
    job = run(store, tmp_path, monkeypatch, explored=1.0, proven_space="adaptive 17")
    assert (job.stop_reason, job.proven_optimal) == (reason, not widening)
    assert (job.progress.explored, job.proven_space) == (1.0, "adaptive 17")


def test_what_was_proven_before_a_resume_stays_proven(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker was lost after a proof and before the next snapshot."""
    monkeypatch.setattr(search_thread, "WIDENING", "adaptive")
    original = JobRun.__init__

    def proven_before(run: JobRun, store: Store, blobs: Blobs, job: Job, *more: Any) -> None:
        original(run, store, blobs, job.model_copy(update={"proven_space": "shape 17"}), *more)

    monkeypatch.setattr(JobRun, "__init__", proven_before)
    assert run(store, tmp_path, monkeypatch, proven_space="adaptive 17").proven_space == "shape 17"
