"""Apply a merge patch (RFC 7396) to the settings of a job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from service.checks.issues import Issue, raise_issues
from service.checks.labels import patched_fields
from service.checks.limits import limit_issues, memory_issues
from service.http.problems import FieldError, pointer
from service.http.remedies import Remedy, in_body, merged
from service.jobs.data_issues import JobData
from service.jobs.schemas import JobPatch, LimitsPatch
from service.settings import Settings
from worker.blobs.local import Blobs
from worker.domain.jobs import JobSettings
from worker.domain.parameters import Limits
from worker.store import Store

_NO_LIMIT = Limits(time_limit=None)  # the meaning of null


def min_memory_of(tenant: str, job_id: str, store: Store, blobs: Blobs) -> int | None:
    """Return the minimum memory limit of a job; None if the job or its dataset is deleted."""
    job = store.jobs.get(tenant, job_id)
    dataset = None if job is None else store.datasets.get(tenant, job.spec.dataset_id)
    if job is None or dataset is None:
        return None
    return JobData(dataset, blobs).min_memory(job.spec.parameters, job.spec.validation)


def apply_patch(
    patch: JobPatch, current: JobSettings, settings: Settings, min_memory: Callable[[], int | None]
) -> JobSettings:
    """Return the settings with the patch applied. Raise the problem 422 if the result is not allowed.

    `min_memory` returns the minimum memory limit of the job.
    """
    changes = patched_fields(patch, current.tags, "job")
    if "limits" in changes:
        changes["limits"] = _limits(patch.limits, current.limits, settings, min_memory)
    return current.model_copy(update=changes)


def _limits(
    patch: LimitsPatch, current: Limits, settings: Settings, min_memory: Callable[[], int | None]
) -> Limits:
    limits = _with_patch(patch, current)
    min_bytes = min_memory() if "memory_limit" in patch.model_fields_set else None
    found = _issues(limits, patch, settings, min_bytes)
    if found:

        def remaining(remedy: Remedy) -> list[Issue]:
            # A null in the remedy removes the field from the request, so that this limit does not change.
            sent = {"limits": patch.model_dump(exclude_unset=True)}
            again = LimitsPatch.model_validate(merged(sent, remedy.options)["limits"])
            return _issues(_with_patch(again, current), again, settings, min_bytes)

        raise_issues(found, remaining)
    return limits


def _with_patch(patch: LimitsPatch, current: Limits) -> Limits:
    changes = patch.model_dump(exclude_unset=True)
    no_limits = {name: getattr(_NO_LIMIT, name) for name, value in changes.items() if value is None}
    return current.model_copy(update=changes | no_limits)


def _issues(limits: Limits, patch: LimitsPatch, settings: Settings, min_bytes: int | None) -> list[Issue]:
    """Return the issues of the limits in the patch; others do not change, even if they are too large."""
    named = {pointer("body", "limits", name) for name in patch.model_fields_set}
    found = [*limit_issues(limits, settings), *memory_issues(limits.memory_limit, min_bytes)]
    return [
        replace(issue, fixes=(*issue.fixes[-1:], _unchanged(issue.error)))
        for issue in found
        if issue.error.pointer in named
    ]


def _unchanged(error: FieldError) -> Remedy:
    name = error.pointer.rpartition("/")[2]
    return in_body(f"Do not change `{name}`", "limits", name, value=None)
