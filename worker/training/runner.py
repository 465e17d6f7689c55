"""Run one claimed job to its end: publish progress, renew the lease, apply control requests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty
from typing import Literal, NoReturn

import structlog
from redis import RedisError, ResponseError

from literati import SearchReport
from literati import StopReason as SearchStopReason
from worker.blobs.local import BlobNotFoundError, Blobs
from worker.blobs.s3 import BucketUnavailableError
from worker.domain.errors import FencedError, StoreError, is_store_fault
from worker.domain.jobs import ControlRequest, Job, JobError, JobState, Outcome, StopReason
from worker.domain.progress import ProgressUpdate
from worker.store import Store
from worker.training.memory import cap_memory_limit
from worker.training.path_thread import PathThread
from worker.training.progress_publisher import ProgressPublisher
from worker.training.search_thread import SearchThread
from worker.training.training_thread import FoldResult, ThreadEnded, TrainingMessage, TrainingThread

POLL_SECONDS = 0.1  # time between two readings of the control request
RENEWALS_PER_LEASE = 6
MAX_RENEWAL_SECONDS = 5.0
STOP_SECONDS = 0.6  # after that a request is carried out with what is stored, even if the search still runs
MAX_OVERTIME = 1.0  # seconds beyond its time limit after which a search is stopped from outside
WATCHDOG_SECONDS = 10.0  # after that the process of a search that does not stop is ended
STORE_PAUSE = 0.5  # seconds before a store that did not answer is asked again
EXIT_STUCK = 70  # exit status

# The outcome that a client asks for. The job goes back to the queue if nothing was requested.
_REQUESTED: dict[ControlRequest, Outcome | None] = {
    ControlRequest.CANCEL: Outcome(state=JobState.CANCELLED, stop_reason=StopReason.USER_CANCEL),
    ControlRequest.FINISH: Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.USER_FINISH),
    ControlRequest.PAUSE: Outcome(state=JobState.PAUSED),
    ControlRequest.NONE: None,
}

log = structlog.get_logger(__name__)


class JobRun:
    """Run a job. This belongs to the main thread of a worker's child process.

    The search has a thread of its own, which puts messages on a queue; this class only reads them.
    """

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        job: Job,
        lease_seconds: float,
        shutting_down: Callable[[], bool],
        max_memory: int,
    ) -> None:
        self.store = store
        self.job = job
        self.job_id = job.spec.id
        self.max_memory = max_memory
        self._set_limits(job)
        self.lease_seconds = lease_seconds
        self.shutting_down = shutting_down  # then the job goes back to the queue
        self.request = ControlRequest.NONE
        self.has_tree = job.progress.objective is not None
        self.report: SearchReport | None = None  # of a search that has finished
        self.ended: ThreadEnded | None = None
        self.overtime = False  # the search did not respect its time limit
        self.stopped_at: float | None = None
        self.renewed_at = time.monotonic()
        self.retry_at = 0.0  # do not ask the store before this time, because it did not answer
        self.publisher = ProgressPublisher(job, store, blobs)
        self.fold_result: FoldResult | None = None
        place = job.spec.sweep
        is_path = place is not None and place.changepoint_ratio is not None
        kind = PathThread if is_path else SearchThread
        self.search_thread: TrainingThread = kind(job, self.limits, store, blobs)

    def run(self) -> None:
        log.info("job claimed", attempt=self.job.attempts)
        self.search_thread.start()
        try:
            self._watch()
            self._end()
            self._join()
            self.publisher.discard_unpublished()
        except FencedError:
            log.warning("lease lost: another worker has the job")
            self._abandon()
        except ResponseError as error:  # the reconciler retries the job, and fails it if that does not help
            log.error("the store failed on this job; leaving it to the reconciler", error=str(error))
            self._abandon()
        except Exception as error:  # otherwise the search would continue, and a MemoryError end the worker
            self._stop(save=False)
            with suppress(RedisError, StoreError):
                self.store.jobs.finish(self.job_id, self.job.epoch, self._failure(error))
            self._join()
        except (SystemExit, KeyboardInterrupt):  # a cold shutdown: try once to hand the job back
            self._stop(save=False)
            with suppress(RedisError, FencedError):
                self.store.jobs.release(self.job_id, self.job.epoch)
            raise

    def _set_limits(self, job: Job) -> None:
        """Take over the limits of the job's record, within this worker's memory."""
        self.limits = cap_memory_limit(job.settings.limits, self.max_memory)
        self.memory_limit_lowered = self.limits is not job.settings.limits
        self.limits_revision = job.limits_revision

    # While the search runs

    def _watch(self) -> None:
        while self.ended is None and not self._overdue():
            self._receive(POLL_SECONDS)
            if time.monotonic() < self.retry_at:
                continue
            try:
                self._publish()
                self._read_control()
            except RedisError as error:
                self._pause_for_store(error)
            self._apply_control()

    def _receive(self, seconds: float) -> None:
        """Wait at most `seconds` for a message, then handle all messages in the queue."""
        with suppress(Empty):
            self._handle(self.search_thread.messages.get(timeout=seconds))
            while True:
                self._handle(self.search_thread.messages.get_nowait())

    def _handle(self, message: TrainingMessage) -> None:
        match message:
            case ProgressUpdate():
                self.publisher.add(message)
                self.has_tree = self.has_tree or message.incumbent is not None
            case SearchReport():
                self.report = message
            case FoldResult():
                self.fold_result = message
            case ThreadEnded():
                self.ended = message

    def _publish(self) -> None:
        reply = self.publisher.publish()
        if reply is not None:
            self.renewed_at = time.monotonic()
            self.request = reply.control_request

    def _read_control(self) -> None:
        pause = min(MAX_RENEWAL_SECONDS, self.lease_seconds / RENEWALS_PER_LEASE)
        if time.monotonic() - self.renewed_at >= pause:
            self.request = self.store.jobs.renew_lease(self.job_id, self.job.epoch)
            self.renewed_at = time.monotonic()
        else:
            control = self.store.jobs.read_control(self.job_id, self.job.epoch)
            self.request = control.control_request
            if control.limits_revision != self.limits_revision:
                self._change_limits()

    def _change_limits(self) -> None:
        """Continue under the limits that the job has now."""
        job = self.store.jobs.get(self.job.spec.tenant, self.job_id)
        if job is None:
            return  # it was deleted; the next call to the store raises FencedError
        self._set_limits(job)
        self.search_thread.change_limits(self.limits)
        log.info("limits changed", limits=self.limits.model_dump(exclude_defaults=True))

    def _apply_control(self) -> None:
        """Stop the search if a client asks for it, its time is over, or the worker shuts down."""
        if not self.overtime and self.search_thread.seconds_over_limit() > MAX_OVERTIME:
            self.overtime = True
            log.warning("the search exceeded its time limit; stopping it")
        requested = self.request is not ControlRequest.NONE
        if self.request is ControlRequest.FINISH:
            requested = self.has_tree
        if requested or self.overtime or self.shutting_down():
            self._stop(save=self.request is not ControlRequest.CANCEL)
            if self._seconds_since_stop() > WATCHDOG_SECONDS:
                self._exit_stuck()

    def _stop(self, save: bool) -> None:
        self.search_thread.stop(save)
        self.stopped_at = self.stopped_at or time.monotonic()

    def _seconds_since_stop(self) -> float:
        return 0.0 if self.stopped_at is None else time.monotonic() - self.stopped_at

    def _overdue(self) -> bool:
        """Return whether a request must be carried out now, although the search has not stopped yet."""
        return self._seconds_since_stop() > STOP_SECONDS and self._requested_outcome() is not None

    def _requested_outcome(self) -> Outcome | None:
        """Return the outcome that the client asked for; None if the job goes back to the queue.

        A job to be finished without a tree goes back too. Its request stays, for the next worker.
        """
        if self.request is ControlRequest.FINISH and not self.has_tree:
            return None
        if self.request is ControlRequest.NONE and self.overtime and self.has_tree:
            return Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.TIME_LIMIT)
        return _REQUESTED[self.request]

    def _pause_for_store(self, error: RedisError) -> None:
        """Wait a moment for a store that does not answer. Raise the error if it is an answer."""
        if is_store_fault(error):
            raise error
        log.warning("the store does not answer", error=f"{type(error).__name__}: {error}")
        self.retry_at = time.monotonic() + STORE_PAUSE

    # The end of the job

    def _end(self) -> None:
        """End the job in the store. Retry for two leases; after that another worker has the job."""
        outcome = self._outcome()
        since = time.monotonic()
        while True:
            try:
                result = "" if self.fold_result is None else self.fold_result.text
                self.publisher.end_job(outcome, self.limits_revision, result)
                break
            except RedisError as error:
                self._pause_for_store(error)
                if time.monotonic() - since > 2 * self.lease_seconds:
                    return
                time.sleep(STORE_PAUSE)
        log.info("job ended", outcome=None if outcome is None else outcome.state)

    def _outcome(self) -> Outcome | None:
        """Return how the job ends; None if it goes back to the queue."""
        if self.request is ControlRequest.CANCEL:
            return self._requested_outcome()
        error = None if self.ended is None else self.ended.error
        if error is not None:
            if is_store_fault(error):
                raise error
            if isinstance(error, BucketUnavailableError):
                log.error("blob store unavailable", error=str(error))
                self._count_blob_error("unavailable")
            if isinstance(error, RedisError | BucketUnavailableError):
                return None  # the data could not be read; another attempt may succeed
            return self._failure(error)
        if self.fold_result is not None:
            return Outcome(
                state=JobState.SUCCEEDED,
                stop_reason=self.fold_result.stop_reason,
                proven_optimal=self.fold_result.stop_reason is StopReason.PROVEN_OPTIMAL,
            )
        if self.report is not None:
            return Outcome(
                state=JobState.SUCCEEDED,
                stop_reason=StopReason(self.report.stop_reason),
                proven_optimal=self.report.stop_reason is SearchStopReason.PROVEN_OPTIMAL,
            )
        return self._requested_outcome()

    def _failure(self, error: BaseException) -> Outcome:
        failure = _job_error(error, self.memory_limit_lowered)
        log.error("job failed", code=failure.code, exc_info=error)
        if isinstance(error, BlobNotFoundError):
            self._count_blob_error("missing")
        return Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR, error=failure)

    def _count_blob_error(self, kind: Literal["missing", "unavailable"]) -> None:
        with suppress(RedisError):
            self.store.blobs.count_error(kind)

    def _abandon(self) -> None:
        """Stop the search of a job that belongs to another worker now."""
        self._stop(save=False)
        self._join()
        self.publisher.discard_unpublished()

    def _join(self) -> None:
        """Wait for the thread to end and read its last messages."""
        self.search_thread.join(WATCHDOG_SECONDS)
        if self.search_thread.is_alive():
            self._exit_stuck()
        self._receive(0.0)

    def _exit_stuck(self) -> NoReturn:
        """End the job and this process, because the search does not stop."""
        log.error("the search does not stop; ending this process")
        with suppress(RedisError, FencedError):
            outcome = self._requested_outcome()
            if outcome is None:
                self.store.jobs.release(self.job_id, self.job.epoch)
            else:
                self.store.jobs.finish(self.job_id, self.job.epoch, outcome)
        os._exit(EXIT_STUCK)


def _job_error(error: BaseException, memory_limit_lowered: bool) -> JobError:
    """Describe an error to the client. Only errors about the data show their own message."""
    if isinstance(error, MemoryError):
        return JobError(
            code="MEMORY", message="The worker ran out of memory; use a lower memory_limit or less data."
        )
    if isinstance(error, BlobNotFoundError):
        return JobError(
            code="DATASET_GONE",
            message="The stored rows of the dataset are missing: it was deleted, or the server lost them. "
            "Upload the dataset again, or ask the administrator to restore a backup.",
        )
    if isinstance(error, ValueError | TypeError):
        lowered = memory_limit_lowered and str(error).startswith("memory_limit:")
        note = "; this worker lowered it (LITERATI_WORKER_MEMORY_LIMIT)" if lowered else ""
        return JobError(code="DATA", message=f"{error}{note}")
    return JobError(code="INTERNAL", message="The search failed unexpectedly; see the worker's log.")
