"""What follows from the results of a sweep's jobs: drop settings, stop early, choose, and fit to all rows.

Everything here depends on stored results only, so any process can do it, and doing it twice changes nothing.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np
import structlog
from redis import RedisError

from worker.domain.jobs import JobError
from worker.domain.sweeps import Metric, Select, Sweep, SweepSpec, SweepState, Trial, TrialState
from worker.store import Store
from worker.store.sweeps import SweepResults
from worker.sweeps.jobs import refit_job
from worker.sweeps.trials import TrialTable, trial_table

log = structlog.get_logger(__name__)
_BEST_VALUE = {Metric.LOG_LOSS: 0.0}  # of other metrics it is 1
_NOTHING = JobError(
    code="NO_COMPLETE_TRIAL",
    message="No trial could be scored on every fold, so there is nothing to choose from.",
)


_INTERNAL = JobError(
    code="INTERNAL", message="The choice failed unexpectedly; see the log of the workers and the API."
)


def advance(store: Store, sweep_id: str) -> bool:
    """Do what is due after the end of a job. Return whether a new job was created by it."""
    sweep = store.sweeps.get_of_any_tenant(sweep_id)
    if sweep is None:
        return False
    if sweep.state is SweepState.RUNNING:
        _stop_early(store, sweep)
        sweep = store.sweeps.get_of_any_tenant(sweep_id)
    if sweep is not None and sweep.state is SweepState.CHOOSING:
        return _choose(store, sweep)
    return False


def reconcile(store: Store) -> int:
    """Advance all sweeps of which no worker takes care. Return how many jobs were created by a choice.

    A sweep that cannot be advanced fails; it must not keep others waiting.
    """
    created = 0
    for sweep_id in store.sweeps.reconcile():
        try:
            created += advance(store, sweep_id)
        except RedisError:
            raise
        except Exception:
            log.exception("the sweep cannot be advanced", sweep_id=sweep_id)
            store.sweeps.fail(sweep_id, _INTERNAL)
    return created


def _choose(store: Store, sweep: Sweep) -> bool:
    results = store.sweeps.results(sweep.spec.id)
    table = trial_table(sweep.spec, limited(sweep, results), ended=True)
    choice = table.choice()
    if choice is None:
        return store.sweeps.choose(sweep, _NOTHING, None)
    refit = refit_job(sweep.spec, sweep.settings, choice.parameters) if sweep.spec.refit else None
    log.info("sweep chosen", sweep_id=sweep.spec.id, trial=choice.trial)
    return store.sweeps.choose(sweep, choice, refit)


def _stop_early(store: Store, sweep: Sweep) -> None:
    spec = sweep.spec
    prunes = spec.select is Select.BEST and not spec.is_path and spec.limits.patience_trials is None
    if spec.limits.patience_trials is None and not prunes:
        return
    results = store.sweeps.results(spec.id)
    table = trial_table(spec, results, ended=False)
    hopeless = _hopeless(table) - results.dropped if prunes else set()
    stop = _last_setting(table) is not None
    if hopeless or stop:
        store.sweeps.stop_units(sweep, hopeless, stop=stop)


def _hopeless(table: TrialTable) -> set[int]:
    """Return the settings that cannot have the best mean, even with the best score on all other folds."""
    spec = table.spec
    found = table.chosen()
    if found is None:
        return set()
    sign, best = spec.metric.sign, found[1].mean
    limit = sign * _BEST_VALUE.get(spec.metric, 1.0)

    def highest_mean(trial: Trial) -> float:
        return float(np.mean([limit if s is None else sign * s for s in trial.fold_scores]))

    return {
        trial.setting
        for trial in table.trials
        if trial.state is TrialState.RUNNING and highest_mean(trial) < best
    }


def _last_setting(table: TrialTable) -> int | None:
    """Return the setting after which patience is over; None if it is not.

    Settings count in their order, not in the order in which they end, so the choice does not depend on the
    speed of workers.
    """
    patience = table.spec.limits.patience_trials
    if patience is None:
        return None
    best, since = -np.inf, 0
    by_setting = groupby(enumerate(table.trials), key=lambda place: place[1].setting)
    for setting, trials in by_setting:
        means: list[float] = []
        for place, trial in trials:
            if trial.state in (TrialState.QUEUED, TrialState.RUNNING):
                return None
            if place in table.candidates:
                means.append(table.candidates[place].mean)
        if any(mean > best for mean in means):
            best, since = max(means), 0
        else:
            since += 1
        if since == patience:
            return int(setting)
    return None


def patience_is_over(spec: SweepSpec, results: SweepResults) -> bool:
    """Return whether a sweep with these results would try nothing more."""
    return _last_setting(trial_table(spec, results, ended=False)) is not None


def limited(sweep: Sweep, results: SweepResults) -> SweepResults:
    """Leave out the settings after the one at which patience was over."""
    if sweep.spec.limits.patience_trials is None:
        return results
    last = _last_setting(trial_table(sweep.spec, results, ended=False))
    if last is None:
        return results
    scores = {place: found for place, found in results.scores.items() if place[0] <= last}
    return SweepResults(
        results.units, scores, results.failures, results.jobs, results.states, results.dropped
    )
