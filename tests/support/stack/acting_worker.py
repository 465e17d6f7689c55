"""A worker that the test controls: it claims a job and publishes what the test says."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from literati import LiteratiClassifier
from worker.domain.jobs import ControlRequest, JobState, Outcome, StopReason
from worker.domain.progress import NewIncumbent, ProgressUpdate, TracePoint
from worker.store import Store


@cache
def trees() -> list[dict[str, Any]]:
    """Return trees of one dataset, each better than the one before."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(300, 2)).round(2)
    y = rng.choice(["in", "out"], 300)  # noise, which every more flexible tree fits better
    shapes = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)]
    found = [
        LiteratiClassifier(max_depth=depth, max_changepoints=cuts, candidates="quantile").fit(x, y).tree_
        for depth, cuts in shapes
    ]
    falling = [tree.objective for tree in found]
    assert falling == sorted(set(falling), reverse=True)
    return [tree.to_dict() for tree in found]


def costs() -> list[float]:
    return [tree["proof"]["objective"] for tree in trees()]


class ActingWorker:
    """A worker that claims a job when it is created. Its upper bound is the cost of its last tree."""

    def __init__(self, store: Store) -> None:
        claim = store.jobs.claim("acting")
        assert claim is not None, "no job is queued"
        self.store, self.id, self.epoch = store, claim.spec.id, claim.epoch
        self.expansions = claim.progress.expansions
        self.upper = claim.progress.upper_bound or costs()[0]

    def checkpoint(self, lower: float, tree: int | None = None, **more: Any) -> ControlRequest:
        return self.store.jobs.publish_progress(
            self.id, self.epoch, self._word(lower, tree, **more)
        ).control_request

    def finish(
        self,
        lower: float,
        tree: int | None = None,
        *,
        state: JobState = JobState.SUCCEEDED,
        reason: StopReason | None = StopReason.TIME_LIMIT,
    ) -> None:
        word = self._word(lower, tree)
        outcome = Outcome.model_validate(
            {
                "state": state,
                "stop_reason": reason,
                "proven_optimal": reason is StopReason.PROVEN_OPTIMAL,
                "error": {"code": "INTERNAL", "message": "As told."} if state is JobState.FAILED else None,
            }
        )
        self.store.jobs.finish(self.id, self.epoch, outcome, word)

    def prove(self) -> None:
        """Let the bounds meet and the job succeed."""
        self.finish(self.upper, reason=StopReason.PROVEN_OPTIMAL)

    def _word(
        self, lower: float, tree: int | None, metrics: dict[str, Any] | None = None, **more: Any
    ) -> ProgressUpdate:
        self.expansions += 10
        seconds = self.expansions / 100
        found = None
        if tree is not None:
            self.upper = costs()[tree]
            found = NewIncumbent(
                objective=self.upper,
                tree=trees()[tree],
                metrics=metrics or {"train_accuracy": 1 - self.upper / 300},
                found_seconds=seconds,
                stage=more.get("stage", 0),
            )
        return ProgressUpdate(
            upper_bound=self.upper,
            lower_bound=lower,
            expansions=self.expansions,
            states_live=3,
            elapsed_seconds=seconds,
            memory_bytes=4096,
            trace=[
                TracePoint(
                    seconds=seconds,
                    expansions=self.expansions,
                    upper=self.upper,
                    lower=lower,
                    explored=more.get("explored", 0.0),
                    stage=more.get("stage", 0),
                )
            ],
            incumbent=found,
            **more,
        )
