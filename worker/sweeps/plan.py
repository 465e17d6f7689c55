"""Which settings a sweep tries, and in which order."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from worker.domain.parameters import Parameters
from worker.domain.sweeps import PATH, RandomValues, Space, Strategy, SweepSpec, Unit

MAX_GRID = 20_000  # points of a grid that is listed
MAX_DRAWS = 50  # for each trial, before a space counts as exhausted
DEFAULT_SPACE: dict[str, Any] = {
    "max_depth": [2, 3, 4, 5],
    "max_changepoints": [1, 2, 3],
    "split_penalty": PATH,
}
WHOLE_NUMBERS = ("min_samples_leaf",)  # of the parameters that may be given as an interval
_CONSTRAINT = re.compile(r"\s*(\w+)\s*(<=|<|>=|>|==|!=)\s*(\w+|[-+0-9.eE]+)\s*")
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
Constraint = Callable[[Mapping[str, Any]], bool]


class PlanError(ValueError):
    """Nothing can be tried as the sweep says; `field` is the part of the request that is to change."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def with_defaults(space: Space, fixed: Mapping[str, Any]) -> Space:
    """Fill in what the space does not say and `fixed` does not either."""
    given = {name for name, value in space if value is not None}
    more = {name: value for name, value in DEFAULT_SPACE.items() if name not in given and name not in fixed}
    return space.model_copy(update=more)


def parse_constraint(text: str) -> Constraint:
    """Return a function of parameters for a text such as "changepoint_penalty <= split_penalty"."""
    match = _CONSTRAINT.fullmatch(text)
    expected = "expected two names of parameters, or a name and a number, with <=, <, >=, >, == or !="
    if match is None:
        raise PlanError("constraints", f"{text!r} cannot be read; {expected}")
    left, sign, right = match.groups()
    names = Parameters.model_fields
    if left not in names:
        raise PlanError("constraints", f"{left!r} is not a parameter; {expected}")
    number: float | None = None
    if right not in names:
        try:
            number = float(right)
        except ValueError:
            raise PlanError(
                "constraints", f"{right!r} is neither a parameter nor a number; {expected}"
            ) from None

    def holds(parameters: Mapping[str, Any]) -> bool:
        values = parameters[left], parameters[right] if number is None else number
        if not all(isinstance(value, int | float) for value in values):
            raise PlanError("constraints", f"{text!r} compares values that are not numbers")
        return _OPERATORS[sign](*values)

    return holds


def settings_to_try(spec: SweepSpec) -> list[Unit]:
    """Return the settings of a sweep, each once, at most `max_trials` of them.

    With a larger `max_trials`, the same ones come first. Raise PlanError if there are none.
    """
    constraints = [parse_constraint(text) for text in spec.constraints]
    for text in spec.constraints:
        if spec.is_path and "_penalty" in text:
            raise PlanError("constraints", f"{text!r} is about a penalty, and a path tries every penalty")
    draw = _grid if spec.strategy is Strategy.GRID else _random
    found: list[Unit] = []
    seen: set[str] = set()
    for unit in draw(_choices(spec), spec):
        key = json.dumps(unit, sort_keys=True)
        if key in seen:
            continue
        seen.add(key)
        parameters = spec.parameters(unit).model_dump()
        if all(holds(parameters) for holds in constraints):
            found.append(unit)
        if len(found) == spec.limits.max_trials:
            break
    if not found:
        raise PlanError("constraints", "no setting of the space meets all constraints")
    return found


def _choices(spec: SweepSpec) -> dict[str, Sequence[Any] | RandomValues]:
    """Return the values of each parameter that the settings vary."""
    return {
        name: value
        for name, value in ((name, getattr(spec.space, name)) for name in Space.model_fields)
        if value is not None and value != PATH
    }


def _grid(choices: Mapping[str, Sequence[Any] | RandomValues], spec: SweepSpec) -> Iterator[Unit]:
    """Yield every combination, small trees first: they take the least time."""
    lists: list[Sequence[Any]] = []
    for name, values in choices.items():
        if isinstance(values, RandomValues):
            raise PlanError(f"space/{name}", "GRID needs a list of values; use RANDOM for an interval")
        lists.append(values)
    if math.prod(map(len, lists)) > MAX_GRID:
        raise PlanError("space", f"the grid has more than {MAX_GRID:,} points; use RANDOM")
    points = [dict(zip(choices, point, strict=True)) for point in product(*lists)]
    yield from sorted(points, key=lambda unit: _size(spec, unit))


def _size(spec: SweepSpec, unit: Unit) -> tuple[float, float]:
    parameters = spec.parameters(unit)
    return parameters.max_depth, parameters.max_changepoints


def _random(choices: Mapping[str, Sequence[Any] | RandomValues], spec: SweepSpec) -> Iterator[Unit]:
    """Yield random settings. Some may come twice."""
    generator = np.random.RandomState(spec.seed)  # its numbers are the same in every version of NumPy
    for _ in range(MAX_DRAWS * spec.limits.max_trials):
        yield {name: _draw(generator, name, values) for name, values in choices.items()}


def _draw(generator: np.random.RandomState, name: str, values: Sequence[Any] | RandomValues) -> Any:
    if not isinstance(values, RandomValues):
        return values[generator.randint(len(values))]
    if values.log:
        drawn = math.exp(generator.uniform(math.log(values.low), math.log(values.high)))
    else:
        drawn = generator.uniform(values.low, values.high)
    drawn = min(max(drawn, values.low), values.high)
    return max(1, round(drawn)) if name in WHOLE_NUMBERS else float(f"{drawn:.6g}")
