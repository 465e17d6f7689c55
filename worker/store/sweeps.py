"""Sweeps as clients and workers use them. Every lookup by a client is by tenant and id."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import structlog

from worker.domain import errors
from worker.domain.base import new_id
from worker.domain.jobs import JobError, JobState, NewJob, Scores
from worker.domain.sweeps import (
    Choice,
    FoldScores,
    Metric,
    ScoredTree,
    Sweep,
    SweepProgress,
    SweepSettings,
    SweepSpec,
    SweepState,
    SweepStopReason,
    SweepTransition,
    Unit,
    relative_gap,
)
from worker.store import codecs
from worker.store.atomic_reads import AtomicReads
from worker.store.client import StorePart, or_empty, read_hash
from worker.store.event_log import EventPage, read_events
from worker.store.jobs import IDEMPOTENCY_SECONDS, digest
from worker.store.paging import Page, filtered_page, newest_page, read_fields

log = structlog.get_logger(__name__)
Change = Callable[[SweepSettings], SweepSettings]
SweepAction = Literal["finish", "cancel", "pause", "resume"]
Place = tuple[int, int]  # setting, fold
SweepIds = list[str]  # inside the class the name `list` is a method
_PARTICIPLES = {"finish": "finished", "cancel": "cancelled", "pause": "paused", "resume": "resumed"}
_REASONS = {
    b"NO_TRIAL": "no trial is complete yet, so there is nothing to choose from; wait, or cancel it instead",
    b"NO_TREE": "its last job has no tree yet; wait, or cancel it instead",
    b"STOPPING": "some of its jobs have not stopped yet; try again in a second",
}
_SUMMARY = (
    *(b"tenant", b"spec", b"settings", b"state", b"revision", b"stop_reason", b"error", b"choice", b"notes"),
    *(b"refit_job", b"model_id", b"used", b"running_since", b"created_at", b"started_at", b"finished_at"),
)


@dataclass(frozen=True)
class SweepQuota:
    """Limits beyond which a new sweep is rejected."""

    max_live: int | None = None  # jobs and sweeps of the tenant that have not ended
    max_sweeps: int | None = None  # sweeps of the tenant
    max_models: int | None = None  # models of the tenant, including those that may still be created


@dataclass(frozen=True)
class SweepSubmitResult:
    sweep: Sweep
    created: bool  # False if the same idempotency key and body were submitted before


@dataclass(frozen=True)
class SweepControlResult:
    sweep: Sweep
    repeated: bool  # True if the same action was requested before


@dataclass(frozen=True)
class SweepResults:
    """What the jobs of a sweep have found so far."""

    units: Sequence[Unit]
    scores: dict[Place, FoldScores]
    failures: dict[Place, JobError]
    jobs: dict[Place, str]  # ids
    states: dict[Place, JobState]  # of jobs that have not ended
    dropped: frozenset[int]  # units that are not tried any more


class SweepStore(StorePart):
    """The sweeps of all tenants."""

    def submit(
        self,
        spec: SweepSpec,
        settings: SweepSettings,
        units: Sequence[Unit],
        jobs: Sequence[NewJob],
        *,
        idempotency_key: str | None = None,
        body_digest: str = "",
        quota: SweepQuota | None = None,
        request_id: str | None = None,
    ) -> SweepSubmitResult:
        """Store a sweep and the jobs that it will create."""
        quota = quota or SweepQuota()
        status, record = self._scripts.run(
            "submit_sweep",
            spec.id,
            spec.tenant,
            spec.dataset_id,
            settings.priority,
            spec.model_dump_json(),
            _settings_json(settings),
            "" if idempotency_key is None else _idempotency(spec.tenant, idempotency_key),
            body_digest,
            IDEMPOTENCY_SECONDS * 1000,
            request_id or "",
            spec.n_folds,
            or_empty(spec.limits.max_failed_trials),
            _milliseconds(spec.limits.time_limit),
            *map(or_empty, (quota.max_live, quota.max_sweeps, quota.max_models)),
            json.dumps(units),
            *map(_job_line, jobs),
        )
        return SweepSubmitResult(_sweep(codecs.to_dict(record)), created=status == b"CREATED")

    def submitted_before(self, tenant: str, idempotency_key: str, body_digest: str) -> Sweep | None:
        """Return the sweep that was submitted with this key, even if its dataset was deleted since."""
        known = read_hash(self._client, f"literati:idempotency:{_idempotency(tenant, idempotency_key)}")
        if not known:
            return None
        sweep = self.get(tenant, known[b"sweep"].decode())
        if sweep is not None and known[b"body"] != body_digest.encode():
            raise errors.IdempotencyConflictError
        return sweep

    def get(self, tenant: str, sweep_id: str) -> Sweep | None:
        record = read_hash(self._client, _key(sweep_id))
        return _sweep(record) if record.get(b"tenant") == tenant.encode() else None

    def get_of_any_tenant(self, sweep_id: str) -> Sweep | None:
        """Return a sweep to a worker, which has its id from the store."""
        record = read_hash(self._client, _key(sweep_id))
        return _sweep(record) if record else None

    def list(
        self,
        tenant: str,
        *,
        states: Collection[SweepState] = (),
        dataset_id: str | None = None,
        page_size: int = 50,
        page_token: str | None = None,
    ) -> Page[Sweep]:
        """Return a page of sweeps, newest first.

        With `dataset_id`, a page may have fewer sweeps than requested, although there is a next page.
        """
        indexes = [f"literati:tenant-sweep-state:{state}:{tenant}" for state in set(states)]
        indexes = indexes or [f"literati:tenant-sweeps:{tenant}"]
        if dataset_id is None:
            ids, token = newest_page(self._client, indexes, page_size, page_token)
        else:
            choose = partial(self._on_dataset, dataset_id)
            ids, token = filtered_page(self._client, indexes, page_size, page_token, choose)
        found = read_fields(self._client, [_key(sweep_id) for sweep_id in ids], _SUMMARY)
        return Page([_sweep(record) for record in found if record], token)

    def _on_dataset(self, dataset_id: str, ids: Sequence[str]) -> set[str]:
        found = read_fields(self._client, [_key(sweep_id) for sweep_id in ids], (b"dataset",))
        wanted = dataset_id.encode()
        return {
            sweep_id for sweep_id, record in zip(ids, found, strict=True) if record.get(b"dataset") == wanted
        }

    def change(
        self, tenant: str, sweep_id: str, change: Change, *, revision: Callable[[int], bool] | None = None
    ) -> Sweep:
        """Replace the sweep's settings with the result of `change`.

        `change` is called again if another client changes the sweep at the same time. Raise
        PreconditionFailedError if `revision` returns False for the sweep's revision.
        """
        while True:
            record = read_hash(self._client, _key(sweep_id))
            if record.get(b"tenant") != tenant.encode():
                raise errors.SweepNotFoundError
            sweep = _sweep(record)
            if revision is not None and not revision(sweep.revision):
                raise errors.PreconditionFailedError
            settings = change(sweep.settings)
            if settings == sweep.settings:
                return sweep
            status, *rest = self._scripts.run(
                "change_sweep",
                sweep_id,
                tenant,
                record[b"settings"],
                _settings_json(settings),
                settings.priority,
                "" if revision is None else sweep.revision,
                record.get(b"notes", b""),
                codecs.notes_json(settings.notes, record),
            )
            if status == b"OK":
                return _sweep(codecs.to_dict(rest[0]))

    def control(self, tenant: str, sweep_id: str, action: SweepAction) -> SweepControlResult:
        """Carry the action out. Jobs that a worker has are asked to stop."""
        answer = self._scripts.run("control_sweep", sweep_id, tenant, action, new_id("mdl"))
        self._raise_wrong_state(answer, _PARTICIPLES[action])
        return SweepControlResult(_sweep(codecs.to_dict(answer[1])), repeated=answer[0] == b"REPEATED")

    def extend(
        self,
        sweep: Sweep,
        spec: SweepSpec,
        units: Sequence[Unit],
        jobs: Sequence[NewJob],
        *,
        max_live: int | None = None,
    ) -> Sweep | None:
        """Go on with a sweep that has ended: with these limits and units, and with these jobs.

        Return None if the sweep has changed since it was read. Raise LimitReachedError if the tenant has
        `max_live` jobs and sweeps that have not ended.
        """
        answer = self._scripts.run(
            "control_sweep",
            spec.id,
            spec.tenant,
            "extend",
            new_id("mdl"),
            sweep.revision,
            spec.model_dump_json(),
            or_empty(spec.limits.max_failed_trials),
            _milliseconds(spec.limits.time_limit),
            or_empty(max_live),
            json.dumps(units),
            *map(_job_line, jobs),
        )
        if answer[0] == b"CHANGED_MEANWHILE":
            return None
        self._raise_wrong_state(answer, "extended")
        return _sweep(codecs.to_dict(answer[1]))

    @staticmethod
    def _raise_wrong_state(answer: Sequence[bytes], participle: str) -> None:
        if answer[0] == b"WRONG_STATE":
            state = SweepState(answer[1].decode())
            reason = _REASONS.get(answer[2])
            because = "" if reason is None else f": {reason}"
            raise errors.WrongStateError(
                state, f"The sweep is {state}, so it cannot be {participle}{because}."
            )

    def delete(self, tenant: str, sweep_id: str, *, keep: bool = False) -> None:
        """Delete a sweep with its jobs, but not its models. With `keep` it can be restored.

        The reconciler deletes the blobs.
        """
        self._scripts.run("delete", "sweep", sweep_id, tenant, int(keep))

    def restore(self, tenant: str, sweep_id: str, *, max_sweeps: int | None = None) -> Sweep:
        """Restore a deleted sweep. Raise LimitReachedError if the tenant has `max_sweeps` already."""
        self._scripts.run("restore", "sweep", sweep_id, tenant, or_empty(max_sweeps), "")
        sweep = self.get(tenant, sweep_id)
        if sweep is None:  # it was deleted again meanwhile
            raise errors.SweepNotFoundError
        return sweep

    def events(self, tenant: str, sweep_id: str, after: str | None = None, count: int = 100) -> EventPage:
        page = read_events(self._client, _key(sweep_id), tenant, after, count)
        if page is None:
            raise errors.SweepNotFoundError
        return page

    def results(self, sweep_id: str) -> SweepResults:
        """Return what the jobs have found so far, of one moment."""
        key = _key(sweep_id)
        reads = AtomicReads(self._client)
        reads.get(f"{key}:plan")
        for part in ("results", "failures", "children"):
            reads.hgetall(f"{key}:{part}")
        reads.smembers(f"{key}:dropped")
        reads.smembers(f"{key}:live")
        plan, results, failures, children, dropped, live = reads.execute()
        jobs = {_place(place): job.decode() for place, job in children.items() if place != b"refit"}
        places = {job: place for place, job in jobs.items()}
        alive = [job.decode() for job in live if job.decode() in places]
        found = read_fields(self._client, [f"literati:job:{job}" for job in alive], (b"state",))
        return SweepResults(
            units=json.loads(plan or b"[]"),
            scores={_place(place): _fold_scores(value) for place, value in results.items()},
            failures={_place(place): JobError.model_validate_json(v) for place, v in failures.items()},
            jobs=jobs,
            states={
                places[job]: JobState(record[b"state"].decode())
                for job, record in zip(alive, found, strict=True)
                if record
            },
            dropped=frozenset(map(int, dropped)),
        )

    def progress(self, sweep: Sweep) -> SweepProgress:
        """Return how many jobs there are in each state."""
        key = _key(sweep.spec.id)
        reads = AtomicReads(self._client)
        reads.get(f"{key}:plan")
        reads.hlen(f"{key}:results")
        reads.hlen(f"{key}:failures")
        reads.smembers(f"{key}:live")
        reads.llen(f"{key}:pending")
        plan, done, failed, live, pending = reads.execute()
        keys = [f"literati:job:{job.decode()}" for job in live]
        states = [record.get(b"state") for record in read_fields(self._client, keys, (b"state",))]
        waiting = sum(state in (b"QUEUED", b"PAUSED") for state in states)
        settings = len(json.loads(plan or b"[]"))
        return SweepProgress(
            settings=settings,
            jobs=settings * sweep.spec.n_folds,
            done=done,
            running=len(states) - waiting,
            queued=waiting + pending,
            failed=failed,
        )

    # Called by workers and reconcilers

    def reconcile(self) -> SweepIds:
        """Advance sweeps whose last job could not do it, and those whose time is over.

        Return the sweeps that are to be chosen from.
        """
        _, due, faults = self._scripts.run("reconcile_sweeps")
        for sweep_id, error in faults:
            log.error("the store failed on a sweep", sweep_id=sweep_id.decode(), error=error.decode())
        return [found.decode() for found in due]

    def stop_units(self, sweep: Sweep, units: Collection[int], *, stop: bool = False) -> None:
        """Drop units that are not worth their time. With `stop`, choose among those that are complete.

        Nothing happens if the sweep was extended since it was read.
        """
        self._scripts.run("stop_units", sweep.spec.id, sweep.round, int(stop), *sorted(units))

    def fail(self, sweep_id: str, error: JobError) -> None:
        """End a sweep from which nothing can be chosen, whatever its record says."""
        round_ = self._client.hget(_key(sweep_id), "round") or b""
        self._scripts.run("choose_sweep", sweep_id, round_, "", error.model_dump_json(), "")

    def choose(self, sweep: Sweep, choice: Choice | JobError, refit: NewJob | None) -> bool:
        """Store what was chosen, or why nothing could be. Return whether a job was created.

        Only the first call for a sweep has an effect, and none after the sweep was extended.
        """
        failed = isinstance(choice, JobError)
        text = choice.model_dump_json()
        line = "" if refit is None else _job_line(refit)
        _, created = self._scripts.run(
            "choose_sweep", sweep.spec.id, sweep.round, "" if failed else text, text if failed else "", line
        )
        return bool(created)


def _key(sweep_id: str) -> str:
    return f"literati:sweep:{sweep_id}"


def _idempotency(tenant: str, idempotency_key: str) -> str:
    """Return the digest of a key. Jobs and sweeps may have the same keys."""
    return digest("sweep", tenant, idempotency_key)


def _milliseconds(seconds: float | None) -> int | str:
    return "" if seconds is None else round(1000 * seconds)


def _job_line(job: NewJob) -> str:
    """Return a job as the scripts create it: a list of texts, which Lua does not change."""
    place = job.sweep
    assert place is not None
    where = "refit" if place.setting is None else f"{place.setting} {place.fold}"
    return json.dumps([job.id, where, codecs.spec_json(job), codecs.settings_json(job), str(job.cores)])


def _place(text: bytes) -> Place:
    setting, fold = text.split()
    return int(setting), int(fold)


def _fold_scores(text: bytes) -> FoldScores:
    """Return what a job found: the trees of a path, or the one tree of a search."""
    found = json.loads(text)
    if "segments" in found:
        return FoldScores.model_validate(found)
    scores = Scores.model_validate(found["scores"] or {})
    gap = relative_gap(found["upper"], found["lower"])
    tree = ScoredTree(
        leaves=scores.leaves or 1,
        changepoints=scores.changepoints or 0,
        proven=gap <= 0,
        gap=max(0.0, gap),
        train={metric: getattr(scores, f"train_{metric}") for metric in Metric},
        validation={metric: getattr(scores, f"validation_{metric}") for metric in Metric},
    )
    return FoldScores(segments=[tree], stop_reason=found["stop_reason"], seconds=found["seconds"])


def _transitions(record: codecs.Hash) -> list[SweepTransition]:
    found = []
    for line in record.get(b"transitions", b"").decode().splitlines():
        state, at, reason = line.split(" ", 2)
        found.append(
            SweepTransition(state=SweepState(state), at=codecs.to_datetime(at), reason=reason or None)
        )
    return found


def _text(record: codecs.Hash, name: bytes) -> str | None:
    return record[name].decode() if record.get(name) else None


def _seconds(record: codecs.Hash) -> float:
    """Return the seconds in the state RUNNING so far. The clock of this machine may differ a little."""
    used, since = int(record.get(b"used") or 0), int(record.get(b"running_since") or 0)
    return (used + (max(0.0, 1000 * time.time() - since) if since else 0)) / 1000


def _settings_json(settings: SweepSettings) -> str:
    return settings.model_dump_json(exclude={"notes"})


def _sweep(record: codecs.Hash) -> Sweep:
    stop_reason, error, choice = (record.get(name) for name in (b"stop_reason", b"error", b"choice"))
    times: dict[str, Any] = {
        name.decode(): codecs.to_datetime(record[name])
        for name in (b"created_at", b"started_at", b"finished_at")
        if record.get(name)
    }
    return Sweep(
        spec=SweepSpec.model_validate_json(record[b"spec"]),
        settings=codecs.with_notes(SweepSettings.model_validate_json(record[b"settings"]), record),
        state=SweepState(record[b"state"].decode()),
        revision=int(record[b"revision"]),
        stop_reason=SweepStopReason(stop_reason.decode()) if stop_reason else None,
        error=JobError.model_validate_json(error) if error else None,
        choice=Choice.model_validate_json(choice) if choice else None,
        refit_job_id=_text(record, b"refit_job"),
        model_id=_text(record, b"model_id"),
        request_id=_text(record, b"request_id"),
        round=int(record.get(b"round") or 0),
        seconds=_seconds(record),
        transitions=_transitions(record),
        **times,
    )
