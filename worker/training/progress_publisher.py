"""Send the progress of a search to the store."""

from __future__ import annotations

import time
from contextlib import suppress

from redis import RedisError

from worker.blobs.local import Blobs
from worker.domain.jobs import Job, Outcome
from worker.domain.progress import ProgressUpdate
from worker.store import Store
from worker.store.leases import ProgressReply

PUBLISH_SECONDS = 0.5  # time between two updates without a better tree


class ProgressPublisher:
    """Combine the updates of a search and send them; an update without an answer is sent again unchanged."""

    def __init__(self, job: Job, store: Store, blobs: Blobs) -> None:
        self._job_id, self._epoch = job.spec.id, job.epoch
        self._store = store
        self._blobs = blobs
        self._pending: ProgressUpdate | None = None  # not sent yet
        self._unconfirmed: ProgressUpdate | None = None  # sent, but perhaps not received
        self._published_at = 0.0

    def add(self, update: ProgressUpdate) -> None:
        if self._pending is None:
            self._pending = update
            return
        replaced = self._pending.snapshot
        self._pending = self._pending.followed_by(update)
        if replaced is not None and replaced != self._pending.snapshot:
            with suppress(OSError):
                self._blobs.delete(replaced)  # it was never published

    def publish(self) -> ProgressReply | None:
        """Send the pending update if it is time, or if it has a tree; return the store's reply."""
        if self._unconfirmed is None and self._pending is not None and self._is_due(self._pending):
            self._unconfirmed, self._pending = self._pending, None
        if self._unconfirmed is None:
            return None
        reply = self._send()
        self._published_at = time.monotonic()
        if reply.replaced_snapshot is not None:
            with suppress(OSError):  # the reconciler will delete it
                self._blobs.delete(reply.replaced_snapshot)
        return reply

    def _is_due(self, update: ProgressUpdate) -> bool:
        return update.incumbent is not None or time.monotonic() - self._published_at >= PUBLISH_SECONDS

    def _send(self) -> ProgressReply:
        assert self._unconfirmed is not None
        reply = self._store.jobs.publish_progress(self._job_id, self._epoch, self._unconfirmed)
        self._unconfirmed = None
        return reply

    def end_job(self, outcome: Outcome | None, limits_revision: int, result: str = "") -> None:
        """Publish what is left and end the job, or queue it again if there is no outcome."""
        if self._unconfirmed is not None:
            self._send()
        self._unconfirmed, self._pending = self._pending, None
        if outcome is None:
            if self._unconfirmed is not None:
                self._send()
            self._store.jobs.release(self._job_id, self._epoch)
        else:
            # If there is no answer, the update is sent again by itself.
            self._store.jobs.finish(
                self._job_id,
                self._epoch,
                outcome,
                self._unconfirmed,
                limits_revision=limits_revision,
                result=result,
            )
            self._unconfirmed = None

    def discard_unpublished(self) -> None:
        """Delete the snapshots that no record refers to."""
        for update in (self._unconfirmed, self._pending):
            if update is not None and update.snapshot is not None:
                with suppress(RedisError, OSError):
                    if not self._store.blobs.is_referenced(update.snapshot):
                        self._blobs.delete(update.snapshot)
