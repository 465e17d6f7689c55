"""A client's side of the jobs: submit, look, steer, delete. Every lookup is by tenant and id."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from worker.errors import (
    BadTokenError,
    IdempotencyConflictError,
    JobGoneError,
    PreconditionFailedError,
    WrongStateError,
)
from worker.messages import (
    Event,
    Incumbent,
    Job,
    JobSettings,
    JobState,
    JobSummary,
    NewJob,
    TracePoint,
    new_id,
)

from . import records
from .claims import Claims
from .client import read_hash
from .job_filter import EVERY_JOB, JobFilter
from .pages import Page, chosen, fields, newest, summaries

# `list` inside the class is its method.
BlobNames = list[str]
Trace = list[TracePoint]
Change = Callable[[JobSettings], JobSettings]
Verb = Literal["finish", "cancel", "pause", "resume"]
REMEMBER_SECONDS = 24 * 3600  # idempotency keys
_EVENT_ID = re.compile(r"[0-9]{1,19}(-[0-9]{1,19})?")
_NAME_A_TREE = " Name one of its trees (`revision`) to make a model of it."
_FINISH_HINTS = {
    JobState.SUCCEEDED: " It ended by itself, and its best tree is its model already.",
    JobState.CANCELLED: _NAME_A_TREE,
    JobState.FAILED: _NAME_A_TREE,
}
_DONE = {"finish": "finished", "cancel": "cancelled", "pause": "paused", "resume": "resumed"}


@dataclass(frozen=True)
class Quota:
    """How many there may be before another job is refused."""

    live: int | None = None  # jobs of the tenant that have not ended
    jobs: int | None = None  # of the tenant
    models: int | None = None  # of the tenant, with those that its live jobs may make
    queued: int | None = None  # of all tenants


NO_QUOTA = Quota()


@dataclass(frozen=True)
class Submitted:
    job: Job
    created: bool  # False: the same key and body came before


@dataclass(frozen=True)
class Controlled:
    job: Job
    repeated: bool  # True: the same was asked before and is done or on its way
    made: bool = False  # True: the job had ended, and a model was made of one of its trees


@dataclass(frozen=True)
class EventPage:
    events: list[Event]
    resync: bool  # events between `after` and these were trimmed
    ended: bool  # the job has ended and nothing comes after these


class JobStore(Claims):
    def submit(
        self,
        new: NewJob,
        *,
        idempotency_key: str | None = None,
        body_digest: str = "",
        quota: Quota = NO_QUOTA,
        request_id: str | None = None,
    ) -> Submitted:
        key = "" if idempotency_key is None else digest(new.tenant, idempotency_key)
        word, record = self._scripts.run(
            "submit",
            new.id,
            new.tenant,
            new.dataset_id,
            new.priority,
            records.spec_json(new),
            records.settings_json(new),
            key,
            body_digest,
            REMEMBER_SECONDS * 1000,
            request_id or "",
            new.cores,
            *("" if most is None else most for most in (quota.live, quota.jobs, quota.models, quota.queued)),
        )
        return Submitted(records.job(records.pairs(record)), created=word == b"CREATED")

    def submitted_before(self, tenant: str, idempotency_key: str, body_digest: str) -> Job | None:
        """The job that this key made, whatever has become since of what it was made from."""
        known = read_hash(self._client, f"literati:idempotency:{digest(tenant, idempotency_key)}")
        if not known:
            return None
        job = self.get(tenant, known[b"job"].decode())
        if job is not None and known[b"body"] != body_digest.encode():
            raise IdempotencyConflictError
        return job

    def change(
        self, tenant: str, job_id: str, change: Change, *, revision: Callable[[int], bool] | None = None
    ) -> Job:
        """Give the job the settings that `change` makes of its present ones.

        `change` may be called several times: another client may change the job at the same moment.
        `revision` says whether the job's revision is one that the caller expects; PreconditionFailedError if
        it is not. WrongStateError if the limits of a job that has ended would change.
        """
        while True:
            record = read_hash(self._client, _key(job_id))
            if not _is_of(record, tenant):
                raise JobGoneError
            job = records.job(record)
            if revision is not None and not revision(job.revision):
                raise PreconditionFailedError
            settings = change(job.settings)
            if settings == job.settings:
                return job
            word, *rest = self._scripts.run(
                "change_job",
                job_id,
                tenant,
                record.get(b"settings", b""),
                records.settings_json(settings),
                settings.priority,
                int(settings.limits != job.settings.limits),
                "" if revision is None else job.revision,
            )
            if word == b"OK":
                return records.job(records.pairs(rest[0]))
            if word == b"WRONG_STATE":
                state = JobState(rest[0].decode())
                raise WrongStateError(state, f"The job is {state}, so its limits cannot be changed any more.")

    def get(self, tenant: str, job_id: str) -> Job | None:
        record = read_hash(self._client, _key(job_id))
        return records.job(record) if _is_of(record, tenant) else None

    def list(
        self,
        tenant: str,
        *,
        states: Collection[JobState] = (),
        wanted: JobFilter = EVERY_JOB,
        page_size: int = 50,
        page_token: str | None = None,
    ) -> Page[JobSummary]:
        """Newest first. There is a sorted set for each tenant and state, so other states cost nothing.

        The other conditions are looked up job by job, at most 5,000 of them: a page may hold fewer jobs than
        it could, even none, and still have a next one.
        """
        indexes = [f"literati:tenant-state:{state}:{tenant}" for state in set(states)]
        indexes = indexes or [f"literati:tenant-jobs:{tenant}"]
        if wanted == EVERY_JOB:
            ids, token = newest(self._client, indexes, page_size, page_token)
        else:
            choose = partial(self._chosen, wanted)
            ids, token = chosen(self._client, indexes, page_size, page_token, choose)
        found = summaries(self._client, [_key(job_id) for job_id in ids], records.JOB_SUMMARY)
        return Page([records.job_summary(record) for record in found if record], token)

    def _chosen(self, wanted: JobFilter, ids: Sequence[str]) -> set[str]:
        keys = [_key(job_id) for job_id in ids]
        found = fields(self._client, keys, (b"dataset", b"settings"))
        older = [key for key, record in zip(keys, found, strict=True) if record and b"settings" not in record]
        specs = iter(fields(self._client, older, (b"spec",)))
        for record in found:
            if record and b"settings" not in record:  # of version 0.1.0
                record.update(next(specs))
        return {
            job_id for job_id, record in zip(ids, found, strict=True) if record and wanted.matches(record)
        }

    def control(
        self,
        tenant: str,
        job_id: str,
        verb: Verb,
        *,
        revision: int | None = None,
        most_models: int | None = None,
    ) -> Controlled:
        """At once where no worker has the job; else as a wish that the worker hears of at its next word.

        `revision` names the tree that `finish` makes a model of; then the job may have ended before, and may
        have other models. LimitReachedError if the tenant has as many models as it may have.
        """
        numbers = ("" if number is None else number for number in (revision, most_models))
        word, *rest = self._scripts.run("control", job_id, tenant, verb, new_id("mdl"), *numbers)
        if word == b"WRONG_STATE":
            state = JobState(rest[0].decode())
            if rest[1] == b"NO_TREE":
                raise WrongStateError(
                    state, f"The job is {state} and has no tree yet to finish with; cancel it instead."
                )
            hint = _FINISH_HINTS.get(state, "") if verb == "finish" else ""
            raise WrongStateError(state, f"The job is {state}, so it cannot be {_DONE[verb]}.{hint}")
        job = records.job(records.pairs(rest[0]))
        return Controlled(job, repeated=word == b"REPEATED", made=word == b"MADE")

    def delete(self, tenant: str, job_id: str, *, keep: bool = False) -> BlobNames:
        """Delete everything of it but its models. Returns the blobs that nobody refers to any more.

        `keep` leaves it where `restore` finds it, with its blobs.
        """
        _, blob = self._scripts.run("delete", "job", job_id, tenant, int(keep))
        return [blob.decode()] if blob else []

    def restore(self, tenant: str, job_id: str, *, most: int | None = None) -> Job:
        """Take back a deletion. LimitReachedError if the tenant has as many jobs as it may have."""
        self._scripts.run("restore", "job", job_id, tenant, "" if most is None else most, "")
        job = self.get(tenant, job_id)
        if job is None:  # deleted again a moment ago
            raise JobGoneError
        return job

    def incumbent(self, tenant: str, job_id: str, revision: int | None = None) -> Incumbent | None:
        """The best tree, or the one numbered so; None if there is none (yet)."""
        wanted = "" if revision is None else revision
        _, found, flat = self._scripts.run("incumbent", job_id, tenant, wanted)
        return records.incumbent(job_id, int(found), records.pairs(flat)) if flat else None

    def trace(self, tenant: str, job_id: str) -> Trace:
        pipeline = self._client.pipeline(transaction=True)
        pipeline.hget(_key(job_id), "tenant")
        pipeline.lrange(f"{_key(job_id)}:trace", 0, -1)
        owner, lines = pipeline.execute()
        if owner != tenant.encode():
            raise JobGoneError
        return [records.trace_point(line) for line in lines]

    def events(self, tenant: str, job_id: str, after: str | None = None, count: int = 100) -> EventPage:
        if after is not None and not _EVENT_ID.fullmatch(after):
            raise BadTokenError(after)
        stream = f"{_key(job_id)}:events"
        pipeline = self._client.pipeline(transaction=True)
        pipeline.hmget(_key(job_id), ["tenant", "state", "events"])
        pipeline.xlen(stream)
        pipeline.xrange(stream, count=1)
        pipeline.xrange(stream, min="-" if after is None else f"({after}", count=count)
        (owner, state, emitted), kept, oldest, entries = pipeline.execute()
        if owner != tenant.encode():
            raise JobGoneError
        trimmed = kept < int(emitted) and (after is None or _order(after) < _order(oldest[0][0].decode()))
        events = [records.event(*entry) for entry in entries]
        terminal = JobState(state.decode()).terminal
        return EventPage(events, trimmed, terminal and (not events or events[-1].type == "done"))

    def count_by_state(self) -> dict[JobState, int]:
        """Over all tenants."""
        counts = read_hash(self._client, "literati:states")
        return {state: int(counts.get(state.encode(), 0)) for state in JobState}


def digest(*parts: str) -> str:
    """A name for a key out of texts that clients chose."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _key(job_id: str) -> str:
    return f"literati:job:{job_id}"


def _is_of(record: records.Hash, tenant: str) -> bool:
    return record.get(b"tenant") == tenant.encode()


def _order(event_id: str) -> tuple[int, int]:
    milliseconds, _, number = event_id.partition("-")
    return int(milliseconds), int(number or 0)
