"""From a request to a job: what Pydantic cannot see, because it lies in the data or in other jobs."""

from __future__ import annotations

import hashlib
import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

import literati
from literati.options import SolverOptions
from service.errors import FieldError, invalid, pointer
from service.job_data import Complaint, JobData, data_complaints, places
from service.remedies import Place, Remedy, in_body, merged, working
from service.schemas.jobs import JobRequest
from service.settings import Settings
from worker.blobs import Blobs
from worker.errors import DatasetGoneError
from worker.messages import (
    Job,
    JobSettings,
    JobSpec,
    JobState,
    Limits,
    NewJob,
    Parameters,
    Progress,
    new_id,
)
from worker.store import Store
from worker.store.jobs import Quota, Submitted

NIL_ID = "job_" + 32 * "0"  # of a job that is only looked at
# The library says what it got; the problem must not.
_LIBRARY_ERROR = re.compile(r"(?P<name>\w+): (?P<message>.*?)(?:, got .*)?", re.DOTALL)


def submit(
    request: JobRequest,
    tenant: str,
    store: Store,
    blobs: Blobs,
    settings: Settings,
    idempotency_key: str | None,
    request_id: str,
) -> Submitted:
    """The job that the key made before, or a new one. Problem 422 if there cannot be one."""
    body_digest = digest(request)
    if idempotency_key is not None:
        known = store.jobs.submitted_before(tenant, idempotency_key, body_digest)
        if known is not None:
            return Submitted(known, created=False)
    try:
        return store.jobs.submit(
            job_spec(request, tenant, store, blobs, settings),
            idempotency_key=idempotency_key,
            body_digest=body_digest,
            quota=Quota(
                live=settings.max_live_jobs,
                jobs=settings.max_jobs,
                models=settings.max_models,
                queued=settings.max_queue,
            ),
            request_id=request_id,
        )
    except DatasetGoneError:  # deleted a moment ago
        raise invalid(_no_dataset()) from None


def digest(request: JobRequest) -> str:
    """Equal for requests that ask for the same, however they are written."""
    named = getattr(request.validation, "value", None) is not None
    # Without a value the text is that of before there were values: a key that was used then is known still.
    text = request.model_dump_json(exclude=None if named else {"validation": {"value"}})
    return hashlib.sha256(text.encode()).hexdigest()


def job_spec(request: JobRequest, tenant: str, store: Store, blobs: Blobs, settings: Settings) -> NewJob:
    """The job that this request asks for. Problem 422 with every complaint at once."""
    dataset = store.datasets.get(tenant, request.dataset_id)
    data = None if dataset is None else JobData(dataset, blobs)
    found = _complaints(request, data, tenant, store, settings)
    if found or dataset is None:

        def left(remedy: Remedy) -> set[Place]:
            try:
                changed = _applied(request, remedy)
            except ValidationError:
                return places(found)
            return places(_complaints(changed, data, tenant, store, settings))

        fixes = working([complaint.fixes for complaint in found], places(found), left)
        raise invalid(*(complaint.error for complaint in found), fixes=fixes)
    limits = _with_defaults(request.limits, settings)
    return NewJob(
        id=new_id("job"),
        tenant=tenant,
        dataset_id=dataset.id,
        dataset_sha256=dataset.sha256,
        name=request.name,
        tags=request.tags,
        priority=request.priority,
        parent_job_id=request.parent_job_id,
        parameters=request.parameters,
        limits=limits,
        validation=request.validation,
        csv_style=dataset.csv_style,
        engine_version=literati.__version__,
    )


def _complaints(
    request: JobRequest, data: JobData | None, tenant: str, store: Store, settings: Settings
) -> list[Complaint]:
    limits = _with_defaults(request.limits, settings)
    return [
        *_parameter_complaints(request.parameters),
        *limit_complaints(limits, settings),
        *_parent_complaints(request, tenant, store),
        *([Complaint(_no_dataset())] if data is None else data_complaints(request, limits, data)),
    ]


def _applied(request: JobRequest, remedy: Remedy) -> JobRequest:
    """The request as a client sends it with the remedy."""
    sent = request.model_dump(mode="json", exclude_unset=True)
    return JobRequest.model_validate_json(json.dumps(merged(sent, remedy.options)), strict=True)


def imagined(new: NewJob) -> Job:
    """The job as it would be if it were submitted now."""
    now = datetime.now(UTC)
    return Job(
        spec=JobSpec.model_validate({**_part(new, JobSpec), "id": NIL_ID}),
        settings=JobSettings.model_validate(_part(new, JobSettings)),
        state=JobState.QUEUED,
        revision=0,
        progress=Progress(),
        created_at=now,
        queued_at=now,
    )


def _part(new: NewJob, part: type[JobSpec] | type[JobSettings]) -> dict[str, Any]:
    return {name: getattr(new, name) for name in part.model_fields}


def _no_dataset() -> FieldError:
    return FieldError("/body/dataset_id", "NOT_FOUND", "There is no such dataset.")


def _parameter_complaints(parameters: Parameters) -> list[Complaint]:
    """What the library says of these parameters, which knows more rules than the schema."""
    try:
        SolverOptions(**{**parameters.model_dump(), "class_weight": None})
    except (TypeError, ValueError) as error:
        told = _LIBRARY_ERROR.fullmatch(str(error))
        name = told["name"] if told and told["name"] in Parameters.model_fields else None
        where = pointer("body", "parameters", *([name] if name else []))
        message = told["message"] if told and name else "These parameters do not go together."
        error_told = FieldError(where, "UNUSABLE", f"{message[:1].upper()}{message[1:]}.")
        return [Complaint(error_told, () if name is None else (_default_of(name),))]
    return []


def _default_of(parameter: str) -> Remedy:
    return in_body(f"Use the default of `{parameter}`", "parameters", parameter, value=None)


def _with_defaults(limits: Limits, settings: Settings) -> Limits:
    """What the request leaves out is the server's to say: its default, or its maximum if that is less."""
    time_limit: float | None = settings.default_time_limit
    left_out = {
        "time_limit": _least(None if time_limit == math.inf else time_limit, settings.max_time_limit),
        "memory_limit": _least(settings.default_memory_limit, settings.max_memory_limit),
    }
    return limits.model_copy(
        update={name: value for name, value in left_out.items() if name not in limits.model_fields_set}
    )


def _least(one: float | None, other: float | None) -> float | None:
    known = [value for value in (one, other) if value is not None]
    return min(known, default=None)


def limit_complaints(limits: Limits, settings: Settings) -> list[Complaint]:
    """What of these limits is above the server's maximum."""
    found = []
    for name, most, unit in (
        ("time_limit", settings.max_time_limit, "seconds"),
        ("memory_limit", settings.max_memory_limit, "bytes"),
    ):
        value = getattr(limits, name)
        if most is not None and (value is None or value > most):
            error = FieldError(
                pointer("body", "limits", name),
                "ABOVE_MAXIMUM",
                f"This server allows at most {most:g} {unit} a job (LITERATI_MAX_{name.upper()}), "
                "and wants a number.",
            )
            found.append(Complaint(error, (in_body(f"Use {most:g} {unit}", "limits", name, value=most),)))
    return found


def _parent_complaints(request: JobRequest, tenant: str, store: Store) -> list[Complaint]:
    if request.parent_job_id is None:
        return []
    parent = store.jobs.get(tenant, request.parent_job_id)
    where = pointer("body", "parent_job_id")
    anew = in_body("Start without another job's tree", "parent_job_id", value=None)
    if parent is None:
        return [Complaint(FieldError(where, "NOT_FOUND", "There is no such job."), (anew,))]
    if not parent.progress.incumbents:
        error = FieldError(where, "NO_TREE", "That job has no tree to start from yet.")
        return [Complaint(error, (anew,))]
    return []
