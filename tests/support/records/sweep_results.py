"""Act the jobs of a sweep: claim them and end them with given scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.stack.acting_worker import costs, trees
from worker.domain.jobs import Job, JobError, JobState, Outcome, StopReason
from worker.domain.progress import NewIncumbent, ProgressUpdate
from worker.domain.sweeps import FoldScores, Metric, ScoredTree
from worker.store import Store
from worker.sweeps.advance import advance

FOUND = Outcome(state=JobState.SUCCEEDED, stop_reason=StopReason.PROVEN_OPTIMAL, proven_optimal=True)
FAILED = Outcome(
    state=JobState.FAILED, stop_reason=StopReason.ERROR, error=JobError(code="DATA", message="As told.")
)
CANCELLED = Outcome(state=JobState.CANCELLED, stop_reason=StopReason.USER_CANCEL)


def segment(
    penalty_from: float, penalty_to: float | None, score: float, leaves: int, train: float = 1.0, **more: Any
) -> ScoredTree:
    """Return a tree of a path, whose scores by all metrics are equal."""
    fields: dict[str, Any] = {"changepoints": leaves // 2, "proven": True, "gap": 0.0, **more}
    return ScoredTree(
        penalty_from=penalty_from,
        penalty_to=penalty_to,
        found_penalty=penalty_from,
        leaves=leaves,
        train=dict.fromkeys(Metric, train),
        validation=dict.fromkeys(Metric, score),
        **fields,
    )


def path(*segments: ScoredTree, weight: float = 1.0) -> str:
    """Return the result of a job that found a path."""
    return FoldScores(
        weight=weight, segments=list(segments), stop_reason="PROVEN_OPTIMAL", seconds=0.5
    ).model_dump_json()


def one_tree(score: float, leaves: int = 2) -> str:
    return path(segment(0.0, None, score, leaves))


def claim(store: Store) -> Job:
    job = store.jobs.claim("acting")
    assert job is not None, "no job is queued"
    return job


def end(store: Store, job: Job, outcome: Outcome = FOUND, result: str | None = None) -> None:
    """End a job as a worker does, and do what follows from it."""
    text = one_tree(0.5) if result is None and outcome is FOUND else result or ""
    store.jobs.finish(job.spec.id, job.epoch, outcome, result=text)
    assert job.spec.sweep is not None
    advance(store, job.spec.sweep.sweep_id)


def run(store: Store, *results: str) -> None:
    """Act the next jobs with these results."""
    for result in results:
        end(store, claim(store), result=result)


def run_scores(store: Store, scores: Sequence[float], leaves: int = 2) -> None:
    run(store, *(one_tree(score, leaves) for score in scores))


def _update(score: float, lower: float) -> ProgressUpdate:
    tree = NewIncumbent(
        objective=costs()[0],
        tree=trees()[0],
        metrics={"train": {"accuracy": 0.75}, "validation": {"accuracy": score}},
    )
    return ProgressUpdate(
        upper_bound=costs()[0],
        lower_bound=lower,
        expansions=10,
        states_live=3,
        elapsed_seconds=2.0,
        memory_bytes=4096,
        trace=[],
        incumbent=tree,
    )


def publish_tree(store: Store, job: Job) -> None:
    """Publish a tree that is not proven."""
    store.jobs.publish_progress(job.spec.id, job.epoch, _update(0.5, 0.0))


def end_with_tree(store: Store, job: Job, score: float = 0.5) -> None:
    """End a job with a tree and its metrics, as a search does."""
    store.jobs.finish(job.spec.id, job.epoch, FOUND, _update(score, costs()[0]))
    assert job.spec.sweep is not None
    advance(store, job.spec.sweep.sweep_id)
