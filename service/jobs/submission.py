"""Submit a job: check the request against its dataset, other jobs and the server's limits, and store it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

from pydantic import ValidationError

import literati
from literati.search.options import SEQUENTIAL
from service.checks.issues import Issue, issue, raise_issues
from service.checks.limits import limit_issues, with_defaults
from service.checks.parameters import library_error
from service.http.problems import invalid
from service.http.remedies import Remedy, in_body, merged
from service.jobs.data_issues import JobData, data_issues
from service.jobs.schemas import JobRequest
from service.settings import Settings
from worker.blobs.local import Blobs
from worker.domain.base import new_id
from worker.domain.errors import DatasetNotFoundError
from worker.domain.jobs import Job, JobState, NewJob
from worker.domain.parameters import Parameters, unused_additions
from worker.domain.progress import Progress
from worker.store import Store
from worker.store.jobs import Quota, SubmitResult

NIL_ID = "job_" + 32 * "0"  # of a job that is only validated
_NO_DATASET = issue(("dataset_id",), "NOT_FOUND", "There is no such dataset.")


def submit(
    request: JobRequest,
    tenant: str,
    store: Store,
    blobs: Blobs,
    settings: Settings,
    idempotency_key: str | None,
    request_id: str,
) -> SubmitResult:
    """Return the job that this idempotency key created before, or create one.

    Raise the problem 422 if the request cannot be used.
    """
    body_digest = digest(request)
    if idempotency_key is not None:
        known = store.jobs.submitted_before(tenant, idempotency_key, body_digest)
        if known is not None:
            return SubmitResult(known, created=False)
    try:
        return store.jobs.submit(
            job_spec(request, tenant, store, blobs, settings),
            idempotency_key=idempotency_key,
            body_digest=body_digest,
            quota=Quota(
                max_live=settings.max_live_jobs,
                max_jobs=settings.max_jobs,
                max_models=settings.max_models,
                max_queued=settings.max_queue,
            ),
            request_id=request_id,
        )
    except DatasetNotFoundError:  # deleted in the meantime
        raise invalid(_NO_DATASET.error) from None


def digest(request: JobRequest) -> str:
    """Return a digest that is equal for equal requests, however they are written."""
    unused = {
        "parameters": unused_additions(request.parameters),
        "limits": unused_additions(request.limits),
        "validation": {"value"} if getattr(request.validation, "value", None) is None else set(),
    }
    # The digest stays that of an earlier version if nothing is used that it did not have, so that a request
    # that is repeated after an upgrade finds its job. The default of or_selection was "informative" then, so
    # requests that differ only in these two values have the same digest.
    parameters = request.parameters
    if parameters.or_selection == "mixed":
        parameters = parameters.model_copy(update={"or_selection": "informative"})
    text = request.model_copy(update={"parameters": parameters}).model_dump_json(exclude=unused)
    return hashlib.sha256(text.encode()).hexdigest()


def job_spec(request: JobRequest, tenant: str, store: Store, blobs: Blobs, settings: Settings) -> NewJob:
    """Return the job that the request asks for, or raise the problem 422 with all issues."""
    dataset = store.datasets.get(tenant, request.dataset_id)
    data = None if dataset is None else JobData(dataset, blobs)
    found = _issues(request, data, tenant, store, settings)
    if found or dataset is None:

        def remaining(remedy: Remedy) -> list[Issue]:
            sent = request.model_dump(mode="json", exclude_unset=True)
            body = json.dumps(merged(sent, remedy.options))
            try:
                changed = JobRequest.model_validate_json(body, strict=True)
            except ValidationError:
                return found
            return _issues(changed, data, tenant, store, settings)

        raise_issues(found, remaining)
    return NewJob(
        **dict(request) | {"limits": with_defaults(request.limits, settings)},
        id=new_id("job"),
        tenant=tenant,
        dataset_sha256=dataset.sha256,
        cores=1 if request.parameters.candidates in SEQUENTIAL else request.parameters.n_threads,
        target=dataset.target,
        csv_style=dataset.csv_style,
        engine_version=literati.__version__,
    )


def _issues(
    request: JobRequest, data: JobData | None, tenant: str, store: Store, settings: Settings
) -> list[Issue]:
    limits = with_defaults(request.limits, settings)
    return [
        *_parameter_issues(request.parameters),
        *limit_issues(limits, settings),
        *_parent_issues(request, tenant, store),
        *([_NO_DATASET] if data is None else data_issues(request, limits, data)),
    ]


def preview_job(new: NewJob) -> Job:
    """Return the job as it would be after submission."""
    now = datetime.now(UTC)
    return Job(
        spec=new.model_copy(update={"id": NIL_ID}),
        settings=new,
        state=JobState.QUEUED,
        revision=0,
        progress=Progress(),
        created_at=now,
        queued_at=now,
    )


def _parameter_issues(parameters: Parameters) -> list[Issue]:
    error = library_error(parameters)
    if error is None:
        return []
    if error.name is None:
        return [issue(("parameters",), "UNUSABLE", error.message)]
    where = ("parameters", error.name)
    default = in_body(f"Use the default of `{error.name}`", *where, value=None)
    return [issue(where, "UNUSABLE", error.message, default)]


def _parent_issues(request: JobRequest, tenant: str, store: Store) -> list[Issue]:
    if request.parent_job_id is None:
        return []
    parent = store.jobs.get(tenant, request.parent_job_id)
    where = ("parent_job_id",)
    without_parent = in_body("Start without another job's tree", *where, value=None)
    if parent is None:
        return [issue(where, "NOT_FOUND", "There is no such job.", without_parent)]
    if not parent.progress.incumbents:
        return [issue(where, "NO_TREE", "That job has not found a tree yet.", without_parent)]
    return []
