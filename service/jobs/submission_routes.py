"""The route that starts a training job."""

from __future__ import annotations

from typing import Annotated

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from service.dependencies import BlobsDep, CallerDep, SettingsDep, StoreDep
from service.examples import jobs as examples
from service.http.etags import json_response, weak_tag
from service.http.media_types import strict_json
from service.http.problems import request_id_of
from service.http.strict_queries import CHECKED_OPTIONS
from service.jobs import submission
from service.jobs.routes import RETRY_SECONDS
from service.jobs.schemas import Job, JobRequest
from service.jobs.views import job_view
from service.schemas.parameters import body_of
from service.schemas.problems import problems

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/v1/jobs", tags=["jobs"], dependencies=[CHECKED_OPTIONS])


@router.post(
    "",
    operation_id="create_job",
    summary="Start a training job",
    status_code=202,
    response_model=Job,
    openapi_extra=body_of(JobRequest, flowers=examples.JOB_REQUEST),
    responses={
        200: {"model": Job, **examples.answer("The validated job (`validate_only`).", examples.JOB)},
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
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern=r"^[!-~]+$",
            description="Any key. For a day, the same key with the same body returns the same job.",
        ),
    ] = None,
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
        await run_in_threadpool(_wake)
    headers = {
        "Location": f"/v1/jobs/{submitted.job.spec.id}",
        "Retry-After": str(RETRY_SECONDS),
        "ETag": weak_tag(submitted.job.revision),
    }
    if not submitted.created:
        headers["Idempotency-Replayed"] = "true"
    return json_response(job_view(submitted.job), status=202, headers=headers)


def _wake() -> None:
    from worker.app import wake  # imports Celery, which the OpenAPI description does not need

    wake()
