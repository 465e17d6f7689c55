"""Schemas of models and aliases."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from service.schemas import fields
from service.schemas.parameters import EXAMPLE_MODEL_ID
from worker.domain.base import FrozenModel
from worker.domain.jobs import Scores, StopReason
from worker.domain.parameters import Parameters
from worker.domain.progress import BeyondSpace, Explored, Space

MODEL_ID = r"^mdl_[0-9a-f]{32}$"
ALIAS = r"^[a-z0-9][a-z0-9_.-]{0,63}$"


class ModelSummary(BaseModel):
    """A model in a list. Get the model for its metrics and tree."""

    id: str
    name: Annotated[str | None, Field(description="By default the name of the job that made it.")]
    notes: str | None
    tags: Annotated[dict[str, str], Field(description="At first the tags of the job that made it.")]
    job_id: str
    incumbent_revision: Annotated[int, Field(description="The revision of the tree among the job's trees.")]
    dataset_id: str
    dataset_sha256: str
    target: Annotated[
        str | None,
        Field(description="The column that the model predicts; null if version 0.1.0 made the model."),
    ]
    parameters: Parameters
    objective: fields.Objective
    upper_bound: float
    lower_bound: float
    gap_absolute: float
    gap_relative: float
    beyond_space: BeyondSpace
    explored: Explored
    space: Space
    proven_optimal: fields.ProvenOptimal
    proven_space: fields.ProvenSpace
    stop_reason: StopReason
    metrics: Annotated[Scores, Field(description="The scores and the size of the tree.")]
    engine_version: str
    created_at: datetime
    links: Annotated[dict[str, str], Field(description="URLs of related resources, by name.")]


class Model(ModelSummary):
    """A tree that a job has learned, with its metrics and its proof."""

    metrics: Annotated[fields.MetricsJson, Field(description="The scores of the tree.")]  # type: ignore[assignment]


class ModelWithTree(Model):
    """A model with its tree."""

    tree: Annotated[
        fields.TreeJson,
        Field(
            description="The JSON model (docs/model-format.md). `columns` are the columns that predict "
            "expects, `nodes` are the nodes in preorder. `ShapeTree.from_dict` reads it."
        ),
    ]


class ModelRequest(FrozenModel):
    """The tree to make a model of."""

    revision: Annotated[
        int, Field(ge=1, le=1 << 53, description="The revision of the tree among the job's trees.")
    ]


class ModelPatch(fields.TaggedPatch):
    """A JSON merge patch (RFC 7396) of a model. Fields that are left out do not change."""


class ModelPage(BaseModel):
    items: list[ModelSummary]
    next_page_token: fields.NextPageToken


class AliasRequest(FrozenModel):
    """The model that an alias refers to."""

    model_id: Annotated[str, Field(pattern=MODEL_ID, examples=[EXAMPLE_MODEL_ID])]


class Alias(BaseModel):
    """A name, such as `production`, that refers to a model and can be moved to another one."""

    name: str
    model_id: str
    links: dict[str, str]


class AliasList(BaseModel):
    items: list[Alias]
