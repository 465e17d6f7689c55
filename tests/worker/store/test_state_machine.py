"""Test random sequences of calls by clients and workers against a small model of a job's life."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.records.store_records import (
    CANCELLED,
    PAUSED,
    SUCCESS,
    TENANT,
    add_dataset,
    expire,
    progress_update,
    spec,
)
from worker.domain.errors import (
    FencedError,
    JobNotEndedError,
    JobNotFoundError,
    NoTreeError,
    RevisionNotFoundError,
    WrongStateError,
)
from worker.domain.jobs import Job, JobSettings, JobState, Outcome, StopReason
from worker.store import Store

LEASED = {JobState.STARTING, JobState.RUNNING, JobState.PAUSING, JobState.STOPPING}
FAILED = Outcome(state=JobState.FAILED, stop_reason=StopReason.ERROR)
OUTCOMES = {"success": SUCCESS, "cancelled": CANCELLED, "paused": PAUSED, "failed": FAILED}


@dataclass
class Known:
    """The expected state of a job."""

    order: int
    priority: int
    state: JobState = JobState.QUEUED
    epoch: int = 0
    held: bool = False  # by a worker of this epoch
    expired: bool = False
    control_request: str = ""
    stalls: int = 0
    at_claim: int = 0  # expansions
    best: float | None = None
    upper: float | None = None
    lower: float | None = None
    expansions: int = 0
    trees: int = 0
    limits: int = 0  # revision
    chosen: int | None = None  # the tree that finish named
    modelled: int | None = None  # the tree of its model
    told: list[int] = field(default_factory=list)  # epochs whose worker ended the job itself
    seen: Job | None = None  # at the last look

    def leave(self, *, told: bool = False) -> None:
        self.held = self.expired = False
        if told:
            self.told.append(self.epoch)

    def end(self, state: JobState) -> None:
        self.leave()
        self.state, self.control_request = state, ""
        if state is JobState.SUCCEEDED:
            self.modelled = self.chosen or self.trees

    def settle(self) -> None:
        self.leave()
        if self.control_request == "cancel":
            self.end(JobState.CANCELLED)
        elif self.control_request == "pause":
            self.end(JobState.PAUSED)
            self.stalls = 0
        elif self.control_request == "finish" and self.trees:
            self.end(JobState.SUCCEEDED)
        else:
            self.state = JobState.QUEUED

    def merge(self, upper: float, lower: float, objective: float | None, expansions: int) -> None:
        self.expansions = max(self.expansions, expansions)
        if objective is not None and (self.best is None or objective < self.best):
            self.best = objective
            self.trees += 1
        if self.best is None:
            return
        old_upper = upper if self.upper is None else self.upper
        old_lower = 0.0 if self.lower is None else self.lower
        upper = max(upper, self.best)
        self.upper = upper if self.upper is None else max(min(old_upper, upper), old_lower)
        self.lower = min(max(old_lower, lower), self.upper)


choices = st.integers(0, 1000)
priorities = st.integers(-1, 1)
numbers = st.integers(0, 9).map(float)
words = st.tuples(
    numbers, numbers, st.none() | numbers, st.integers(0, 20)
)  # upper, lower, objective, expansions


class Jobs(RuleBasedStateMachine):
    store: ClassVar[Store]

    def __init__(self) -> None:
        super().__init__()
        self.store.client.flushall()
        self.dataset = add_dataset(self.store)
        self.known: dict[str, Known] = {}
        self.deleted: dict[str, Known] = {}
        self.submitted = 0

    def pick(self, choice: int, likely: Callable[[Known], object]) -> str:
        """Choose a job, preferably one that has not ended."""
        some = [job_id for job_id, one in self.known.items() if likely(one)]
        every = [*some * 4, *self.known, "job_that_never_was"]
        return every[choice % len(every)]

    @initialize(priority=priorities)
    def begin(self, priority: int) -> None:
        self.submit(priority)
        self.submit_and_claim(priority)

    @precondition(lambda self: self.live < 3)
    @rule(priority=priorities)
    def submit(self, priority: int) -> None:
        wanted = spec(self.dataset, priority=priority)
        self.store.jobs.submit(wanted)
        self.known[wanted.id] = Known(self.submitted, priority)
        self.submitted += 1

    @precondition(lambda self: self.live < 3)
    @rule(priority=priorities)
    def submit_and_claim(self, priority: int) -> None:
        self.submit(priority)
        self.claim()

    @property
    def live(self) -> int:
        return sum(not one.state.terminal for one in self.known.values())

    @property
    def held(self) -> int:
        return sum(one.held for one in self.known.values())

    @rule()
    def claim(self) -> None:
        expected = None
        queued = [
            (-one.priority, one.order, job_id) for job_id, one in self.known.items() if one.state == "QUEUED"
        ]
        for *_, job_id in sorted(queued):
            one = self.known[job_id]
            one.stalls = 1 if one.expansions > one.at_claim else one.stalls + 1
            if one.stalls > 5:
                one.end(JobState.FAILED)
                continue
            one.at_claim = one.expansions
            one.epoch += 1
            one.held = True
            one.state = JobState.STARTING
            expected = (job_id, one.epoch)
            break
        claim = self.store.jobs.claim("worker")
        assert (claim and (claim.spec.id, claim.epoch)) == expected

    @precondition(lambda self: self.held)
    @rule(choice=choices)
    def worker_is_lost(self, choice: int) -> None:
        self.time_passes(choice)
        self.reconcile()
        self.claim()

    def _allowed(self, job_id: str, epoch: int) -> bool:
        one = self.known.get(job_id)
        return one is not None and one.held and one.epoch == epoch

    def _epoch(self, job_id: str, back: int) -> int:
        return self.known[job_id].epoch - back if job_id in self.known else 1

    @precondition(lambda self: self.held)
    @rule(choice=choices, back=st.sampled_from([0, 0, 0, 1]), words=st.lists(words, min_size=1, max_size=4))
    def publish(self, choice: int, back: int, words: list[tuple[float, float, float | None, int]]) -> None:
        job_id = self.pick(choice, lambda one: one.held)
        for word in words:
            self._publish(job_id, self._epoch(job_id, back), *word)

    def _publish(
        self,
        job_id: str,
        epoch: int,
        upper: float,
        lower: float,
        objective: float | None,
        expansions: int,
    ) -> None:
        said = progress_update(upper, lower, objective, expansions=expansions)
        if not self._allowed(job_id, epoch):
            with pytest.raises(FencedError):
                self.store.jobs.publish_progress(job_id, epoch, said)
            return
        one = self.known[job_id]
        one.expired = False
        if one.state is JobState.STARTING:
            one.state = JobState.STOPPING if one.control_request else JobState.RUNNING
        one.merge(upper, lower, objective, expansions)
        assert self.store.jobs.publish_progress(job_id, epoch, said).control_request == one.control_request

    @precondition(lambda self: self.held)
    @rule(choice=choices, back=st.sampled_from([0, 0, 1]))
    def beat(self, choice: int, back: int) -> None:
        job_id = self.pick(choice, lambda one: one.held)
        epoch = self._epoch(job_id, back)
        if not self._allowed(job_id, epoch):
            with pytest.raises(FencedError):
                self.store.jobs.renew_lease(job_id, epoch)
            return
        self.known[job_id].expired = False
        assert (
            self.store.jobs.read_control(job_id, epoch).control_request == self.known[job_id].control_request
        )
        assert self.store.jobs.renew_lease(job_id, epoch) == self.known[job_id].control_request

    @precondition(lambda self: self.held)
    @rule(
        choice=choices,
        back=st.sampled_from([0, 0, 0, 1]),
        outcome=st.sampled_from(sorted(OUTCOMES)),
        objective=st.none() | numbers,
        stale=st.booleans(),
    )
    def finish(self, choice: int, back: int, outcome: str, objective: float | None, stale: bool) -> None:
        job_id = self.pick(choice, lambda one: one.held)
        epoch, wanted = self._epoch(job_id, back), OUTCOMES[outcome]
        said = None if objective is None else progress_update(9.0, 0.0, objective)
        one = self.known.get(job_id)
        limits = None if one is None else max(0, one.limits - stale)
        if one is not None and epoch in one.told[-1:]:
            self.store.jobs.finish(job_id, epoch, wanted, said)  # a repeat
        elif one is None or not self._allowed(job_id, epoch):
            with pytest.raises(FencedError):
                self.store.jobs.finish(job_id, epoch, wanted, said)
        elif wanted is SUCCESS and objective is None and not one.trees:
            with pytest.raises(NoTreeError):
                self.store.jobs.finish(job_id, epoch, wanted, said)
        else:
            self.store.jobs.finish(job_id, epoch, wanted, said, limits_revision=limits)
            if objective is not None:
                one.merge(9.0, 0.0, objective, 1)
            one.leave(told=True)
            if one.control_request == "cancel":
                one.end(JobState.CANCELLED)
            elif wanted is SUCCESS and not one.control_request and limits != one.limits:
                one.state = JobState.QUEUED
            elif wanted is not PAUSED:
                one.end(wanted.state)
            elif one.control_request == "finish":
                one.settle()
            else:
                one.end(JobState.PAUSED)
                one.stalls = 0

    @rule(choice=choices)
    def release(self, choice: int) -> None:
        job_id = self.pick(choice, lambda one: one.held)
        one, epoch = self.known.get(job_id), self._epoch(job_id, 0)
        if one is not None and epoch in one.told[-1:]:
            self.store.jobs.release(job_id, epoch)
        elif one is None or not one.held:
            with pytest.raises(FencedError):
                self.store.jobs.release(job_id, epoch)
        else:
            self.store.jobs.release(job_id, epoch)
            one.stalls = max(0, one.stalls - 1)
            one.leave(told=True)
            one.settle()

    @rule(choice=choices)
    def time_passes(self, choice: int) -> None:
        job_id = self.pick(choice, lambda one: one.held)
        one = self.known.get(job_id)
        if one is not None and one.held:
            one.expired = True
            expire(self.store, job_id)

    @rule()
    def reconcile(self) -> None:
        self.store.jobs.reconcile()
        for one in self.known.values():
            if one.expired:
                one.settle()

    @rule(choice=choices, verb=st.sampled_from(["pause", "resume", "resume", "finish", "cancel"]))
    def control(self, choice: int, verb: Any) -> None:
        job_id = self.pick(choice, lambda one: not one.state.terminal)
        one = self.known.get(job_id)
        if one is None:
            return
        if one.expired:
            one.settle()
        before = one.state
        try:
            answer = self.store.jobs.control(TENANT, job_id, verb)
        except WrongStateError as refused:
            assert refused.state == before  # noqa: PT017
            return
        assert not (before.terminal and not answer.repeated), "what has ended stays so"
        if answer.repeated:
            return
        if verb == "resume":
            assert before is JobState.PAUSED
            one.state = JobState.QUEUED
        elif one.held:
            one.control_request = verb
            one.state = JobState.PAUSING if verb == "pause" else JobState.STOPPING
        elif verb == "pause":
            one.end(JobState.PAUSED)
            one.stalls = 0
        else:
            one.end(JobState.CANCELLED if verb == "cancel" else JobState.SUCCEEDED)
            assert verb == "cancel" or one.trees

    @rule(choice=choices, revision=st.integers(1, 4))
    def finish_with(self, choice: int, revision: int) -> None:
        """Make a model of one of the trees of a job, which may have ended."""
        job_id = self.pick(choice, lambda one: one.trees)
        one = self.known.get(job_id)
        if one is None:
            return
        if one.expired:
            one.settle()
        before = one.state
        try:
            answer = self.store.jobs.control(TENANT, job_id, "finish", revision=revision)
        except RevisionNotFoundError:
            assert revision > one.trees
            return
        except WrongStateError:
            assert before is JobState.STOPPING
            assert one.control_request == "cancel"
            return
        assert revision <= one.trees
        if before.terminal:
            assert answer.job.state is before
            one.modelled = revision
            return
        one.chosen = revision
        if one.held:
            one.control_request, one.state = "finish", JobState.STOPPING
        else:
            one.end(JobState.SUCCEEDED)

    @rule(choice=choices, priority=priorities, limit=st.none() | st.sampled_from([1.0, 2.0]))
    def change(self, choice: int, priority: int, limit: float | None) -> None:
        job_id = self.pick(choice, lambda one: not one.state.terminal)
        one = self.known.get(job_id)
        if one is None:
            return
        changes: list[bool] = []

        def to(now: JobSettings) -> JobSettings:
            limits = now.limits if limit is None else now.limits.model_copy(update={"time_limit": limit})
            changes.append(limits != now.limits)
            return now.model_copy(update={"priority": priority, "limits": limits})

        try:
            job = self.store.jobs.change(TENANT, job_id, to)
        except WrongStateError:
            assert one.state.terminal
            assert changes == [True]
            return
        assert job.settings.priority == priority
        one.priority = priority
        one.limits += changes[-1]

    @rule(choice=choices, keep=st.booleans())
    def delete(self, choice: int, keep: bool) -> None:
        job_id = self.pick(choice, lambda one: one.state.terminal)
        one = self.known.get(job_id)
        if one is None:
            return
        if one.state.terminal:
            self.store.jobs.delete(TENANT, job_id, keep=keep)
            if keep:
                self.deleted[job_id] = one
            del self.known[job_id]
        else:
            with pytest.raises(JobNotEndedError):
                self.store.jobs.delete(TENANT, job_id, keep=keep)

    @precondition(lambda self: self.deleted)
    @rule(choice=choices, purge=st.sampled_from([False, False, False, True]))
    def restore(self, choice: int, purge: bool) -> None:
        if purge:
            assert self.store.retention.expire("deleted", 0, 1000) == len(self.deleted)
        job_id = list(self.deleted)[choice % len(self.deleted)]
        if purge:
            self.deleted.clear()
            with pytest.raises(JobNotFoundError):
                self.store.jobs.restore(TENANT, job_id)
        else:
            self.store.jobs.restore(TENANT, job_id)
            self.known[job_id] = self.deleted.pop(job_id)

    @invariant()
    def jobs_are_as_known(self) -> None:
        for job_id, one in self.known.items():
            job = self.store.jobs.get(TENANT, job_id)
            assert job is not None
            assert (job.state, job.control_request, job.epoch) == (one.state, one.control_request, one.epoch)
            progress = job.progress
            assert (progress.objective, progress.incumbents) == (one.best, one.trees)
            assert (progress.upper_bound, progress.lower_bound) == (one.upper, one.lower)
            assert progress.expansions == one.expansions
            assert sum(step.state.terminal for step in job.transitions) == one.state.terminal
            assert job.limits_revision == one.limits
            assert (job.model_id is not None) == (one.modelled is not None)
            if job.model_id is not None:
                model = self.store.models.get(TENANT, job.model_id)
                assert model is not None
                assert model.incumbent_revision == one.modelled
                assert model.objective <= model.upper_bound
                assert not model.proven_optimal or model.objective <= model.lower_bound
            if one.seen is not None:
                same = job.model_copy(update={"heartbeat_at": one.seen.heartbeat_at}) == one.seen
                assert job.revision == one.seen.revision if same else job.revision > one.seen.revision
            one.seen = job

    @invariant()
    def sets_agree(self) -> None:
        pipeline = self.store.client.pipeline()
        pipeline.zrange(f"literati:queue:{TENANT}", 0, -1)
        pipeline.zrange("literati:leases", 0, -1)
        pipeline.smembers(f"literati:dataset-live:{self.dataset.id}")
        pipeline.zrange(f"literati:tenant-jobs:{TENANT}", 0, -1)
        for state in JobState:
            pipeline.zrange(f"literati:tenant-state:{state}:{TENANT}", 0, -1)
        pipeline.zrange("literati:turns", 0, -1)
        pipeline.hvals("literati:running")
        found = [{member.decode() for member in members} for members in pipeline.execute()]
        turns, running = found.pop(-2), found.pop(-1)
        queue, leases, live, every = found[:4]
        by_state: dict[JobState, set[str]] = {state: set() for state in JobState}
        for job_id, one in self.known.items():
            by_state[one.state].add(job_id)
        assert {member[16:] for member in queue} == by_state[JobState.QUEUED]
        assert turns == ({TENANT} if queue else set())
        assert running == ({str(len(leases))} if leases else set())
        assert leases == {job_id for state in LEASED for job_id in by_state[state]}
        assert live == {job_id for job_id, one in self.known.items() if not one.state.terminal}
        assert every == set(self.known)
        assert all(self.store.jobs.get(TENANT, job_id) is None for job_id in self.deleted)
        assert dict(zip(JobState, found[4:], strict=True)) == by_state
        counts = {state: len(jobs) for state, jobs in by_state.items()}
        assert self.store.measure().states == counts


def test_random_lives(store: Store) -> None:
    Jobs.store = store
    run_state_machine_as_test(
        Jobs,
        settings=settings(
            max_examples=40,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
