"""Sweeps for tests: submit one to the store, and run its jobs in this process."""

from __future__ import annotations

from typing import Any

import literati
from tests.support.records import jobs
from worker.blobs.local import Blobs
from worker.domain.base import new_id
from worker.domain.datasets import Dataset
from worker.domain.jobs import Job
from worker.domain.sweeps import Sweep, SweepSettings, SweepSpec
from worker.store import Store
from worker.sweeps.advance import advance
from worker.sweeps.jobs import trial_jobs
from worker.sweeps.plan import settings_to_try, with_defaults
from worker.training.runner import JobRun

MEMORY = 1 << 30


def spec(dataset: Dataset, **fields: Any) -> SweepSpec:
    """Return a sweep over depths 1 and 2 on three folds, unless the fields say something else."""
    given: dict[str, Any] = {
        "space": {"max_depth": [1, 2], "max_changepoints": [1]},
        "validation": {"folds": 3},
        "trial_limits": {"time_limit": None, "max_expansions": 2000},
        **fields,
    }
    folds = given["validation"]
    made = SweepSpec.model_validate(
        {
            "id": new_id("swp"),
            "tenant": jobs.TENANT,
            "dataset_id": dataset.id,
            "dataset_sha256": dataset.sha256,
            "n_folds": given.pop("n_folds", None) or folds.get("folds", 5) * folds.get("repeats", 1),
            "engine_version": literati.__version__,
            **given,
        }
    )
    return made.model_copy(update={"space": with_defaults(made.space, made.fixed)})


def submit(store: Store, sweep: SweepSpec, **options: Any) -> Sweep:
    settings = SweepSettings(**options.pop("settings", {}))
    units = settings_to_try(sweep)
    made = trial_jobs(sweep, settings, units)
    return store.sweeps.submit(sweep, settings, units, made, **options).sweep


def look(store: Store, sweep_id: str) -> Sweep:
    found = store.sweeps.get(jobs.TENANT, sweep_id)
    assert found is not None
    return found


def run_next(store: Store, blobs: Blobs) -> Job | None:
    """Claim the next job and run it to its end, as a worker does; None if nothing is queued."""
    job = store.jobs.claim("test worker")
    if job is not None:
        JobRun(store, blobs, job, 30.0, lambda: False, MEMORY).run()
        if job.spec.sweep is not None:
            advance(store, job.spec.sweep.sweep_id)
    return job


def run_all(store: Store, blobs: Blobs) -> int:
    """Run jobs until nothing is queued; return how many."""
    count = 0
    while run_next(store, blobs) is not None:
        count += 1
    return count
