"""Models, aliases and predictions over the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from service.schemas.documents import MetricsJson, TreeJson
from worker.messages import BeyondSpace, Parameters, Scores, StopReason

MODEL_ID = r"^mdl_[0-9a-f]{32}$"
ALIAS = r"^[a-z0-9][a-z0-9_.-]{0,63}$"
MODEL = r"^[a-z0-9][a-z0-9_.-]{0,63}$"  # an id or an alias: every id has the form of an alias
Cell = str | float | bool | None
Label = str | int | float | bool


class ModelSummary(BaseModel):
    """A model in a list. Look at the model itself for its parameters, metrics and tree."""

    id: str
    name: Annotated[str | None, Field(description="At first that of the job that made it.")]
    notes: str | None
    job_id: str
    incumbent_revision: Annotated[int, Field(description="Which of the job's trees it is.")]
    dataset_id: str
    dataset_sha256: str
    objective: Annotated[float, Field(description="What the tree costs: misclassified weight and penalties.")]
    upper_bound: float
    lower_bound: float
    gap_absolute: float
    gap_relative: float
    beyond_space: BeyondSpace
    proven_optimal: Annotated[bool, Field(description="The bounds met; a tolerance is never a proof.")]
    proven_space: Annotated[str, Field(description="What the bounds and the proof speak of.")]
    stop_reason: StopReason
    metrics: Annotated[Scores, Field(description="The shares of rows that the tree gets right.")]
    engine_version: str
    created_at: datetime
    links: Annotated[dict[str, str], Field(description="What can be asked next, by name.")]


class Model(ModelSummary):
    """A finished tree and what is known about it."""

    parameters: Parameters
    metrics: Annotated[MetricsJson, Field(description="How good the tree is.")]  # type: ignore[assignment]


class ModelWithTree(Model):
    tree: Annotated[
        TreeJson,
        Field(
            description="The JSON model (docs/model-format.md): `columns` says what predict expects, `nodes` "
            "are the tree in preorder. `ShapeTree.from_dict` reads it."
        ),
    ]


class ModelPage(BaseModel):
    items: list[ModelSummary]
    next_page_token: Annotated[str | None, Field(description="For the next page; null on the last.")]


class AliasRequest(BaseModel):
    """What an alias is to name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_id: Annotated[str, Field(pattern=MODEL_ID, examples=["mdl_5d0f3c1ab5e84c7f9a6b2e1d4c3f8a70"])]


class Alias(BaseModel):
    """A name for a model that can be moved to another one, such as `production`."""

    name: str
    model_id: str
    links: dict[str, str]


class AliasList(BaseModel):
    items: list[Alias]


class Records(BaseModel):
    """Rows by name."""

    model_config = ConfigDict(extra="forbid")

    records: Annotated[list[dict[str, Cell]], Field(min_length=1)]


class Arrays(BaseModel):
    """Rows by position."""

    model_config = ConfigDict(extra="forbid")

    columns: Annotated[list[str], Field(min_length=1)]
    data: Annotated[list[list[Cell]], Field(min_length=1)]


class PredictionWarning(BaseModel):
    """What was noticed in rows that were predicted all the same."""

    code: Literal[
        "UNKNOWN_COLUMN",
        "ABSENT_COLUMN",
        "UNREADABLE_COLUMN",
        "READ_AS",
        "MISSING_VALUE",
        "UNSEEN_CATEGORY",
        "OUT_OF_RANGE",
        "MORE",
    ]
    column: Annotated[str | None, Field(description="null where the warning is about several columns.")]
    count: Annotated[int, Field(description="In how many rows.")]
    examples: Annotated[
        list[Cell], Field(description="A few of the values; of absent columns, a few of their names.")
    ]
    message: str


class Interval(BaseModel):
    above: float | None
    up_to: float | None


class Step(BaseModel):
    """One node on the way of a row."""

    node: int
    feature: str
    value: Cell
    status: Annotated[
        Literal["known", "missing", "unknown"], Field(description="`unknown`: training did not see it.")
    ]
    side: Literal["left", "right"]
    interval: Annotated[Interval | None, Field(description="The piece of a number's range that was hit.")]
    categories: Annotated[list[Cell] | None, Field(description="Categories that go the same way.")]
    more_categories: Annotated[int, Field(description="How many go the same way besides.")]
    seen: Annotated[
        bool, Field(description="The side was learned from training rows; or else it is a guess.")
    ]
    text: str


class RowExplanation(BaseModel):
    steps: list[Step]
    text: Annotated[str, Field(description="The steps and the class in words.")]


class Predictions(BaseModel):
    """What the model says of each row, in the order of the rows."""

    predictions: Annotated[list[Label], Field(description="Labels as the data spelt them.")]
    probabilities: Annotated[
        list[dict[str, float]],
        Field(description="The classes' shares of the training weight in the row's leaf, by label."),
    ]
    leaf_ids: Annotated[list[int], Field(description="Indices into the tree's nodes.")]
    warnings: list[PredictionWarning]
    explanations: Annotated[list[RowExplanation] | None, Field(description="With `explain=true`: why.")] = (
        None
    )
    model_id: Annotated[str | None, Field(description="The model that predicted.")]


class JobPredictions(Predictions):
    job_id: str
    revision: Annotated[int, Field(description="The tree that predicted, of the job's.")]
