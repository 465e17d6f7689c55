"""The parameters of the library as fields of Pydantic models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from literati.search.options import LEAVES, SearchLimits, SolverOptions
from literati.search.parameters import Parameter, Range

# The library sets no maximum for these; what is stored and sent as JSON has to stay finite and exact.
MAX_BY_UNIT = {"seconds": 31_536_000, "rows": 1e15, "bytes": 1 << 53, "expansions": 1 << 53}

LeafCount = Annotated[int, Field(**LEAVES.bounds)]
Weight = Annotated[float, Field(ge=0, le=MAX_BY_UNIT["rows"])]


def parameter_field(name: str) -> Any:
    """Return the field of a parameter of the search."""
    return _field(SolverOptions.definitions()[name])


def limit_field(name: str, **changes: Any) -> Any:
    """Return the field of a limit; `changes` are other arguments of Pydantic's Field."""
    return _field(SearchLimits.definitions()[name], **changes)


def _field(definition: Parameter, **changes: Any) -> Any:
    about = {"default": definition.default, "description": definition.sentences("null")}
    return Field(**{**about, **bounds(definition), **changes})


def bounds(definition: Parameter) -> dict[str, Any]:
    """Return the bounds of a parameter in the service, as arguments of Pydantic's Field."""
    found: dict[str, Any] = definition.values.bounds if isinstance(definition.values, Range) else {}
    return {"le": MAX_BY_UNIT[definition.unit], **found} if definition.unit else found


def unused_additions(message: BaseModel) -> set[str]:
    """Return the parameters added after version 0.1.0 that have their defaults.

    They are left out of what is stored, so that an earlier version can read it.
    """
    added = {**SolverOptions.definitions(), **SearchLimits.definitions()}
    return {name for name, value in message if added[name].added and value == added[name].default}
