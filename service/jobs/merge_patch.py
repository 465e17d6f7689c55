"""Apply a merge patch (RFC 7396) to the settings of a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from service.errors import FieldError, invalid, pointer
from service.job_data import Complaint, JobData, memory_complaints, places
from service.remedies import Place, Remedy, in_body, merged, working
from service.schemas.jobs import MOST_TAGS, JobPatch, LimitsPatch
from service.settings import Settings
from service.submission import limit_complaints
from worker.blobs import Blobs
from worker.messages import JobSettings, Limits
from worker.store import Store

_NO_LIMIT = Limits(time_limit=None)  # what null stands for


def least_memory_of(tenant: str, job_id: str, store: Store, blobs: Blobs) -> int | None:
    """Return the smallest memory limit that a job can have; None if its dataset or the job is gone."""
    job = store.jobs.get(tenant, job_id)
    dataset = None if job is None else store.datasets.get(tenant, job.spec.dataset_id)
    if job is None or dataset is None:
        return None
    return JobData(dataset, blobs).least_memory(job.spec.parameters, job.spec.validation)


def patched(
    patch: JobPatch, present: JobSettings, settings: Settings, least_memory: Callable[[], int | None]
) -> JobSettings:
    """Return the settings with the patch applied. Raise the problem 422 if the result is not allowed.

    `least_memory` returns the smallest memory limit that the job can have.
    """
    changes = {name: getattr(patch, name) for name in patch.model_fields_set}
    if "tags" in changes:
        changes["tags"] = _tags(patch, present)
    if "limits" in changes:
        changes["limits"] = _limits(patch.limits, present.limits, settings, least_memory)
    if "priority" in changes:
        changes["priority"] = patch.priority or 0
    return present.model_copy(update=changes)


def _tags(patch: JobPatch, present: JobSettings) -> dict[str, str]:
    if patch.tags is None:
        return {}
    tags = {name: value for name, value in {**present.tags, **patch.tags}.items() if value is not None}
    if len(tags) > MOST_TAGS:
        message = f"The job would have {len(tags)} tags; there may be {MOST_TAGS}."
        raise invalid(FieldError(pointer("body", "tags"), "TOO_LONG", message))
    return tags


def _limits(
    patch: LimitsPatch, present: Limits, settings: Settings, least_memory: Callable[[], int | None]
) -> Limits:
    limits = _with_patch(patch, present)
    least = least_memory() if "memory_limit" in patch.model_fields_set else None
    found = _complaints(limits, patch, settings, least)
    if found:

        def left(remedy: Remedy) -> set[Place]:
            # As a client does it: null takes back what was sent, so the limit stays as it is.
            sent = {"limits": patch.model_dump(exclude_unset=True)}
            again = LimitsPatch.model_validate(merged(sent, remedy.options)["limits"])
            return places(_complaints(_with_patch(again, present), again, settings, least))

        fixes = working([wrong.fixes for wrong in found], places(found), left)
        raise invalid(*(wrong.error for wrong in found), fixes=fixes)
    return limits


def _with_patch(patch: LimitsPatch, present: Limits) -> Limits:
    given = {name: getattr(patch, name) for name in patch.model_fields_set}
    return present.model_copy(
        update={name: getattr(_NO_LIMIT, name) if value is None else value for name, value in given.items()}
    )


def _complaints(limits: Limits, patch: LimitsPatch, settings: Settings, least: int | None) -> list[Complaint]:
    """About the limits that the patch names; others that are not allowed any more stay as they are."""
    named = {pointer("body", "limits", name) for name in patch.model_fields_set}
    found = [*limit_complaints(limits, settings), *memory_complaints(limits.memory_limit, least)]
    return [
        replace(wrong, fixes=(*wrong.fixes[-1:], _unchanged(wrong.error)))
        for wrong in found
        if wrong.error.pointer in named
    ]


def _unchanged(error: FieldError) -> Remedy:
    name = error.pointer.rpartition("/")[2]
    return in_body(f"Leave `{name}` as it is", "limits", name, value=None)
