"""Schemas of the `metrics` of jobs, incumbents and models, which `worker.training.metrics` computes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, description="A sum of sample weights; without weights, a row count.")]
Label = Annotated[str | int | float | bool, Field(description="The class, as in the data.")]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class ConfusionMatrix(Part):
    """The number of rows of each true class that were predicted as each class."""

    labels: list[Label]
    counts: Annotated[
        list[list[Weight]],
        Field(description="One row for each true class, with one entry for each predicted class."),
    ]


class ClassScores(Part):
    """The scores of one class. A score is null if its denominator is zero."""

    label: Label
    support: Annotated[float, Field(ge=0, description="The weight of the rows of this class.")]
    precision: Share | None
    recall: Share | None
    f1: Share | None


class Scores(Part):
    """Scores on a set of rows, weighted by their sample weights but not by class weights."""

    rows: Annotated[int, Field(ge=1)]
    accuracy: Share
    balanced_accuracy: Annotated[
        float, Field(ge=0, le=1, description="The mean recall of the classes that occur in the rows.")
    ]
    log_loss: Annotated[
        float, Field(ge=0, description="In nats. Probabilities are clipped at 1e-15, so it is finite.")
    ]
    confusion_matrix: Annotated[ConfusionMatrix | None, Field(description="null with more than 64 classes.")]
    per_class: list[ClassScores]


class ScoresBySet(Part):
    """Scores on the training rows, and on the validation rows if there are any."""

    train: Scores
    validation: Scores | None


class Baselines(Part):
    """Two simple classifiers on the same rows, for comparison."""

    majority: Annotated[
        ScoresBySet, Field(description="Always predicts the most frequent class of the training rows.")
    ]
    cart: Annotated[
        ScoresBySet | None,
        Field(description="A greedy CART tree of the same depth; null until it is fitted."),
    ]


class Metrics(ScoresBySet):
    """The scores of a tree and of two simple classifiers for comparison."""

    train_accuracy: Share
    validation_accuracy: Annotated[Share | None, Field(description="null without validation rows.")]
    baselines: Baselines


def metrics_schema() -> dict[str, Any]:
    """Return the JSON Schema of openapi/metrics.schema.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Metrics.model_json_schema()}
