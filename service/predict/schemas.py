"""Schemas of predict requests and responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from service.schemas.fields import ScoresJson
from worker.domain.base import FrozenModel

Cell = str | float | bool | None
Label = str | int | float | bool


class Records(FrozenModel):
    """Rows as objects."""

    records: Annotated[
        list[dict[str, Cell]],
        Field(min_length=1, description="One object per row, with the cells by column name."),
    ]


class Arrays(FrozenModel):
    """Rows as arrays."""

    columns: Annotated[list[str], Field(min_length=1, description="The column names.")]
    data: Annotated[
        list[list[Cell]],
        Field(min_length=1, description="One array per row, with the cells in the order of `columns`."),
    ]


class PredictionWarning(BaseModel):
    """A warning about rows that differ from the training data. They are predicted anyway."""

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
    column: Annotated[
        str | None, Field(description="The column; null if the warning is about several columns.")
    ]
    count: Annotated[int, Field(description="The number of rows.")]
    examples: Annotated[
        list[Cell], Field(description="Some of the values; for absent columns, some of their names.")
    ]
    message: Annotated[str, Field(description="The warning in words.")]


class Interval(BaseModel):
    """An interval of numbers."""

    above: Annotated[float | None, Field(description="The exclusive lower end; null: no lower end.")]
    up_to: Annotated[float | None, Field(description="The inclusive upper end; null: no upper end.")]


class Step(BaseModel):
    """One node on the path of a row through the tree."""

    node: Annotated[int, Field(description="The index of the node in the tree.")]
    feature: Annotated[str, Field(description="The column that the node splits.")]
    value: Annotated[Cell, Field(description="The row's value in this column.")]
    status: Annotated[
        Literal["known", "missing", "unknown"],
        Field(description="`unknown`: a category that is not in the training data."),
    ]
    side: Annotated[Literal["left", "right"], Field(description="The branch that the row takes.")]
    interval: Annotated[
        Interval | None, Field(description="The interval of the node's thresholds that contains the number.")
    ]
    categories: Annotated[
        list[Cell] | None, Field(description="The first categories that take the same branch.")
    ]
    more_categories: Annotated[
        int, Field(description="The number of further categories that take the same branch.")
    ]
    seen: Annotated[
        bool, Field(description="Whether the branch was learned from training rows and not guessed.")
    ]
    text: Annotated[str, Field(description="The step in words.")]


class RowExplanation(BaseModel):
    """Why a row gets its class."""

    steps: Annotated[list[Step], Field(description="The steps from the root to the leaf.")]
    text: Annotated[str, Field(description="The steps and the class in words.")]


class Predictions(BaseModel):
    """The predictions, in the order of the rows."""

    predictions: Annotated[list[Label], Field(description="The predicted labels, as in the training data.")]
    probabilities: Annotated[
        list[dict[str, float]],
        Field(description="By label, the share of each class in the training weight of the row's leaf."),
    ]
    leaf_ids: Annotated[list[int], Field(description="The index of each row's leaf among the tree's nodes.")]
    warnings: list[PredictionWarning]
    explanations: Annotated[
        list[RowExplanation] | None, Field(description="Only with `explain=true`: one explanation per row.")
    ] = None
    model_id: Annotated[str | None, Field(description="The model; null for predictions with a job.")]


class JobPredictions(Predictions):
    """The predictions of a job's tree, in the order of the rows."""

    job_id: str
    revision: Annotated[int, Field(description="The revision of the tree.")]


class UnknownClass(BaseModel):
    """A true class that the model does not know, because no training row has it."""

    label: Annotated[Label, Field(description="The class, as in the rows; long text is shortened.")]
    rows: int
    weight: Annotated[float, Field(description="The sum of the weights; without weights, the rows.")]


class Scored(BaseModel):
    """How good the predictions of a tree are on rows with their true classes."""

    target: Annotated[str, Field(description="The column with the true classes.")]
    weight: Annotated[str | None, Field(description="The column with the weights of the rows.")]
    rows: Annotated[int, Field(description="The rows of the body.")]
    rows_without_target: Annotated[
        int, Field(description="Rows that are left out, because their true class is missing.")
    ]
    rows_of_unknown_classes: Annotated[
        int, Field(description="Rows whose true class the model does not know. They count as wrong.")
    ]
    unknown_classes: Annotated[
        list[UnknownClass],
        Field(description="Up to 20 of these classes, the most frequent first."),
    ]
    scores: Annotated[
        ScoresJson,
        Field(
            description="The scores, in the form of those of a job. The log loss, the Brier score, "
            "the area under the ROC curve and the operating points are about the rows of known classes only."
        ),
    ]
    warnings: list[PredictionWarning]
    model_id: Annotated[str | None, Field(description="The model; null for the scores of a job's tree.")]


class JobScored(Scored):
    """How good the predictions of a job's tree are on rows with their true classes."""

    job_id: str
    revision: Annotated[int, Field(description="The revision of the tree.")]
