"""Models: the finished trees of jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from worker.domain.base import FrozenModel
from worker.domain.datasets import CsvStyle
from worker.domain.jobs import Scores, StopReason, SweepPlace
from worker.domain.parameters import Parameters
from worker.domain.validation import Validation


class ModelSummary(FrozenModel):
    """A model in a list."""

    id: str
    tenant: str
    name: str | None = None
    notes: str | None = None
    tags: dict[str, str] = {}  # at first those of the job
    job_id: str
    incumbent_revision: int
    dataset_id: str
    dataset_sha256: str
    target: str | None = None  # the dataset's target column; None if version 0.1.0 stored the job
    parameters: Parameters
    objective: float
    upper_bound: float
    lower_bound: float
    explored: float | None = None
    space: str = ""
    proven_optimal: bool
    proven_space: str
    stop_reason: StopReason
    scores: Scores
    engine_version: str
    created_at: datetime


class Model(ModelSummary):
    """The complete record of a model. The JSON of its tree is stored separately."""

    metrics: dict[str, Any]
    validation: Validation | None = None  # how the job split the rows of its dataset
    sweep: SweepPlace | None = None  # the place of the job in its sweep, which splits the rows then
    csv_style: CsvStyle | None = None  # how the CSV file of the dataset was read
