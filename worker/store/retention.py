"""What is deleted when nobody has asked for it for long: ended jobs, their searches, unused datasets.

And what was deleted by its owner so long ago that it cannot be restored any more.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Literal, get_args

import redis

from . import records
from .client import Scripts

What = Literal["jobs", "searches", "datasets", "deleted"]
KINDS: tuple[What, ...] = get_args(What)
_STEP = 5  # in one script, during which the server does nothing else


class Retention:
    """Never touches a job that has not ended, a dataset that such a job uses, or a model."""

    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def expire(self, what: What, age_seconds: float, most: int) -> int:
        """Delete those of at least this age, the oldest first, about `most` of them; how many there were.

        Jobs and searches have the age of the job's end, datasets that of their last use by a job or upload,
        and what was deleted that of its deletion.
        The blobs become garbage.
        """
        deleted = looked_at = 0
        while looked_at < most and math.isfinite(age_seconds):
            found, gone = self._scripts.run("expire", what, round(1000 * age_seconds), _STEP)
            looked_at += found
            deleted += gone
            if found < _STEP:
                break
        return deleted

    def deleted_at(self, kind: str, tenant: str, record_id: str) -> datetime | None:
        """Return when the tenant deleted a record that is still kept; None if there is no such record."""
        at = self._client.zscore(f"literati:deleted-{kind}s:{tenant}", record_id)
        return None if at is None else records.moment(str(int(at)))

    def count(self, what: What, age_seconds: float) -> int:
        """How many of them there are."""
        return int(self._scripts.run("count_expired", what, round(1000 * age_seconds)))
