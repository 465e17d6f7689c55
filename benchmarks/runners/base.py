"""The common interface of all solvers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass
class Fit:
    """A fitted model and what its solver reports about it."""

    predict: Callable[[Array], Array]
    proven: bool = False
    seconds_to_tree: float | None = None  # None if unknown; the whole fit then counts
    claimed_errors: float | None = None  # training errors that the solver reports, if it does
    details: dict[str, Any] = field(default_factory=dict)


FitOnce = Callable[[Array, Array], Fit]


@dataclass(frozen=True)
class Solver:
    """A solver and how it is prepared."""

    distribution: str  # the distribution whose version is reported
    prepare: Callable[[int, float, dict[str, Any]], FitOnce]  # (depth, time limit, options) -> fit
    searches: bool = True  # False if the solver is greedy and proves nothing
    categories: str = "one_hot"  # encoding of text columns for this solver


def load_module(name: str) -> Any:
    """Import a module by name, because the other solvers have no type hints and may be absent."""
    return importlib.import_module(name)
