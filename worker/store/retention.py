"""Delete old records after a time, and find the blobs that no record refers to."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any, Literal

from worker.store import codecs
from worker.store.client import StorePart

RetentionKind = Literal["jobs", "searches", "datasets", "sweeps", "deleted"]
_REFERENCES, _UNREFERENCED = "literati:blob-references", "literati:garbage"
_ARCHIVES, _PENDING = "literati:archives", "literati:archives-pending"
DELETION_HOLD = "literati:backup"  # exists while a backup is being made
_BATCH = 5  # records in one script, during which the server does nothing else


class Retention(StorePart):
    """Delete old records, but never a job that has not ended, a dataset that such a job uses, or a model."""

    def expire(self, kind: RetentionKind, age_seconds: float, max_records: int) -> int:
        """Delete about `max_records` records of at least this age, the oldest first; return how many.

        Age counts from the end of a job, the last use of a dataset by a job or an upload, or the deletion of
        a deleted record. The reconciler deletes the blobs.
        """
        deleted = examined = 0
        while examined < max_records and math.isfinite(age_seconds):
            batch = 1 if kind == "sweeps" else _BATCH  # a sweep may have thousands of jobs
            found, gone = self._scripts.run("expire", kind, round(1000 * age_seconds), batch)
            examined += found
            deleted += gone
            if found < batch:
                break
        return deleted

    def deleted_at(self, kind: str, tenant: str, record_id: str) -> datetime | None:
        """Return when the tenant deleted a record that can be restored; None if there is no such record."""
        at = self._client.zscore(f"literati:deleted-{kind}s:{tenant}", record_id)
        return None if at is None else codecs.to_datetime(str(int(at)))

    def count(self, kind: RetentionKind, age_seconds: float) -> int:
        """Return how many records of at least this age there are."""
        return int(self._scripts.run("count_expired", kind, round(1000 * age_seconds)))


class BlobReferences(StorePart):
    """Which blobs are in use. Records count as references to theirs; an archive belongs to one record."""

    def referenced(self) -> set[str]:
        """Return the blobs that records refer to. Changes during the call may or may not be seen."""
        counted = {name.decode() for name, _ in self._client.hscan_iter(_REFERENCES, count=1000)}
        return counted | {raw.hex() for raw in self._client.sscan_iter(_ARCHIVES, count=1000)}

    def pending(self) -> set[str]:
        """Return the blobs of archives that are being written. No record needs them yet."""
        names: Any = self._client.zrange(_PENDING, 0, -1)
        return {name.decode() for name in names}

    def all_unreferenced(self) -> list[str]:
        """Return the blobs that have lost their last reference. Some may have a new one by now."""
        names: set[Any] = self._client.smembers(_UNREFERENCED)
        return [name.decode() for name in names]

    def unreferenced(self) -> list[str]:
        """Return the blobs that can be deleted now; none while a backup is being made."""
        return [] if self.deletions_are_held() else self.all_unreferenced()

    def count_error(self, kind: Literal["missing", "unavailable"]) -> None:
        """Count a blob that could not be read, for the metrics."""
        self._client.hincrby("literati:totals", f"blob_errors:{kind}", 1)

    def deletions_are_held(self) -> bool:
        """Return whether a backup is being made, during which every blob counts as referenced."""
        return bool(self._client.exists(DELETION_HOLD))

    def is_referenced(self, name: str) -> bool:
        """Return whether a record refers to the blob, and remove it from the list of unreferenced blobs.

        While a backup is being made, every blob counts as referenced and stays on the list.
        """
        return bool(self._scripts.run("is_referenced", name))
