"""Steering a job: finish, cancel, pause, resume."""

from __future__ import annotations

from fastapi import APIRouter, Response

from service.conditional import json_answer, weak_tag
from service.dependencies import CallerDep, StoreDep
from service.job_views import job_view
from service.schemas import examples
from service.schemas.jobs import Job, Verb
from service.schemas.problem import problems
from service.schemas.requests import JobId
from worker.store import Store

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_RESPONSES = {
    200: {"model": Job, **examples.answer("It was asked for before; the job.", examples.JOB)},
    202: examples.answer("It will be done, or is done already; the job.", examples.JOB),
    **problems(404, 409),
}


def _control(store: Store, tenant: str, job_id: str, verb: Verb) -> Response:
    done = store.jobs.control(tenant, job_id, verb)
    headers = {"ETag": weak_tag(done.job.revision), "Location": f"/v1/jobs/{job_id}"}
    return json_answer(job_view(done.job), status=200 if done.repeated else 202, headers=headers)


@router.post(
    "/{job_id}/finish",
    operation_id="finish_job",
    summary="Stop, and keep the best tree as a model",
    status_code=202,
    response_model=Job,
    responses=_RESPONSES,
)
def finish_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """The search ends as soon as it has a tree, and the job succeeds with the reason `USER_FINISH`."""
    return _control(store, caller.tenant, job_id, "finish")


@router.post(
    "/{job_id}/cancel",
    operation_id="cancel_job",
    summary="Stop, and make no model",
    status_code=202,
    response_model=Job,
    responses=_RESPONSES,
)
def cancel_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """The trees found so far can still be looked at, but the job makes no model."""
    return _control(store, caller.tenant, job_id, "cancel")


@router.post(
    "/{job_id}/pause",
    operation_id="pause_job",
    summary="Stop for now",
    status_code=202,
    response_model=Job,
    responses=_RESPONSES,
)
def pause_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """The search is put on disk and gives its worker back. Resume it whenever you like."""
    return _control(store, caller.tenant, job_id, "pause")


@router.post(
    "/{job_id}/resume",
    operation_id="resume_job",
    summary="Go on after a pause",
    status_code=202,
    response_model=Job,
    responses=_RESPONSES,
)
def resume_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """The job is queued again and goes on from where it was."""
    from worker.app import wake  # imports Celery: not needed to describe the API

    answer = _control(store, caller.tenant, job_id, "resume")
    wake()
    return answer
