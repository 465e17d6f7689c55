"""Tell who asks for a record that was deleted how to restore it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from fastapi import Request
from redis import RedisError
from starlette.concurrency import run_in_threadpool

from service.errors import Problem

_RECORD = re.compile(r"/v1/((job|dataset|model)s)/([a-z]+_[0-9a-f]{32})(?:/|$)")


async def with_restore(request: Request, problem: Problem) -> Problem:
    """Return the problem, with how to restore the record that was not found if its owner deleted it.

    Records are looked for among those of the caller's tenant only, so nobody learns of another's.
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
        return problem  # it goes with the next round of the reconciler
    when = "" if until is None else f" until {until:%Y-%m-%dT%H:%M:%SZ}"
    detail = (
        f"{problem.detail} It was deleted at {deleted_at:%Y-%m-%dT%H:%M:%SZ}; "
        f"`POST /v1/{named[1]}/{named[3]}/restore` takes that back{when}."
    )
    return Problem(404, detail, kind=problem.kind)


def _until(deleted_at: datetime, hours: float) -> datetime | None:
    """Return when it goes for good; None if never, or so late that no date can say it."""
    try:
        return deleted_at + timedelta(hours=hours)
    except OverflowError:
        return None
