"""The parameters and the limits of a training job, with the definitions of the library."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from literati.data.table import Categories
from literati.search import options
from literati.search.parameters import Parameter, Range
from worker.domain.base import FrozenModel

DEFINITIONS = {**options.SolverOptions.definitions(), **options.SearchLimits.definitions()}
# The library sets no maximum for these; what is stored and sent as JSON has to stay finite and exact.
MAX_BY_UNIT = {"seconds": 31_536_000, "rows": 1e15, "bytes": 1 << 53, "expansions": 1 << 53}
# Version 0.1.0 had these in the library, but not in the service.
_ADDED_TO_JOBS = {"n_threads"}
# The choice of `candidates` that searches ever wider spaces, one stage after another.
WIDENING = "widening"

LeafCount = Annotated[int, Field(**options.LEAVES.bounds)]
Weight = Annotated[float, Field(ge=0, le=MAX_BY_UNIT["rows"])]


def parameter_field(name: str, **changes: Any) -> Any:
    """Return the field of a parameter or a limit; `changes` are other arguments of Pydantic's Field."""
    definition = DEFINITIONS[name]
    about = {"default": definition.default, "description": definition.sentences("null")}
    return Field(**{**about, **bounds(definition), **changes})


def bounds(definition: Parameter) -> dict[str, Any]:
    """Return the bounds of a parameter in the service, as arguments of Pydantic's Field."""
    found: dict[str, Any] = definition.values.bounds if isinstance(definition.values, Range) else {}
    return {"le": MAX_BY_UNIT[definition.unit], **found} if definition.unit else found


class Parameters(FrozenModel):
    """What is searched and how: the parameters of LiteratiClassifier."""

    max_depth: int = parameter_field("max_depth")
    max_changepoints: int = parameter_field("max_changepoints")
    split_penalty: float = parameter_field("split_penalty")
    changepoint_penalty: float = parameter_field("changepoint_penalty")
    min_samples_leaf: int = parameter_field("min_samples_leaf")
    probability_smoothing: float = parameter_field("probability_smoothing")
    candidates: options.Candidates = parameter_field("candidates")
    candidate_leaves: (
        LeafCount | Annotated[list[LeafCount], Field(min_length=1, max_length=options.MAX_DEPTH)]
    ) = parameter_field("candidate_leaves")
    or_selection: options.OrSelection = parameter_field("or_selection")
    and_selection: options.AndSelection = parameter_field("and_selection")
    heuristic: options.Heuristic = parameter_field("heuristic")
    criterion: options.Criterion = parameter_field("criterion")
    polish: bool = parameter_field("polish")
    class_weight: Literal["balanced"] | dict[str, Weight] | None = parameter_field("class_weight")
    categories: Categories = parameter_field("categories")
    n_threads: int = parameter_field("n_threads", json_schema_extra={"not": {"const": 0}})


class Limits(FrozenModel):
    """When the search stops by itself. Reaching a limit is a result, not an error."""

    time_limit: float | None = parameter_field("time_limit")
    max_expansions: int | None = parameter_field("max_expansions")
    memory_limit: int | None = parameter_field("memory_limit")
    gap: float = parameter_field("gap")
    gap_absolute: float = parameter_field("gap_absolute")
    patience: float | None = parameter_field("patience")


def unused_additions(message: BaseModel) -> set[str]:
    """Return the parameters that jobs of version 0.1.0 did not have and that have their defaults.

    They are left out of digests and records, which stay those of an earlier version if nothing new is used.
    """
    return {
        name
        for name, value in message
        if (DEFINITIONS[name].added or name in _ADDED_TO_JOBS) and value == DEFINITIONS[name].default
    }
