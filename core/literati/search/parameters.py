"""Values that a parameter may take, and the definition of a parameter as a dataclass field.

`SolverOptions`, `SearchLimits` and `ProgressOptions` define every parameter of the library once: its name,
type, values, default and description. The checks, the estimator's documentation, the schema of the service,
the form of the web page and docs/parameters.md are made from these definitions.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Protocol, Self

from literati.data.table import CategoryMode

Candidates = Literal["adaptive", "shape", "quantile", "all"]
OrSelection = Literal["informative", "admissible"]
AndSelection = Literal["round_robin", "worst_primal", "worst_heuristic"]
Heuristic = Literal["cart", "primal", "impurity"]
Criterion = Literal["gini", "entropy"]
Categories = CategoryMode


class Values(Protocol):
    """The values that a parameter may take. Its text completes the sentence "expected ..."."""

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its plain type. Raise TypeError or ValueError if it is not allowed."""


@dataclass(frozen=True)
class Range:
    """Finite numbers within bounds, and None if `optional`. The bounds are named as in Pydantic."""

    type: type[int] | type[float]
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    optional: bool = False

    @property
    def bounds(self) -> dict[str, float]:
        given = {"ge": self.ge, "gt": self.gt, "le": self.le, "lt": self.lt}
        return {name: bound for name, bound in given.items() if bound is not None}

    def __str__(self) -> str:
        noun = ("None or " if self.optional else "") + (
            "an integer" if self.type is int else "a finite number"
        )
        if self.ge is not None and self.le is not None:
            return f"{noun} from {self.ge} to {self.le}"
        signs = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
        return f"{noun} {' and '.join(f'{signs[name]} {bound:g}' for name, bound in self.bounds.items())}"

    def check(self, name: str, value: Any) -> Any:
        if value is None and self.optional:
            return None
        kind: Any = numbers.Integral if self.type is int else numbers.Real
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(f"{name}: expected {self}, got {value!r}")
        plain = self.type(value)
        if (self.type is float and not math.isfinite(plain)) or not self._contains(plain):
            raise ValueError(f"{name}: expected {self}, got {value!r}")
        return plain

    def _contains(self, value: float) -> bool:
        above = (self.ge is None or value >= self.ge) and (self.gt is None or value > self.gt)
        return above and (self.le is None or value <= self.le) and (self.lt is None or value < self.lt)


@dataclass(frozen=True)
class Choice:
    """Some values, each with its meaning."""

    meanings: Mapping[Any, str]

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.meanings))}"

    def check(self, name: str, value: Any) -> Any:
        if value not in tuple(self.meanings):
            raise ValueError(f"{name}: expected {self}, got {value!r}")
        return value


class Boolean:
    """True or False."""

    def __str__(self) -> str:
        return "True or False"

    def check(self, name: str, value: Any) -> Any:
        if not isinstance(value, bool):
            raise TypeError(f"{name}: expected {self}, got {value!r}")
        return value


@dataclass(frozen=True)
class LeafCounts:
    """An integer or a list of integers. `SolverOptions` checks each, because 1 is for quantiles only."""

    each: Range

    def __str__(self) -> str:
        return "an integer or a list of integers"

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, numbers.Integral) and not isinstance(value, bool):
            return (int(value),)
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise TypeError(f"{name}: expected {self}, got {value!r}")
        return tuple(value)


class ClassWeights:
    """None, "balanced", or a mapping from label to weight, whose weights are checked with the data."""

    def __str__(self) -> str:
        return "None, 'balanced' or a mapping from label to weight"

    def check(self, name: str, value: Any) -> Any:
        if value is None or (isinstance(value, str) and value == "balanced"):
            return value
        if not isinstance(value, Mapping):
            raise ValueError(f"{name}: expected {self}, got {value!r}")
        return dict(value)


class OptionalFunction:
    """None or a function."""

    def __str__(self) -> str:
        return "None or a function"

    def check(self, name: str, value: Any) -> Any:
        if value is not None and not callable(value):
            raise TypeError(f"{name}: expected {self}, got {value!r}")
        return value


@dataclass(frozen=True)
class Parameter:
    """The definition of a parameter."""

    name: str
    default: Any
    values: Values
    description: str  # whole sentences, fit for the library, the service and the page
    unit: str | None
    added: str | None  # the version that added the parameter; None for those of version 0.1.0

    def sentences(self, none: str = "None") -> str:
        """Return the description with what the choices mean, or with what `none` means."""
        parts = [self.description]
        if isinstance(self.values, Choice):
            parts.append("; ".join(f"`{word}`: {text}" for word, text in self.values.meanings.items()) + ".")
        if isinstance(self.values, Range) and self.values.optional:
            parts.append(f"{none} means no limit.")
        return " ".join(parts)


def parameter(
    default: Any, values: Values, description: str, *, unit: str | None = None, added: str | None = None
) -> Any:
    """Return a dataclass field that defines a parameter."""
    about = {"values": values, "description": description, "unit": unit, "added": added}
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class ParameterSet:
    """A dataclass whose fields are parameters. Values are checked and made plain when it is created."""

    def __post_init__(self) -> None:
        for name, definition in self.definitions().items():
            object.__setattr__(self, name, definition.values.check(name, getattr(self, name)))

    @classmethod
    def definitions(cls) -> dict[str, Parameter]:
        """Return the definition of every parameter by its name."""
        return {entry.name: Parameter(entry.name, entry.default, **entry.metadata) for entry in fields(cls)}

    def to_json(self) -> dict[str, Any]:
        """Return the values as JSON data, without defaults that version 0.1.0 would not know."""
        return {
            name: getattr(self, name)
            for name, definition in self.definitions().items()
            if definition.added is None or getattr(self, name) != definition.default
        }

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read what `to_json` wrote in this version or another one; absent values take their defaults.

        Raise TypeError or ValueError if the data is not of that form, or names a parameter that this version
        does not have.
        """
        if not isinstance(data, dict):
            raise TypeError(f"expected an object, got {type(data).__name__}")
        unknown = sorted(data.keys() - cls.definitions().keys())
        if unknown:
            raise ValueError(f"{unknown[0]}: this version of literati does not have this parameter")
        return cls(**data)
