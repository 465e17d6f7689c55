"""Submit a sweep: check the request, plan its settings and jobs, and store them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

import literati
from literati.tuning.path import exact_ratio
from service.checks.issues import Issue, issue, raise_issues, sentence
from service.checks.limits import limit_issues, memory_issues, with_defaults
from service.checks.parameters import library_error
from service.http.problems import invalid
from service.http.remedies import Remedy, in_body, merged
from service.settings import Settings
from service.sweeps.data_issues import SweepData, data_issues, fold_issues
from service.sweeps.schemas import SweepRequest
from worker.blobs.local import Blobs
from worker.domain.base import new_id
from worker.domain.errors import DatasetNotFoundError
from worker.domain.jobs import NewJob
from worker.domain.parameters import WIDENING
from worker.domain.sweeps import (
    MAX_CHILDREN,
    PATH,
    Sweep,
    SweepProgress,
    SweepSettings,
    SweepSpec,
    SweepState,
    Unit,
)
from worker.store import Store
from worker.store.sweeps import SweepQuota, SweepSubmitResult
from worker.sweeps import plan
from worker.sweeps.jobs import trial_jobs
from worker.sweeps.plan import PlanError, parse_constraint, settings_to_try

NIL_ID = "swp_" + 32 * "0"  # of a sweep that is only validated
_NO_DATASET = issue(("dataset_id",), "NOT_FOUND", "There is no such dataset.")
_MAX_LIBRARY_ISSUES = 3


@dataclass(frozen=True)
class PlannedSweep:
    """A sweep that can be stored, with its settings and jobs."""

    spec: SweepSpec
    settings: SweepSettings
    units: Sequence[Unit]

    @property
    def jobs(self) -> list[NewJob]:
        return trial_jobs(self.spec, self.settings, self.units)


def submit(
    request: SweepRequest,
    tenant: str,
    store: Store,
    blobs: Blobs,
    settings: Settings,
    idempotency_key: str | None,
    request_id: str,
) -> SweepSubmitResult:
    """Return the sweep that this idempotency key created before, or create one.

    Raise the problem 422 if the request cannot be used.
    """
    body_digest = digest(request)
    if idempotency_key is not None:
        known = store.sweeps.submitted_before(tenant, idempotency_key, body_digest)
        if known is not None:
            return SweepSubmitResult(known, created=False)
    planned = plan_sweep(request, tenant, store, blobs, settings)
    try:
        return store.sweeps.submit(
            planned.spec,
            planned.settings,
            planned.units,
            planned.jobs,
            idempotency_key=idempotency_key,
            body_digest=body_digest,
            quota=SweepQuota(
                max_live=settings.max_live_jobs,
                max_sweeps=settings.max_sweeps,
                max_models=settings.max_models,
            ),
            request_id=request_id,
        )
    except DatasetNotFoundError:  # deleted in the meantime
        raise invalid(_NO_DATASET.error) from None


def digest(request: SweepRequest) -> str:
    """Return a digest that is equal for equal requests, however they are written.

    A fixed parameter that is given is not the same as one that is left out, even if it has its default.
    """
    body = {**request.model_dump(mode="json"), "fixed": _given(request)}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _given(request: SweepRequest) -> dict[str, Any]:
    """Return the fixed parameters that the request gives."""
    return request.fixed.model_dump(mode="json", exclude_unset=True)


def plan_sweep(
    request: SweepRequest, tenant: str, store: Store, blobs: Blobs, settings: Settings
) -> PlannedSweep:
    """Return the sweep that the request asks for, or raise the problem 422 with all issues."""
    dataset = store.datasets.get(tenant, request.dataset_id)
    data = None if dataset is None else SweepData(dataset, blobs)
    check = _Check(request, tenant, data, settings)
    found = check.issues()
    if found or check.planned is None:

        def remaining(remedy: Remedy) -> list[Issue]:
            sent = request.model_dump(mode="json", exclude_unset=True)
            body = json.dumps(merged(sent, remedy.options))
            try:
                changed = SweepRequest.model_validate_json(body, strict=True)
            except ValidationError:
                return found
            return _Check(changed, tenant, data, settings).issues()

        raise_issues(found, remaining)
    return check.planned


class _Check:
    """The checks of one request. `planned` is the sweep if there are no issues."""

    def __init__(
        self, request: SweepRequest, tenant: str, data: SweepData | None, settings: Settings
    ) -> None:
        self.request = request
        self.tenant = tenant
        self.data = data
        self.settings = settings
        self.fixed = _given(request)
        self.space = plan.with_defaults(request.space, self.fixed)
        self.limits = with_defaults(request.trial_limits, settings)
        self.planned: PlannedSweep | None = None

    def issues(self) -> list[Issue]:
        found = [
            *self._overlaps(),
            *self._path_issues(),
            *limit_issues(self.limits, self.settings, "trial_limits"),
            *([_NO_DATASET] if self.data is None else data_issues(self.request, self.data)),
        ]
        # Without folds, their number is not known, but the settings can be checked.
        folds = 1
        if self.data is not None and not fold_issues(self.request, self.data):
            folds = self.data.n_folds(self.request.validation)
        spec = self._spec(folds)
        units, unplanned = self._plan(spec)
        if unplanned:
            return [*found, *unplanned]
        self.planned = PlannedSweep(spec, self._sweep_settings(), units)
        unusable = [*self._library_issues(spec, units), *self._size_issues(units, folds)]
        return [*found, *(unusable or self._memory_issues(spec, units))]

    def _spec(self, n_folds: int) -> SweepSpec:
        dataset = None if self.data is None else self.data.dataset
        request = self.request
        same = ("constraints", "changepoint_ratio", "strategy", "seed", "validation", "test", "metric")
        return SweepSpec(
            id=new_id("swp"),
            tenant=self.tenant,
            dataset_id=request.dataset_id,
            dataset_sha256="" if dataset is None else dataset.sha256,
            space=self.space,
            fixed=self.fixed,
            trial_limits=self.limits,
            n_folds=n_folds,
            target=None if dataset is None else dataset.target,
            csv_style=None if dataset is None else dataset.csv_style,
            engine_version=literati.__version__,
            **{name: getattr(request, name) for name in (*same, "select", "limits", "refit")},
        )

    def _sweep_settings(self) -> SweepSettings:
        return SweepSettings(name=self.request.name, tags=self.request.tags, priority=self.request.priority)

    def _overlaps(self) -> list[Issue]:
        """Return an issue for each parameter that is both fixed and tried."""
        tried = {name for name, value in self.request.space if value is not None}
        return [
            issue(
                ("fixed", name),
                "ALSO_IN_SPACE",
                "This parameter is also in `space`; it can be fixed or tried, not both.",
                in_body(f"Do not fix `{name}`", "fixed", name, value=None),
                in_body(f"Do not try other values of `{name}`", "space", name, value=None),
            )
            for name in self.fixed
            if name in tried
        ]

    def _path_issues(self) -> list[Issue]:
        """Return an issue for each parameter that a path chooses itself."""
        found = self._ratio_issues()
        if self.space.split_penalty != PATH:
            return found
        penalty = "With `path`, this penalty is `changepoint_ratio` times the penalty of a split."
        for part, given in (("fixed", self.fixed), ("space", self._tried())):
            if "changepoint_penalty" in given:
                fix = in_body("Leave out `changepoint_penalty`", part, "changepoint_penalty", value=None)
                found.append(issue((part, "changepoint_penalty"), "CHOSEN_BY_PATH", penalty, fix))
            candidates = given.get("candidates")
            if candidates == WIDENING or (isinstance(candidates, list) and WIDENING in candidates):
                message = "A path cannot be found with `widening`; use another value."
                fix = in_body("Leave out `candidates`", part, "candidates", value=None)
                found.append(issue((part, "candidates"), "NOT_WITH_PATH", message, fix))
        if self.fixed.get("polish"):
            fix = in_body("Do not polish", "fixed", "polish", value=False)
            message = "The trees of a path are not polished."
            found.append(issue(("fixed", "polish"), "NOT_WITH_PATH", message, fix))
        return found

    def _ratio_issues(self) -> list[Issue]:
        ratio, where = self.request.changepoint_ratio, ("changepoint_ratio",)
        try:
            exact_ratio(ratio)
        except ValueError:
            message = "At most three decimal places are possible."
            fix = in_body(f"Use {round(ratio, 3):g}", *where, value=round(ratio, 3))
            return [issue(where, "DECIMAL_PLACES", message, fix)]
        return []

    def _tried(self) -> dict[str, Any]:
        return {name: value for name, value in self.request.space if value is not None}

    def _plan(self, spec: SweepSpec) -> tuple[list[Unit], list[Issue]]:
        """Return the settings, or the issues with which they cannot be listed."""
        found = self._constraint_issues(spec)
        if found:
            return [], found
        try:
            return settings_to_try(spec), []
        except PlanError as error:
            where = tuple(error.field.split("/"))
            fixes = _plan_fixes(error.field)
            return [], [issue(where, "NOTHING_TO_TRY", sentence(error.message), *fixes)]
        except ValidationError as error:  # a value of an interval is outside the range of its parameter
            names = {str(detail["loc"][0]) for detail in error.errors()}
            message = "This contains values that the parameter does not allow."
            return [], [issue(("space", name), "OUT_OF_RANGE", message) for name in sorted(names)]

    def _constraint_issues(self, spec: SweepSpec) -> list[Issue]:
        parameters = spec.parameters({}).model_dump()
        found = []
        for number, text in enumerate(self.request.constraints):
            try:
                parse_constraint(text)(parameters)
            except PlanError as error:
                _, _, expected = error.message.partition("; ")
                message = sentence(expected or "expected parameters whose values are numbers")
                others = [other for place, other in enumerate(self.request.constraints) if place != number]
                fix = in_body("Remove this constraint", "constraints", value=others)
                found.append(issue(("constraints", number), "UNREADABLE", message, fix))
        return found

    def _library_issues(self, spec: SweepSpec, units: Sequence[Unit]) -> list[Issue]:
        """Return the first few issues that the library has with the settings."""
        found: dict[tuple[str, ...], Issue] = {}
        for unit in units:
            error = library_error(spec.parameters(unit))
            if error is None:
                continue
            where: tuple[str, ...] = ("space",)
            fixes: list[Remedy] = []
            if error.name is not None:
                where = ("space" if error.name in unit else "fixed", error.name)
                fixes = [in_body(f"Use the default of `{error.name}`", *where, value=None)]
            found.setdefault(where, issue(where, "UNUSABLE", error.message, *fixes))
            if len(found) == _MAX_LIBRARY_ISSUES:
                break
        return list(found.values())

    def _size_issues(self, units: Sequence[Unit], folds: int) -> list[Issue]:
        if len(units) * folds <= MAX_CHILDREN:
            return []
        most = MAX_CHILDREN // folds
        message = (
            f"There would be {len(units) * folds:,} jobs, one for each of {len(units):,} settings and "
            f"{folds} folds; at most {MAX_CHILDREN:,} are possible."
        )
        where = ("limits", "max_trials")
        return [issue(where, "TOO_MANY_JOBS", message, in_body(f"Use {most:,}", *where, value=most))]

    def _memory_issues(self, spec: SweepSpec, units: Sequence[Unit]) -> list[Issue]:
        limit = self.limits.memory_limit
        if limit is None or self.data is None:
            return []
        least = self.data.min_memory([spec.parameters(unit) for unit in units])
        given = "memory_limit" in self.request.trial_limits.model_fields_set
        return memory_issues(limit, least, given=given, field="trial_limits")


def _plan_fixes(field: str) -> list[Remedy]:
    if field == "constraints":
        return [in_body("Remove the constraints", "constraints", value=None)]
    return [in_body("Draw random settings", "strategy", value="RANDOM")]


def preview_sweep(planned: PlannedSweep) -> tuple[Sweep, SweepProgress]:
    """Return the sweep as it would be after submission, and its progress."""
    jobs = len(planned.units) * planned.spec.n_folds
    sweep = Sweep(
        spec=planned.spec.model_copy(update={"id": NIL_ID}),
        settings=planned.settings,
        state=SweepState.QUEUED,
        revision=0,
        created_at=datetime.now(UTC),
    )
    progress = SweepProgress(settings=len(planned.units), jobs=jobs, done=0, running=0, queued=jobs, failed=0)
    return sweep, progress
