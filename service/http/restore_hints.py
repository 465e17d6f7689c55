"""Explain in a 404 how to restore a record that was deleted."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Request
from redis import RedisError
from starlette.concurrency import run_in_threadpool

from service.http.problems import Problem

_RECORD = re.compile(r"/v1/(job|sweep|dataset|model)s/([a-z]+_[0-9a-f]{32})(?:/|$)")


async def add_restore_hint(request: Request, problem: Problem) -> Problem:
    """Return the problem, extended by how to restore the record if it was deleted.

    Only records of the caller's tenant are considered.
    """
    named = _RECORD.match(request.url.path)
    caller = request.scope.get("literati.caller")
    if named is None or caller is None or problem.missing != named[1]:
        return problem
    hint = await restore_hint(request.app.state.services, named[1], caller.tenant, named[2])
    return problem if hint is None else Problem(404, f"{problem.detail} {hint}", kind=problem.kind)


async def restore_hint(services: Any, kind: str, tenant: str, record_id: str) -> str | None:
    """Return a sentence that says how to restore a deleted record; None if it cannot be restored."""
    try:
        deleted_at = await run_in_threadpool(services.store.retention.deleted_at, kind, tenant, record_id)
    except RedisError:
        return None
    if deleted_at is None:
        return None
    until = _until(deleted_at, services.settings.keep_deleted_hours)
    if until is not None and until <= datetime.now(UTC):
        return None  # the reconciler removes it in its next round
    when = "" if until is None else f" until {until:%Y-%m-%dT%H:%M:%SZ}"
    return (
        f"It was deleted at {deleted_at:%Y-%m-%dT%H:%M:%SZ}; "
        f"`POST /v1/{kind}s/{record_id}/restore` restores it{when}."
    )


def _until(deleted_at: datetime, hours: float) -> datetime | None:
    """Return when the record is removed permanently; None if never or beyond the range of dates."""
    try:
        return deleted_at + timedelta(hours=hours)
    except OverflowError:
        return None
