"""The table of a sweep's trials, from what its jobs have found."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from literati.tuning.candidates import Candidate, FoldResult, Setting, candidates_of
from literati.tuning.selection import choose, explain_choice
from worker.domain.jobs import JobState
from worker.domain.parameters import MAX_BY_UNIT, Parameters
from worker.domain.sweeps import (
    Choice,
    FoldScores,
    Metric,
    PenaltyRange,
    ScoredTree,
    Select,
    SweepSpec,
    Trial,
    TrialState,
    Unit,
)
from worker.store.sweeps import SweepResults

_SELECT = {Select.BEST: "best", Select.ONE_STANDARD_ERROR: "one_standard_error"}
_NAMES = {Metric.LOG_LOSS: "negative log loss"}  # in a sentence in which more is better


@dataclass(frozen=True)
class SweepSetting(Setting):
    """A setting with its number, and with other parameters that are tried."""

    number: int = 0
    others: tuple[tuple[str, Any], ...] = ()

    def describe(self) -> str:
        """Return the parameters in words."""
        return ", ".join([super().describe(), *(f"{name} {value}" for name, value in self.others)])


@dataclass
class TrialTable:
    """The trials of a sweep in the order of their settings, and those that can be chosen."""

    spec: SweepSpec
    trials: list[Trial] = field(default_factory=list)
    candidates: dict[int, Candidate] = field(default_factory=dict)  # by place in `trials`

    def chosen(self) -> tuple[Trial, Candidate] | None:
        """Return the trial that would be chosen now; None if none is complete."""
        if not self.candidates:
            return None
        found = choose(list(self.candidates.values()), _SELECT[self.spec.select], None)  # type: ignore[arg-type]
        place = next(place for place, candidate in self.candidates.items() if candidate is found)
        return self.trials[place], found

    def choice(self) -> Choice | None:
        """Return the choice with its reason; None if no trial is complete."""
        found = self.chosen()
        if found is None:
            return None
        trial, candidate = found
        metric = self.spec.metric
        assert trial.number is not None
        return Choice(
            trial=trial.number,
            setting=trial.setting,
            parameters=refit_parameters(self.spec, trial.parameters, candidate.penalty),
            mean=metric.sign * candidate.mean,
            standard_error=candidate.standard_error,
            leaves=candidate.leaves,
            explanation=self.explain(candidate),
        )

    def explain(self, chosen: Candidate) -> str:
        """Return a sentence that says why a candidate is chosen."""
        metric = self.spec.metric
        name = _NAMES.get(metric, metric.value)
        return explain_choice(chosen, list(self.candidates.values()), None, name)


def refit_parameters(spec: SweepSpec, unit: Unit, penalty: float) -> dict[str, Any]:
    """Return the parameters of the tree for all rows."""
    found = spec.parameters(unit)
    if spec.is_path:
        penalties = {
            "split_penalty": min(penalty, MAX_BY_UNIT["rows"]),
            "changepoint_penalty": min(spec.changepoint_ratio * penalty, MAX_BY_UNIT["rows"]),
        }
        found = found.model_copy(update=penalties)
    return found.model_dump(mode="json")


def trial_table(spec: SweepSpec, results: SweepResults, *, ended: bool) -> TrialTable:
    """Return the trials as far as they are known. `ended`: no other jobs will end."""
    table = TrialTable(spec)
    numbered = True  # whether all settings so far are final
    for number, unit in enumerate(results.units):
        row = _Row(spec, results, number, unit, ended)
        candidates = row.candidates()
        numbered = numbered and (ended or bool(candidates) or row.state in _FINAL)
        if not candidates:
            table.trials.append(row.incomplete(len(table.trials) if numbered else None))
        for candidate in candidates:
            table.candidates[len(table.trials)] = candidate
            table.trials.append(row.complete(candidate, len(table.trials) if numbered else None))
    means = {place: candidate.mean for place, candidate in table.candidates.items()}
    ordered = sorted(means.values())
    for place, mean in means.items():
        better = len(ordered) - bisect_right(ordered, mean)
        table.trials[place] = table.trials[place].model_copy(update={"rank": 1 + better})
    return table


_FINAL = (TrialState.FAILED, TrialState.PRUNED, TrialState.CANCELLED)


class _Row:
    """One setting of the table."""

    def __init__(self, spec: SweepSpec, results: SweepResults, number: int, unit: Unit, ended: bool) -> None:
        self.spec = spec
        self.number = number
        self.unit = unit
        self.ended = ended
        places = [(number, fold) for fold in range(spec.n_folds)]
        self.folds = [results.scores.get(place) for place in places]
        self.failures = [results.failures[place] for place in places if place in results.failures]
        self.jobs = [results.jobs.get(place) for place in places]
        self.live = [results.states[place] for place in places if place in results.states]
        self.dropped = number in results.dropped
        self.parameters = spec.parameters(unit)

    @property
    def state(self) -> TrialState:
        """The state of a setting whose folds are not all done."""
        if self.failures or self._undefined() is not None:
            return TrialState.FAILED
        if self.dropped:
            return TrialState.PRUNED
        if self.ended:
            return TrialState.CANCELLED
        running = any(fold is not None for fold in self.folds) or any(
            state not in (JobState.QUEUED, JobState.PAUSED) for state in self.live
        )
        return TrialState.RUNNING if running else TrialState.QUEUED

    def candidates(self) -> list[Candidate]:
        """Return what can be chosen of this setting; nothing unless every fold is done."""
        known = [fold for fold in self.folds if fold is not None]
        if len(known) < len(self.folds) or self._undefined() is not None:
            return []
        setting = SweepSetting(
            self.parameters.max_depth, self.parameters.max_changepoints, self.number, self._others()
        )
        if self.spec.is_path:
            return candidates_of(setting, [self._result(fold) for fold in known])
        return [_candidate(self.spec, self.parameters, setting, known)]

    def _others(self) -> tuple[tuple[str, Any], ...]:
        known = ("max_depth", "max_changepoints", "split_penalty")
        return tuple((name, value) for name, value in self.unit.items() if name not in known)

    def _result(self, fold: FoldScores) -> FoldResult:
        sign, metric = self.spec.metric.sign, self.spec.metric
        return FoldResult(
            fold=0,
            path=fold.segments,  # type: ignore[arg-type]  # trees of a path have penalties
            scores=tuple(sign * _score(tree.validation, metric) for tree in fold.segments),
            train_scores=tuple(sign * _score(tree.train, metric) for tree in fold.segments),
            weight=fold.weight,
        )

    def _undefined(self) -> int | None:
        """Return a fold on which the metric is not defined; None if there is none."""
        for number, fold in enumerate(self.folds):
            if fold is not None and any(t.validation.get(self.spec.metric) is None for t in fold.segments):
                return number
        return None

    def incomplete(self, number: int | None) -> Trial:
        undefined = self._undefined()
        reason = self.failures[0].message if self.failures else None
        if reason is None and undefined is not None:
            metric = self.spec.metric.value
            reason = f"{metric} is not defined on fold {undefined}; use folds in which every class occurs"
        done = sum(fold is not None for fold in self.folds)
        state = self.state
        return Trial(
            number=number,
            state=state,
            reason=reason,
            pruned_at_fold=done if state is TrialState.PRUNED else None,
            fold_scores=[
                fold.segments[0].validation.get(self.spec.metric) if fold and not self.spec.is_path else None
                for fold in self.folds
            ],
            **self._common(),
        )

    def complete(self, candidate: Candidate, number: int | None) -> Trial:
        sign = self.spec.metric.sign
        interval = None
        if self.spec.is_path:
            high = None if np.isinf(candidate.penalty_to) else candidate.penalty_to
            interval = PenaltyRange(low=candidate.penalty_from, high=high)
        return Trial(
            number=number,
            state=TrialState.SUCCEEDED,
            penalty_range=interval,
            penalty=candidate.penalty,
            fold_scores=[sign * score for score in candidate.scores],
            mean=sign * candidate.mean,
            std=float(np.std(candidate.scores)),
            standard_error=candidate.standard_error,
            train_mean=sign * float(np.mean(candidate.train_scores)),
            leaves=candidate.leaves,
            changepoints=candidate.changepoints,
            proven_folds=candidate.proven_folds,
            gap_max=candidate.max_gap,
            **self._common(),
        )

    def _common(self) -> dict[str, Any]:
        known = [fold for fold in self.folds if fold is not None]
        return {
            "setting": self.number,
            "parameters": self.unit,
            "stop_reasons": dict(Counter(fold.stop_reason for fold in known)),
            "job_ids": self.jobs,
            "seconds": sum(fold.seconds for fold in known),
        }


def _score(metrics: dict[str, float | None], metric: Metric) -> float:
    value = metrics.get(metric)
    return float("nan") if value is None else value


def _candidate(
    spec: SweepSpec, parameters: Parameters, setting: Setting, folds: Sequence[FoldScores]
) -> Candidate:
    """Return the candidate of a setting whose penalty is given."""
    sign, metric = spec.metric.sign, spec.metric
    trees: list[ScoredTree] = [fold.segments[0] for fold in folds]
    penalty = parameters.split_penalty
    return Candidate(
        setting=setting,
        penalty_from=penalty,
        penalty_to=penalty,
        scores=tuple(sign * _score(tree.validation, metric) for tree in trees),
        train_scores=tuple(sign * _score(tree.train, metric) for tree in trees),
        leaves=float(np.mean([tree.leaves for tree in trees])),
        changepoints=float(np.mean([tree.changepoints for tree in trees])),
        proven_folds=sum(tree.proven for tree in trees),
        max_gap=max(tree.gap for tree in trees),
        found_penalty=penalty,
    )
