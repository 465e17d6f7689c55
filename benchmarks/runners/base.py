"""The shape every solver is brought into."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass
class Fit:
    """A fitted model, as far as the harness wants to know it."""

    predict: Callable[[Array], Array]
    proven: bool = False
    seconds_to_tree: float | None = None  # None: the solver does not tell, so the whole fit counts
    claimed_errors: float | None = None  # training errors by the solver's own account, where it gives one
    details: dict[str, Any] = field(default_factory=dict)


FitOnce = Callable[[Array, Array], Fit]


@dataclass(frozen=True)
class Solver:
    distribution: str  # whose version is reported
    prepare: Callable[[int, float, dict[str, Any]], FitOnce]  # (depth, time limit, options) -> fit
    searches: bool = True  # proves or runs into its limit; False: greedy, simply ends
    categories: str = "one_hot"  # what text columns become for this solver


def load_module(name: str) -> Any:
    """Import a peer. By name, because peers ship no types and may be absent."""
    return importlib.import_module(name)
