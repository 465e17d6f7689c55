"""Move ended jobs and models from Redis to the blobs, some time after their end.

The name of an archive is stored before its blob is written, so a process that is killed leaves no blob that
nobody knows of. Then one script puts the archive in the place of the record, unless that has changed.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import redis
import structlog

from literati import __version__
from worker.blobs.local import Blobs
from worker.store.archive_files import Kind, WholeRecord
from worker.store.atomic_reads import AtomicReads
from worker.store.client import Scripts
from worker.store.packed_records import Record, short_form
from worker.store.store_format import ARCHIVES

log = structlog.get_logger(__name__)

MAX_SECONDS = 2.0  # of one call
RETRY_SECONDS = 600.0  # after which another process tries again to archive a record
_BATCH = 10
_SCAN = 1000
_INDEXED = "literati:archivable-indexed"
_ARCHIVABLE = "literati:archivable"
_INDEXES = (
    *(f"literati:tenant-state:{state}:*" for state in ("SUCCEEDED", "CANCELLED", "FAILED")),
    "literati:tenant-models:*",
)


class Archiver:
    """Archive the records of a store. Any number of processes may do so at the same time."""

    def __init__(self, client: redis.Redis, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts

    def archive(
        self,
        blobs: Blobs,
        age_seconds: float,
        *,
        max_seconds: float = MAX_SECONDS,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int:
        """Archive records that ended at least this long ago, for some seconds. Return how many."""
        if not math.isfinite(age_seconds):
            return 0
        deadline = time.monotonic() + max_seconds
        archived = 0
        for member in self._due(round(1000 * age_seconds)):
            try:
                archived += self.archive_record(blobs, member)
            except (redis.ConnectionError, redis.TimeoutError, OSError):
                raise  # the store or the blobs do not answer; the next round may succeed
            except Exception as error:
                log.error("a record cannot be archived", record_id=member, error=repr(error))
            if time.monotonic() > deadline or stopping():
                break
        return archived

    def _due(self, age: int) -> Iterator[str]:
        """Yield the ids of jobs and models. Each is given to one process for RETRY_SECONDS."""
        while True:
            status, *rest = self._scripts.run("take_archivable", age, round(1000 * RETRY_SECONDS), _BATCH)
            if status == b"INDEX":
                self._index_earlier()
            elif status == b"WAIT" or not rest[0]:
                return
            else:
                yield from (member.decode() for member in rest[0])

    def _index_earlier(self) -> None:
        """Index what an earlier version stored, once for each store, when archiving begins."""
        for pattern in _INDEXES:
            for key in self._client.scan_iter(match=pattern, count=_SCAN):
                cursor = -1
                while cursor != 0:
                    cursor, members = self._client.zscan(key, max(cursor, 0), count=_SCAN)
                    due: dict[Any, Any] = dict.fromkeys((member for member, _ in members), 0)
                    if due:
                        self._client.zadd(_ARCHIVABLE, due, nx=True)
        self._client.set(_INDEXED, 1)

    def archive_record(self, blobs: Blobs, record_id: str) -> bool:
        """Archive an ended job or a model now. Return False if there is nothing to archive."""
        kind: Kind = "model" if record_id.startswith("mdl_") else "job"
        whole = self._read_job(record_id) if kind == "job" else self._read_model(record_id)
        if whole is None:
            return False
        content = whole.to_bytes(made_at=str(time.time_ns()))
        digest = hashlib.sha256(content)
        self._scripts.run("begin_archive", digest.hexdigest(), round(1000 * RETRY_SECONDS))
        blobs.put(content)
        fields = short_form(kind, whole.fields)
        flat = (part for item in fields.items() for part in item)
        # What the script compares, so that nothing is lost that was changed since it was read.
        expected = (whole.fields.get(b"revision", b""), len(whole.models))
        reader = (ARCHIVES, __version__)
        _, done = self._scripts.run("archive", kind, record_id, digest.digest(), *expected, *reader, *flat)
        return bool(done)

    def _read_model(self, model_id: str) -> WholeRecord | None:
        fields: Record = self._client.hgetall(f"literati:model:{model_id}")  # type: ignore[assignment]
        return WholeRecord("model", model_id, fields) if b"tree" in fields else None

    def _read_job(self, job_id: str) -> WholeRecord | None:
        key = f"literati:job:{job_id}"
        reads = AtomicReads(self._client)
        reads.hgetall(key)
        reads.lrange(f"{key}:trace", 0, -1)
        reads.xrange(f"{key}:events")
        reads.hgetall(f"{key}:models")
        fields, trace, events, models = reads.execute()
        if not fields.get(b"finished_at") or b"archive" in fields:
            return None
        incumbents: dict[int, Record] = {}
        last = int(fields.get(b"incumbents") or 0)
        for first in range(1, last + 1, _SCAN):
            revisions = range(first, min(first + _SCAN, last + 1))
            pipeline = self._client.pipeline(transaction=False)
            for revision in revisions:
                pipeline.hgetall(f"{key}:incumbent:{revision}")
            found = zip(revisions, pipeline.execute(), strict=True)
            incumbents |= {revision: fields for revision, fields in found if fields}
        return WholeRecord("job", job_id, fields, events, trace, incumbents, models)
