"""Steering a job: change it, finish, cancel, pause, resume."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request, Response
from starlette.concurrency import run_in_threadpool

from service.conditional import expected_revision, json_answer, weak_tag
from service.dependencies import BlobsDep, CallerDep, SettingsDep, StoreDep
from service.job_changes import least_memory_of, patched
from service.job_views import job_view
from service.negotiation import MERGE_PATCH, strict_json
from service.schemas import examples
from service.schemas.jobs import FinishRequest, Job, JobPatch, Verb
from service.schemas.problem import problems
from service.schemas.requests import JobId, body_of
from worker.store import Controlled, Store

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_RESPONSES = {
    200: {"model": Job, **examples.answer("It was asked for before; the job.", examples.JOB)},
    202: examples.answer("It will be done, or is done already; the job.", examples.JOB),
    **problems(404, 409),
}


@router.patch(
    "/{job_id}",
    operation_id="update_job",
    summary="Change a job's name, tags, priority or limits",
    response_model=Job,
    openapi_extra=body_of(
        JobPatch,
        MERGE_PATCH,
        "application/json",
        more_time={"limits": {"time_limit": 3600}},
        labels={"name": "flowers, second try", "tags": {"team": None, "for": "the paper"}},
    ),
    responses={
        200: examples.answer(
            "The job as it is now.", examples.JOB, headers={"ETag": examples.header("Of this state of it.")}
        ),
        **problems(404, 409, 412, 415, 422, s409="The job has ended: its limits are past changing."),
    },
)
async def update_job(
    request: Request,
    job_id: JobId,
    patch: Annotated[JobPatch, Depends(strict_json(JobPatch, MERGE_PATCH))],
    caller: CallerDep,
    store: StoreDep,
    blobs: BlobsDep,
    settings: SettingsDep,
    if_match: Annotated[
        str | None,
        Header(alias="If-Match", description="The ETag that the job must have, or 412."),
    ] = None,
) -> Response:
    """A JSON merge patch (RFC 7396): fields that are left out stay, null takes away.

    A running search takes new limits on within a fraction of a second, and goes on. `time_limit` and
    `max_expansions` count from the job's beginning. The priority of a queued job moves it in the queue.
    """
    least = partial(least_memory_of, caller.tenant, job_id, store, blobs)
    job = await run_in_threadpool(
        store.jobs.change,
        caller.tenant,
        job_id,
        lambda present: patched(patch, present, settings, least),
        revision=expected_revision(request),
    )
    return json_answer(job_view(job), tag=weak_tag(job.revision))


def _control(store: Store, tenant: str, job_id: str, verb: Verb) -> Response:
    return _answer(store.jobs.control(tenant, job_id, verb))


def _answer(done: Controlled) -> Response:
    job = done.job
    location = f"/v1/models/{job.model_id}" if done.made else f"/v1/jobs/{job.spec.id}"
    status = 201 if done.made else 200 if done.repeated else 202
    headers = {"ETag": weak_tag(job.revision), "Location": location}
    return json_answer(job_view(job), status=status, headers=headers)


@router.post(
    "/{job_id}/finish",
    operation_id="finish_job",
    summary="Stop, and keep the best tree as a model",
    status_code=202,
    response_model=Job,
    openapi_extra=body_of(FinishRequest, required=False, earlier_tree={"revision": 2}),
    responses={
        **_RESPONSES,
        201: {
            "model": Job,
            **examples.answer(
                "The job had ended; a model was made of the tree. The job, whose `model_id` names it.",
                examples.JOB,
                headers={"Location": examples.header("The model's address.")},
            ),
        },
        **problems(
            409,
            415,
            422,
            s409="Not possible in this state, or there are as many models as may be.",
            s422="The job has no tree of this revision, or does not keep it any more.",
        ),
    },
)
def finish_job(
    job_id: JobId,
    wanted: Annotated[FinishRequest, Depends(strict_json(FinishRequest, required=False))],
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
) -> Response:
    """The search ends as soon as it has a tree, and the job succeeds with the reason `USER_FINISH`.

    With `revision` the model is of that tree instead of the best one. That works for a job that has ended,
    too, as long as the tree is kept: state and reason stay as they are, `model_id` is the new model, and
    models that the job made before stay. A model of an earlier tree has that tree's metrics, and is proven
    optimal only if the tree costs no more than the lower bound.
    """
    return _answer(
        store.jobs.control(
            caller.tenant, job_id, "finish", revision=wanted.revision, most_models=settings.max_models
        )
    )


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
