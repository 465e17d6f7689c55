"""Schemas of sweep requests and responses."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from service.schemas import fields
from worker.domain.base import FrozenModel
from worker.domain.jobs import JobError
from worker.domain.parameters import MAX_BY_UNIT, Parameters
from worker.domain.sweeps import (
    MAX_TRIALS,
    Choice,
    Metric,
    PenaltyRange,
    Select,
    Space,
    Strategy,
    SweepLimits,
    SweepProgress,
    SweepState,
    SweepStopReason,
    SweepTransition,
    Trial,
    TrialLimits,
)
from worker.domain.validation import Folds, RandomFolds, ValidationFraction

MAX_CONSTRAINTS = 20
ChangepointRatio = Annotated[
    float,
    Field(
        ge=0,
        le=1000,
        description="Only with `path`: the penalty of a change point after the first one of a split, as a "
        "multiple of the penalty of a split. It has at most three decimal places.",
    ),
]
Validation = Annotated[
    Folds,
    Field(description="The folds: drawn, or the values of a column. Each fold is held out once."),
]
Test = Annotated[
    ValidationFraction | None,
    Field(description="Rows that no trial sees. Only the chosen tree is scored on them, once."),
]
MetricName = Annotated[
    Metric, Field(description="The score on held-out rows. A smaller `log_loss` is better; others larger.")
]
SelectRule = Annotated[
    Select,
    Field(
        description="`BEST`: the best mean over the folds. `ONE_STANDARD_ERROR`: the smallest tree, by "
        "leaves, whose mean is within one standard error of the best one."
    ),
]
StrategyName = Annotated[
    Strategy,
    Field(description="`GRID` tries every combination, small trees first; `RANDOM` draws combinations."),
]
Refit = Annotated[
    bool, Field(description="Fit the chosen parameters to all rows and make a model of the tree.")
]


class SweepRequest(BaseModel):
    """A sweep to be started. Everything but the dataset has a default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    dataset_id: Annotated[str, Field(pattern=fields.DATASET_ID, description="The id of an uploaded dataset.")]
    name: fields.Name | None = None
    tags: Annotated[dict[fields.Tag, fields.TagValue], Field(max_length=fields.MAX_TAGS)] = {}
    priority: fields.Priority = 0
    space: Space = Space()
    constraints: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=200)]],
        Field(
            max_length=MAX_CONSTRAINTS,
            description="Conditions that all settings meet: two parameters, or a parameter and a number, "
            "with <=, <, >=, >, == or !=, such as `changepoint_penalty <= split_penalty`.",
        ),
    ] = []
    fixed: Annotated[
        Parameters,
        Field(
            description="Parameters that are the same in all settings. Those that are neither here nor in "
            "`space` have their defaults."
        ),
    ] = Parameters()
    changepoint_ratio: ChangepointRatio = 0.5
    strategy: StrategyName = Strategy.GRID
    seed: Annotated[int, Field(ge=0, le=(1 << 32) - 1, description="Of `RANDOM`.")] = 0
    validation: Validation = RandomFolds()
    test: Test = None
    metric: MetricName = Metric.ACCURACY
    select: SelectRule = Select.ONE_STANDARD_ERROR
    limits: SweepLimits = SweepLimits()
    trial_limits: TrialLimits = TrialLimits()
    refit: Refit = True

    @field_validator("strategy", mode="before")
    @classmethod
    def _reject_tpe(cls, given: Any) -> Any:
        if given == "TPE":
            raise PydanticCustomError("enum", "Input should be 'GRID' or 'RANDOM'; TPE is not offered")
        return given


class ExtendRequest(FrozenModel):
    """More trials or more time for a sweep that has ended. What is left out does not change."""

    max_trials: Annotated[
        int | None,
        Field(ge=1, le=MAX_TRIALS, description="The new maximum number of settings, at least the old one."),
    ] = None
    time_limit: Annotated[
        float | None,
        Field(gt=0, le=MAX_BY_UNIT["seconds"], description="Seconds in addition to those used so far."),
    ] = None
    max_failed_trials: Annotated[
        int | None, Field(ge=0, le=MAX_TRIALS, description="null removes this limit.")
    ] = None
    patience_trials: Annotated[
        int | None, Field(ge=1, le=MAX_TRIALS, description="null removes this limit.")
    ] = None


class SweepPatch(fields.TaggedPatch):
    """A JSON merge patch (RFC 7396) of a sweep. Fields that are left out do not change."""

    priority: fields.PriorityPatch = None


class SweepSummary(BaseModel):
    """A sweep in a list. Get the sweep for its whole request, its best trial and its transitions."""

    id: str
    state: SweepState
    stop_reason: Annotated[
        SweepStopReason | None, Field(description="Why the sweep stopped trying; null before.")
    ]
    revision: Annotated[int, Field(description="Increases with every visible change of the sweep.")]
    name: str | None
    notes: str | None
    tags: dict[str, str]
    priority: int
    dataset_id: str
    space: Annotated[Space, Field(description="What is tried, with the defaults filled in.")]
    fixed: Annotated[dict[str, Any], Field(description="The parameters as they were given.")]
    strategy: StrategyName
    metric: MetricName
    select: SelectRule
    n_folds: Annotated[int, Field(description="The number of folds, with repetitions.")]
    progress: SweepProgress
    choice: Annotated[Choice | None, Field(description="What was chosen and why; null before.")]
    refit_job_id: Annotated[str | None, Field(description="The job that fits the choice to all rows.")]
    model_id: Annotated[
        str | None,
        Field(
            description="The latest model of the sweep; null before the first. A sweep that was extended "
            "keeps its earlier model until it has another one."
        ),
    ]
    error: JobError | None
    seconds: Annotated[float, Field(description="Seconds in the state RUNNING, for `time_limit`.")]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    links: Annotated[dict[str, str], Field(description="URLs of related resources and actions, by name.")]


class Sweep(SweepSummary):
    """A sweep in its current state."""

    constraints: list[str]
    changepoint_ratio: ChangepointRatio
    seed: int
    validation: Validation
    test: Test
    limits: SweepLimits
    trial_limits: TrialLimits
    refit: Refit
    dataset_sha256: str
    engine_version: str
    best: Annotated[
        Trial | None, Field(description="The trial that would be chosen now; null if none is complete.")
    ]
    transitions: list[SweepTransition]


class SweepPage(BaseModel):
    items: list[SweepSummary]
    next_page_token: fields.NextPageToken


class TrialList(BaseModel):
    """Trials of a sweep."""

    sweep_id: str
    metric: MetricName
    items: list[Trial]
    total: Annotated[int, Field(description="How many trials there are with these conditions.")]


class Leaderboard(BaseModel):
    """The best complete trials, and the one that is chosen."""

    sweep_id: str
    metric: MetricName
    select: SelectRule
    final: Annotated[bool, Field(description="Whether the choice is made; before, it may change.")]
    chosen: Annotated[Trial | None, Field(description="null if no trial is complete.")]
    explanation: Annotated[str | None, Field(description="Why it is chosen.")]
    items: Annotated[list[Trial], Field(description="By rank, then leaves.")]
    total: Annotated[int, Field(description="How many trials are complete.")]


class PathPoint(BaseModel):
    """A trial as a point of a chart."""

    number: int | None
    penalty_range: PenaltyRange | None
    penalty: float | None
    mean: float | None
    standard_error: float | None
    train_mean: float | None
    leaves: float | None
    rank: int | None


class FoldSegment(BaseModel):
    """A tree of a fold, with the penalties for all rows between which it is the best one known."""

    penalty_from: Annotated[float | None, Field(description="null if the penalty is a parameter.")]
    penalty_to: Annotated[float | None, Field(description="null: for all larger penalties.")]
    score: Annotated[float | None, Field(description="The metric on the held-out rows.")]
    train_score: float | None
    leaves: int
    changepoints: int
    proven: bool
    gap: float


class FoldPath(BaseModel):
    """The trees of one fold, from the smallest penalty on."""

    fold: int
    job_id: str | None
    stop_reason: str
    seconds: float
    segments: list[FoldSegment]


class SettingPaths(BaseModel):
    """The scores of a setting by penalty: the mean over the folds, and of each fold that is done."""

    setting: int
    parameters: dict[str, Any]
    trials: Annotated[list[PathPoint], Field(description="Only of a setting whose folds are all done.")]
    folds: list[FoldPath]


class Paths(BaseModel):
    """Series for charts of scores by penalty."""

    sweep_id: str
    metric: MetricName
    settings: list[SettingPaths]
