"""Records for tests of the store alone, without data or searches behind them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from worker.domain.base import new_id
from worker.domain.datasets import ClassInfo, ColumnInfo, Dataset
from worker.domain.jobs import Job, JobState, NewJob, Outcome, StopReason
from worker.domain.progress import NewIncumbent, ProgressUpdate, TracePoint
from worker.store import Store

TENANT = "default"
SUCCESS = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.TIME_LIMIT)
PAUSED = Outcome(state=JobState.PAUSED)
CANCELLED = Outcome(state=JobState.CANCELLED, stop_reason=StopReason.USER_CANCEL)


def dataset(tenant: str = TENANT, blob: str = "a" * 64, **fields: Any) -> Dataset:
    return Dataset(
        id=new_id("ds"),
        tenant=tenant,
        sha256="b" * 64,
        blob=blob,
        bytes=10,
        rows=2,
        target="y",
        columns=[
            ColumnInfo(name="x", type="number", role="feature", missing=0, minimum=0.1, maximum=2.5),
            ColumnInfo(name="y", type="category", role="target", missing=0, categories=["ja", "né"]),
        ],
        classes=[ClassInfo(label="ja", count=1), ClassInfo(label="né", count=1)],
        created_at=datetime.now(UTC),
        **fields,
    )


def add_dataset(store: Store, tenant: str = TENANT, **fields: Any) -> Dataset:
    added = dataset(tenant, **fields)
    return store.datasets.add(added, content_key=added.id)


def spec(of: Dataset, **fields: Any) -> NewJob:
    return NewJob(
        id=new_id("job"),
        tenant=of.tenant,
        dataset_id=of.id,
        dataset_sha256=of.sha256,
        engine_version="0",
        **fields,
    )


def submit(store: Store, of: Dataset | None = None, *, request_id: str | None = None, **fields: Any) -> Job:
    return store.jobs.submit(spec(of or add_dataset(store), **fields), request_id=request_id).job


def start(store: Store, **fields: Any) -> Job:
    """Return a claimed job."""
    submit(store, **fields)
    claim = store.jobs.claim("worker")
    assert claim is not None
    return claim


def run(store: Store, **fields: Any) -> Job:
    """Return a claimed job that has its first tree."""
    claim = start(store, **fields)
    store.jobs.publish_progress(claim.spec.id, claim.epoch, progress_update(objective=10.0))
    return claim


def state_of(store: Store, job_id: str) -> JobState:
    return look(store, job_id).state


def look(store: Store, job_id: str, tenant: str = TENANT) -> Job:
    job = store.jobs.get(tenant, job_id)
    assert job is not None
    return job


def progress_update(
    upper: float = 10.0,
    lower: float = 0.0,
    objective: float | None = None,
    expansions: int = 1,
    seconds: float = 0.5,
    **fields: Any,
) -> ProgressUpdate:
    """Every one has its point of the trace; with an objective it has a tree."""
    found = None
    if objective is not None:
        found = NewIncumbent(
            objective=objective,
            tree=tree(objective),
            metrics={"accuracy": objective / 100},
            found_seconds=seconds,
        )
    return ProgressUpdate(
        upper_bound=upper,
        lower_bound=lower,
        expansions=expansions,
        states_live=expansions + 1,
        elapsed_seconds=seconds,
        memory_bytes=1000,
        trace=[TracePoint(seconds=seconds, expansions=expansions, upper=upper, lower=lower)],
        incumbent=found,
        **fields,
    )


def tree(objective: float) -> dict[str, Any]:
    """Return the part of a JSON model that the store reads."""
    return {
        "proof": {"objective": objective, "upper_bound": 1e9, "lower_bound": 0.0, "proven_optimal": False},
        "nodes": [{"cost": objective, "bound": 0.0, "proven": False}],
        "summary": {"feature_importances": []},
        "classes": {"labels": ["ja", "né"]},
    }


def wait_until(done: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not come to be in time"
        time.sleep(0.01)


def expire(store: Store, job_id: str) -> None:
    """Set the lease to a time in the past, for tests with too many leases to wait for."""
    store.client.hset(f"literati:job:{job_id}", "lease_until", 1)
    store.client.zadd("literati:leases", {job_id: 1})
