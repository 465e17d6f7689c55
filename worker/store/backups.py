"""When the last backup was made, for the metrics."""

from __future__ import annotations

from typing import Any

from worker.store.client import StorePart

_LAST = "literati:last-backup"


class BackupRecords(StorePart):
    """The last complete backup of this store."""

    def now(self) -> int:
        """Return the time of the server in milliseconds."""
        seconds, microseconds = self._client.time()
        return int(seconds) * 1000 + int(microseconds) // 1000

    def record(self, time: int, missing: int) -> None:
        """Record that a backup of the content at this time is complete, and how many blobs it lacks."""
        fields: dict[Any, Any] = {"at": time, "missing": missing}
        self._client.hset(_LAST, mapping=fields)
