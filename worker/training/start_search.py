"""How a job's search begins: where it was left, where its parent was left, with a known tree, or anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

from literati import Search, SearchLimits, ShapeTree
from literati.errors import CheckpointError, LiteratiError

from .blobs import BlobGoneError, Blobs
from .messages import Job, Limits
from .problem import Problem
from .saved import SavedSearch, Spent
from .store import Claim, Store

LEAST_SECONDS = 0.001  # a limit that is used up still lets the search say what it has


@dataclass(frozen=True)
class Opened:
    search: Search
    spent: Spent  # to be taken off what the search reports
    notes: tuple[str, ...] = ()


def open_search(claim: Claim, problem: Problem, limits: Limits, store: Store, blobs: Blobs) -> Opened:
    """Open the search of a claimed job under these limits, which may be stricter than those of its record."""
    job = claim.job
    if claim.blob is not None:
        try:
            saved = SavedSearch.from_bytes(blobs.get(claim.blob))
            return _go_on(problem, limits, saved, _own_account(job, saved))
        except (BlobGoneError, CheckpointError) as error:
            why = f"the checkpoint cannot be used ({_words(error)}); starting again"
            return _anew(job, problem, limits, store, why)
    if job.progress.incumbents:
        return _anew(job, problem, limits, store, "no checkpoint yet; starting again")
    if job.spec.parent_job_id is not None:
        return _after_parent(job, job.spec.parent_job_id, problem, limits, store, blobs)
    return Opened(problem.search(search_limits(limits, Spent())), Spent())


def _own_account(job: Job, saved: SavedSearch) -> Spent:
    """Seconds since the checkpoint were searched in vain, but they were searched: the job counts them."""
    in_vain = job.progress.elapsed_seconds - (saved.total().seconds - saved.spent.seconds)
    return replace(saved.spent, seconds=saved.spent.seconds - max(0.0, in_vain))


def _go_on(problem: Problem, limits: Limits, saved: SavedSearch, spent: Spent) -> Opened:
    search = problem.resume(saved.checkpoint, search_limits(limits, spent))
    return Opened(search, spent, ("going on from a checkpoint",))


def _anew(job: Job, problem: Problem, limits: Limits, store: Store, why: str) -> Opened:
    spent = Spent(-job.progress.elapsed_seconds)
    search = problem.search(search_limits(limits, spent))
    known = store.jobs.incumbent(job.spec.tenant, job.spec.id)
    if known is not None:
        search.adopt(ShapeTree.from_dict(known.tree))
    return Opened(search, spent, (why,))


def _after_parent(
    job: Job, parent_id: str, problem: Problem, limits: Limits, store: Store, blobs: Blobs
) -> Opened:
    """The parent's search itself if it is the same problem, so that its bounds hold; else only its tree."""
    parent = store.jobs.get(job.spec.tenant, parent_id)
    known = store.jobs.incumbent(job.spec.tenant, parent_id)
    if parent is not None and parent.blob is not None and parent.spec.parameters == job.spec.parameters:
        try:
            saved = SavedSearch.from_bytes(blobs.get(parent.blob))
            opened = _go_on(problem, limits, saved, saved.total())
            return replace(opened, notes=("going on from the parent job's search, with its bounds",))
        except (BlobGoneError, CheckpointError):
            pass  # other data, or gone: the tree will do
    search = problem.search(search_limits(limits, Spent()))
    if known is None:
        return Opened(search, Spent(), ("the parent job is gone; starting without its tree",))
    try:
        better = search.adopt(ShapeTree.from_dict(known.tree))
    except (ValueError, LiteratiError) as error:
        return Opened(search, Spent(), (f"the parent's tree does not fit this data: {_words(error)}",))
    said = (
        "starting with the parent's tree" if better else "the parent's tree is no better than the first one"
    )
    return Opened(search, Spent(), (said,))


def search_limits(limits: Limits, spent: Spent) -> SearchLimits:
    """The job's limits in the search's own count."""
    seconds, expansions = limits.time_limit, limits.max_expansions
    return SearchLimits(
        time_limit=None if seconds is None else max(LEAST_SECONDS, seconds + spent.seconds),
        max_expansions=None if expansions is None else expansions + spent.expansions,
        memory_limit=limits.memory_limit,
        gap=limits.gap,
        gap_absolute=limits.gap_absolute,
        patience=limits.patience,
    )


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "it is gone"
