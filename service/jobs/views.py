"""Stored jobs and trees as clients see them."""

from __future__ import annotations

from typing import Any

from literati.model_json import with_bounds
from literati.nodes import is_beyond_space
from literati.report import relative_gap
from service.schemas import jobs as wire
from worker import messages
from worker.messages import JobState

LONGEST_MESSAGE = 300  # letters of an error in a list
# What may be asked in a state where a worker has the job, and where none has; the store has the last word.
_VERBS: dict[JobState, tuple[wire.Verb, ...]] = {
    JobState.QUEUED: ("cancel", "pause"),
    JobState.STARTING: ("finish", "cancel", "pause"),
    JobState.RUNNING: ("finish", "cancel", "pause"),
    JobState.PAUSING: ("finish", "cancel"),
    JobState.PAUSED: ("resume", "cancel"),
}


def job_view(job: messages.Job) -> wire.Job:
    spec = job.spec
    return wire.Job.model_construct(
        **_shared(job),
        parameters=spec.parameters,
        limits=job.settings.limits,
        validation=spec.validation,
        dataset_sha256=spec.dataset_sha256,
        engine_version=spec.engine_version,
        metrics=job.metrics,
        error=job.error,
        heartbeat_at=job.heartbeat_at,
        transitions=job.transitions,
    )


def job_summary(job: messages.JobSummary) -> wire.JobSummary:
    """What a list shows of a job; its size does not grow with the data."""
    error = job.error
    if error is not None and len(error.message) > LONGEST_MESSAGE:
        error = error.model_copy(update={"message": f"{error.message[:LONGEST_MESSAGE]}…"})
    return wire.JobSummary.model_construct(**_shared(job), metrics=job.scores, error=error)


def _shared(job: messages.JobSummary) -> dict[str, Any]:
    spec, settings = job.spec, job.settings
    return {
        "id": spec.id,
        "state": job.state,
        "stop_reason": job.stop_reason,
        "revision": job.revision,
        "name": settings.name,
        "tags": settings.tags,
        "priority": settings.priority,
        "progress": job.progress,
        "proven_optimal": job.proven_optimal,
        "proven_space": spec.parameters.candidates,
        "dataset_id": spec.dataset_id,
        "parent_job_id": spec.parent_job_id,
        "model_id": job.model_id,
        "model_revision": job.model_revision,
        "created_at": job.created_at,
        "queued_at": job.queued_at,
        "started_at": job.started_at,
        "first_incumbent_at": job.first_incumbent_at,
        "finished_at": job.finished_at,
        "links": _links(job),
    }


def _links(job: messages.JobSummary) -> dict[str, str]:
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
    verbs = _VERBS.get(job.state, ())
    if job.progress.incumbents and job.state in (JobState.QUEUED, JobState.PAUSED):
        verbs = ("finish", *verbs)
    return links | {verb: f"{here}/{verb}" for verb in verbs}


def frozen_incumbent(found: messages.Incumbent) -> wire.Incumbent:
    """A numbered tree with the bounds of the moment it was found; never changes."""
    proof = found.tree["proof"]
    proven = bool(proof["proven_optimal"])
    tree = with_bounds(found.tree, proof["upper_bound"], proof["lower_bound"], proven)
    return _incumbent(found, tree, found.upper_bound, found.lower_bound, proven=proven)


def current_incumbent(found: messages.Incumbent, job: messages.Job) -> wire.Incumbent:
    """The best tree with the bounds of now, in the tree's own proof and root too."""
    upper, lower = job.progress.upper_bound, job.progress.lower_bound
    assert upper is not None
    assert lower is not None
    proven = job.proven_optimal
    return _incumbent(found, with_bounds(found.tree, upper, lower, proven), upper, lower, proven=proven)


def _incumbent(
    found: messages.Incumbent, tree: dict[str, Any], upper: float, lower: float, *, proven: bool
) -> wire.Incumbent:
    return wire.Incumbent.model_construct(
        job_id=found.job_id,
        revision=found.revision,
        objective=found.objective,
        upper_bound=upper,
        lower_bound=lower,
        gap_absolute=upper - lower,
        gap_relative=relative_gap(upper, lower),
        beyond_space=is_beyond_space(found.objective, upper),
        proven_optimal=proven,
        proven_space=tree["proof"]["proven_space"],
        tree=tree,
        metrics=found.metrics,
        found_at=found.found_at,
        found_seconds=found.found_seconds,
    )
