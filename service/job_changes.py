"""Apply a merge patch (RFC 7396) to the settings of a job."""

from __future__ import annotations

from service.errors import FieldError, invalid, pointer
from service.job_data import LEAST_MEMORY, Complaint
from service.remedies import in_body, together
from service.schemas.jobs import MOST_TAGS, JobPatch
from service.settings import Settings
from service.submission import limit_complaints
from worker.messages import JobSettings, Limits

_NO_LIMIT = Limits(time_limit=None)  # what null stands for


def patched(patch: JobPatch, present: JobSettings, settings: Settings) -> JobSettings:
    """Return the settings with the patch applied. Raise the problem 422 if the result is not allowed."""
    changes = {name: getattr(patch, name) for name in patch.model_fields_set}
    if "tags" in changes:
        changes["tags"] = _tags(patch, present)
    if "limits" in changes:
        changes["limits"] = _limits(patch, present, settings)
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


def _limits(patch: JobPatch, present: JobSettings, settings: Settings) -> Limits:
    given = {name: getattr(patch.limits, name) for name in patch.limits.model_fields_set}
    given = {name: getattr(_NO_LIMIT, name) if value is None else value for name, value in given.items()}
    limits = present.limits.model_copy(update=given)
    places = {pointer("body", "limits", name) for name in given}
    found = [*limit_complaints(limits, settings), *_memory_complaints(limits)]
    found = [wrong for wrong in found if wrong.error.pointer in places]
    if found:
        fixes = together([wrong.fixes for wrong in found])
        raise invalid(*(wrong.error for wrong in found), fixes=fixes)
    return limits


def _memory_complaints(limits: Limits) -> list[Complaint]:
    if limits.memory_limit is None or limits.memory_limit >= LEAST_MEMORY:
        return []
    message = f"A search takes at least {LEAST_MEMORY:,} bytes of memory."
    error = FieldError(pointer("body", "limits", "memory_limit"), "TOO_SMALL", message)
    fix = in_body("Search without a limit of its own", "limits", "memory_limit", value=None)
    return [Complaint(error, (fix,))]
