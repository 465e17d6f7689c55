"""The parameters and the limits of a training job."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from literati.data.table import Categories
from literati.search.options import MAX_DEPTH, AndSelection, Candidates, Criterion, Heuristic, OrSelection
from worker.domain.base import FrozenModel
from worker.domain.parameter_fields import LeafCount, Weight, limit_field, parameter_field


class Parameters(FrozenModel):
    """What is searched and how: the parameters of LiteratiClassifier."""

    max_depth: int = parameter_field("max_depth")
    max_changepoints: int = parameter_field("max_changepoints")
    split_penalty: float = parameter_field("split_penalty")
    changepoint_penalty: float = parameter_field("changepoint_penalty")
    candidates: Candidates = parameter_field("candidates")
    candidate_leaves: LeafCount | Annotated[list[LeafCount], Field(min_length=1, max_length=MAX_DEPTH)] = (
        parameter_field("candidate_leaves")
    )
    or_selection: OrSelection = parameter_field("or_selection")
    and_selection: AndSelection = parameter_field("and_selection")
    heuristic: Heuristic = parameter_field("heuristic")
    criterion: Criterion = parameter_field("criterion")
    polish: bool = parameter_field("polish")
    class_weight: Literal["balanced"] | dict[str, Weight] | None = parameter_field("class_weight")
    categories: Categories = parameter_field("categories")


class Limits(FrozenModel):
    """When the search stops by itself. Reaching a limit is a result, not an error."""

    time_limit: float | None = limit_field("time_limit")
    max_expansions: int | None = limit_field("max_expansions")
    memory_limit: int | None = limit_field("memory_limit")
    gap: float = limit_field("gap")
    gap_absolute: float = limit_field("gap_absolute")
    patience: float | None = limit_field("patience")
