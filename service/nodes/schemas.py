"""Schemas of the rows in a node of a tree."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Part = Literal["train", "validation", "all"]
Label = str | int | float | bool
Rows = Annotated[list[int], Field(description="The number of rows of each class, in the order of `classes`.")]
Weights = Annotated[
    list[float], Field(description="The sample weight of the rows of each class, in the order of `classes`.")
]


class ClassRows(BaseModel):
    """The rows of one class."""

    label: Annotated[Label, Field(description="The class, as in the data.")]
    rows: int
    weight: Annotated[float, Field(description="The sum of the sample weights; without weights, the rows.")]


class Branch(BaseModel):
    """Rows that go to the same child."""

    side: Annotated[Literal["left", "right"], Field(description="The branch that the rows take.")]
    child: Annotated[int, Field(description="The index of the child in the tree's `nodes`.")]
    rows: Rows
    weights: Weights


class NumberBin(Branch):
    """Rows whose number is above `low` and at most `high`. The first bin also contains `low`."""

    low: float
    high: Annotated[float, Field(description="Equal to `low` in a bin of a single number.")]


class CategoryRows(Branch):
    """Rows of one category."""

    value: Annotated[Label, Field(description="The category, as in the data.")]
    seen: Annotated[
        bool, Field(description="Whether the category occurs in the training rows. Else it goes by default.")
    ]


class OtherCategories(Branch):
    """Rows of the less frequent categories that go to the same child."""

    categories: Annotated[int, Field(description="The number of these categories.")]


class NumberHistogram(BaseModel):
    """The numbers of a column. Every threshold of the node within their range is an edge of a bin."""

    kind: Literal["number"]
    bins: Annotated[
        list[NumberBin],
        Field(description="Bins in ascending order, without gaps; empty if there are no numbers."),
    ]
    missing: Annotated[Branch, Field(description="The rows in which the number is missing.")]


class CategoryHistogram(BaseModel):
    """The categories of a column, or the values `false` and `true` of a column of booleans."""

    kind: Literal["category"]
    categories: Annotated[
        list[CategoryRows], Field(description="The categories of these rows, the most frequent first.")
    ]
    other: Annotated[
        list[OtherCategories],
        Field(description="The categories that are not listed: at most one entry for each child."),
    ]
    missing: Annotated[Branch, Field(description="The rows in which the category is missing.")]


class NodeRows(BaseModel):
    """The rows of a dataset that reach a node, by class and by the value of the column that it splits.

    Rows of weight 0, and rows of a class that `class_weight` leaves out, are not counted, as in training.
    """

    node: Annotated[int, Field(description="The index of the node in the tree's `nodes`.")]
    part: Annotated[Part, Field(description="The part of the dataset that is counted.")]
    dataset_id: str
    rows: int
    weight: Annotated[float, Field(description="The sum of the sample weights, without class weights.")]
    classes: Annotated[list[ClassRows], Field(description="All classes of the tree, in its order.")]
    feature: Annotated[str | None, Field(description="The column that the node splits; null for a leaf.")]
    histogram: Annotated[
        NumberHistogram | CategoryHistogram | None,
        Field(discriminator="kind", description="The values of this column; null for a leaf."),
    ]


class ModelNodeRows(NodeRows):
    """The rows in a node of a model."""

    model_id: str


class JobNodeRows(NodeRows):
    """The rows in a node of a job's tree."""

    job_id: str
    revision: Annotated[int, Field(description="The revision of the tree.")]
