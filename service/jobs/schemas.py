"""Schemas of job requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from service.schemas import fields
from service.schemas.parameters import JOB_ID
from worker.domain.base import FrozenModel
from worker.domain.jobs import JobError, JobState, Scores, StopReason, Transition
from worker.domain.parameters import Limits, Parameters, parameter_field
from worker.domain.progress import (
    BeyondSpace,
    Explored,
    Progress,
    SecondsLeft,
    Space,
    Stage,
    TracePoint,
)
from worker.domain.validation import Validation


class JobRequest(BaseModel):
    """A training job to be started."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    dataset_id: Annotated[str, Field(pattern=fields.DATASET_ID, description="The id of an uploaded dataset.")]
    name: fields.Name | None = None
    tags: Annotated[dict[fields.Tag, fields.TagValue], Field(max_length=fields.MAX_TAGS)] = {}
    priority: fields.Priority = 0
    parent_job_id: Annotated[
        str | None,
        Field(
            pattern=JOB_ID,
            description="Start from the best tree of this job. Its bounds are used only if the data, the "
            "parameters and the search space are the same.",
        ),
    ] = None
    parameters: Parameters = Parameters()
    limits: Limits = Limits()
    validation: Annotated[
        Validation | None,
        Field(
            description="Rows that are not used for training but for scores: a fraction of the rows, or the "
            "rows that a column marks."
        ),
    ] = None


class LimitsPatch(FrozenModel):
    """The limits to change. null removes a limit; limits that are left out do not change."""

    time_limit: float | None = parameter_field("time_limit", default=None)
    max_expansions: int | None = parameter_field("max_expansions", default=None)
    memory_limit: int | None = parameter_field("memory_limit", default=None)
    gap: float | None = parameter_field("gap", default=None)
    gap_absolute: float | None = parameter_field("gap_absolute", default=None)
    patience: float | None = parameter_field("patience", default=None)


class FinishRequest(FrozenModel):
    """The tree to keep."""

    revision: Annotated[
        int | None, Field(ge=1, le=1 << 53, description="The revision of the tree; the best tree by default.")
    ] = None


class JobPatch(fields.TaggedPatch):
    """A JSON merge patch (RFC 7396) of a job. Fields that are left out do not change."""

    priority: fields.PriorityPatch = None
    limits: Annotated[
        LimitsPatch,
        Field(
            description="Only for a job that has not ended. It cannot be null: set a single limit to null to "
            "remove it, or leave out `limits` to keep all."
        ),
    ] = LimitsPatch()

    @field_validator("limits", mode="before")
    @classmethod
    def _reject_null(cls, given: Any) -> Any:
        if given is None:
            message = (
                'Expected an object with the limits to change. {"time_limit": null} removes that limit; '
                "leave out `limits` to keep all"
            )
            raise PydanticCustomError("null_limits", message)
        return given


class JobSummary(BaseModel):
    """A job in a list. Get the job for its limits, metrics and transitions."""

    id: str
    state: JobState
    stop_reason: Annotated[StopReason | None, Field(description="Why the job ended; null before.")]
    revision: Annotated[int, Field(description="Increases with every visible change of the job.")]
    name: str | None
    notes: str | None
    tags: dict[str, str]
    priority: int
    progress: Progress
    proven_optimal: fields.ProvenOptimal
    proven_space: fields.ProvenSpace
    dataset_id: str
    parameters: Parameters
    validation: Validation | None
    parent_job_id: str | None
    sweep_id: Annotated[str | None, Field(description="The sweep that the job belongs to; null for others.")]
    model_id: Annotated[
        str | None,
        Field(
            description="The model that the job made at its end or that `finish` made last; null before. "
            "`POST /v1/jobs/{id}/models` does not change it."
        ),
    ]
    model_revision: Annotated[
        int | None,
        Field(
            description="The revision of the model's tree. It is the best tree, to which the job's metrics "
            "and objective belong, unless `finish` named an earlier one."
        ),
    ]
    metrics: Annotated[Scores | None, Field(description="The accuracies of the best tree.")]
    error: Annotated[JobError | None, Field(description="The error; a long message is shortened in a list.")]
    created_at: datetime
    queued_at: datetime
    started_at: datetime | None
    first_incumbent_at: datetime | None
    finished_at: datetime | None
    links: Annotated[dict[str, str], Field(description="URLs of related resources and actions, by name.")]


class Job(JobSummary):
    """A job in its current state."""

    limits: Limits
    dataset_sha256: str
    engine_version: str
    threads: Annotated[
        int | None,
        Field(
            description="The number of threads of the search, and so of the cores that the job has: "
            "`n_threads`, but at most the cores of the largest worker; null before the job has started."
        ),
    ]
    metrics: Annotated[  # type: ignore[assignment]
        fields.MetricsJson | None, Field(description="The metrics of the best tree; null before the first.")
    ]
    error: JobError | None
    heartbeat_at: datetime | None
    transitions: list[Transition]


class JobPage(BaseModel):
    items: list[JobSummary]
    next_page_token: fields.NextPageToken


class Incumbent(BaseModel):
    """A tree of a job with its bounds."""

    job_id: str
    revision: Annotated[int, Field(description="The number of the tree: 1, 2, 3, ... in order of discovery.")]
    objective: fields.Objective
    upper_bound: float
    lower_bound: float
    gap_absolute: float
    gap_relative: float
    beyond_space: BeyondSpace
    explored: Explored
    seconds_left: SecondsLeft
    stage: Stage
    space: Space
    proven_optimal: fields.ProvenOptimal
    proven_space: fields.ProvenSpace
    tree: Annotated[
        fields.TreeJson,
        Field(description="The JSON model (docs/model-format.md); `ShapeTree.from_dict` reads it."),
    ]
    metrics: Annotated[fields.MetricsJson, Field(description="The scores of the tree.")]
    found_at: datetime
    found_seconds: Annotated[
        float | None,
        Field(
            description="The search time in seconds when the tree was found, as in the trace and for "
            "`time_limit`; null for trees stored by version 0.1.0."
        ),
    ]


class NoIncumbentYet(BaseModel):
    """There is no tree of this revision yet."""

    job_id: str
    state: JobState
    revision: Annotated[int, Field(description="The revision of the best tree so far; 0 if there is none.")]


class Trace(BaseModel):
    """The bounds and the explored share over time."""

    job_id: str
    points: list[TracePoint]


class IncumbentScores(BaseModel):
    """The scores of a tree of the job."""

    revision: Annotated[int, Field(description="The number of the tree.")]
    objective: fields.Objective
    found_seconds: Annotated[
        float | None, Field(description="Search seconds after which it was found. null if it is not known.")
    ]
    leaves: Annotated[int | None, Field(description="null for trees of Literati 0.1.0, as the scores below.")]
    train_accuracy: float | None
    validation_accuracy: Annotated[
        float | None, Field(description="null if no rows are held out, as all scores of the validation rows.")
    ]
    train_balanced_accuracy: float | None
    validation_balanced_accuracy: float | None
    train_log_loss: float | None
    validation_log_loss: float | None


class ScoreSeries(BaseModel):
    """The scores of the trees of a job, the oldest first."""

    job_id: str
    points: list[IncumbentScores]
