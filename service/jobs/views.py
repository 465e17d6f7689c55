"""Convert stored jobs and trees to the API's schemas."""

from __future__ import annotations

from typing import Any

from literati.search.report import relative_gap
from literati.tree.model_json import with_bounds
from literati.tree.nodes import is_beyond_space
from service.jobs import schemas
from worker.domain import jobs as domain
from worker.domain.jobs import JobState

MAX_MESSAGE_LENGTH = 300  # of an error in a list
# The control requests that are possible in each state. The store checks them again.
_VERBS: dict[JobState, tuple[schemas.Verb, ...]] = {
    JobState.QUEUED: ("cancel", "pause"),
    JobState.STARTING: ("finish", "cancel", "pause"),
    JobState.RUNNING: ("finish", "cancel", "pause"),
    JobState.PAUSING: ("finish", "cancel"),
    JobState.PAUSED: ("resume", "cancel"),
}
_JOB_FIELDS = (
    *("state", "stop_reason", "revision", "progress", "proven_optimal", "model_id", "model_revision"),
    *("created_at", "queued_at", "started_at", "first_incumbent_at", "finished_at"),
)


def job_view(job: domain.Job) -> schemas.Job:
    spec = job.spec
    return schemas.Job.model_construct(
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


def job_summary(job: domain.JobSummary) -> schemas.JobSummary:
    """Return the job for a list; the size of the summary does not depend on the data."""
    error = job.error
    if error is not None and len(error.message) > MAX_MESSAGE_LENGTH:
        error = error.model_copy(update={"message": f"{error.message[:MAX_MESSAGE_LENGTH]}…"})
    return schemas.JobSummary.model_construct(**_shared(job), metrics=job.scores, error=error)


def _shared(job: domain.JobSummary) -> dict[str, Any]:
    spec, settings = job.spec, job.settings
    return {
        **{name: getattr(job, name) for name in _JOB_FIELDS},
        **{name: getattr(settings, name) for name in ("name", "tags", "priority")},
        **{name: getattr(spec, name) for name in ("id", "dataset_id", "parent_job_id")},
        "proven_space": spec.parameters.candidates,
        "links": _links(job),
    }


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
    verbs = _VERBS.get(job.state, ())
    if job.progress.incumbents and job.state in (JobState.QUEUED, JobState.PAUSED):
        verbs = ("finish", *verbs)
    return links | {verb: f"{here}/{verb}" for verb in verbs}


def frozen_incumbent(found: domain.Incumbent) -> schemas.Incumbent:
    """Return a tree with the bounds of the time when it was found, which never changes."""
    proof = found.tree["proof"]
    proven = bool(proof["proven_optimal"])
    tree = with_bounds(found.tree, proof["upper_bound"], proof["lower_bound"], proven)
    return _incumbent(found, tree, found.upper_bound, found.lower_bound, proven=proven)


def current_incumbent(found: domain.Incumbent, job: domain.Job) -> schemas.Incumbent:
    """Return the best tree with the current bounds, which are also in the tree's proof and root."""
    upper, lower = job.progress.upper_bound, job.progress.lower_bound
    assert upper is not None
    assert lower is not None
    proven = job.proven_optimal
    return _incumbent(found, with_bounds(found.tree, upper, lower, proven), upper, lower, proven=proven)


def _incumbent(
    found: domain.Incumbent, tree: dict[str, Any], upper: float, lower: float, *, proven: bool
) -> schemas.Incumbent:
    return schemas.Incumbent.model_construct(
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
