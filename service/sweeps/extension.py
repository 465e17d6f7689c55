"""Extend a sweep that has ended: raise its limits and plan the jobs that are not done."""

from __future__ import annotations

from typing import Any

from service.checks.issues import Issue, issue, raise_issues
from service.http.problems import Problem, invalid, not_found
from service.http.remedies import Remedy, in_body, merged
from service.sweeps.schemas import ExtendRequest
from worker.domain.errors import DatasetNotFoundError
from worker.domain.parameters import MAX_BY_UNIT
from worker.domain.sweeps import MAX_CHILDREN, MAX_TRIALS, Sweep, SweepLimits, SweepSpec, SweepState
from worker.store import Store
from worker.sweeps.advance import patience_is_over
from worker.sweeps.jobs import trial_jobs
from worker.sweeps.plan import settings_to_try

_PATIENCE = issue(
    ("patience_trials",),
    "USED_UP",
    "The settings that were tried have used up the patience of the sweep, so that it would stop at once. "
    "Give a larger number, or null.",
)


def extend(store: Store, tenant: str, sweep_id: str, request: ExtendRequest, max_live: int | None) -> Sweep:
    """Return the sweep, which is queued again. Raise the problem 409 or 422 if that is not possible."""
    while True:
        sweep = store.sweeps.get(tenant, sweep_id)
        if sweep is None:
            raise not_found("sweep")
        extended = _extend_once(store, sweep, request, max_live)
        if extended is not None:
            return extended


def _extend_once(store: Store, sweep: Sweep, request: ExtendRequest, max_live: int | None) -> Sweep | None:
    """Return None if the sweep has changed since it was read."""
    spec = sweep.spec.model_copy(update={"limits": _limits(sweep, request)})
    if not sweep.state.terminal:
        return store.sweeps.extend(sweep, spec, [], [])  # raises the error of the state
    found = _limit_issues(sweep, spec)
    if found:

        def remaining(remedy: Remedy) -> list[Issue]:
            sent = request.model_dump(exclude_unset=True)
            changed = ExtendRequest.model_validate(merged(sent, remedy.options))
            return _limit_issues(sweep, spec.model_copy(update={"limits": _limits(sweep, changed)}))

        raise_issues(found, remaining)
    units = settings_to_try(spec)
    if len(units) * spec.n_folds > MAX_CHILDREN:
        most = MAX_CHILDREN // spec.n_folds
        message = f"At most {most:,} settings are possible with {spec.n_folds} folds."
        raise invalid(issue(("max_trials",), "TOO_MANY_JOBS", message).error)
    results = store.sweeps.results(spec.id)
    jobs = trial_jobs(spec, sweep.settings, units, results.scores)
    if not jobs and sweep.state is SweepState.SUCCEEDED:
        raise invalid(_nothing_to_do(spec, len(units)).error)
    if jobs and patience_is_over(spec, results):
        raise invalid(_PATIENCE.error)
    try:
        return store.sweeps.extend(sweep, spec, units, jobs, max_live=max_live)
    except DatasetNotFoundError:
        detail = "The dataset of the sweep was deleted; restore it first."
        raise Problem(409, detail, kind="dataset-deleted") from None


def _limits(sweep: Sweep, request: ExtendRequest) -> SweepLimits:
    """Return the new limits. The time limit counts from the first start of the sweep."""
    update: dict[str, Any] = {
        name: getattr(request, name)
        for name in ("max_failed_trials", "patience_trials")
        if name in request.model_fields_set
    }
    if request.max_trials is not None:
        update["max_trials"] = request.max_trials
    if request.time_limit is not None:
        update["time_limit"] = min(sweep.seconds + request.time_limit, MAX_BY_UNIT["seconds"])
    return sweep.spec.limits.model_copy(update=update)


def _limit_issues(sweep: Sweep, spec: SweepSpec) -> list[Issue]:
    found = []
    before, limits = sweep.spec.limits, spec.limits
    if limits.max_trials < before.max_trials:
        message = f"This is less than before, {before.max_trials:,}."
        fix = in_body("Do not change it", "max_trials", value=None)
        found.append(issue(("max_trials",), "TOO_SMALL", message, fix))
    if limits.time_limit is not None and limits.time_limit <= sweep.seconds:
        message = f"The sweep has used its time limit of {limits.time_limit:g} seconds; add some."
        fix = in_body("Add an hour", "time_limit", value=3600)
        found.append(issue(("time_limit",), "USED_UP", message, fix))
    return found


def _nothing_to_do(spec: SweepSpec, settings: int) -> Issue:
    if settings < spec.limits.max_trials or spec.limits.max_trials == MAX_TRIALS:
        message = f"There is nothing to do: the space has {settings:,} settings, and all of them are done."
    else:
        message = f"There is nothing to do: all {settings:,} settings are done. Give a larger `max_trials`."
    return issue(("max_trials",), "NOTHING_TO_DO", message)
