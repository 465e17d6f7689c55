"""Training jobs: start, list, look, delete."""

from __future__ import annotations

from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service import submission
from service.conditional import json_answer, matches, not_modified, weak_tag
from service.dependencies import BlobsDep, CallerDep, HubDep, SettingsDep, StoreDep
from service.discarding import discard
from service.errors import not_found, request_id_of
from service.job_views import job_summary, job_view
from service.negotiation import strict_json
from service.query_options import CHECKED_OPTIONS
from service.schemas import examples
from service.schemas.jobs import DATASET_ID, MOST_TAGS, Job, JobPage, JobRequest, Trace
from service.schemas.problem import problems
from service.schemas.requests import JobId, PageSize, PageToken, body_of
from service.waiting import Wait
from worker import messages
from worker.messages import JobState
from worker.store import Store
from worker.store.job_filter import JobFilter

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])
RETRY_SECONDS = 1

_TAGGED = {"ETag": examples.header("Of this state of it.")}
_HELD = {"Preference-Applied": examples.header("The wait that was granted: `wait=N`.")}
_NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "The client has it already (`If-None-Match`).", "headers": {**_TAGGED, **_HELD}}
}
NoneMatch = Annotated[
    str | None, Header(alias="If-None-Match", description="The ETag of what the client has: 304 if current.")
]
Prefer = Annotated[
    str | None, Header(alias="Prefer", description="`wait=N`: hold the answer up to N seconds (60 at most).")
]


@router.post(
    "",
    operation_id="create_job",
    summary="Start a training job",
    status_code=202,
    response_model=Job,
    openapi_extra=body_of(JobRequest, flowers=examples.JOB_REQUEST),
    responses={
        200: {"model": Job, **examples.answer("The job as it would be (`validate_only`).", examples.JOB)},
        202: examples.answer(
            "The job is accepted.",
            examples.JOB,
            headers={
                "Location": examples.header("The job's address."),
                "Retry-After": examples.header("When to look first, in seconds.", "integer"),
                "Idempotency-Replayed": examples.header("`true`: this is the job that this key made before."),
            },
        ),
        **problems(
            409,
            415,
            422,
            429,
            503,
            s409="There are as many jobs or models as may be; delete some.",
            s429="As many jobs as allowed have not ended, or too many calls.",
            s503="The queue is full, or the store is away.",
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
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern=r"^[!-~]+$",
            description="Any word of yours. The same key with the same body within a day is the same job.",
        ),
    ] = None,
    validate_only: Annotated[bool, Query(description="Check, and show the job with its defaults.")] = False,
) -> Response:
    """Search for the best tree of a dataset. The answer comes at once; look at the job for what it finds.

    Two requests with one `Idempotency-Key` start one job. With `validate_only` nothing is started and the
    job that is shown has an id of zeros.
    """
    if validate_only:
        spec = await run_in_threadpool(submission.job_spec, body, caller.tenant, store, blobs, settings)
        return json_answer(job_view(submission.imagined(spec)))
    submitted = await run_in_threadpool(
        submission.submit,
        *(body, caller.tenant, store, blobs, settings, idempotency_key, request_id_of(request)),
    )
    if submitted.created:
        log.info("job accepted", job_id=submitted.job.spec.id, dataset_id=submitted.job.spec.dataset_id)
        await run_in_threadpool(_wake)
    headers = {
        "Location": f"/v1/jobs/{submitted.job.spec.id}",
        "Retry-After": str(RETRY_SECONDS),
        "ETag": weak_tag(submitted.job.revision),
    }
    if not submitted.created:
        headers["Idempotency-Replayed"] = "true"
    return json_answer(job_view(submitted.job), status=202, headers=headers)


def _wake() -> None:
    from worker.app import wake  # imports Celery: not needed to describe the API

    wake()


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
        str | None, Query(pattern=DATASET_ID, description="Only jobs that learn from this dataset.")
    ] = None,
    name: Annotated[str | None, Query(max_length=200, description="Only jobs of exactly this name.")] = None,
    tag: Annotated[
        list[Annotated[str, Query(min_length=1, max_length=321)]] | None,
        Query(
            max_length=MOST_TAGS,
            description="Only jobs with all of these tags: `key` or `key:value`.",
        ),
    ] = None,
    page_size: PageSize = 50,
    page_token: PageToken = None,
) -> Response:
    """Summaries, the newest first. Follow `next_page_token` for more.

    With `dataset_id`, `name` or `tag` at most 5,000 jobs are looked through for one page: it may hold fewer
    than `page_size`, even none, while there is a next one.
    """
    page = store.jobs.list(
        caller.tenant,
        states=tuple(state or ()),
        wanted=JobFilter(dataset_id, name, tuple(tag or ())),
        page_size=page_size,
        page_token=page_token,
    )
    items = [job_summary(job) for job in page.items]
    return json_answer(JobPage.model_construct(items=items, next_page_token=page.next_page_token))


@router.get(
    "/{job_id}",
    operation_id="get_job",
    summary="Look at a job",
    response_model=Job,
    responses={
        200: examples.answer("The job.", examples.JOB, headers={**_TAGGED, **_HELD}),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
async def get_job(
    request: Request,
    job_id: JobId,
    caller: CallerDep,
    store: StoreDep,
    hub: HubDep,
    if_none_match: NoneMatch = None,
    prefer: Prefer = None,
) -> Response:
    """State, bounds, gap, and what can be done next.

    With `Prefer: wait=30` the answer comes when the revision changes: from the one in `If-None-Match`, or
    from the one found at first. A job that has ended does not change: it is shown at once.
    """
    wait = Wait(request, hub, job_id, caller.tenant)
    first: list[int] = []

    def changed(job: messages.Job) -> bool:
        first[:] = first or [job.revision]
        if job.state.terminal or job.revision != first[0]:
            return True
        return if_none_match is not None and not matches(request, weak_tag(job.revision))

    job = await wait.until(lambda: stored_job(store, caller.tenant, job_id), changed)
    tag = weak_tag(job.revision)
    if matches(request, tag):
        return not_modified(tag, wait.headers)
    return json_answer(job_view(job), tag=tag, headers=wait.headers)


def stored_job(store: Store, tenant: str, job_id: str) -> messages.Job:
    job = store.jobs.get(tenant, job_id)
    if job is None:
        raise not_found("job")
    return job


@router.get(
    "/{job_id}/trace",
    operation_id="get_trace",
    summary="The bounds over time",
    response_model=Trace,
    responses={
        200: examples.answer("The series, oldest first.", examples.TRACE, headers=_TAGGED),
        **_NOT_MODIFIED,
        **problems(404),
    },
)
def get_trace(
    request: Request, job_id: JobId, caller: CallerDep, store: StoreDep, if_none_match: NoneMatch = None
) -> Response:
    """Upper and lower bound by search second and expansion: what a plot of the gap is drawn from."""
    tag = weak_tag(stored_job(store, caller.tenant, job_id).revision)
    if matches(request, tag):
        return not_modified(tag)
    points = store.jobs.trace(caller.tenant, job_id)
    return json_answer(Trace.model_construct(job_id=job_id, points=points), tag=tag)


@router.delete(
    "/{job_id}",
    operation_id="delete_job",
    summary="Delete a job that has ended",
    status_code=204,
    response_class=Response,
    responses={
        204: {"description": "It is gone."},
        **problems(404, 409, s409="The job has not ended: cancel it first."),
    },
)
def delete_job(
    job_id: JobId, caller: CallerDep, store: StoreDep, blobs: BlobsDep, settings: SettingsDep
) -> Response:
    """Its trees, events and checkpoints go with it; models that it made stay.

    It can be restored for a while (a day, unless the server's LITERATI_KEEP_DELETED_HOURS says otherwise).
    """
    for name in store.jobs.delete(caller.tenant, job_id, keep=settings.keep_deleted_hours > 0):
        discard(store, blobs, name)
    return Response(status_code=204)


@router.post(
    "/{job_id}/restore",
    operation_id="restore_job",
    summary="Take back the deletion of a job",
    response_model=Job,
    responses={
        200: examples.answer("The job is there again, as it was.", examples.JOB),
        **problems(
            404,
            409,
            s404="No such job was deleted, or it was too long ago.",
            s409="There are as many jobs as may be; delete others first.",
        ),
    },
)
def restore_job(job_id: JobId, caller: CallerDep, store: StoreDep, settings: SettingsDep) -> Response:
    """With all that belongs to it. A job that is not deleted is shown as it is."""
    return json_answer(job_view(store.jobs.restore(caller.tenant, job_id, most=settings.max_jobs)))
