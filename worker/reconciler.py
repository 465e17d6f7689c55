"""Sees to it that no accepted job is forgotten and no blob is kept for nothing.

Jobs whose worker was lost go back to the queue, wake-ups that were lost are sent again, what the settings do
not want to be kept any longer goes, and blobs whose last record was deleted are deleted. (Blobs that no
record ever named are left alone: they may belong to another store, and a folder is cheaper than a dataset.)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import redis
import structlog

from .blobs import Blobs
from .settings import WorkerSettings
from .store import Store, WorkerSeat
from .store.retention import What

log = structlog.get_logger(__name__)

ROUNDS_MISSED, SLOW_SECONDS = 3, 10.0  # before a worker that says nothing is not counted any more
DAY = 24 * 3600.0
DRAFT_SECONDS = DAY  # no upload takes that long: its process was killed
MOST_EXPIRED = 50  # of each kind in one round: there is other work


def keep_days(settings: WorkerSettings) -> dict[What, float]:
    """How long is kept what."""
    return {
        "searches": settings.keep_searches_days,
        "jobs": settings.keep_jobs_days,
        "datasets": settings.keep_datasets_days,
        "deleted": settings.keep_deleted_hours / 24,
    }


class Reconciler:
    """Runs in every API and worker process; what one of them does the others find done."""

    def __init__(
        self,
        store: Store,
        wake: Callable[[int], object],
        blobs: Blobs | None = None,
        *,
        every: float = 5.0,
        seat: WorkerSeat | None = None,
        keep: Mapping[What, float] | None = None,
    ) -> None:
        self._store = store
        self._wake = wake
        self._blobs = blobs
        self._every = every
        self._seat = seat  # in a worker, which says that it is alive
        self._keep = keep or {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reconciler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the round that may be under way is over."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            with suppress(redis.RedisError):
                self._say_alive(0.0)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.once()
            except redis.RedisError as error:
                log.warning("the store does not answer", error=str(error))
            except Exception:
                log.exception("reconciling failed")  # the next round may do better; a dead thread would not
            self._stop.wait(self._every)

    def _say_alive(self, seconds: float) -> None:
        if self._seat is not None:
            self._store.alive(self._seat, seconds)

    def once(self) -> None:
        self._say_alive(ROUNDS_MISSED * self._every + SLOW_SECONDS)
        wanted = self._store.jobs.reconcile()
        if wanted > 0:
            self._wake(wanted)
        self._expire()
        if self._blobs is not None:
            self._sweep(self._blobs)

    def _expire(self) -> None:
        for what, days in self._keep.items():
            deleted = self._store.retention.expire(what, DAY * days, MOST_EXPIRED)
            if deleted:
                log.info("not kept any longer", what=what, deleted=deleted)

    def _sweep(self, blobs: Blobs) -> None:
        for name in self._store.blobs.garbage():
            blobs.discard(name, partial(self._store.blobs.wanted, name))
        blobs.drop_drafts(DRAFT_SECONDS)
