"""A worker's side of the jobs: claim one, publish what the search knows, end it. Fenced by epochs.

A job that a worker has is leased to it. A worker that was taken for lost gets a FencedError for whatever it
says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import redis
import structlog

from worker.errors import FencedError
from worker.messages import Checkpoint, Job, JobError, JobState, Outcome, Wish, new_id

from . import records
from .client import Scripts

log = structlog.get_logger(__name__)

CELERY_QUEUE = "literati"
MOST_WAKEUPS = 32
MOST_STALLS = 5  # claims in a row without progress before the job is taken for one that kills its workers
_BATCH = 100
_ACTIVE_INDEXED = "literati:active-indexed"
_ACTIVE_STATES = {*JobState} - {JobState.PAUSED, *(state for state in JobState if state.terminal)}
_POISON = JobError(
    code="WORKER_LOST",
    message=f"Its worker was lost {MOST_STALLS} times in a row without progress, so it was not tried again.",
)


@dataclass(frozen=True)
class Room:
    """The cores that a worker has for jobs."""

    machine: str  # the worker's main process, which is the same for all of its children
    free: int = 1024
    cores: int = 1024  # free or not


@dataclass(frozen=True)
class Claim:
    job: Job
    epoch: int
    blob: str | None  # the last search checkpoint


@dataclass(frozen=True)
class Ack:
    wish: Wish
    replaced_blob: str | None  # nobody refers to it any more


@dataclass(frozen=True)
class Orders:
    wish: Wish
    limits_revision: int  # other than that of the claim: the limits were changed


class Claims:
    def __init__(self, client: redis.Redis, scripts: Scripts, lease_seconds: float) -> None:
        self._client = client
        self._scripts = scripts
        self._lease = math.ceil(lease_seconds * 1000)
        self._active_indexed = False

    def claim(self, worker: str, room: Room | None = None) -> Claim | None:
        """Take a job that fits into the room, of the tenant whose turn it is; None if there is none.

        A tenant's jobs go by priority, those of equal priority in the order of submission.
        """
        room = Room(worker) if room is None else room
        answer = self._scripts.run(
            "claim",
            worker,
            self._lease,
            MOST_STALLS,
            _POISON.model_dump_json(),
            room.machine,
            room.free,
            room.cores,
        )
        if answer[0] == b"NONE":
            return None
        job = records.job(records.pairs(answer[1]))
        return Claim(job, job.epoch, job.blob)

    def checkpoint(self, job_id: str, epoch: int, checkpoint: Checkpoint) -> Ack:
        given = records.checkpoint_arguments(checkpoint)
        _, wish, replaced = self._scripts.run("checkpoint", job_id, epoch, self._lease, *given)
        return Ack(Wish(wish.decode()), replaced.decode() or None)

    def beat(self, job_id: str, epoch: int) -> Wish:
        """Renew the lease; nothing else visible but heartbeat_at."""
        _, wish = self._scripts.run("beat", job_id, epoch, self._lease)
        return Wish(wish.decode())

    def orders(self, job_id: str, epoch: int) -> Orders:
        """Read what the client wants of the job now. This is the cheap call between two beats."""
        names = ["epoch", "lease_until", "wish", "limits_revision"]
        now, lease, wish, limits = self._client.hmget(f"literati:job:{job_id}", names)
        if now != str(epoch).encode() or not lease or not isinstance(wish, bytes):
            raise FencedError
        return Orders(Wish(wish.decode()), int(limits or 0))

    def finish(
        self,
        job_id: str,
        epoch: int,
        outcome: Outcome,
        checkpoint: Checkpoint | None = None,
        *,
        limits_revision: int | None = None,
    ) -> None:
        """The last checkpoint and the end in one step; repeating it is harmless.

        A pending cancel wins over any outcome, a pending finish over PAUSED. A job that reached a limit is
        queued again if its limits are no longer those of `limits_revision`.
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
            "" if limits_revision is None else limits_revision,
            *records.checkpoint_arguments(checkpoint),
        )

    def release(self, job_id: str, epoch: int) -> None:
        """Hand the job back at a soft shutdown: a pending wish is completed, or it is queued again."""
        self._scripts.run("release", job_id, epoch, new_id("mdl"))

    def reconcile(self) -> int:
        """Take back jobs that have lost their worker. Return how many wake-ups are wanted.

        These are the jobs whose lease ran out, and those that a failed script left without a lease or a place
        in a queue. This may run in any process at any time.
        """
        self._index_active()
        while True:
            _, settled, faults = self._scripts.run("reconcile", *(new_id("mdl") for _ in range(_BATCH)))
            for job_id, epoch, request_id, what in settled:
                log.warning(
                    what.decode(),
                    job_id=job_id.decode(),
                    epoch=int(epoch),
                    request_id=request_id.decode() or None,
                )
            for job_id, error in faults:
                log.error("the store failed on a lost job", job_id=job_id.decode(), error=error.decode())
            if len(settled) < _BATCH:
                return self.wakeups_wanted()

    def _index_active(self) -> None:
        """Find the active jobs that a version without this index stored, once for each store.

        A job that ends meanwhile may be indexed all the same; the script takes it out again.
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
        """Queued jobs that no waiting Celery message stands for, as far as it makes sense to send at once."""
        pipeline = self._client.pipeline(transaction=False)
        pipeline.zcard("literati:waiting")
        pipeline.llen(CELERY_QUEUE)
        queued, waiting = pipeline.execute()
        return int(min(max(queued - waiting, 0), MOST_WAKEUPS))
