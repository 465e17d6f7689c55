"""Values that a parameter may take, and the definition of a parameter as a dataclass field.

`SolverOptions`, `SearchLimits` and `ProgressOptions` define every parameter of the library once: its name,
type, values, default and description. The checks, the estimator's documentation, the schema of the service,
the form of the web page and docs/parameters.md use these definitions.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


class Values(Protocol):
    """The values that a parameter may take. Their `str` completes the sentence "expected ..."."""

    def check(self, name: str, value: Any) -> Any:
        """Return the value in its plain type. Raise TypeError or ValueError if it is not allowed."""


@dataclass(frozen=True)
class Range:
    """Finite numbers within bounds, and None if `optional`. Pydantic and `operator` name bounds the same."""

    type: type[int] | type[float]
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    optional: bool = False

    @property
    def bounds(self) -> dict[str, float]:
        return {name: bound for name in _SIGNS if (bound := getattr(self, name)) is not None}

    def __str__(self) -> str:
        noun = "an integer" if self.type is int else "a finite number"
        if self.optional:
            noun = f"None or {noun}"
        if self.ge is not None and self.le is not None:
            return f"{noun} from {self.ge} to {self.le}"
        return f"{noun} {' and '.join(f'{_SIGNS[name]} {bound:g}' for name, bound in self.bounds.items())}"

    def check(self, name: str, value: Any) -> Any:
        if value is None and self.optional:
            return None
        kind: Any = numbers.Integral if self.type is int else numbers.Real
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(f"{name}: expected {self}, got {value!r}")
        plain = self.type(value)
        inside = all(getattr(operator, sign)(plain, bound) for sign, bound in self.bounds.items())
        if not inside or (self.type is float and not math.isfinite(plain)):
            raise ValueError(f"{name}: expected {self}, got {value!r}")
        return plain


@dataclass(frozen=True)
class CountOrAll(Range):
    """A number of at least 1, or -1 for all that there are."""

    def __str__(self) -> str:
        return f"-1 or an integer from 1 to {self.le}"

    def check(self, name: str, value: Any) -> Any:
        plain = super().check(name, value)
        if plain == 0:
            raise ValueError(f"{name}: expected {self}, got {value!r}")
        return plain


@dataclass(frozen=True)
class Choice:
    """A list of values, each with its meaning."""

    meanings: Mapping[Any, str]

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.meanings))}"

    def check(self, name: str, value: Any) -> Any:
        if value not in tuple(self.meanings):
            raise ValueError(f"{name}: expected {self}, got {value!r}")
        return value


@dataclass(frozen=True)
class Accepted:
    """Values that a function accepts, and a text that describes them."""

    text: str
    accept: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.text

    def check(self, name: str, value: Any) -> Any:
        if not self.accept(value):
            raise TypeError(f"{name}: expected {self}, got {value!r}")
        return value


@dataclass(frozen=True)
class LeafCounts:
    """An integer or a list of integers. `SolverOptions` checks each: only quantiles may be as few as 1."""

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


@dataclass(frozen=True)
class Parameter:
    """The definition of a parameter."""

    name: str
    default: Any
    values: Values
    description: str  # whole sentences for the library, the service and the page
    unit: str | None
    added: str | None  # the version that added the parameter; None for those of version 0.1.0

    def sentences(self, none: str = "None") -> str:
        """Return the description and the meaning of each choice, or of `none`."""
        parts = [self.description]
        if isinstance(self.values, Choice):
            parts.append("; ".join(f"`{word}`: {text}" for word, text in self.values.meanings.items()) + ".")
        if isinstance(self.values, Range) and self.values.optional:
            parts.append(f"{none} means no limit.")
        return " ".join(parts)


def parameter(
    default: Any,
    values: Values | Mapping[Any, str],
    description: str,
    *,
    unit: str | None = None,
    added: str | None = None,
) -> Any:
    """Return a dataclass field that defines a parameter. A mapping from value to meaning is a `Choice`."""
    values = Choice(values) if isinstance(values, Mapping) else values
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
        if unknown := sorted(data.keys() - cls.definitions().keys()):
            raise ValueError(f"{unknown[0]}: this version of literati does not have this parameter")
        return cls(**data)
