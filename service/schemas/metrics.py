"""Schemas of the `metrics` of jobs, incumbents and models, which `worker.training.metrics` computes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from worker.training.ranking import MAX_POINTS

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, description="A sum of sample weights; without weights, a row count.")]
Label = Annotated[str | int | float | bool, Field(description="The class, as in the data.")]


ADDED = "null in metrics of Literati 0.1.0."


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


class Interval(Part):
    """An interval that contains the accuracy on new rows with a probability of 95 % (Wilson's interval)."""

    low: Share
    high: Share


class CalibrationBin(Part):
    """Rows whose predicted class has a probability of a certain size, and how often it is right."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, populate_by_name=True)

    from_: Annotated[Share, Field(alias="from")]
    to: Share
    weight: Weight
    mean_probability: Share
    accuracy: Share


class OperatingPoint(Part):
    """A probability of the second class, and the rows that got it."""

    probability: Share
    positives: Annotated[float, Field(ge=0, description="The weight of the rows of the second class.")]
    negatives: Annotated[float, Field(ge=0, description="The weight of the rows of the first class.")]


class Scores(Part):
    """Scores on a set of rows, weighted by their sample weights but not by class weights."""

    rows: Annotated[int, Field(ge=1)]
    accuracy: Share
    accuracy_interval: Annotated[Interval | None, Field(description=ADDED)] = None
    balanced_accuracy: Annotated[
        float, Field(ge=0, le=1, description="The mean recall of the classes that occur in the rows.")
    ]
    log_loss: Annotated[
        float, Field(ge=0, description="In nats. Probabilities are clipped at 1e-15, so it is finite.")
    ]
    macro_f1: Annotated[
        Share | None, Field(description=f"The mean F1 score of the classes that occur. {ADDED}")
    ] = None
    brier_score: Annotated[
        float | None,
        Field(
            ge=0,
            le=2,
            description="The mean squared distance between the probabilities and the true class, summed over "
            f"the classes. {ADDED}",
        ),
    ] = None
    roc_auc: Annotated[
        Share | None, Field(description="The area under the ROC curve; null unless there are two classes.")
    ] = None
    operating_points: Annotated[
        list[OperatingPoint] | None,
        Field(
            max_length=MAX_POINTS,
            description="For two classes, every predicted probability of the second class, the highest "
            "first. The sums of the weights up to a point are the rows that are predicted as the second "
            f"class from its probability on. Beyond {MAX_POINTS} points, neighbours are merged under the "
            "lowest of their probabilities. null with other numbers of classes, in baselines and in records "
            "of earlier versions.",
        ),
    ] = None
    calibration: Annotated[
        list[CalibrationBin] | None,
        Field(description=f"Predictions by the probability of the predicted class. {ADDED}"),
    ] = None
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


class TreeWarning(Part):
    """A reason not to trust a tree on new rows."""

    code: Literal[
        "OVERFIT",
        "NOT_BETTER_THAN_MAJORITY",
        "WORSE_THAN_MAJORITY",
        "NOT_BETTER_THAN_CART",
        "WORSE_THAN_CART",
        "ID_LIKE_COLUMN",
    ]
    text: Annotated[str, Field(description="The warning in whole sentences, with what can be done.")]
    evidence: Annotated[dict[str, Any], Field(description="The figures that the warning follows from.")]


class Metrics(ScoresBySet):
    """The scores of a tree and of two simple classifiers for comparison."""

    train_accuracy: Share
    validation_accuracy: Annotated[Share | None, Field(description="null without validation rows.")]
    baselines: Baselines
    warnings: Annotated[
        list[TreeWarning], Field(description="Reasons not to trust the tree on new rows.")
    ] = []


def metrics_schema() -> dict[str, Any]:
    """Return the JSON Schema of openapi/metrics.schema.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Metrics.model_json_schema()}
