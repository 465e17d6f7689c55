"""Trees over columns of every kind, and models of them in a store, made as a worker does."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from literati import LiteratiClassifier, ShapeTree
from literati.errors import DataWarning
from tests.support.records import jobs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import Job, JobState, Outcome, StopReason
from worker.domain.progress import NewIncumbent, ProgressUpdate

COLOURS = ("red", "green", "blue", "night, sky", 'so "called"', "élan")
ZONES = (1, 2, 3, 20)


def training_table(rows: int = 400, seed: int = 3) -> Any:
    """Return missing and whole numbers, texts, booleans, numeric categories and a constant column."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=rows).round(2)
    size[rng.random(rows) < 0.1] = np.nan
    colour = rng.choice([*COLOURS, ""], rows)
    return pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "age": pa.array(rng.integers(0, 90, rows)),
            "colour": pa.array([word or None for word in colour]).dictionary_encode(),
            "member": pa.array(rng.random(rows) < 0.4),
            "zone": pa.array(rng.choice(ZONES, rows)).dictionary_encode(),
            "planet": pa.array(["earth"] * rows),
        }
    )


def _labels(table: Any) -> Any:
    """Return labels that depend on every column but the constant one."""
    size = np.nan_to_num(table["size"].to_numpy(), nan=0.9)
    age = table["age"].to_numpy()
    member = table["member"].to_numpy(zero_copy_only=False)
    colour = np.array([word in ("red", "night, sky") for word in table["colour"].to_pylist()])
    zone = np.array(table["zone"].to_pylist()) == 3
    return np.where(member, (np.abs(size) < 0.8) ^ colour, (age > 40) ^ zone).astype(int)


@cache
def mixed_tree(labels: tuple[Any, ...] = ("no", "yes"), depth: int = 4) -> ShapeTree:
    """Return a tree with these labels as its classes."""
    table = training_table()
    spelt = np.empty(len(labels), dtype=object)
    spelt[:] = labels
    y = np.asarray(spelt[_labels(table) % len(labels)].tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        classifier = LiteratiClassifier(max_depth=depth, candidates="quantile", max_expansions=200)
        return classifier.fit(table, y).tree_


def add_job(stack: Stack, tree: ShapeTree, *, dataset: Dataset | None = None, **fields: Any) -> Job:
    """Add a job with these fields that has found this tree and is still running."""
    dataset = dataset or jobs.add_dataset(stack.store, stack.blobs, jobs.easy())
    submitted = stack.store.jobs.submit(jobs.spec(dataset, name="made", **fields))
    claim = stack.store.jobs.claim("maker")
    assert claim is not None
    assert claim.spec.id == submitted.job.spec.id
    stack.store.jobs.publish_progress(claim.spec.id, claim.epoch, _found(tree))
    return job_of(stack, claim.spec.id)


def finish(stack: Stack, job: Job, tree: ShapeTree | None = None) -> str:
    """End the job, and return the id of its model."""
    outcome = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.TIME_LIMIT)
    stack.store.jobs.finish(job.spec.id, job.epoch, outcome, None if tree is None else _found(tree))
    model_id = job_of(stack, job.spec.id).model_id
    assert model_id is not None
    return model_id


def add_model(stack: Stack, tree: ShapeTree) -> str:
    return finish(stack, add_job(stack, tree))


def job_of(stack: Stack, job_id: str) -> Job:
    job = stack.store.jobs.get(jobs.TENANT, job_id)
    assert job is not None
    return job


def _found(tree: ShapeTree) -> ProgressUpdate:
    return ProgressUpdate(
        upper_bound=tree.proof.upper_bound,
        lower_bound=tree.proof.lower_bound,
        expansions=10,
        states_live=1,
        elapsed_seconds=0.1,
        memory_bytes=1024,
        incumbent=NewIncumbent(
            objective=tree.objective, tree=tree.to_dict(), metrics={"train_accuracy": 0.9}
        ),
    )
