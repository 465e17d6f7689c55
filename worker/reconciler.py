"""Repair what failures leave behind, and delete what is no longer needed.

Jobs whose worker was lost go back to the queue, and lost wake-ups are sent again. Ended jobs are archived.
Records past their retention are deleted, as are blobs whose last record was deleted. Blobs that no record
ever named are left alone: they may belong to another store.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import redis
import structlog

from worker.blobs.local import Blobs
from worker.domain.errors import StoreFormatError
from worker.settings import WorkerSettings
from worker.store import Store
from worker.store.measurements import WorkerInfo
from worker.store.retention import RetentionKind
from worker.sweeps.advance import reconcile as reconcile_sweeps

log = structlog.get_logger(__name__)

# A worker is counted until it has been silent for three rounds and ten seconds.
MAX_MISSED_ROUNDS, MAX_ROUND_SECONDS = 3, 10.0
HOUR, DAY = 3600.0, 24 * 3600.0
MAX_TEMPORARY_FILE_AGE = DAY  # no upload takes that long: its process was killed
MAX_DELETION_SECONDS = 2.0  # in which a round deletes blobs
MAX_EXPIRED_PER_ROUND = 50  # of each kind, so that a round stays short


def retention_days(settings: WorkerSettings) -> dict[RetentionKind, float]:
    """Return for how many days each kind of record is kept."""
    return {
        "searches": settings.keep_searches_days,
        "jobs": settings.keep_jobs_days,
        "sweeps": settings.keep_jobs_days,
        "datasets": settings.keep_datasets_days,
        "deleted": settings.keep_deleted_hours / 24,
    }


class Reconciler:
    """A background thread of every API and worker process. Any number of them may run at the same time."""

    def __init__(
        self,
        store: Store,
        wake: Callable[[int], object],
        blobs: Blobs | None = None,
        *,
        interval: float = 5.0,
        worker: WorkerInfo | None = None,
        retention: Mapping[RetentionKind, float] | None = None,
        on_refused: Callable[[], object] = lambda: None,
        archive_after_hours: float = math.inf,
    ) -> None:
        self._store = store
        self._wake = wake
        self._blobs = blobs
        self._interval = interval
        self._worker = worker  # in a worker process, which reports that it is alive
        self._retention = retention or {}
        self._on_refused = on_refused  # called once, when a newer program has written to the store
        self._archive_after = HOUR * archive_after_hours
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reconciler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for the end of its current round."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            with suppress(redis.RedisError):
                self._report_alive(0.0)

    def _run(self) -> None:
        while not self._stop.is_set():
            for step in (self.run_once, self.archive):
                try:
                    step()
                except redis.RedisError as error:
                    log.warning("the store does not answer", error=str(error))
                except Exception:
                    log.exception("reconciling failed")  # the next round may succeed
            self._stop.wait(self._interval)

    def _may_use_store(self) -> bool:
        """Check the format of the store, which may change while this process runs."""
        known = self._store.format.refusal
        try:
            self._store.format.check()
        except StoreFormatError as error:
            if known is None:
                log.error("the store is newer than this program", detail=str(error))
                self._on_refused()
            return False
        return True

    def _report_alive(self, seconds: float) -> None:
        if self._worker is not None:
            self._store.report_alive(self._worker, seconds)

    def run_once(self) -> None:
        if not self._may_use_store():
            return
        self._report_alive(MAX_MISSED_ROUNDS * self._interval + MAX_ROUND_SECONDS)
        wakeups = self._store.jobs.reconcile()
        if wakeups > 0:
            self._wake(wakeups)
        if created := reconcile_sweeps(self._store):
            self._wake(created)
        for kind, days in self._retention.items():
            deleted = self._store.retention.expire(kind, DAY * days, MAX_EXPIRED_PER_ROUND)
            if deleted:
                log.info("expired records deleted", kind=kind, deleted=deleted)
        if self._blobs is not None:
            deadline = time.monotonic() + MAX_DELETION_SECONDS
            for name in self._store.blobs.unreferenced():
                self._blobs.delete_unless(name, partial(self._store.blobs.is_referenced, name))
                if time.monotonic() > deadline or self._stop.is_set():
                    break
            self._blobs.delete_temporary_files(MAX_TEMPORARY_FILE_AGE)

    def archive(self) -> None:
        """Move ended jobs to the blobs. A store that is full does this although it takes no other writes."""
        if self._blobs is None or self._store.format.refusal is not None:
            return
        try:
            archived = self._store.archiver.archive(
                self._blobs, self._archive_after, stopping=self._stop.is_set
            )
        except OSError as error:
            log.warning("the blobs do not answer, so nothing is archived", error=str(error))
            return
        if archived:
            log.info("records archived", archived=archived)
