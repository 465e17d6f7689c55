"""One claimed job from here to its end: publish what the search finds, keep the lease, obey wishes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import structlog
from redis import RedisError, ResponseError

from literati import StopReason as SearchStop

from . import outcomes, tables
from .blobs import BlobGoneError, Blobs
from .bucket import BucketAwayError
from .errors import FencedError, StoreError, is_store_fault
from .memory import within
from .messages import Checkpoint, JobState, Outcome, StopReason, Wish
from .opening import Opened, open_search
from .problem import Problem
from .stepper import Stepper
from .store import Claim, Store

TICK = 0.1  # seconds between two looks at the wishes
PUBLISH_SECONDS = 0.5  # while bounds move without a better tree
BEATS_PER_LEASE = 6
GRACE_SECONDS = 0.6  # that a search has to come to its end; then its wish is granted with what is stored
MAX_OVERTIME = 1.0  # seconds that a search may go on beyond its time limit before it is stopped from outside
WATCHDOG_SECONDS = 10.0  # a search that does not return by then takes its process along
STORE_PAUSE = 0.5  # after an answer that did not come
STUCK = 70  # exit status

log = structlog.get_logger(__name__)


class JobRun:
    """Belongs to the main thread of a worker's child process."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        claim: Claim,
        lease_seconds: float,
        leaving: Callable[[], bool],
        most_memory: int,
    ) -> None:
        self.store = store
        self.blobs = blobs
        self.claim = claim
        self.most_memory = most_memory
        self.limits = within(claim.job.settings.limits, most_memory)
        self.memory_lowered = self.limits is not claim.job.settings.limits
        self.limits_revision = claim.job.limits_revision
        self.job_id = claim.job.spec.id
        self.lease_seconds = lease_seconds
        self.leaving = leaving  # the worker is shutting down: hand the job back
        self.wish = Wish.NONE
        self.unsent: Checkpoint | None = None
        self.heard_at = time.monotonic()  # of the store, with the lease renewed
        self.published_at = 0.0
        self.stopped_at: float | None = None
        self.overtime = False  # the search did not keep its time limit
        self.quiet_until = 0.0  # the store did not answer: do not ask again before
        self.stepper = Stepper(self.job_id, self._prepare, blobs, claim.job.progress.objective)

    def run(self) -> None:
        log.info("job claimed", attempt=self.claim.job.attempts)
        self.stepper.start()
        try:
            self._watch()
            self._end()
            self._join()
            self._clear_up()
        except FencedError:
            log.warning("lease lost: another worker has the job")
            self._stop(save=False)
            self._join()
            self._discard_unheard()
        except (
            ResponseError
        ) as error:  # retried as if this worker were lost, and failed if that does not help
            log.error("the store failed on this job; leaving it to the reconciler", error=str(error))
            self._stop(save=False)
            self._join()
            self._discard_unheard()
        except Exception as error:  # left alone, the search would go on, and a MemoryError end the worker
            self._stop(save=False)
            with suppress(RedisError, StoreError):
                self.store.jobs.finish(self.job_id, self.claim.epoch, self._failed(error))
            self._join()
        except (SystemExit, KeyboardInterrupt):  # a cold shutdown: one attempt to hand over
            self._stop(save=False)
            with suppress(RedisError, FencedError):
                self.store.jobs.release(self.job_id, self.claim.epoch)
            raise

    def _prepare(self) -> tuple[Problem, Opened]:
        """On the search's thread: read the rows, open the search."""
        spec = self.claim.job.spec
        dataset = self.store.datasets.get(spec.tenant, spec.dataset_id)
        if dataset is None:
            raise BlobGoneError(spec.dataset_id)
        loaded = tables.load(self.blobs.path(dataset.blob), dataset)
        train, validation = tables.split(loaded, spec.validation)
        problem = Problem(spec, train, validation, self.stepper.poll)
        return problem, open_search(self.claim, problem, self.limits, self.store, self.blobs)

    # While it runs

    def _watch(self) -> None:
        while not (self.stepper.done.is_set() or self._overdue()):
            self.stepper.news.wait(TICK)
            if time.monotonic() < self.quiet_until:
                time.sleep(TICK)  # news may be waiting all the while
                continue
            try:
                self._publish()
                self._listen()
            except RedisError as error:
                self._no_answer(error)
            self._obey()

    def _publish(self) -> None:
        urgent = self.stepper.news.is_set()
        if self.unsent is None and (urgent or time.monotonic() - self.published_at >= PUBLISH_SECONDS):
            self.unsent = self.stepper.take()
        if self.unsent is not None:
            ack = self.store.jobs.checkpoint(self.job_id, self.claim.epoch, self.unsent)
            self.unsent = None
            self.published_at = self.heard_at = time.monotonic()
            self.wish = ack.wish
            if ack.replaced_blob is not None:
                with suppress(OSError):  # the reconciler will
                    self.blobs.delete(ack.replaced_blob)

    def _listen(self) -> None:
        if time.monotonic() - self.heard_at >= min(5.0, self.lease_seconds / BEATS_PER_LEASE):
            self.wish = self.store.jobs.beat(self.job_id, self.claim.epoch)
            self.heard_at = time.monotonic()
        else:
            orders = self.store.jobs.orders(self.job_id, self.claim.epoch)
            self.wish = orders.wish
            if orders.limits_revision != self.limits_revision:
                self._take_limits()

    def _take_limits(self) -> None:
        """Search on under the limits that the job has now."""
        job = self.store.jobs.get(self.claim.job.spec.tenant, self.job_id)
        if job is None:
            return  # it is deleted, which the next call to the store will say
        self.limits = within(job.settings.limits, self.most_memory)
        self.memory_lowered = self.limits is not job.settings.limits
        self.limits_revision = job.limits_revision
        self.stepper.change_limits(self.limits)
        log.info("limits changed", limits=self.limits.model_dump(exclude_defaults=True))

    def _obey(self) -> None:
        granted = {
            Wish.NONE: False,
            Wish.CANCEL: True,
            Wish.PAUSE: True,
            Wish.FINISH: self.stepper.has_tree,
        }[self.wish]
        if self.stepper.seconds_over() > MAX_OVERTIME and not self.overtime:
            self.overtime = True
            log.warning("the search goes on beyond its time limit; stopping it")
        if granted or self.overtime or self.leaving():
            self._stop(save=self.wish is not Wish.CANCEL)
            self._check_watchdog()

    def _overdue(self) -> bool:
        """A wish was to be granted by now, but the search is in the middle of something long."""
        since = 0.0 if self.stopped_at is None else time.monotonic() - self.stopped_at
        return since > GRACE_SECONDS and self._granted() is not None

    def _granted(self) -> Outcome | None:
        """The end that is wished. None: the job goes back to the queue, as does one to be finished without a
        tree: the wish stays with it, for the next worker.
        """
        if self.wish is Wish.FINISH and not self.stepper.has_tree:
            return None
        if self.wish is Wish.NONE and self.overtime and self.stepper.has_tree:
            return Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.TIME_LIMIT)
        return outcomes.granted(self.wish)

    def _stop(self, save: bool) -> None:
        self.stepper.stop(save)
        self.stopped_at = self.stopped_at or time.monotonic()

    def _check_watchdog(self) -> None:
        if self.stopped_at is not None and time.monotonic() - self.stopped_at > WATCHDOG_SECONDS:
            self._give_up()

    def _give_up(self) -> NoReturn:
        """The search does not return: say how the job stands, and end this process with it."""
        log.error("the search does not stop; ending this process")
        with suppress(RedisError, FencedError):
            outcome = self._granted()
            if outcome is None:
                self.store.jobs.release(self.job_id, self.claim.epoch)
            else:
                self.store.jobs.finish(self.job_id, self.claim.epoch, outcome)
        os._exit(STUCK)

    def _join(self) -> None:
        if not self.stepper.done.wait(WATCHDOG_SECONDS):
            self._give_up()

    def _clear_up(self) -> None:
        """What the search saved after its end was said, nobody will ask for."""
        late = self.stepper.take()
        if late is not None and late.blob is not None:
            with suppress(OSError):
                self.blobs.delete(late.blob)

    def _discard_unheard(self) -> None:
        """What was saved for a job that is another worker's now, unless it was heard of before that."""
        for said in (self.unsent, self.stepper.take()):
            if said is not None and said.blob is not None:
                with suppress(RedisError, OSError):
                    if not self.store.blobs.wanted(said.blob):
                        self.blobs.delete(said.blob)

    def _no_answer(self, error: RedisError) -> None:
        """Wait a moment for a store that does not answer. Raise the error if it is an answer."""
        if is_store_fault(error):
            raise error
        log.warning("the store does not answer", error=f"{type(error).__name__}: {error}")
        self.quiet_until = time.monotonic() + STORE_PAUSE

    # The end

    def _end(self) -> None:
        """Say it until it is heard; after a lease without an answer the job is another worker's anyway."""
        outcome = self._outcome()
        since = time.monotonic()
        while True:
            try:
                self._say_end(outcome)
                break
            except RedisError as error:
                self._no_answer(error)
                if time.monotonic() - since > 2 * self.lease_seconds:
                    return
                time.sleep(STORE_PAUSE)
        log.info("job ended", outcome=None if outcome is None else outcome.state)

    def _say_end(self, outcome: Outcome | None) -> None:
        if self.unsent is not None:  # it was taken, but perhaps not heard
            self.store.jobs.checkpoint(self.job_id, self.claim.epoch, self.unsent)
            self.unsent = None
        last = self.stepper.take()
        if outcome is None:
            self.unsent = last
            if last is not None:
                self.store.jobs.checkpoint(self.job_id, self.claim.epoch, last)
            self.store.jobs.release(self.job_id, self.claim.epoch)
        else:
            self.unsent = last  # said again as a checkpoint if this is not heard
            self.store.jobs.finish(
                self.job_id, self.claim.epoch, outcome, last, limits_revision=self.limits_revision
            )
        self.unsent = None

    def _outcome(self) -> Outcome | None:
        """None: the job goes back to the queue."""
        if self.wish is Wish.CANCEL:
            return self._granted()
        failure = self.stepper.failure
        if failure is not None and is_store_fault(failure):
            raise failure
        if isinstance(failure, RedisError | BucketAwayError):
            return None  # it could not read what it needs to begin; another time it will
        if failure is not None:
            return self._failed(failure)
        report = self.stepper.report
        if report is not None and report.stop_reason not in (SearchStop.USER_STOP, SearchStop.RUNNING):
            return Outcome(
                state=JobState.SUCCEEDED,
                stop_reason=StopReason(report.stop_reason),
                proven_optimal=report.proven_optimal,
            )
        return self._granted()

    def _failed(self, error: BaseException) -> Outcome:
        outcome = outcomes.failed(error, memory_lowered=self.memory_lowered)
        log.error("job failed", code=outcome.error and outcome.error.code, exc_info=error)
        return outcome
