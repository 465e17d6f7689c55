"""Sweeps: what is tried, how it is judged, and the record that the store keeps."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from literati.data.table import Categories
from literati.search import options
from worker.domain.base import FrozenModel
from worker.domain.datasets import CsvStyle
from worker.domain.jobs import JobError
from worker.domain.parameters import DEFINITIONS, MAX_BY_UNIT, Parameters, bounds, parameter_field
from worker.domain.validation import Folds, ValidationFraction

MAX_VALUES = 100  # of one parameter
MAX_TRIALS = 1_000
MAX_CHILDREN = 5_000  # jobs of one sweep
PATH = "path"
Unit = dict[str, Any]  # the parameters of one setting that the space varies


class SweepState(StrEnum):
    QUEUED = "QUEUED"  # no job of the sweep has started
    RUNNING = "RUNNING"
    PAUSING = "PAUSING"  # jobs that run continue to their end
    PAUSED = "PAUSED"
    CHOOSING = "CHOOSING"  # all trials are done
    REFITTING = "REFITTING"  # a job fits the chosen parameters to all rows
    STOPPING = "STOPPING"  # cancelled, but some of its jobs have not stopped yet
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        return self in (SweepState.SUCCEEDED, SweepState.CANCELLED, SweepState.FAILED)


class SweepStopReason(StrEnum):
    """Why a sweep stopped trying."""

    COMPLETE = "COMPLETE"  # every trial is done
    TIME_LIMIT = "TIME_LIMIT"
    NO_IMPROVEMENT = "NO_IMPROVEMENT"
    FAILED_TRIALS = "FAILED_TRIALS"
    USER_FINISH = "USER_FINISH"
    USER_CANCEL = "USER_CANCEL"


class TrialState(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    PRUNED = "PRUNED"  # it cannot become the best one any more
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Metric(StrEnum):
    """The score on held-out rows by which trials are compared."""

    ACCURACY = "accuracy"
    BALANCED_ACCURACY = "balanced_accuracy"
    LOG_LOSS = "log_loss"
    MACRO_F1 = "macro_f1"
    ROC_AUC = "roc_auc"

    @property
    def sign(self) -> float:
        """1 if a larger value is better, -1 if a smaller one is."""
        return -1.0 if self is Metric.LOG_LOSS else 1.0


class Strategy(StrEnum):
    GRID = "GRID"
    RANDOM = "RANDOM"


class Select(StrEnum):
    BEST = "BEST"
    ONE_STANDARD_ERROR = "ONE_STANDARD_ERROR"


class RandomValues(FrozenModel):
    """Random values between two ends. Only RANDOM can draw from an interval."""

    low: Annotated[float, Field(ge=0, le=MAX_BY_UNIT["rows"])]
    high: Annotated[float, Field(gt=0, le=MAX_BY_UNIT["rows"])]
    log: Annotated[bool, Field(description="Draw the logarithm of the value evenly.")] = False

    @model_validator(mode="after")
    def _check_ends(self) -> RandomValues:
        if not self.low < self.high:
            raise ValueError("low must be below high")
        if self.log and self.low <= 0:
            raise ValueError("with log, low must be above 0")
        return self


def _values(name: str) -> Any:
    """Return the field of a list of values of a parameter."""
    return Field(default=None, min_length=1, max_length=MAX_VALUES, description=f"Values of `{name}` to try.")


def _of(kind: Any, name: str) -> Any:
    """Return the type of one value of a parameter."""
    return Annotated[kind, Field(**bounds(DEFINITIONS[name]))]


Depth, Changepoints = _of(int, "max_depth"), _of(int, "max_changepoints")
Penalty, MinRows = _of(float, "split_penalty"), _of(int, "min_samples_leaf")
Smoothing = _of(float, "probability_smoothing")
_SOME = Field(min_length=1, max_length=MAX_VALUES)
Penalties = Annotated[list[Penalty], _SOME]  # type: ignore[valid-type]
Numbers = Annotated[list[MinRows], _SOME]  # type: ignore[valid-type]
Smoothings = Annotated[list[Smoothing], _SOME]  # type: ignore[valid-type]
Leaves = Annotated[int, Field(**options.LEAVES.bounds)]


class Space(FrozenModel):
    """The parameters to try. A parameter that is left out has its value in `fixed`, or its default.

    Without other wishes, depths 2 to 5 with 1 to 3 change points are tried, each with all penalties.
    """

    max_depth: list[Depth] | None = _values("max_depth")  # type: ignore[valid-type]
    max_changepoints: list[Changepoints] | None = _values("max_changepoints")  # type: ignore[valid-type]
    split_penalty: Literal["path"] | Penalties | RandomValues | None = Field(
        default=None,
        description="`path` finds the best tree for every penalty at once, so that no values must be chosen. "
        "Otherwise values to try, or an interval. A penalty is meant for all rows; a fold, which has fewer, "
        "uses a smaller one in proportion.",
    )
    changepoint_penalty: Penalties | RandomValues | None = Field(
        default=None, description="Values to try. With `path`, `changepoint_ratio` says it instead."
    )
    min_samples_leaf: Numbers | RandomValues | None = Field(
        default=None, description="Values of `min_samples_leaf` to try."
    )
    probability_smoothing: Smoothings | RandomValues | None = Field(
        default=None, description="Values of `probability_smoothing` to try."
    )
    candidates: list[options.Candidates] | None = _values("candidates")
    candidate_leaves: list[Leaves] | None = _values("candidate_leaves")
    criterion: list[options.Criterion] | None = _values("criterion")
    class_weight: list[Literal["balanced"] | None] | None = _values("class_weight")
    categories: list[Categories] | None = _values("categories")


class SweepLimits(FrozenModel):
    """When a sweep stops trying. It then chooses among the complete trials."""

    max_trials: Annotated[
        int,
        Field(
            ge=1,
            le=MAX_TRIALS,
            description="Maximum number of settings. With `path`, a setting has many trials: one for each "
            "interval of penalties.",
        ),
    ] = 200
    time_limit: Annotated[
        float | None,
        Field(gt=0, le=MAX_BY_UNIT["seconds"], description="Seconds in the state RUNNING; null: no limit."),
    ] = 3600.0
    max_failed_trials: Annotated[
        int | None,
        Field(ge=0, le=MAX_TRIALS, description="Failed settings beyond which the sweep fails."),
    ] = 10
    patience_trials: Annotated[
        int | None,
        Field(
            ge=1,
            le=MAX_TRIALS,
            description="Stop when this many settings in a row, in their order, have not improved the best "
            "mean.",
        ),
    ] = None


class TrialLimits(FrozenModel):
    """The limits of each job of a sweep. Reaching one is a result, not an error."""

    time_limit: float | None = parameter_field("time_limit", default=60.0)
    max_expansions: int | None = parameter_field("max_expansions")
    memory_limit: int | None = parameter_field("memory_limit")


class SweepSpec(FrozenModel):
    """The part of a sweep that does not change, except that `extend` raises its limits."""

    id: str
    tenant: str
    dataset_id: str
    dataset_sha256: str
    space: Space
    constraints: list[str] = []
    fixed: dict[str, Any] = {}  # parameters by name, as they were given
    changepoint_ratio: float = 0.5
    strategy: Strategy = Strategy.GRID
    seed: int = 0
    validation: Folds
    test: ValidationFraction | None = None
    metric: Metric = Metric.ACCURACY
    select: Select = Select.ONE_STANDARD_ERROR
    limits: SweepLimits = SweepLimits()
    trial_limits: TrialLimits = TrialLimits()
    refit: bool = True
    n_folds: int  # of `validation`, with repeats
    target: str | None = None  # the dataset's target column
    csv_style: CsvStyle | None = None
    engine_version: str

    @property
    def is_path(self) -> bool:
        """Whether the jobs find the best trees for all penalties."""
        return self.space.split_penalty == PATH

    def parameters(self, unit: Unit) -> Parameters:
        """Return all parameters of a setting. Trees of a path are not polished."""
        polish = {"polish": False} if self.is_path else {}
        return Parameters.model_validate({**polish, **self.fixed, **unit})


class SweepSettings(FrozenModel):
    """How a sweep is called, and its priority among the tenant's jobs."""

    name: str | None = None
    notes: str | None = None
    tags: dict[str, str] = {}
    priority: int = 0


class SweepTransition(FrozenModel):
    """A change of a sweep's state."""

    state: SweepState
    at: datetime
    reason: str | None = None


class Choice(FrozenModel):
    """The trial that was chosen, and why."""

    trial: int
    setting: int
    parameters: dict[str, Any]  # for all rows
    mean: float  # of the metric
    standard_error: float
    leaves: float  # mean over the folds
    explanation: str


class Sweep(FrozenModel):
    """The record of a sweep."""

    spec: SweepSpec
    settings: SweepSettings
    state: SweepState
    revision: int
    stop_reason: SweepStopReason | None = None
    error: JobError | None = None
    choice: Choice | None = None
    refit_job_id: str | None = None
    model_id: str | None = None
    request_id: str | None = None
    round: int = 0  # how often it was extended
    seconds: float = 0.0  # in the state RUNNING, until its last change
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    transitions: list[SweepTransition] = []


class SweepProgress(FrozenModel):
    """How many jobs of a sweep there are. A job tries one setting on one fold."""

    settings: int
    jobs: int
    done: int
    running: int
    queued: int
    failed: int


class PenaltyRange(FrozenModel):
    """Penalties for all rows between which no fold's tree changes."""

    low: float
    high: float | None  # None: no upper end


class Trial(FrozenModel):
    """A setting, or a setting with an interval of penalties, and its scores on the folds."""

    number: int | None  # None until all settings before it are complete
    setting: int
    parameters: dict[str, Any]  # that the space varies
    penalty_range: PenaltyRange | None = None  # only if penalties come from a path
    penalty: float | None = None  # of a split, for all rows
    state: TrialState
    fold_scores: list[float | None]  # the metric on held-out rows, by fold
    mean: float | None = None
    std: float | None = None
    standard_error: float | None = None
    rank: int | None = None  # 1 is the best mean of all complete trials
    train_mean: float | None = None
    leaves: float | None = None  # mean over the folds
    changepoints: float | None = None
    proven_folds: int = 0
    gap_max: float | None = None
    stop_reasons: dict[str, int] = {}  # of the jobs
    job_ids: list[str | None]  # by fold
    seconds: float = 0.0  # of search, of all folds
    pruned_at_fold: int | None = None
    reason: str | None = None  # why it failed


class FoldScores(FrozenModel):
    """What a job of a sweep found on its fold: trees from the smallest penalty on, with their scores."""

    weight: float = 1.0  # of the training rows, as a share of all rows
    segments: list[ScoredTree]
    stop_reason: str
    seconds: float


class ScoredTree(FrozenModel):
    """A tree of a fold. Penalties are those of the fold, in proportion to its rows."""

    penalty_from: float | None = None  # None unless it belongs to a path
    penalty_to: float | None = None  # None: for all larger penalties
    found_penalty: float = 0.0  # at which it was found
    leaves: int
    changepoints: int
    proven: bool
    gap: float
    train: dict[str, float | None]  # metrics by name
    validation: dict[str, float | None]


FoldScores.model_rebuild()


def relative_gap(upper: float, lower: float) -> float:
    return (upper - lower) / upper if upper > 0 else 0.0
