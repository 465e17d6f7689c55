"""Convert stored jobs and trees to the API's schemas."""

from __future__ import annotations

from typing import Any

from literati.tree.model_json import with_bounds
from service.jobs import schemas
from service.schemas.fields import bounds
from worker.domain import jobs as domain
from worker.domain.jobs import JobState
from worker.store.jobs import ControlAction

MAX_MESSAGE_LENGTH = 300  # of an error in a list
# The actions that are possible in each state. The store checks them again.
_ACTIONS: dict[JobState, tuple[ControlAction, ...]] = {
    JobState.QUEUED: ("cancel", "pause"),
    JobState.STARTING: ("finish", "cancel", "pause"),
    JobState.RUNNING: ("finish", "cancel", "pause"),
    JobState.PAUSING: ("finish", "cancel"),
    JobState.PAUSED: ("resume", "cancel"),
}


def job_view(job: domain.Job) -> schemas.Job:
    return schemas.Job.model_construct(**_fields(job))


def job_summary(job: domain.JobSummary) -> schemas.JobSummary:
    """Return the job for a list. Its size depends on the request and the labels, but not on the data."""
    error = job.error
    if error is not None and len(error.message) > MAX_MESSAGE_LENGTH:
        error = error.model_copy(update={"message": f"{error.message[:MAX_MESSAGE_LENGTH]}…"})
    return schemas.JobSummary.model_construct(
        **_fields(job) | {"metrics": job.scores and job.scores.accuracies, "error": error}
    )


def _fields(job: domain.JobSummary) -> dict[str, Any]:
    """Return the fields of the record, with its parts, by name. A schema takes those that it has."""
    parts = {**dict(job.spec), **dict(job.settings), **dict(job)}
    sweep_id = None if job.spec.sweep is None else job.spec.sweep.sweep_id
    return parts | {"sweep_id": sweep_id, "links": _links(job)}


def _links(job: domain.JobSummary) -> dict[str, str]:
    here = f"/v1/jobs/{job.spec.id}"
    links = {
        "self": here,
        "incumbent": f"{here}/incumbent",
        "trace": f"{here}/trace",
        "events": f"{here}/events",
        "dataset": f"/v1/datasets/{job.spec.dataset_id}",
    }
    if job.progress.incumbents:
        links["predict"] = f"{here}/predict"
    if job.model_id is not None:
        links["model"] = f"/v1/models/{job.model_id}"
    if job.spec.parent_job_id is not None:
        links["parent"] = f"/v1/jobs/{job.spec.parent_job_id}"
    if job.spec.sweep is not None:  # which alone controls the job
        return links | {"sweep": f"/v1/sweeps/{job.spec.sweep.sweep_id}"}
    actions = _ACTIONS.get(job.state, ())
    if job.progress.incumbents and job.state in (JobState.QUEUED, JobState.PAUSED):
        actions = ("finish", *actions)
    return links | {action: f"{here}/{action}" for action in actions}


def frozen_incumbent(found: domain.Incumbent) -> schemas.Incumbent:
    """Return a tree with the bounds of the time when it was found, which never changes."""
    proof = found.tree["proof"]
    proven = bool(proof["proven_optimal"])
    tree = with_bounds(found.tree, proof["upper_bound"], proof["lower_bound"], proven)
    return _incumbent(found, tree, found.upper_bound, found.lower_bound, proven=proven)


def current_incumbent(found: domain.Incumbent, job: domain.Job) -> schemas.Incumbent:
    """Return the best tree with the current bounds, which are also in the tree's proof and root.

    If the search has gone on to a wider space, the proof in the tree keeps the bounds of its own space.
    """
    progress = job.progress
    upper, lower = progress.upper_bound, progress.lower_bound
    assert upper is not None
    assert lower is not None
    proven = job.proven_optimal
    same_space = found.tree_stage == progress.stage
    tree = with_bounds(found.tree, upper, lower, proven) if same_space else found.tree
    now = {name: getattr(progress, name) for name in ("explored", "seconds_left", "stage", "space")}
    now["proven_space"] = job.proven_space
    return _incumbent(found, tree, upper, lower, proven=proven, **now)


def _incumbent(
    found: domain.Incumbent, tree: dict[str, Any], upper: float, lower: float, *, proven: bool, **more: Any
) -> schemas.Incumbent:
    space = tree["proof"]["proven_space"]  # of the tree; version 0.1.0 stored no other
    fields = {
        **dict(found),
        "tree": tree,
        "space": found.space or space,
        "proven_optimal": proven,
        "proven_space": space if found.proven_space is None else found.proven_space,
        **bounds(found.objective, upper, lower),
    }
    return schemas.Incumbent.model_construct(**fields | more)
