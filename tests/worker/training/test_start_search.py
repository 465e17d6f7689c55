"""Searches that were saved by a version with another format begin again from their tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from literati import Search, SearchLimits
from literati.search import checkpoint
from tests.support.records import jobs
from tests.support.records.store_records import look, progress_update
from worker.blobs.local import Blobs
from worker.domain.jobs import Job
from worker.domain.parameters import Limits
from worker.domain.progress import NewIncumbent
from worker.store import Store
from worker.store.leases import WorkerCores
from worker.training import tables
from worker.training.search_snapshot import Effort, SearchSnapshot
from worker.training.start_search import start_search
from worker.training.training_task import TrainingTask

LOWER, EXPANSIONS = 1.0, 20


def _with_header(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    def changed(state: bytes) -> bytes:
        header, payload = checkpoint.unpack(state)
        change(header)
        return checkpoint.pack(header, payload)

    return changed


def _newer_checkpoint(state: bytes) -> bytes:
    header, payload = checkpoint.unpack(state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoint, "VERSION", checkpoint.VERSION + 1)
        return checkpoint.pack(header, payload)


def _newer_engine(state: bytes) -> bytes:
    header, payload = checkpoint.unpack(state)
    number = int.from_bytes(payload[4:8], "little") + 1
    return checkpoint.pack(header, payload[:4] + number.to_bytes(4, "little") + payload[8:])


NEWER: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "checkpoint": (_newer_checkpoint, "reads checkpoints of version 1, this one has 2"),
    "field": (_with_header(lambda header: header.update(reserve=1)), "wrote the field 'reserve'"),
    "option": (_with_header(lambda header: header["options"].update(breadth=2)), "breadth: this version"),
    "tree": (_with_header(lambda header: header["tree"].update(format_version=99)), "header cannot be read"),
    "engine": (_newer_engine, "the checkpoint has version 2; this is version 1"),
}


class SavedJob:
    """A claimed job with a tree, bounds and a search in the blobs."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.blobs = store, Blobs(folder)
        self.dataset = jobs.add_dataset(store, self.blobs, jobs.noise(rows=200, columns=3))
        self.rows = tables.load(self.blobs.path(self.dataset.blob), self.dataset)
        self.search = Search(
            self.rows.X, self.rows.y, max_depth=4, limits=SearchLimits(max_expansions=EXPANSIONS)
        )
        self.search.run()
        store.jobs.submit(jobs.spec(self.dataset, {"max_depth": 4}))
        claimed = store.jobs.claim("a worker", WorkerCores("a worker", 1, 1))
        assert claimed is not None
        self.job = claimed

    def save(self, state: bytes, tree: dict[str, Any] | None = None) -> Job:
        """Publish bounds, a tree and a search, as the worker before did."""
        report = self.search.report()
        snapshot = SearchSnapshot(self.job.spec.id, Effort(), state).to_bytes()
        found = NewIncumbent(
            objective=report.objective,
            tree=tree or self.search.incumbent().to_dict(),
            metrics={"accuracy": 0.5},
            found_seconds=0.1,
        )
        update = progress_update(report.upper_bound, LOWER, expansions=EXPANSIONS).model_copy(
            update={"incumbent": found, "snapshot": self.blobs.put(snapshot)}
        )
        self.store.jobs.publish_progress(self.job.spec.id, self.job.epoch, update)
        return look(self.store, self.job.spec.id, jobs.TENANT)

    def start(self, job: Job) -> tuple[Search, str]:
        task = TrainingTask(job.spec, self.rows, None)
        started = start_search(job, task, Limits(), self.store, self.blobs)
        (note,) = started.notes
        return started.search, note


@pytest.fixture
def saved(store: Store, tmp_path: Path) -> SavedJob:
    return SavedJob(store, tmp_path)


def test_a_search_of_this_version_goes_on(saved: SavedJob) -> None:
    search, note = saved.start(saved.save(saved.search.checkpoint()))
    assert note == "resuming the saved search"
    assert search.report().expansions == EXPANSIONS


@pytest.mark.parametrize("part", NEWER)
def test_a_search_of_a_newer_version_begins_again_from_its_tree(saved: SavedJob, part: str) -> None:
    change, reason = NEWER[part]
    job = saved.save(change(saved.search.checkpoint()))
    search, note = saved.start(job)
    assert note.startswith("the saved search cannot be used (blob: ")
    assert note.endswith("; starting again")
    assert reason in note
    report = search.report()
    assert report.expansions == 0
    assert report.objective == job.progress.objective

    # The bounds that were published stay, although the new search has to prove them again.
    saved.store.jobs.publish_progress(
        job.spec.id, job.epoch, progress_update(report.upper_bound, report.lower_bound)
    )
    after = look(saved.store, job.spec.id, jobs.TENANT).progress
    assert (after.lower_bound, after.upper_bound) == (LOWER, job.progress.upper_bound)


def test_a_tree_of_a_newer_version_stays_that_of_the_job(saved: SavedJob) -> None:
    tree = saved.search.incumbent().to_dict() | {"format_version": 99}
    job = saved.save(b"not a search", tree)
    search, note = saved.start(job)
    assert "starting again; the tree cannot be used either" in note
    assert search.report().expansions == 0
    assert look(saved.store, job.spec.id, jobs.TENANT).progress.objective == job.progress.objective
