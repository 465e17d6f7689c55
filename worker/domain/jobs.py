"""What is stored of a job, a dataset and a model, and what workers and the service say to each other."""

from __future__ import annotations

import secrets
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
)

from literati.nodes import BEYOND_SPACE

ID_BITS = 128
BeyondSpace = Annotated[
    bool, Field(description=f"True exactly if `objective` is lower than `upper_bound`. {BEYOND_SPACE}")
]


class JobState(StrEnum):
    QUEUED = "QUEUED"
    STARTING = "STARTING"  # a worker has it and reads the data
    RUNNING = "RUNNING"
    PAUSING = "PAUSING"
    PAUSED = "PAUSED"
    STOPPING = "STOPPING"  # finish or cancel is on its way to the worker
    SUCCEEDED = "SUCCEEDED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"

    @property
    def terminal(self) -> bool:
        return self in (JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED)


class StopReason(StrEnum):
    """Why a job ended. Never PROVEN_OPTIMAL when only a gap tolerance was met."""

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


class Wish(StrEnum):
    """What a client wants of a running job."""

    NONE = ""
    FINISH = "finish"
    CANCEL = "cancel"
    PAUSE = "pause"


class Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


# What a client asks for


class Parameters(Message):
    """What is searched and how: the parameters of LiteratiClassifier."""

    max_depth: Annotated[int, Field(ge=1, le=12, description="Depth of the tree; 0 would be one leaf.")] = 4
    max_changepoints: Annotated[
        int, Field(ge=1, le=8, description="How many times a node may cut its feature.")
    ] = 2
    split_penalty: Annotated[
        float, Field(ge=0, le=1e15, description="What a split costs, in misclassified rows.")
    ] = 0.0
    changepoint_penalty: Annotated[
        float, Field(ge=0, le=1e15, description="What each cut after a node's first costs.")
    ] = 0.0
    candidates: Literal["adaptive", "shape", "quantile", "all"] = "adaptive"
    candidate_leaves: Annotated[
        Annotated[int, Field(ge=1, le=1 << 20)]
        | Annotated[list[Annotated[int, Field(ge=1, le=1 << 20)]], Field(min_length=1, max_length=12)],
        Field(description="Size of the trees that propose cuts, by level from the root; the last repeats."),
    ] = 17
    or_selection: Literal["informative", "admissible"] = "informative"
    and_selection: Literal["round_robin", "worst_primal", "worst_heuristic"] = "round_robin"
    heuristic: Literal["cart", "primal", "impurity"] = "cart"
    criterion: Literal["gini", "entropy"] = "gini"
    polish: bool = True
    class_weight: Annotated[
        Literal["balanced"] | dict[str, Annotated[float, Field(ge=0, le=1e15)]] | None,
        Field(description="`balanced`, or a weight by class, classes spelt as the data spells them."),
    ] = None
    categories: Literal["ordered", "one_hot"] = "ordered"


TimeLimit = Annotated[float | None, Field(gt=0, le=31_536_000, description="Search seconds.")]
MaxExpansions = Annotated[int | None, Field(ge=1, le=1 << 53)]
MemoryLimit = Annotated[int | None, Field(ge=1, le=1 << 53, description="Bytes for the search.")]
Gap = Annotated[float, Field(ge=0, lt=1, description="Stop at (upper - lower) / upper <= gap.")]
GapAbsolute = Annotated[float, Field(ge=0, le=1e15)]
Patience = Annotated[
    float | None, Field(gt=0, le=31_536_000, description="Search seconds without a better tree.")
]


class Limits(Message):
    """When the search stops by itself; reaching a limit is a result, not an error."""

    time_limit: TimeLimit = 60.0
    max_expansions: MaxExpansions = None
    memory_limit: MemoryLimit = None
    gap: Gap = 0.0
    gap_absolute: GapAbsolute = 0.0
    patience: Patience = None


class ValidationFraction(Message):
    """A share of the rows, drawn by class, is kept from the search and scored."""

    fraction: Annotated[float, Field(gt=0, lt=1)]
    seed: Annotated[int, Field(ge=0, le=(1 << 32) - 1)] = 0


class ValidationColumn(Message):
    """Rows that a column marks are kept from the search and scored; the column itself is not learned from.

    With `value`, those are the rows whose cell is that value: `{"column": "fold", "value": 3}`. Without, they
    are the rows whose cell is true, 1, or one of the words `validation`, `valid`, `val`, `test`, `testing`,
    `holdout`, `hold-out`, `hold_out`, `true`, `yes` and `1` in any case; a column of numbers other than 0 and
    1 needs a value. A row with a missing cell is for training.
    """

    column: Annotated[str, Field(min_length=1, max_length=1024)]
    value: Annotated[
        StrictBool | StrictInt | StrictFloat | Annotated[StrictStr, Field(max_length=65_536)] | None,
        Field(description="The value that marks a row for validation, as the data spells it."),
    ] = None


_VALIDATION_FORMS: dict[str, type[Message]] = {
    "by fraction": ValidationFraction,
    "by column": ValidationColumn,
}


def _form_of_validation(given: Any) -> str | None:
    """Name the form whose fields are given, so that errors are about that one; None if that is not clear."""
    named = given if isinstance(given, dict) else vars(given) if isinstance(given, Message) else {}
    meant = [tag for tag, form in _VALIDATION_FORMS.items() if named.keys() & form.model_fields.keys()]
    return meant[0] if len(meant) == 1 else None


# The tags are no names of fields: an error's location says which is which.
Validation = Annotated[
    Annotated[ValidationFraction, Tag("by fraction")] | Annotated[ValidationColumn, Tag("by column")],
    Discriminator(
        _form_of_validation,
        custom_error_type="form",
        custom_error_message="Expected an object with either `fraction` or `column`",
    ),
]


DecimalSign = Literal[".", ","]


class CsvStyle(Message):
    """How a CSV that became a dataset writes things: rows to predict are read in the same way."""

    decimal: DecimalSign | None = None  # of the columns that are not named below; None: it is not known
    columns: dict[str, DecimalSign] = {}  # columns that have another decimal sign than the rest
    null_words: list[str] | None = None  # words for a missing cell as the client gave them; None: the usual

    def decimal_of(self, column: str) -> DecimalSign | None:
        return self.columns.get(column, self.decimal)


class JobSpec(Message):
    """The part of a job that never changes after it was accepted."""

    id: str
    tenant: str
    dataset_id: str
    dataset_sha256: str
    cores: Annotated[int, Field(ge=1)] = 1  # that it uses while it runs
    parent_job_id: str | None = None
    parameters: Parameters = Parameters()
    validation: Validation | None = None
    csv_style: CsvStyle | None = None  # of the dataset
    engine_version: str


class JobSettings(Message):
    """The part of a job that its owner may change."""

    name: str | None = None
    tags: dict[str, str] = {}
    priority: int = 0  # larger is sooner, among the tenant's own jobs
    limits: Limits = Limits()


class NewJob(JobSpec, JobSettings):
    """A job as it is submitted."""


# What a worker says


class Progress(Message):
    """What the search knows. Once one of the first three is known, all are."""

    objective: float | None = None
    lower_bound: float | None = None
    upper_bound: float | None = None
    gap_absolute: float | None = None
    gap_relative: float | None = None
    beyond_space: BeyondSpace = False
    expansions: int = 0
    states_live: int = 0
    incumbents: int = 0  # the revision of the best tree
    elapsed_seconds: float = 0.0  # search seconds over all attempts
    memory_bytes: int = 0


class JobError(Message):
    code: str  # a stable word: DATA, MEMORY, WORKER_LOST, INTERNAL, ...
    message: str


class TracePoint(Message):
    seconds: float
    expansions: int
    upper: float
    lower: float


class NewIncumbent(Message):
    """A tree found; `tree` is the JSON model, already evaluated again by code that is not the solver's."""

    objective: float
    tree: dict[str, Any]
    metrics: dict[str, Any]
    found_seconds: float = 0.0  # search seconds over all attempts


class Checkpoint(Message):
    """What a worker publishes: bounds now, trace since the last one, and what else is new."""

    upper_bound: float
    lower_bound: float
    expansions: int
    states_live: int
    elapsed_seconds: float
    memory_bytes: int
    trace: list[TracePoint] = []
    incumbent: NewIncumbent | None = None
    blob: str | None = None  # the search itself, to go on from: its name in the blob store
    blob_bytes: int = 0
    log: str | None = None  # a sentence for the job's events


class Outcome(Message):
    """The end of a job by its worker."""

    state: Literal[JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED, JobState.PAUSED]
    stop_reason: StopReason | None = None  # None only with PAUSED
    proven_optimal: bool = False
    error: JobError | None = None


# What is stored


class Transition(Message):
    state: JobState
    at: datetime
    reason: str | None = None


class Scores(Message):
    """The two numbers of a tree's metrics that stand in lists."""

    train_accuracy: float | None = None
    validation_accuracy: float | None = None


class JobSummary(Message):
    """A job in a list."""

    spec: JobSpec
    settings: JobSettings
    state: JobState
    revision: int
    progress: Progress
    stop_reason: StopReason | None = None
    proven_optimal: bool = False
    model_id: str | None = None
    model_revision: int | None = None  # of the tree that the model is made of
    scores: Scores | None = None  # of the best tree
    error: JobError | None = None
    created_at: datetime
    queued_at: datetime
    started_at: datetime | None = None
    first_incumbent_at: datetime | None = None
    finished_at: datetime | None = None


class Job(JobSummary):
    """A job as it is now."""

    limits_revision: int = 0  # rises with every change of the limits
    wish: Wish = Wish.NONE
    metrics: dict[str, Any] | None = None  # of the best tree
    blob: str | None = None  # the last search checkpoint's name in the blob store
    epoch: int = 0  # rises with every claim
    attempts: int = 0
    request_id: str | None = None  # of the request that submitted it: what its log lines are found by
    heartbeat_at: datetime | None = None
    transitions: list[Transition] = []


class Incumbent(Message):
    """A numbered tree of a job, frozen as it was found: bounds of that moment."""

    job_id: str
    revision: int
    objective: float
    upper_bound: float
    lower_bound: float
    tree: dict[str, Any]
    metrics: dict[str, Any]
    found_at: datetime
    found_seconds: float | None = None  # search seconds; trees stored by version 0.1.0 have none


class Histogram(Message):
    """How the known numbers of a column spread; a bin holds its left edge, the last one both."""

    edges: list[float]  # one more than counts
    counts: list[int]


class ColumnInfo(Message):
    """A column of a dataset as clients see it. Dropped columns are not stored and have none."""

    name: str
    type: Literal["number", "boolean", "category"]
    role: Literal["feature", "target", "weight"]
    missing: int
    distinct: int | None = None  # values that are not missing
    minimum: float | None = None
    maximum: float | None = None
    histogram: Histogram | None = None  # of numbers
    categories: list[Any] | None = None  # of the other types: the most frequent first, at most 100 of them
    category_counts: list[int] | None = None  # the rows of each of these


class ClassInfo(Message):
    label: Any  # as the data spells it: text, number or boolean
    count: int


class ReadingOptions(Message):
    """Options of an upload with which a dataset is read in another way, for those who meant it so."""

    label: str  # for a button
    options: dict[str, Any]  # with their whole new values; None takes one back


class DatasetSummary(Message):
    """A dataset in a list."""

    id: str
    tenant: str
    name: str | None = None
    notes: str | None = None
    sha256: str
    bytes: int
    rows: int
    target: str
    weight: str | None = None
    n_columns: int
    n_classes: int
    created_at: datetime


class Dataset(Message):
    id: str
    tenant: str
    name: str | None = None
    notes: str | None = None
    sha256: str  # of the bytes as uploaded
    blob: str  # the parsed table in the blob store: an Arrow file
    bytes: int  # as uploaded
    stored_bytes: int = 0  # of the blob
    rows: int
    target: str
    weight: str | None = None
    dropped: list[str] = []
    columns: list[ColumnInfo]
    classes: list[ClassInfo]
    warnings: list[str] = []
    fixes: list[ReadingOptions] = []  # for what the warnings say
    csv_style: CsvStyle | None = None  # None: no CSV, or stored by version 0.1.0
    created_at: datetime

    @property
    def summary(self) -> DatasetSummary:
        shared = {name: value for name, value in self if name in DatasetSummary.model_fields}
        return DatasetSummary(**shared, n_columns=len(self.columns), n_classes=len(self.classes))


class ModelSummary(Message):
    """A model in a list."""

    id: str
    tenant: str
    name: str | None = None
    notes: str | None = None
    job_id: str
    incumbent_revision: int
    dataset_id: str
    dataset_sha256: str
    objective: float
    upper_bound: float
    lower_bound: float
    proven_optimal: bool
    proven_space: str
    stop_reason: StopReason
    scores: Scores
    engine_version: str
    created_at: datetime


class Model(ModelSummary):
    """A finished tree. The tree's own JSON is stored beside it."""

    parameters: Parameters
    metrics: dict[str, Any]
    csv_style: CsvStyle | None = None  # of the dataset


class Event(Message):
    """An entry of a job's stream; its id is the stream's."""

    id: str
    type: Literal["state", "incumbent", "bound", "log", "done"]
    at: datetime
    data: dict[str, Any]


def label_text(label: Any) -> str:
    """A class label where JSON wants a key: booleans as JSON spells them, whole floats as in the data."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def new_id(prefix: Literal["job", "ds", "mdl"]) -> str:
    return f"{prefix}_{secrets.token_hex(ID_BITS // 8)}"
