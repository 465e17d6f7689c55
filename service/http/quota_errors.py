"""What a client is told when there is as much of something as there may be."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import Problem
from service.settings import Settings


@dataclass(frozen=True)
class _Limit:
    setting: str
    what: str  # "There are ..."
    advice: str
    status: int = 409
    kind: str = "limit-reached"
    retry_seconds: int | None = None


_LIMITS = {
    "live_jobs": _Limit(
        "max_live_jobs",
        "jobs of yours that have not ended",
        "wait for one to end, or cancel it",
        status=429,
        kind="too-many-jobs",
        retry_seconds=10,
    ),
    "queue": _Limit(
        "max_queue",
        "jobs waiting for a worker",
        "try again later",
        status=503,
        kind="queue-full",
        retry_seconds=10,
    ),
    "jobs": _Limit("max_jobs", "jobs of yours", "delete some that have ended"),
    "models": _Limit(
        "max_models", "models of yours, with those that your jobs may still make", "delete some"
    ),
    "datasets": _Limit("max_datasets", "datasets of yours", "delete some"),
    "dataset_bytes": _Limit("max_dataset_bytes", "bytes of your datasets with this one", "delete some"),
    "aliases": _Limit("max_aliases", "aliases of yours", "delete some, or move one"),
}


def reached(limit: str, settings: Settings) -> Problem:
    found = _LIMITS[limit]
    most = f"at most {getattr(settings, found.setting):,} are allowed (LITERATI_{found.setting.upper()})"
    headers = {} if found.retry_seconds is None else {"Retry-After": str(found.retry_seconds)}
    return Problem(
        found.status,
        f"There are too many {found.what}: {most}; {found.advice}.",
        kind=found.kind,
        headers=headers,
    )
