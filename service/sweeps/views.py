"""Convert stored sweeps and their results to the API's schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.sweeps import schemas
from worker.domain import sweeps as domain
from worker.domain.sweeps import FoldScores, Metric, SweepProgress, SweepState, Trial
from worker.store import Store
from worker.store.sweeps import SweepResults
from worker.sweeps.advance import limited
from worker.sweeps.trials import TrialTable, trial_table

MAX_MESSAGE_LENGTH = 300  # of an error in a list
_TRYING = (SweepState.QUEUED, SweepState.RUNNING, SweepState.PAUSING, SweepState.PAUSED)
# The actions that are possible in each state. The store checks them again.
_ACTIONS: dict[SweepState, tuple[str, ...]] = {
    SweepState.QUEUED: ("cancel", "pause"),
    SweepState.RUNNING: ("cancel", "pause"),
    SweepState.PAUSING: ("cancel", "resume"),
    SweepState.PAUSED: ("cancel", "resume"),
    SweepState.CHOOSING: ("cancel",),
    SweepState.REFITTING: ("finish", "cancel"),
    SweepState.SUCCEEDED: ("extend",),
    SweepState.CANCELLED: ("extend",),
    SweepState.FAILED: ("extend",),
}


def table_of(store: Store, sweep: domain.Sweep) -> tuple[TrialTable, SweepResults]:
    """Return the trials of a sweep as far as they are known, and what its jobs have found."""
    results = store.sweeps.results(sweep.spec.id)
    if sweep.state in _TRYING:
        return trial_table(sweep.spec, results, ended=False), results
    return trial_table(sweep.spec, limited(sweep, results), ended=True), results


def sweep_view(store: Store, sweep: domain.Sweep) -> schemas.Sweep:
    """Return the sweep with its progress and its best trial."""
    progress = store.sweeps.progress(sweep)
    best = None
    if progress.done >= sweep.spec.n_folds:
        found = table_of(store, sweep)[0].chosen()
        best = None if found is None else found[0]
    return complete_view(sweep, progress, best)


def complete_view(sweep: domain.Sweep, progress: SweepProgress, best: Trial | None) -> schemas.Sweep:
    fields = _fields(sweep, progress, can_finish=best is not None)
    return schemas.Sweep.model_construct(**fields | {"best": best})


def sweep_summary(store: Store, sweep: domain.Sweep) -> schemas.SweepSummary:
    """Return the sweep for a list."""
    progress = store.sweeps.progress(sweep)
    error = sweep.error
    if error is not None and len(error.message) > MAX_MESSAGE_LENGTH:
        error = error.model_copy(update={"message": f"{error.message[:MAX_MESSAGE_LENGTH]}…"})
    fields = _fields(sweep, progress, can_finish=progress.done >= sweep.spec.n_folds)
    return schemas.SweepSummary.model_construct(**fields | {"error": error})


def _fields(sweep: domain.Sweep, progress: SweepProgress, *, can_finish: bool) -> dict[str, Any]:
    """Return the fields of the record, with its parts, by name. A schema takes those that it has."""
    parts = {**dict(sweep.spec), **dict(sweep.settings), **dict(sweep)}
    return parts | {"progress": progress, "links": _links(sweep, can_finish)}


def _links(sweep: domain.Sweep, can_finish: bool) -> dict[str, str]:
    here = f"/v1/sweeps/{sweep.spec.id}"
    links = {
        "self": here,
        "trials": f"{here}/trials",
        "leaderboard": f"{here}/leaderboard",
        "paths": f"{here}/paths",
        "events": f"{here}/events",
        "jobs": f"/v1/jobs?sweep_id={sweep.spec.id}",
        "dataset": f"/v1/datasets/{sweep.spec.dataset_id}",
    }
    if sweep.refit_job_id is not None:
        links["refit_job"] = f"/v1/jobs/{sweep.refit_job_id}"
    if sweep.model_id is not None:
        links["model"] = f"/v1/models/{sweep.model_id}"
    actions = _ACTIONS.get(sweep.state, ())
    if can_finish and sweep.state in _TRYING:
        actions = ("finish", *actions)
    return links | {action: f"{here}/{action}" for action in actions}


def sorted_trials(trials: Sequence[Trial], field: str, *, descending: bool) -> list[Trial]:
    """Sort trials by a field; those in which it is not known come last."""
    known = [trial for trial in trials if getattr(trial, field) is not None]
    unknown = [trial for trial in trials if getattr(trial, field) is None]
    return [*sorted(known, key=lambda trial: getattr(trial, field), reverse=descending), *unknown]


def _by_rank(trial: Trial) -> tuple[float, float, float]:
    return trial.rank or 0, trial.leaves or 0.0, trial.changepoints or 0.0


def leaderboard(sweep: domain.Sweep, table: TrialTable, limit: int) -> schemas.Leaderboard:
    """Return the best complete trials, and the one that is chosen or would be chosen now."""
    found = table.chosen()
    complete = [table.trials[place] for place in table.candidates]
    explanation = None if found is None else table.explain(found[1])
    return schemas.Leaderboard.model_construct(
        sweep_id=sweep.spec.id,
        metric=sweep.spec.metric,
        select=sweep.spec.select,
        final=sweep.choice is not None,
        chosen=None if found is None else found[0],
        explanation=explanation if sweep.choice is None else sweep.choice.explanation,
        items=sorted(complete, key=_by_rank)[:limit],
        total=len(complete),
    )


def setting_paths(
    sweep: domain.Sweep, table: TrialTable, results: SweepResults, numbers: Sequence[int]
) -> schemas.Paths:
    """Return the series of these settings."""
    return schemas.Paths.model_construct(
        sweep_id=sweep.spec.id,
        metric=sweep.spec.metric,
        settings=[_setting(sweep, table, results, number) for number in numbers],
    )


def _setting(
    sweep: domain.Sweep, table: TrialTable, results: SweepResults, number: int
) -> schemas.SettingPaths:
    metric = sweep.spec.metric
    trials = (table.trials[place] for place in table.candidates)
    folds = ((fold, results.scores.get((number, fold))) for fold in range(sweep.spec.n_folds))
    return schemas.SettingPaths.model_construct(
        setting=number,
        parameters=results.units[number],
        trials=[
            schemas.PathPoint.model_construct(
                **{name: getattr(trial, name) for name in schemas.PathPoint.model_fields}
            )
            for trial in trials
            if trial.setting == number
        ],
        folds=[
            _fold(fold, scores, results.jobs.get((number, fold)), metric)
            for fold, scores in folds
            if scores is not None
        ],
    )


def _fold(number: int, scores: FoldScores, job_id: str | None, metric: Metric) -> schemas.FoldPath:
    def for_all_rows(penalty: float | None) -> float | None:
        return None if penalty is None else penalty / scores.weight

    return schemas.FoldPath.model_construct(
        fold=number,
        job_id=job_id,
        stop_reason=scores.stop_reason,
        seconds=scores.seconds,
        segments=[
            schemas.FoldSegment.model_construct(
                penalty_from=for_all_rows(tree.penalty_from),
                penalty_to=for_all_rows(tree.penalty_to),
                score=tree.validation.get(metric),
                train_score=tree.train.get(metric),
                leaves=tree.leaves,
                changepoints=tree.changepoints,
                proven=tree.proven,
                gap=tree.gap,
            )
            for tree in scores.segments
        ],
    )
