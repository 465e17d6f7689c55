"""Training jobs: their states, what clients submit and change, and the record that the store keeps."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from worker.domain.base import FrozenModel
from worker.domain.datasets import CsvStyle
from worker.domain.parameters import Limits, Parameters
from worker.domain.progress import Progress
from worker.domain.validation import Folds, Validation, ValidationFraction


class JobState(StrEnum):
    QUEUED = "QUEUED"
    STARTING = "STARTING"  # a worker has claimed the job and reads the data
    RUNNING = "RUNNING"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    STOPPING = "STOPPING"  # the worker has not yet carried out a finish or a cancel
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        return self in (JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED)


class StopReason(StrEnum):
    """Why a job ended. A job that only met its gap tolerance is never PROVEN_OPTIMAL."""

    PROVEN_OPTIMAL = "PROVEN_OPTIMAL"
    GAP_REACHED = "GAP_REACHED"
    TIME_LIMIT = "TIME_LIMIT"
    EXPANSION_LIMIT = "EXPANSION_LIMIT"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    NO_IMPROVEMENT = "NO_IMPROVEMENT"
    USER_FINISH = "USER_FINISH"
    USER_CANCEL = "USER_CANCEL"
    WORKER_LOST = "WORKER_LOST"
    ERROR = "ERROR"


class ControlRequest(StrEnum):
    """What a client asks the worker of a running job to do. The store keeps it in the field `wish`."""

    NONE = ""
    FINISH = "finish"
    CANCEL = "cancel"
    PAUSE = "pause"


class SweepPlace(FrozenModel):
    """What a job does for the sweep that it belongs to."""

    sweep_id: str
    setting: int | None = None  # the number of what it tries; None: the last fit, to all rows
    fold: int | None = None  # that is held out
    folds: Folds
    test: ValidationFraction | None = None  # rows that no trial sees
    changepoint_ratio: float | None = None  # with a number, the job finds the trees of all penalties


class JobSpec(FrozenModel):
    """The part of a job that never changes after submission."""

    id: str
    tenant: str
    dataset_id: str
    dataset_sha256: str
    cores: Annotated[int, Field(ge=-1)] = 1  # how many cores the job asks for; -1 is all of its worker
    parent_job_id: str | None = None
    parameters: Parameters = Parameters()
    validation: Validation | None = None
    target: str | None = None  # the dataset's target column; None in jobs stored by version 0.1.0
    csv_style: CsvStyle | None = None  # how the CSV file of the dataset was read
    engine_version: str
    sweep: SweepPlace | None = None


class JobSettings(FrozenModel):
    """The part of a job that its owner may change."""

    name: str | None = None
    notes: str | None = None
    tags: dict[str, str] = {}
    priority: int = 0  # among the tenant's own jobs, a larger priority starts earlier
    limits: Limits = Limits()


class NewJob(JobSpec, JobSettings):
    """A job as it is submitted."""


class JobError(FrozenModel):
    """Why a job failed."""

    code: str  # a stable identifier: DATA, MEMORY, WORKER_LOST, INTERNAL, ...
    message: str


class Outcome(FrozenModel):
    """How a worker ends a job."""

    state: Literal[JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED, JobState.PAUSED]
    stop_reason: StopReason | None = None  # None only if the state is PAUSED
    proven_optimal: bool = False
    error: JobError | None = None


class Transition(FrozenModel):
    """A change of a job's state."""

    state: JobState
    at: datetime
    reason: str | None = None


class Scores(FrozenModel):
    """The metrics of a tree that lists and series show. Version 0.1.0 stored the two accuracies only."""

    train_accuracy: float | None = None
    validation_accuracy: float | None = None
    train_balanced_accuracy: float | None = None
    validation_balanced_accuracy: float | None = None
    train_log_loss: float | None = None
    validation_log_loss: float | None = None
    train_macro_f1: float | None = None
    validation_macro_f1: float | None = None
    train_roc_auc: float | None = None
    validation_roc_auc: float | None = None
    leaves: int | None = None
    changepoints: int | None = None  # after the first one of each split

    @property
    def accuracies(self) -> dict[str, float | None]:
        """The two accuracies, which lists show."""
        return {
            "train_accuracy": self.train_accuracy,
            "validation_accuracy": self.validation_accuracy,
        }


class JobSummary(FrozenModel):
    """A job in a list."""

    spec: JobSpec
    settings: JobSettings
    state: JobState
    revision: int
    progress: Progress
    proven_space: str = ""  # what `proven_optimal` is about; with widening the widest space proven so far
    stop_reason: StopReason | None = None
    proven_optimal: bool = False
    model_id: str | None = None
    model_revision: int | None = None  # the revision of the tree in the model
    scores: Scores | None = None  # the scores of the best tree
    error: JobError | None = None
    created_at: datetime
    queued_at: datetime
    started_at: datetime | None = None
    first_incumbent_at: datetime | None = None
    finished_at: datetime | None = None


class Job(JobSummary):
    """The complete record of a job."""

    limits_revision: int = 0  # incremented by every change of the limits
    control_request: ControlRequest = ControlRequest.NONE
    metrics: dict[str, Any] | None = None  # the metrics of the best tree
    snapshot: str | None = None  # the blob of the last search snapshot
    epoch: int = 0  # incremented by every claim
    attempts: int = 0
    threads: int | None = None  # threads of the search and cores of its worker; None before the first claim
    request_id: str | None = None  # the id of the HTTP request that submitted the job, for its log lines
    heartbeat_at: datetime | None = None
    transitions: list[Transition] = []


class Incumbent(FrozenModel):
    """A numbered tree of a job, with the bounds that were known when it was found."""

    job_id: str
    revision: int
    objective: float
    upper_bound: float
    lower_bound: float
    explored: float | None = None
    seconds_left: float | None = None
    stage: int = 0
    tree_stage: int = 0  # the stage that the proof in the tree is about
    space: str = ""
    proven_space: str | None = None  # None for trees stored by version 0.1.0
    tree: dict[str, Any]
    metrics: dict[str, Any]
    found_at: datetime
    found_seconds: float | None = None  # search seconds; None for trees stored by version 0.1.0


class IncumbentScores(FrozenModel):
    """A kept tree of a job as a point of a series, without the tree."""

    revision: int
    objective: float
    found_seconds: float | None = None
    scores: Scores


class Event(FrozenModel):
    """An entry of the event stream of a job or a sweep. Its id is the id in the stream."""

    id: str
    type: Literal["state", "incumbent", "bound", "log", "trial", "done"]
    at: datetime
    data: dict[str, Any]
