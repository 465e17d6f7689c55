"""Explain in a 404 how to restore a record that was deleted."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from fastapi import Request
from redis import RedisError
from starlette.concurrency import run_in_threadpool

from service.http.problems import Problem

_RECORD = re.compile(r"/v1/((job|sweep|dataset|model)s)/([a-z]+_[0-9a-f]{32})(?:/|$)")


async def add_restore_hint(request: Request, problem: Problem) -> Problem:
    """Return the problem, extended by how to restore the record if it was deleted.

    Only records of the caller's tenant are considered.
    """
    named = _RECORD.match(request.url.path)
    caller = request.scope.get("literati.caller")
    if named is None or caller is None or problem.missing != named[2]:
        return problem
    services = request.app.state.services
    try:
        deleted_at = await run_in_threadpool(
            services.store.retention.deleted_at, named[2], caller.tenant, named[3]
        )
    except RedisError:
        return problem
    if deleted_at is None:
        return problem
    until = _until(deleted_at, services.settings.keep_deleted_hours)
    if until is not None and until <= datetime.now(UTC):
        return problem  # the reconciler removes it in its next round
    when = "" if until is None else f" until {until:%Y-%m-%dT%H:%M:%SZ}"
    detail = (
        f"{problem.detail} It was deleted at {deleted_at:%Y-%m-%dT%H:%M:%SZ}; "
        f"`POST /v1/{named[1]}/{named[3]}/restore` restores it{when}."
    )
    return Problem(404, detail, kind=problem.kind)


def _until(deleted_at: datetime, hours: float) -> datetime | None:
    """Return when the record is removed permanently; None if never or beyond the range of dates."""
    try:
        return deleted_at + timedelta(hours=hours)
    except OverflowError:
        return None
