"""Schemas of models and aliases."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from service.schemas.documents import MetricsJson, TreeJson
from service.schemas.parameters import NextPageToken
from worker.domain.jobs import Scores, StopReason
from worker.domain.parameters import Parameters
from worker.domain.progress import BeyondSpace

MODEL_ID = r"^mdl_[0-9a-f]{32}$"
ALIAS = r"^[a-z0-9][a-z0-9_.-]{0,63}$"


class ModelSummary(BaseModel):
    """A model in a list. Get the model for its parameters, metrics and tree."""

    id: str
    name: Annotated[str | None, Field(description="By default the name of the job that made it.")]
    notes: str | None
    job_id: str
    incumbent_revision: Annotated[int, Field(description="The revision of the tree among the job's trees.")]
    dataset_id: str
    dataset_sha256: str
    objective: Annotated[
        float, Field(description="The cost of the tree: misclassified weight plus penalties.")
    ]
    upper_bound: float
    lower_bound: float
    gap_absolute: float
    gap_relative: float
    beyond_space: BeyondSpace
    proven_optimal: Annotated[
        bool, Field(description="Whether the bounds are equal; reaching a gap tolerance is not a proof.")
    ]
    proven_space: Annotated[str, Field(description="The search space of the bounds and the proof.")]
    stop_reason: StopReason
    metrics: Annotated[Scores, Field(description="The accuracies of the tree.")]
    engine_version: str
    created_at: datetime
    links: Annotated[dict[str, str], Field(description="URLs of related resources, by name.")]


class Model(ModelSummary):
    """A tree that a job has learned, with its metrics and its proof."""

    parameters: Parameters
    metrics: Annotated[MetricsJson, Field(description="The scores of the tree.")]  # type: ignore[assignment]


class ModelWithTree(Model):
    """A model with its tree."""

    tree: Annotated[
        TreeJson,
        Field(
            description="The JSON model (docs/model-format.md). `columns` are the columns that predict "
            "expects, `nodes` are the nodes in preorder. `ShapeTree.from_dict` reads it."
        ),
    ]


class ModelPage(BaseModel):
    items: list[ModelSummary]
    next_page_token: NextPageToken


class AliasRequest(BaseModel):
    """The model that an alias refers to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_id: Annotated[str, Field(pattern=MODEL_ID, examples=["mdl_5d0f3c1ab5e84c7f9a6b2e1d4c3f8a70"])]


class Alias(BaseModel):
    """A name, such as `production`, that refers to a model and can be moved to another one."""

    name: str
    model_id: str
    links: dict[str, str]


class AliasList(BaseModel):
    items: list[Alias]
