"""Start the search of a claimed job: from its snapshot, from its parent job, with a known tree, or anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

from literati import Search, SearchLimits, ShapeTree
from literati.errors import CheckpointError, LiteratiError
from worker.blobs.local import BlobNotFoundError, Blobs
from worker.domain.errors import ArchiveMissingError
from worker.domain.jobs import Job
from worker.domain.parameters import Limits
from worker.store import Store
from worker.training.search_snapshot import Effort, SearchSnapshot
from worker.training.training_task import TrainingTask

MIN_SECONDS = 0.001  # with its time used up, a search still reports the tree that it has


@dataclass(frozen=True)
class StartedSearch:
    search: Search
    offset: Effort  # subtracted from the effort that the search reports
    notes: tuple[str, ...] = ()  # messages for the job's event stream


def start_search(job: Job, task: TrainingTask, limits: Limits, store: Store, blobs: Blobs) -> StartedSearch:
    """Start the search of a job under these limits, which may be stricter than those of its record."""
    if job.snapshot is not None:
        try:
            snapshot = SearchSnapshot.from_bytes(blobs.get(job.snapshot))
            return _resume(task, limits, snapshot, _own_offset(job, snapshot), "resuming the saved search")
        except (BlobNotFoundError, CheckpointError) as error:
            note = f"the saved search cannot be used ({_describe(error)}); starting again"
            return _restart(job, task, limits, store, note)
    if job.progress.incumbents:
        return _restart(job, task, limits, store, "the search was not saved; starting again")
    if job.spec.parent_job_id is not None:
        return _continue_parent(job, job.spec.parent_job_id, task, limits, store, blobs)
    return StartedSearch(task.search(search_limits(limits, Effort())), Effort())


def _own_offset(job: Job, snapshot: SearchSnapshot) -> Effort:
    """Count the seconds searched after the snapshot: their result is lost, but the job has used them."""
    lost = job.progress.elapsed_seconds - (snapshot.total().seconds - snapshot.offset.seconds)
    return replace(snapshot.offset, seconds=snapshot.offset.seconds - max(0.0, lost))


def _resume(
    task: TrainingTask, limits: Limits, snapshot: SearchSnapshot, offset: Effort, note: str
) -> StartedSearch:
    search = task.search(search_limits(limits, offset), snapshot.engine_state)
    return StartedSearch(search, offset, (note,))


def _restart(job: Job, task: TrainingTask, limits: Limits, store: Store, note: str) -> StartedSearch:
    offset = Effort(-job.progress.elapsed_seconds)
    search = task.search(search_limits(limits, offset))
    known = store.jobs.incumbent(job.spec.tenant, job.spec.id)
    if known is None:
        return StartedSearch(search, offset, (note,))
    try:
        search.adopt(ShapeTree.from_dict(known.tree))
    except (ValueError, LiteratiError) as error:  # of a newer version; it stays the tree of the job
        note = f"{note}; the tree cannot be used either ({_describe(error)})"
    return StartedSearch(search, offset, (note,))


def _continue_parent(
    job: Job, parent_id: str, task: TrainingTask, limits: Limits, store: Store, blobs: Blobs
) -> StartedSearch:
    """Resume the parent's search if the parameters are the same, or else start with its tree."""
    try:
        parent = store.jobs.get(job.spec.tenant, parent_id)
        known = store.jobs.incumbent(job.spec.tenant, parent_id)
    except ArchiveMissingError:
        note = "the parent job's tree is lost, because its blob is missing; starting without it"
        return StartedSearch(task.search(search_limits(limits, Effort())), Effort(), (note,))
    if parent is not None and parent.snapshot is not None and _have_same_search(parent, job):
        try:
            snapshot = SearchSnapshot.from_bytes(blobs.get(parent.snapshot))
            note = "resuming the parent job's search, with its bounds"
            return _resume(task, limits, snapshot, snapshot.total(), note)
        except (BlobNotFoundError, CheckpointError):
            pass  # the data is different, or the snapshot was deleted: use the tree
    search = task.search(search_limits(limits, Effort()))
    if known is None:
        note = "the parent job was deleted; starting without its tree"
    else:
        try:
            better = search.adopt(ShapeTree.from_dict(known.tree))
            note = "starting with the parent's tree" if better else "the parent's tree is not better"
        except (ValueError, LiteratiError) as error:
            note = f"the parent's tree does not fit this data: {_describe(error)}"
    return StartedSearch(search, Effort(), (note,))


def _have_same_search(parent: Job, job: Job) -> bool:
    """Return whether the parameters are the same. The number of threads changes nothing but the speed."""
    threads = {"n_threads": job.spec.parameters.n_threads}
    return parent.spec.parameters.model_copy(update=threads) == job.spec.parameters


def search_limits(limits: Limits, offset: Effort) -> SearchLimits:
    """Return the job's limits for a search whose effort has this offset."""
    seconds, expansions = limits.time_limit, limits.max_expansions
    changed = {
        "time_limit": None if seconds is None else max(MIN_SECONDS, seconds + offset.seconds),
        "max_expansions": None if expansions is None else expansions + offset.expansions,
    }
    return SearchLimits(**{**limits.model_dump(), **changed})


def _describe(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "it was deleted"
