"""Routes that control a job: update, finish, cancel, pause and resume."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request, Response
from starlette.concurrency import run_in_threadpool

from service.dependencies import BlobsDep, CallerDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.http.etags import expected_revision, json_response, weak_tag
from service.http.media_types import MERGE_PATCH, strict_json
from service.jobs.merge_patch import apply_patch, min_memory_of
from service.jobs.routes import ETAG
from service.jobs.schemas import FinishRequest, Job, JobPatch
from service.jobs.views import job_view
from service.schemas.parameters import JobId, body_of
from service.schemas.problems import problems
from service.wake_workers import wake_worker
from worker.store import Store
from worker.store.jobs import ControlAction

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_RESPONSES = {
    200: examples.answer("The job. This was requested before.", examples.JOB, model=Job),
    202: examples.answer("The job. The request is accepted, or has been carried out.", examples.JOB),
    **problems(404, 409),
}
_CONTROL: dict[str, Any] = {"status_code": 202, "response_model": Job, "responses": _RESPONSES}


@router.patch(
    "/{job_id}",
    operation_id="update_job",
    summary="Change a job's name, notes, tags, priority or limits",
    response_model=Job,
    openapi_extra=body_of(
        JobPatch,
        MERGE_PATCH,
        "application/json",
        more_time={"limits": {"time_limit": 3600}},
        labels={"name": "flowers, second try", "tags": {"team": None, "for": "the paper"}},
    ),
    responses={
        200: examples.answer("The changed job.", examples.JOB, headers=ETAG),
        **problems(404, 409, 412, 415, 422, s409="The job has ended, so its limits cannot be changed."),
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
        str | None, Header(alias="If-Match", description="The ETag that the job must have; otherwise 412.")
    ] = None,
) -> Response:
    """Apply a JSON merge patch (RFC 7396): fields that are left out do not change, null removes a value.

    A running search applies new limits within a fraction of a second. `time_limit` and `max_expansions` count
    from the start of the job. The priority of a queued job changes its place in the queue.
    """
    min_memory = partial(min_memory_of, caller.tenant, job_id, store, blobs)
    job = await run_in_threadpool(
        store.jobs.change,
        caller.tenant,
        job_id,
        lambda current: apply_patch(patch, current, settings, min_memory),
        revision=expected_revision(request),
    )
    return json_response(job_view(job), tag=weak_tag(job.revision))


def _control(store: Store, tenant: str, job_id: str, action: ControlAction, **options: Any) -> Response:
    done = store.jobs.control(tenant, job_id, action, **options)
    job = done.job
    location = f"/v1/models/{job.model_id}" if done.model_created else f"/v1/jobs/{job.spec.id}"
    status = 201 if done.model_created else 200 if done.repeated else 202
    headers = {"ETag": weak_tag(job.revision), "Location": location}
    return json_response(job_view(job), status=status, headers=headers)


@router.post(
    "/{job_id}/finish",
    operation_id="finish_job",
    summary="Finish a job and keep its best tree as a model",
    status_code=202,
    response_model=Job,
    openapi_extra=body_of(FinishRequest, required=False, earlier_tree={"revision": 2}),
    responses={
        **_RESPONSES,
        201: examples.answer(
            "The job, which had ended. `model_id` is the new model of the tree.",
            examples.JOB,
            headers={"Location": examples.header("The URL of the model.")},
            model=Job,
        ),
        **problems(
            409,
            415,
            422,
            s409="This is not possible in the job's state, or the maximum number of models is reached.",
            s422="The job has no tree of this revision, or it is not kept any more.",
        ),
    },
)
def finish_job(
    job_id: JobId,
    body: Annotated[FinishRequest, Depends(strict_json(FinishRequest, required=False))],
    caller: CallerDep,
    store: StoreDep,
    settings: SettingsDep,
) -> Response:
    """Stop the search as soon as it has a tree. The job succeeds with the stop reason `USER_FINISH`.

    With `revision` the model is made of that tree and not of the best one. This is also possible for a job
    that has ended, as long as the tree is kept: its state and stop reason do not change, `model_id` is the
    new model, and earlier models of the job are kept. A model of an earlier tree has the metrics of that
    tree. It is proven optimal only if its cost is not above the lower bound.
    """
    options = {"revision": body.revision, "max_models": settings.max_models}
    return _control(store, caller.tenant, job_id, "finish", **options)


@router.post("/{job_id}/cancel", operation_id="cancel_job", summary="Cancel a job", **_CONTROL)
def cancel_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """Stop the search without making a model. The trees found so far are kept."""
    return _control(store, caller.tenant, job_id, "cancel")


@router.post("/{job_id}/pause", operation_id="pause_job", summary="Pause a job", **_CONTROL)
def pause_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """Save the search to disk and free its worker. The job can be resumed at any time."""
    return _control(store, caller.tenant, job_id, "pause")


@router.post("/{job_id}/resume", operation_id="resume_job", summary="Resume a paused job", **_CONTROL)
def resume_job(job_id: JobId, caller: CallerDep, store: StoreDep) -> Response:
    """Queue a paused job again. The search continues where it stopped."""
    response = _control(store, caller.tenant, job_id, "resume")
    wake_worker()
    return response
