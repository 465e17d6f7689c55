"""Jobs as workers use them: claim a job, publish progress, end the job.

A job is leased to its worker, and every claim has a new epoch. After its lease has run out and the job was
given to another worker, all calls of the first worker raise FencedError.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import astuple, dataclass
from typing import Any

import redis
import structlog

from worker.domain.base import new_id
from worker.domain.errors import FencedError, NotReplicatedError
from worker.domain.jobs import ControlRequest, Job, JobError, JobState, Outcome
from worker.domain.progress import ProgressUpdate
from worker.store import codecs
from worker.store.client import Scripts, StorePart, or_empty

log = structlog.get_logger(__name__)

CELERY_QUEUE = "literati"
MAX_WAKEUPS = 32  # sent at once
MAX_STALLS = 5  # claims in a row without progress after which a job fails, because it may kill its workers
_BATCH = 100
_ACTIVE_INDEXED = "literati:active-indexed"
_ACTIVE_STATES = {*JobState} - {JobState.PAUSED, *(state for state in JobState if state.terminal)}
_STALLED = JobError(
    code="WORKER_LOST",
    message=f"Its worker was lost {MAX_STALLS} times in a row without progress, so the job was not retried.",
).model_dump_json()


@dataclass(frozen=True)
class WorkerCores:
    """The cores that a worker has for jobs."""

    worker: str  # the main process, which all children of a worker share
    free: int = 1024
    total: int = 1024


@dataclass(frozen=True)
class ProgressReply:
    """The store's answer to a progress update."""

    control_request: ControlRequest
    replaced_snapshot: str | None  # a blob that has lost its last reference


@dataclass(frozen=True)
class JobControl:
    """What a worker has to check while it runs a job."""

    control_request: ControlRequest
    limits_revision: int  # not the same as before if the limits have changed


class JobLeases(StorePart):
    """The part of the job store that workers use."""

    def __init__(self, client: redis.Redis, scripts: Scripts, lease_seconds: float) -> None:
        super().__init__(client, scripts)
        self._lease = math.ceil(lease_seconds * 1000)
        self._active_indexed = False

    def claim(self, worker: str, cores: WorkerCores | None = None) -> Job | None:
        """Claim the next job of the fair queue that this worker has the cores for; None if there is none.

        A tenant's jobs are ordered by priority, jobs of equal priority by submission.
        """
        place = astuple(cores or WorkerCores(worker))
        try:
            answer = self._scripts.run("claim", worker, self._lease, MAX_STALLS, _STALLED, *place)
        except NotReplicatedError as error:
            if (job := _claimed(error.answer)) is not None:  # another worker gets it as soon as that is safe
                with suppress(redis.RedisError):
                    self.release(job.spec.id, job.epoch)
            raise
        return _claimed(answer)

    def publish_progress(self, job_id: str, epoch: int, update: ProgressUpdate) -> ProgressReply:
        """Store a progress update and renew the lease."""
        arguments = codecs.progress_arguments(update)
        _, request, replaced = self._scripts.run("publish_progress", job_id, epoch, self._lease, *arguments)
        return ProgressReply(ControlRequest(request.decode()), replaced.decode() or None)

    def renew_lease(self, job_id: str, epoch: int) -> ControlRequest:
        """Renew the lease; nothing else changes but `heartbeat_at`."""
        _, request = self._scripts.run("renew_lease", job_id, epoch, self._lease)
        return ControlRequest(request.decode())

    def read_control(self, job_id: str, epoch: int) -> JobControl:
        """Read the control request of the job, without renewing the lease. This call is cheap."""
        names = ["epoch", "lease_until", "wish", "limits_revision"]
        now, lease, request, limits = self._client.hmget(f"literati:job:{job_id}", names)
        if now != str(epoch).encode() or not lease or not isinstance(request, bytes):
            raise FencedError
        return JobControl(ControlRequest(request.decode()), int(limits or 0))

    def finish(
        self,
        job_id: str,
        epoch: int,
        outcome: Outcome,
        update: ProgressUpdate | None = None,
        *,
        limits_revision: int | None = None,
        result: str = "",
    ) -> None:
        """Store the last update and end the job in one step, which may be repeated safely.

        A pending cancel wins over any outcome, a pending finish over PAUSED. A job that reached a limit is
        queued again if its limits have changed since `limits_revision`. `result` is the JSON of what a job of
        a sweep found, if that is not a tree.
        """
        self._scripts.run(
            "finish",
            job_id,
            epoch,
            new_id("mdl"),
            outcome.state,
            outcome.stop_reason or "",
            int(outcome.proven_optimal),
            outcome.error.model_dump_json() if outcome.error else "",
            or_empty(limits_revision),
            result,
            *codecs.progress_arguments(update),
        )

    def release(self, job_id: str, epoch: int) -> None:
        """Give the job back at a soft shutdown: carry out a pending request, or queue the job again."""
        self._scripts.run("release", job_id, epoch, new_id("mdl"))

    def reconcile(self) -> int:
        """Queue jobs again that have lost their worker. Return how many wake-ups are needed.

        These are the jobs whose lease has run out, and those that a failed script left without a lease or a
        place in a queue. Any process may call this at any time.
        """
        self._index_active()
        while True:
            _, handled, faults = self._scripts.run("reconcile", *(new_id("mdl") for _ in range(_BATCH)))
            for job_id, epoch, request_id, what in handled:
                log.warning(
                    what.decode(),
                    job_id=job_id.decode(),
                    epoch=int(epoch),
                    request_id=request_id.decode() or None,
                )
            for job_id, error in faults:
                log.error(
                    "the store failed on a job that has lost its worker",
                    job_id=job_id.decode(),
                    error=error.decode(),
                )
            if len(handled) < _BATCH:
                return self.wakeups_wanted()

    def _index_active(self) -> None:
        """Index the active jobs of a version without this index, once for each store.

        A job that ends meanwhile may be indexed too; the script `reconcile` removes it.
        """
        if self._active_indexed or self._client.exists(_ACTIVE_INDEXED):
            self._active_indexed = True
            return
        for key in self._client.scan_iter(match="literati:tenant-state:*", count=1000):
            state = key.split(b":")[2].decode()
            if state in _ACTIVE_STATES:
                found: dict[Any, Any] = dict.fromkeys(self._client.zrange(key, 0, -1), 0)
                if found:
                    self._client.zadd("literati:active", found, nx=True)
        self._client.set(_ACTIVE_INDEXED, 1)

    def wakeups_wanted(self) -> int:
        """Return how many queued jobs have no Celery message, up to MAX_WAKEUPS."""
        pipeline = self._client.pipeline(transaction=False)
        pipeline.zcard("literati:waiting")
        pipeline.llen(CELERY_QUEUE)
        queued, waiting = pipeline.execute()
        return int(min(max(queued - waiting, 0), MAX_WAKEUPS))


def _claimed(answer: Any) -> Job | None:
    return None if answer[0] == b"NONE" else codecs.job(codecs.to_dict(answer[1]))
