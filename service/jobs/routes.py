"""Routes of training jobs: list, start, get, trace, delete and restore."""

from __future__ import annotations

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.dependencies import BlobsDep, CallerDep, NotificationsDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.http.blob_deletion import discard
from service.http.etags import json_response, matches, not_modified, weak_tag
from service.http.long_polling import LongPoll
from service.http.media_types import strict_json
from service.http.problems import not_found, request_id_of
from service.http.strict_queries import CHECKED_OPTIONS
from service.jobs import submission
from service.jobs.schemas import Job, JobPage, JobRequest, Trace
from service.jobs.views import job_summary, job_view
from service.schemas.fields import DATASET_ID, MAX_TAGS
from service.schemas.parameters import (
    NOT_MODIFIED,
    SWEEP_ID,
    IdempotencyKey,
    JobId,
    NoneMatch,
    PageSize,
    PageToken,
    Prefer,
    body_of,
)
from service.schemas.problems import problems, restore_problems
from service.wake_workers import wake_worker
from worker.domain import jobs as domain
from worker.domain.jobs import JobState
from worker.store import Store
from worker.store.jobs import JobFilter

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])
RETRY_SECONDS = 1

ETAG = {"ETag": examples.header("The entity tag of the job's current state.")}
PREFERENCE_APPLIED = {"Preference-Applied": examples.header("The wait that applies: `wait=N`.")}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": NOT_MODIFIED, "headers": {**ETAG, **PREFERENCE_APPLIED}}
}


@router.get(
    "",
    operation_id="list_jobs",
    summary="List jobs",
    response_model=JobPage,
    responses={
        200: examples.answer("A page of jobs.", {"items": [examples.JOB_SUMMARY], "next_page_token": None}),
        **problems(422),
    },
)
def list_jobs(
    caller: CallerDep,
    store: StoreDep,
    state: Annotated[list[JobState] | None, Query(description="Only jobs in one of these states.")] = None,
    dataset_id: Annotated[
        str | None, Query(pattern=DATASET_ID, description="Only jobs on this dataset.")
    ] = None,
    name: Annotated[
        str | None, Query(max_length=200, description="Only jobs with exactly this name.")
    ] = None,
    tag: Annotated[
        list[Annotated[str, Query(min_length=1, max_length=321)]] | None,
        Query(max_length=MAX_TAGS, description="Only jobs with all of these tags: `key` or `key:value`."),
    ] = None,
    sweep_id: Annotated[
        str | None, Query(pattern=SWEEP_ID, description="The jobs of this sweep, instead of single jobs.")
    ] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """List summaries of the jobs, the newest first. `next_page_token` leads to the next page.

    The jobs of sweeps are listed only with `sweep_id`.

    With `dataset_id`, `name` or `tag`, at most 5,000 jobs are searched for one page. So a page may have fewer
    items than `page_size`, or none, although there is a next page.
    """
    page = store.jobs.list(
        caller.tenant,
        states=tuple(state or ()),
        sweep_id=sweep_id,
        wanted=JobFilter(dataset_id, name, tuple(tag or ())),
        page_size=page_size,
        page_token=page_token,
    )
    items = [job_summary(job) for job in page.items]
    return json_response(JobPage.model_construct(items=items, next_page_token=page.next_page_token))


@router.post(
    "",
    operation_id="create_job",
    summary="Start a training job",
    status_code=202,
    response_model=Job,
    openapi_extra=body_of(JobRequest, flowers=examples.JOB_REQUEST),
    responses={
        200: examples.answer("The validated job (`validate_only`).", examples.JOB, model=Job),
        202: examples.answer(
            "The job is accepted.",
            examples.JOB,
            headers={
                "Location": examples.header("The URL of the job."),
                "Retry-After": examples.header(
                    "Seconds to wait before the first request for the job.", "integer"
                ),
                "Idempotency-Replayed": examples.header("`true`: the key created this job before."),
            },
        ),
        **problems(
            409,
            415,
            422,
            429,
            503,
            s409="The maximum number of jobs or models is reached; delete some.",
            s429="The maximum number of jobs that have not ended is reached, or there are too many calls.",
            s503="The queue is full, or the store is unavailable.",
        ),
    },
)
async def create_job(
    request: Request,
    body: Annotated[JobRequest, Depends(strict_json(JobRequest))],
    caller: CallerDep,
    store: StoreDep,
    blobs: BlobsDep,
    settings: SettingsDep,
    idempotency_key: IdempotencyKey = None,
    validate_only: Annotated[
        bool,
        Query(description="Check the request and return the job with its defaults, but do not start it."),
    ] = False,
) -> Response:
    """Start a search for the best tree of a dataset. The response is immediate; get the job for its progress.

    Requests with the same `Idempotency-Key` start only one job. With `validate_only` no job is started, and
    the returned job has an id of zeros.
    """
    if validate_only:
        spec = await run_in_threadpool(submission.job_spec, body, caller.tenant, store, blobs, settings)
        return json_response(job_view(submission.preview_job(spec)))
    submitted = await run_in_threadpool(
        submission.submit,
        *(body, caller.tenant, store, blobs, settings, idempotency_key, request_id_of(request)),
    )
    if submitted.created:
        log.info("job accepted", job_id=submitted.job.spec.id, dataset_id=submitted.job.spec.dataset_id)
        await run_in_threadpool(wake_worker)
    headers = {
        "Location": f"/v1/jobs/{submitted.job.spec.id}",
        "Retry-After": str(RETRY_SECONDS),
        "ETag": weak_tag(submitted.job.revision),
    }
    if not submitted.created:
        headers["Idempotency-Replayed"] = "true"
    return json_response(job_view(submitted.job), status=202, headers=headers)


@router.get(
    "/{job_id}",
    operation_id="get_job",
    summary="Get a job",
    response_model=Job,
    responses={
        200: examples.answer("The job.", examples.JOB, headers={**ETAG, **PREFERENCE_APPLIED}),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
async def get_job(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    notifications: NotificationsDep,
    if_none_match: NoneMatch = None,
    prefer: Prefer = None,
) -> Response:
    """Get the state, the bounds and the gap of a job, and links to the next actions.

    With `Prefer: wait=30` the response is sent when the revision changes: from the one in `If-None-Match`, or
    from the current one. A job that has ended does not change, so its response is immediate.
    """
    wait = LongPoll(request, notifications, job_id, caller.tenant)
    first: list[int] = []

    def changed(job: domain.Job) -> bool:
        first[:] = first or [job.revision]
        if job.state.terminal or job.revision != first[0]:
            return True
        return if_none_match is not None and not matches(request, weak_tag(job.revision))

    job = await wait.until(lambda: stored_job(store, caller.tenant, job_id), changed)
    tag = weak_tag(job.revision)
    if matches(request, tag):
        return not_modified(tag, wait.headers)
    return json_response(job_view(job), tag=tag, headers=wait.headers)


def stored_job(store: Store, tenant: str, job_id: str) -> domain.Job:
    """Return the job; raise the problem 404 if there is none."""
    job = store.jobs.get(tenant, job_id)
    if job is None:
        raise not_found("job")
    return job


@router.get(
    "/{job_id}/trace",
    operation_id="get_trace",
    summary="Get the bounds over time",
    response_model=Trace,
    responses={
        200: examples.answer("The points, the oldest first.", examples.TRACE, headers=ETAG),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
def get_trace(
    request: Request, job_id: JobId, caller: CallerDep, store: StoreDep, if_none_match: NoneMatch = None
) -> Response:
    """Get the upper and the lower bound by search time and expansions, for a plot of the gap."""
    tag = weak_tag(stored_job(store, caller.tenant, job_id).revision)
    if matches(request, tag):
        return not_modified(tag)
    points = store.jobs.trace(caller.tenant, job_id)
    return json_response(Trace.model_construct(job_id=job_id, points=points), tag=tag)


@router.delete(
    "/{job_id}",
    operation_id="delete_job",
    summary="Delete a job that has ended",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "The job is deleted."},
        **problems(404, 409, s409="The job has not ended; cancel it first."),
    },
)
def delete_job(
    job_id: JobId, caller: CallerDep, store: StoreDep, blobs: BlobsDep, settings: SettingsDep
) -> Response:
    """Delete a job with its trees, events and saved searches. The models that it made are kept.

    The job can be restored for LITERATI_KEEP_DELETED_HOURS, a day by default.
    """
    for name in store.jobs.delete(caller.tenant, job_id, keep=settings.keep_deleted_hours > 0):
        discard(store, blobs, name)
    return Response(status_code=204)


@router.post(
    "/{job_id}/restore",
    operation_id="restore_job",
    summary="Restore a deleted job",
    response_model=Job,
    responses={
        200: examples.answer("The restored job.", examples.JOB),
        **restore_problems("job", "number of jobs"),
    },
)
def restore_job(job_id: JobId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """Restore a deleted job with everything that belongs to it. Other jobs are returned unchanged."""
    return json_response(job_view(store.jobs.restore(caller.tenant, job_id, max_jobs=settings.max_jobs)))
