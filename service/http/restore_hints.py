"""Explain in a 404 how to restore a record that was deleted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Request
from redis import RedisError
from starlette.concurrency import run_in_threadpool

from service.http.problems import Problem

_RECORD = re.compile(r"/v1/(job|sweep|dataset|model)s/([a-z]+_[0-9a-f]{32})(?:/|$)")


@dataclass(frozen=True)
class Deletion:
    """A record that was deleted and can be restored."""

    at: datetime
    until: datetime | None  # None: it is kept for ever
    restore: str  # the path to post to

    def sentence(self) -> str:
        when = "" if self.until is None else f" until {_text(self.until)}"
        return f"It was deleted at {_text(self.at)}; `POST {self.restore}` restores it{when}."

    def member(self) -> dict[str, str | None]:
        """Return the member of the problem's JSON object."""
        until = None if self.until is None else _text(self.until)
        return {"at": _text(self.at), "until": until, "restore": self.restore}


async def add_restore_hint(request: Request, problem: Problem) -> Problem:
    """Return the problem, extended by how to restore the record if it was deleted.

    Only records of the caller's tenant are considered.
    """
    named = _RECORD.match(request.url.path)
    caller = request.scope.get("literati.caller")
    if named is None or caller is None or problem.missing != named[1]:
        return problem
    deletion = await find_deletion(request.app.state.services, named[1], caller.tenant, named[2])
    if deletion is None:
        return problem
    extended = Problem(404, f"{problem.detail} {deletion.sentence()}", kind=problem.kind)
    extended.deleted = deletion.member()
    return extended


async def find_deletion(services: Any, kind: str, tenant: str, record_id: str) -> Deletion | None:
    """Return when a record was deleted and how to restore it; None if it cannot be restored."""
    try:
        deleted_at = await run_in_threadpool(services.store.retention.deleted_at, kind, tenant, record_id)
    except RedisError:
        return None
    if deleted_at is None:
        return None
    until = _until(deleted_at, services.settings.keep_deleted_hours)
    if until is not None and until <= datetime.now(UTC):
        return None  # the reconciler removes it in its next round
    return Deletion(deleted_at, until, f"/v1/{kind}s/{record_id}/restore")


def _until(deleted_at: datetime, hours: float) -> datetime | None:
    """Return when the record is removed permanently; None if never or beyond the range of dates."""
    try:
        return deleted_at + timedelta(hours=hours)
    except OverflowError:
        return None


def _text(when: datetime) -> str:
    return f"{when:%Y-%m-%dT%H:%M:%SZ}"
