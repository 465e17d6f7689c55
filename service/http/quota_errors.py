"""The problems of limits that are reached."""

from __future__ import annotations

from dataclasses import dataclass

from service.http.problems import Problem
from service.settings import Settings


@dataclass(frozen=True)
class _Limit:
    setting: str
    what: str  # what is limited
    remedy: str
    status: int = 409
    kind: str = "limit-reached"
    retry_seconds: int | None = None


_LIMITS = {
    "live_jobs": _Limit(
        "max_live_jobs",
        "jobs and sweeps that have not ended",
        "wait for one to end, or cancel it",
        status=429,
        kind="too-many-jobs",
        retry_seconds=10,
    ),
    "queue": _Limit(
        "max_queue", "queued jobs", "try again later", status=503, kind="queue-full", retry_seconds=10
    ),
    "jobs": _Limit("max_jobs", "jobs", "delete some that have ended"),
    "sweeps": _Limit("max_sweeps", "sweeps", "delete some that have ended"),
    "models": _Limit("max_models", "models, including those that jobs may still make", "delete some"),
    "datasets": _Limit("max_datasets", "datasets", "delete some"),
    "dataset_bytes": _Limit("max_dataset_bytes", "bytes of datasets, including this one", "delete some"),
    "aliases": _Limit("max_aliases", "aliases", "delete some, or move one"),
}


def limit_reached(limit: str, settings: Settings) -> Problem:
    """Return the problem of a limit of the store."""
    found = _LIMITS[limit]
    allowed = f"at most {getattr(settings, found.setting):,} are allowed (LITERATI_{found.setting.upper()})"
    headers = {} if found.retry_seconds is None else {"Retry-After": str(found.retry_seconds)}
    return Problem(
        found.status,
        f"There are too many {found.what}: {allowed}; {found.remedy}.",
        kind=found.kind,
        headers=headers,
    )
