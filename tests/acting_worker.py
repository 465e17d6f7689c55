"""A worker whose every word the test decides: it claims a job and publishes what it is told to."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from literati import LiteratiClassifier
from worker.messages import Checkpoint, JobState, NewIncumbent, Outcome, StopReason, TracePoint, Wish
from worker.store import Store


@cache
def trees() -> list[dict[str, Any]]:
    """Trees of one problem, each better than the one before."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(300, 2)).round(2)
    y = np.where((np.abs(x[:, 0]) < 0.7) ^ (np.abs(x[:, 1]) < 0.5), "in", "out")
    shapes = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)]
    found = [
        LiteratiClassifier(max_depth=depth, max_changepoints=cuts, candidates="quantile").fit(x, y).tree_
        for depth, cuts in shapes
    ]
    costs = [tree.objective for tree in found]
    assert costs == sorted(set(costs), reverse=True)
    return [tree.to_dict() for tree in found]


class ActingWorker:
    """Has one job from the moment it is made."""

    def __init__(self, store: Store) -> None:
        claim = store.jobs.claim("acting")
        assert claim is not None, "no job is queued"
        self.store, self.id, self.epoch = store, claim.job.spec.id, claim.epoch
        self.expansions = claim.job.progress.expansions

    def checkpoint(self, upper: float, lower: float, tree: int | None = None, **more: Any) -> Wish:
        return self.store.jobs.checkpoint(self.id, self.epoch, self._word(upper, lower, tree, **more)).wish

    def finish(
        self,
        upper: float,
        lower: float,
        tree: int | None = None,
        *,
        state: JobState = JobState.SUCCEEDED,
        reason: StopReason | None = StopReason.TIME_LIMIT,
        proven: bool = False,
    ) -> None:
        outcome = Outcome.model_validate({"state": state, "stop_reason": reason, "proven_optimal": proven})
        self.store.jobs.finish(self.id, self.epoch, outcome, self._word(upper, lower, tree))

    def _word(self, upper: float, lower: float, tree: int | None, **more: Any) -> Checkpoint:
        self.expansions += 10
        seconds = self.expansions / 100
        found = None
        if tree is not None:
            model = trees()[tree]
            found = NewIncumbent(
                objective=model["proof"]["objective"], tree=model, metrics={"train_accuracy": 0.5}
            )
        return Checkpoint(
            upper_bound=upper,
            lower_bound=lower,
            expansions=self.expansions,
            states_live=3,
            elapsed_seconds=seconds,
            memory_bytes=4096,
            trace=[TracePoint(seconds=seconds, expansions=self.expansions, upper=upper, lower=lower)],
            incumbent=found,
            **more,
        )
