"""Jobs over the wire: what a client sends, and what it is shown."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from service.schemas.documents import MetricsJson, TreeJson
from worker.messages import (
    BeyondSpace,
    Event,
    Gap,
    GapAbsolute,
    JobError,
    JobState,
    Limits,
    MaxExpansions,
    MemoryLimit,
    Parameters,
    Patience,
    Progress,
    Scores,
    StopReason,
    TimeLimit,
    TracePoint,
    Transition,
    Validation,
)

JOB_ID = r"^job_[0-9a-f]{32}$"
DATASET_ID = r"^ds_[0-9a-f]{32}$"
# PostgreSQL, JavaScript and most terminals choke on these in a name; nobody means to send them.
PLAIN_TEXT = r"^[^\x00-\x1f\x7f]*$"

Tag = Annotated[str, Field(min_length=1, max_length=64, pattern=PLAIN_TEXT)]
TagValue = Annotated[str, Field(max_length=256, pattern=PLAIN_TEXT)]
NAME = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"  # as above, and not only blanks
LONGEST_NAME = 200
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=NAME)]
Priority = Annotated[
    int, Field(ge=-100, le=100, description="Larger is sooner, among the tenant's own jobs.")
]
MOST_TAGS = 32


class JobRequest(BaseModel):
    """A training job to be started."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
    )

    dataset_id: Annotated[str, Field(pattern=DATASET_ID, description="A dataset of `POST /v1/datasets`.")]
    name: Name | None = None
    tags: Annotated[dict[Tag, TagValue], Field(max_length=MOST_TAGS)] = {}
    priority: Priority = 0
    parent_job_id: Annotated[
        str | None,
        Field(
            pattern=JOB_ID,
            description="Start from this job's best tree. Its bounds carry over only where data, parameters "
            "and space are the same.",
        ),
    ] = None
    parameters: Parameters = Parameters()
    limits: Limits = Limits()
    validation: Annotated[
        Validation | None,
        Field(description="Rows kept from the search and scored: a fraction, or those that a column marks."),
    ] = None


class LimitsPatch(BaseModel):
    """The limits to change. null takes a limit away; what is left out stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    time_limit: TimeLimit = None
    max_expansions: MaxExpansions = None
    memory_limit: MemoryLimit = None
    gap: Gap | None = None
    gap_absolute: GapAbsolute | None = None
    patience: Patience = None


class FinishRequest(BaseModel):
    """Which tree to keep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: Annotated[
        int | None,
        Field(ge=1, le=1 << 53, description="Of one of the job's trees; null or left out: the best one."),
    ] = None


class JobPatch(BaseModel):
    """A JSON merge patch (RFC 7396) of a job: what is left out stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: Annotated[Name | None, Field(description="null: no name.")] = None
    tags: Annotated[
        dict[Tag, TagValue | None] | None,
        Field(max_length=64, description="null as a value takes that tag away; null for all, all of them."),
    ] = None
    priority: Annotated[Priority | None, Field(description="null: 0.")] = None
    limits: Annotated[
        LimitsPatch,
        Field(
            description="Only of a job that has not ended. Not null: a limit is taken away by its own name, "
            "and without `limits` all stay as they are."
        ),
    ] = LimitsPatch()

    @field_validator("limits", mode="before")
    @classmethod
    def _each_by_its_name(cls, given: Any) -> Any:
        if given is None:
            message = (
                'Expected an object with the limits to change. {"time_limit": null} takes that limit away; '
                "leave `limits` out to keep all as they are"
            )
            raise PydanticCustomError("null_limits", message)
        return given


class JobSummary(BaseModel):
    """A job in a list. Look at the job itself for its parameters, limits, metrics and transitions."""

    id: str
    state: JobState
    stop_reason: Annotated[StopReason | None, Field(description="Why it ended; null while it has not.")]
    revision: Annotated[int, Field(description="Rises with every visible change of the job.")]
    name: str | None
    tags: dict[str, str]
    priority: int
    progress: Progress
    proven_optimal: Annotated[bool, Field(description="The bounds have met; a tolerance is never a proof.")]
    proven_space: Annotated[str, Field(description="What the bounds and the proof speak of.")]
    dataset_id: str
    parent_job_id: str | None
    model_id: Annotated[str | None, Field(description="The model that the job made last, once it has.")]
    model_revision: Annotated[
        int | None,
        Field(
            description="The revision of the tree that this model is made of: the best one, whose metrics "
            "and objective the job shows, unless `finish` named an earlier one."
        ),
    ]
    metrics: Annotated[Scores | None, Field(description="Of the best tree: the rows it gets right.")]
    error: Annotated[JobError | None, Field(description="A long message is cut short in a list.")]
    created_at: datetime
    queued_at: datetime
    started_at: datetime | None
    first_incumbent_at: datetime | None
    finished_at: datetime | None
    links: Annotated[dict[str, str], Field(description="What can be asked or done next, by name.")]


class Job(JobSummary):
    """A job as it is now."""

    parameters: Parameters
    limits: Limits
    validation: Validation | None
    dataset_sha256: str
    engine_version: str
    metrics: Annotated[  # type: ignore[assignment]
        MetricsJson | None, Field(description="Of the best tree; null before the first.")
    ]
    error: JobError | None
    heartbeat_at: datetime | None
    transitions: list[Transition]


class JobPage(BaseModel):
    items: list[JobSummary]
    next_page_token: Annotated[str | None, Field(description="For the next page; null on the last.")]


class Incumbent(BaseModel):
    """A tree of a job with its bounds."""

    job_id: str
    revision: Annotated[int, Field(description="Rises by one with every better tree, from 1.")]
    objective: Annotated[float, Field(description="What the tree costs: misclassified weight and penalties.")]
    upper_bound: float
    lower_bound: float
    gap_absolute: float
    gap_relative: float
    beyond_space: BeyondSpace
    proven_optimal: bool
    proven_space: str
    tree: Annotated[
        TreeJson,
        Field(description="The JSON model (docs/model-format.md); `ShapeTree.from_dict` reads it."),
    ]
    metrics: Annotated[MetricsJson, Field(description="How good the tree is.")]
    found_at: datetime
    found_seconds: Annotated[
        float | None,
        Field(
            description="Search seconds when the tree was found, on the clock of the trace and of "
            "`time_limit`; null for trees that version 0.1.0 stored."
        ),
    ]


class NoIncumbentYet(BaseModel):
    """There is no tree of this revision yet, but there may be one soon."""

    job_id: str
    state: JobState
    revision: Annotated[int, Field(description="Of the best tree so far; 0: none.")]


class Trace(BaseModel):
    """The bounds over time."""

    job_id: str
    points: list[TracePoint]


class EventPage(BaseModel):
    items: list[Event]
    last_event_id: Annotated[str | None, Field(description="Pass it as `after` to go on.")]
    resync: Annotated[bool, Field(description="Events after the one you named were dropped: read the job.")]
    ended: Annotated[bool, Field(description="The job has ended and this is the end of its events.")]


Verb = Literal["finish", "cancel", "pause", "resume"]
