"""Jobs as clients use them: submit, read, control and delete. Every lookup is by tenant and id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import redis

from worker.domain import errors
from worker.domain.base import new_id
from worker.domain.jobs import (
    Incumbent,
    IncumbentScores,
    Job,
    JobSettings,
    JobState,
    JobSummary,
    NewJob,
)
from worker.domain.progress import TracePoint
from worker.store import codecs
from worker.store.archives import (
    ArchiveMovedError,
    Archives,
    following_archives,
    incumbent_record,
    score_fields,
)
from worker.store.atomic_reads import AtomicReads
from worker.store.client import Scripts, or_empty, read_hash
from worker.store.event_log import EventPage, read_events
from worker.store.leases import JobLeases
from worker.store.packed_records import long_form
from worker.store.paging import OLDER_SCORES, Page, filtered_page, newest_page, read_fields

# Inside the class the name `list` is a method.
BlobNames = list[str]
ScoreSeries = list[IncumbentScores]
Trace = list[TracePoint]
Change = Callable[[JobSettings], JobSettings]
ControlAction = Literal["finish", "cancel", "pause", "resume"]
IDEMPOTENCY_SECONDS = 24 * 3600  # how long an idempotency key is remembered
_CHOOSE_A_TREE = " Give the `revision` of one of its trees to make a model of it."
_FINISH_HINTS = {
    JobState.SUCCEEDED: " It has ended, and its best tree is already its model.",
    JobState.CANCELLED: _CHOOSE_A_TREE,
    JobState.FAILED: _CHOOSE_A_TREE,
}
_PARTICIPLES = {"finish": "finished", "cancel": "cancelled", "pause": "paused", "resume": "resumed"}


@dataclass(frozen=True)
class Quota:
    """Limits beyond which a new job is rejected."""

    max_live: int | None = None  # jobs of the tenant that have not ended
    max_jobs: int | None = None  # jobs of the tenant
    max_models: int | None = None  # models of the tenant, including those that its live jobs may create
    max_queued: int | None = None  # queued jobs of all tenants


NO_QUOTA = Quota()


@dataclass(frozen=True)
class JobFilter:
    """Select the jobs that meet all of these conditions."""

    dataset_id: str | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()  # "key", or "key:value"

    def matches(self, record: codecs.Hash) -> bool:
        """Check the fields `dataset` and `settings` (or `spec`, in older versions) of a job's record."""
        if self.dataset_id is not None and record.get(b"dataset") != self.dataset_id.encode():
            return False
        settings = json.loads(record.get(b"settings") or record.get(b"spec") or b"{}")
        if self.name is not None and settings.get("name") != self.name:
            return False
        tags = settings.get("tags", {})
        return all(_has_tag(tags, tag) for tag in self.tags)


ALL_JOBS = JobFilter()


@dataclass(frozen=True)
class SubmitResult:
    job: Job
    created: bool  # False if the same idempotency key and body were submitted before


@dataclass(frozen=True)
class ControlResult:
    job: Job
    repeated: bool  # True if the same action was requested before
    model_created: bool = False  # True if the job had ended and a model was made of one of its trees


class JobStore(JobLeases):
    """The jobs of all tenants."""

    def __init__(
        self, client: redis.Redis, scripts: Scripts, archives: Archives, lease_seconds: float
    ) -> None:
        super().__init__(client, scripts, lease_seconds)
        self._archives = archives

    def _job(self, record: dict[bytes, bytes], job_id: str) -> Job:
        """Return a job from what Redis has of it."""
        return codecs.job(self._archives.whole(_key(job_id), record))

    @following_archives
    def submit(
        self,
        new: NewJob,
        *,
        idempotency_key: str | None = None,
        body_digest: str = "",
        quota: Quota = NO_QUOTA,
        request_id: str | None = None,
    ) -> SubmitResult:
        key = "" if idempotency_key is None else digest(new.tenant, idempotency_key)
        status, record = self._scripts.run(
            "submit",
            new.id,
            new.tenant,
            new.dataset_id,
            new.priority,
            codecs.spec_json(new),
            codecs.settings_json(new),
            key,
            body_digest,
            IDEMPOTENCY_SECONDS * 1000,
            request_id or "",
            new.cores,
            *map(or_empty, (quota.max_live, quota.max_jobs, quota.max_models, quota.max_queued)),
        )
        fields = codecs.to_dict(record)
        known = json.loads(long_form(fields)[b"spec"])  # may have ended long ago
        return SubmitResult(self._job(fields, known["id"]), created=status == b"CREATED")

    def submitted_before(self, tenant: str, idempotency_key: str, body_digest: str) -> Job | None:
        """Return the job that was submitted with this key, even if its dataset was deleted since."""
        known = read_hash(self._client, f"literati:idempotency:{digest(tenant, idempotency_key)}")
        if not known:
            return None
        job = self.get(tenant, known[b"job"].decode())
        if job is not None and known[b"body"] != body_digest.encode():
            raise errors.IdempotencyConflictError
        return job

    @following_archives
    def change(
        self, tenant: str, job_id: str, change: Change, *, revision: Callable[[int], bool] | None = None
    ) -> Job:
        """Replace the job's settings with the result of `change`.

        `change` is called again if another client changes the job at the same time. Raise
        PreconditionFailedError if `revision` returns False for the job's revision, and WrongStateError if the
        limits of a job that has ended would change.
        """
        while True:
            record = read_hash(self._client, _key(job_id))
            if record.get(b"tenant") != tenant.encode():
                raise errors.JobNotFoundError
            job = self._job(record, job_id)
            if revision is not None and not revision(job.revision):
                raise errors.PreconditionFailedError
            settings = change(job.settings)
            if settings == job.settings:
                return job
            known = long_form(record)
            status, *rest = self._archives.run_on_whole_job(
                "change_job",
                job_id,
                tenant,
                known.get(b"settings", b""),
                codecs.settings_json(settings),
                settings.priority,
                int(settings.limits != job.settings.limits),
                "" if revision is None else job.revision,
                known.get(b"notes", b""),
                codecs.notes_json(settings.notes, known),
            )
            if status == b"OK":
                return self._job(codecs.to_dict(rest[0]), job_id)
            if status == b"WRONG_STATE":
                state = JobState(rest[0].decode())
                raise errors.WrongStateError(
                    state, f"The job is {state}, so its limits can no longer be changed."
                )

    @following_archives
    def get(self, tenant: str, job_id: str) -> Job | None:
        record = read_hash(self._client, _key(job_id))
        return self._job(record, job_id) if record.get(b"tenant") == tenant.encode() else None

    def list(
        self,
        tenant: str,
        *,
        states: Collection[JobState] = (),
        sweep_id: str | None = None,
        wanted: JobFilter = ALL_JOBS,
        page_size: int = 50,
        page_token: str | None = None,
    ) -> Page[JobSummary]:
        """Return a page of jobs, newest first: the single jobs, or those of one of the tenant's sweeps.

        Every tenant and state has an index. All other conditions are checked job by job, for at most 5,000
        jobs. Therefore a page may have fewer jobs than requested, even none, although there is a next page.
        """
        owner = tenant
        if sweep_id is not None:
            owner = f"sweep:{sweep_id}"
            if self._client.hget(f"literati:sweep:{sweep_id}", "tenant") != tenant.encode():
                return Page([])
        indexes = [f"literati:tenant-state:{state}:{owner}" for state in set(states)]
        indexes = indexes or [f"literati:tenant-jobs:{owner}"]
        if wanted == ALL_JOBS:
            ids, token = newest_page(self._client, indexes, page_size, page_token)
        else:
            choose = partial(self._matching, wanted)
            ids, token = filtered_page(self._client, indexes, page_size, page_token, choose)
        keys = [_key(job_id) for job_id in ids]
        found = read_fields(self._client, keys, (*codecs.JOB_SUMMARY, b"archive"), older=OLDER_SCORES)
        return Page([codecs.job_summary(record) for record in found if record], token)

    def _matching(self, wanted: JobFilter, ids: Sequence[str]) -> set[str]:
        keys = [_key(job_id) for job_id in ids]
        names = (b"dataset", b"settings", b"archive")
        found = read_fields(self._client, keys, names, older=(b"settings", b"spec"))
        return {
            job_id for job_id, record in zip(ids, found, strict=True) if record and wanted.matches(record)
        }

    @following_archives
    def control(
        self,
        tenant: str,
        job_id: str,
        action: ControlAction,
        *,
        revision: int | None = None,
        max_models: int | None = None,
    ) -> ControlResult:
        """Carry the action out, or leave a request for the worker that has the job.

        `revision` is the tree that `finish` makes a model of. With it the job may have ended before and may
        have other models. Raise LimitReachedError if the tenant has `max_models` already.
        """
        numbers = (or_empty(revision), or_empty(max_models))
        status, *rest = self._archives.run_on_whole_job(
            "control", job_id, tenant, action, new_id("mdl"), *numbers
        )
        if status == b"WRONG_STATE":
            state = JobState(rest[0].decode())
            if rest[1] == b"NO_TREE":
                raise errors.WrongStateError(
                    state,
                    f"The job is {state} and has no tree yet to finish with; cancel it instead.",
                )
            hint = _FINISH_HINTS.get(state, "") if action == "finish" else ""
            raise errors.WrongStateError(
                state, f"The job is {state}, so it cannot be {_PARTICIPLES[action]}.{hint}"
            )
        job = self._job(codecs.to_dict(rest[0]), job_id)
        return ControlResult(job, repeated=status == b"REPEATED", model_created=status == b"MADE")

    def delete(self, tenant: str, job_id: str, *, keep: bool = False) -> BlobNames:
        """Delete a job, but not its models. Return the blobs that have lost their last reference.

        With `keep` the job keeps its blobs and can be restored.
        """
        _, blob = self._scripts.run("delete", "job", job_id, tenant, int(keep))
        return [blob.decode()] if blob else []

    def restore(self, tenant: str, job_id: str, *, max_jobs: int | None = None) -> Job:
        """Restore a deleted job. Raise LimitReachedError if the tenant has `max_jobs` already."""
        self._scripts.run("restore", "job", job_id, tenant, or_empty(max_jobs), "")
        job = self.get(tenant, job_id)
        if job is None:  # it was deleted again meanwhile
            raise errors.JobNotFoundError
        return job

    @following_archives
    def incumbent(self, tenant: str, job_id: str, revision: int | None = None) -> Incumbent | None:
        """Return the best tree or the one with this revision; None if there is none."""
        status, *rest = self._scripts.run("incumbent", job_id, tenant, or_empty(revision))
        if status == b"ARCHIVED":
            archive = self._archives.open(_key(job_id), rest[0])
            found, record = incumbent_record(archive, revision)
        else:
            found, record = int(rest[0]), codecs.to_dict(rest[1])
        return codecs.incumbent(job_id, found, record) if record else None

    @following_archives
    def incumbent_scores(self, tenant: str, job_id: str, max_incumbents: int) -> ScoreSeries:
        """Return the scores of the trees that are kept, the oldest first."""
        owner, count, before = self._client.hmget(_key(job_id), ["tenant", "incumbents", "archive"])
        if owner != tenant.encode():
            raise errors.JobNotFoundError
        revisions = _last_revisions(count, max_incumbents)
        reads = AtomicReads(self._client)
        for revision in revisions:
            reads.hmget(f"{_key(job_id)}:incumbent:{revision}", codecs.INCUMBENT_SCORES)
        reads.hget(_key(job_id), "archive")
        *fields, name = reads.execute()
        if name is None and before is not None:
            raise ArchiveMovedError  # it was archived before, and is not any more
        if name:
            archive = self._archives.open(_key(job_id), name)
            revisions = _last_revisions(archive.fields().get(b"incumbents"), max_incumbents)
            fields = [score_fields(archive, revision) for revision in revisions]
        found = map(codecs.incumbent_scores, revisions, fields)
        return [point for point in found if point is not None]

    @following_archives
    def trace(self, tenant: str, job_id: str) -> Trace:
        reads = AtomicReads(self._client)
        reads.hmget(_key(job_id), ["tenant", "archive"])
        reads.lrange(f"{_key(job_id)}:trace", 0, -1)
        (owner, name), lines = reads.execute()
        if owner != tenant.encode():
            raise errors.JobNotFoundError
        if name:
            archive = self._archives.open(_key(job_id), name)
            lines = archive.trace()
        return [codecs.trace_point(line) for line in lines]

    @following_archives
    def events(self, tenant: str, job_id: str, after: str | None = None, count: int = 100) -> EventPage:
        page = read_events(self._client, _key(job_id), tenant, after, count, self._archives)
        if page is None:
            raise errors.JobNotFoundError
        return page


def digest(*parts: str) -> str:
    """Return a digest for the name of a key that depends on texts of clients."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _key(job_id: str) -> str:
    return f"literati:job:{job_id}"


def _last_revisions(incumbents: bytes | str | None, most: int) -> range:
    last = int(incumbents or 0)
    return range(max(1, last - most + 1), last + 1)


def _has_tag(tags: Mapping[str, str], wanted: str) -> bool:
    """Return whether a tag matches "key" or "key:value". Any colon may be the one between key and value."""
    colons = (place for place, letter in enumerate(wanted) if letter == ":")
    return wanted in tags or any(tags.get(wanted[:place]) == wanted[place + 1 :] for place in colons)
