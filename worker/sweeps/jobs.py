"""The jobs of a sweep: one for each setting and fold, and a last one for all rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from literati.search.options import SEQUENTIAL
from worker.domain.base import new_id
from worker.domain.jobs import NewJob, SweepPlace
from worker.domain.parameters import Limits, Parameters
from worker.domain.sweeps import SweepSettings, SweepSpec, Unit
from worker.store.sweeps import Place


def trial_jobs(
    spec: SweepSpec, settings: SweepSettings, units: Sequence[Unit], done: Collection[Place] = ()
) -> list[NewJob]:
    """Return a job for each setting and fold that is not done, in the order in which they start."""
    ratio = spec.changepoint_ratio if spec.is_path else None
    return [
        _job(
            spec,
            settings,
            spec.parameters(unit),
            SweepPlace(
                sweep_id=spec.id,
                setting=number,
                fold=fold,
                folds=spec.validation,
                test=spec.test,
                changepoint_ratio=ratio,
            ),
        )
        for number, unit in enumerate(units)
        for fold in range(spec.n_folds)
        if (number, fold) not in done
    ]


def refit_job(spec: SweepSpec, settings: SweepSettings, parameters: dict[str, Any]) -> NewJob:
    """Return the job that fits the chosen parameters to all rows, and scores the tree on the test rows."""
    place = SweepPlace(sweep_id=spec.id, folds=spec.validation, test=spec.test)
    return _job(spec, settings, Parameters.model_validate(parameters), place)


def _job(spec: SweepSpec, settings: SweepSettings, parameters: Parameters, place: SweepPlace) -> NewJob:
    return NewJob(
        id=new_id("job"),
        tenant=spec.tenant,
        dataset_id=spec.dataset_id,
        dataset_sha256=spec.dataset_sha256,
        cores=1 if parameters.candidates in SEQUENTIAL else parameters.n_threads,
        parameters=parameters,
        target=spec.target,
        csv_style=spec.csv_style,
        engine_version=spec.engine_version,
        sweep=place,
        name=settings.name,
        tags=settings.tags,
        priority=settings.priority,
        limits=Limits(**spec.trial_limits.model_dump()),
    )
