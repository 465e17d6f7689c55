"""Conditions of `wait`, such as `gap<=0.01`: when the tree of a job is good enough."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

Condition = Callable[[dict[str, Any]], bool]  # of the job's record

# Names of a condition and the fields of a job's progress that they mean.
FIELDS = {
    "gap": "gap_relative",
    "gap_absolute": "gap_absolute",
    "objective": "objective",
    "upper_bound": "upper_bound",
    "lower_bound": "lower_bound",
    "explored": "explored",
    "seconds": "elapsed_seconds",
    "expansions": "expansions",
    "trees": "incumbents",
}
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}
_TERM = re.compile(r"\s*([a-z_]+)\s*(<=|<|>=|>|==)\s*([0-9.eE+-]+)\s*(%?)\s*")


def parse_condition(text: str) -> Condition:
    """Return the condition of terms that are joined by `and` and `or`; `and` binds more closely.

    A term compares a name with a number: `gap<=0.01`, `gap <= 1%`. It is false while the value is unknown.
    """
    choices = [
        [_term(term, text) for term in re.split(r"\band\b", choice)] for choice in re.split(r"\bor\b", text)
    ]
    return lambda record: any(all(term(record) for term in choice) for choice in choices)


def _term(term: str, text: str) -> Condition:
    found = _TERM.fullmatch(term)
    number = _number(found[3]) if found else None
    if found is None or number is None or found[1] not in FIELDS:
        raise ValueError(
            f"until: expected conditions such as 'gap<=0.01 or seconds>=60' with the names "
            f"{', '.join(FIELDS)}; got {text!r}"
        )
    name, compare = FIELDS[found[1]], _OPERATORS[found[2]]
    limit = number / 100 if found[4] else number

    def holds(record: dict[str, Any]) -> bool:
        value = record["progress"].get(name)
        return value is not None and compare(value, limit)

    return holds


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
