"""The parameters of a search and its limits, each checked once and by name."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from . import labels
from .table import CATEGORY_MODES, CategoryMode

MAX_DEPTH = 12
MAX_CHANGEPOINTS = 8
MAX_LEAVES = 1 << 20

CHOICES = {
    "candidates": ("adaptive", "shape", "quantile", "all"),
    "or_selection": ("informative", "admissible"),
    "and_selection": ("round_robin", "worst_primal", "worst_heuristic"),
    "heuristic": ("cart", "primal", "impurity"),
    "criterion": ("gini", "entropy"),
    "categories": CATEGORY_MODES,
}


def integer(name: str, value: Any, low: int, high: int | None = None, *, or_else: str = "") -> int:
    """A whole number from low to high; `or_else` is told as what else would do."""
    expected = f"{or_else}an integer >= {low}" if high is None else f"an integer from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: expected {expected}, got {value!r}")
    whole = int(value)
    if whole < low or (high is not None and whole > high):
        raise ValueError(f"{name}: expected {expected}, got {value!r}")
    return whole


def number(
    name: str, value: Any, *, above: float | None = None, below: float | None = None, or_else: str = ""
) -> float:
    """A finite number >= 0; > `above` and < `below` where given."""
    expected = f"{or_else}a finite number " + (">= 0" if above is None else f"> {above:g}")
    expected += "" if below is None else f" and < {below:g}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected {expected}, got {value!r}")
    real = float(value)
    good = math.isfinite(real) and real >= 0 and (above is None or real > above)
    if not good or (below is not None and real >= below):
        raise ValueError(f"{name}: expected {expected}, got {value!r}")
    return real


@dataclass(frozen=True)
class SearchLimits:
    """When a search stops by itself. Reaching a limit is a result, not an error.

    Seconds are search seconds, summed over all calls of `run` and over a resume.
    """

    time_limit: float | None = 60.0  # seconds
    max_expansions: int | None = None  # a deterministic limit
    memory_limit: int | None = None  # bytes that the search may add to the process
    gap: float = 0.0  # stop at (upper - lower) / upper <= gap
    gap_absolute: float = 0.0  # stop at upper - lower <= gap_absolute
    patience: float | None = None  # seconds without a better tree

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "gap": number("gap", self.gap, below=1),
            "gap_absolute": number("gap_absolute", self.gap_absolute),
        }
        for name in ("time_limit", "patience"):
            if (value := getattr(self, name)) is not None:
                checked[name] = number(name, value, above=0, or_else="None or ")
        for name in ("max_expansions", "memory_limit"):
            if (value := getattr(self, name)) is not None:
                checked[name] = integer(name, value, 1, or_else="None or ")
        for name, value in checked.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class SolverOptions:
    """What is searched and how; names and defaults are those of LiteratiClassifier."""

    max_depth: int = 4
    max_changepoints: int = 2
    split_penalty: float = 0.0
    changepoint_penalty: float = 0.0
    candidates: str = "adaptive"
    candidate_leaves: int | Sequence[int] = 17
    or_selection: str = "informative"
    and_selection: str = "round_robin"
    heuristic: str = "cart"
    criterion: str = "gini"
    polish: bool = True
    class_weight: str | Mapping[Any, float] | None = None
    categories: CategoryMode = "ordered"
    n_threads: int = 1

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "max_depth": integer("max_depth", self.max_depth, 1, MAX_DEPTH),
            "max_changepoints": integer("max_changepoints", self.max_changepoints, 1, MAX_CHANGEPOINTS),
            "split_penalty": number("split_penalty", self.split_penalty),
            "changepoint_penalty": number("changepoint_penalty", self.changepoint_penalty),
            "candidate_leaves": self._leaves(),
            "n_threads": integer("n_threads", self.n_threads, 1),
        }
        if self.n_threads > 1:
            raise ValueError(f"n_threads: only 1 is supported so far, got {self.n_threads!r}")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {getattr(self, name)!r}")
        if not isinstance(self.polish, bool):
            raise TypeError(f"polish: expected True or False, got {self.polish!r}")
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            pass
        elif self.class_weight is not None:
            if not isinstance(self.class_weight, Mapping):
                raise ValueError(
                    "class_weight: expected None, 'balanced' or a mapping from label to weight, "
                    f"got {self.class_weight!r}"
                )
            checked["class_weight"] = dict(self.class_weight)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _leaves(self) -> tuple[int, ...]:
        given: Any = self.candidate_leaves
        if isinstance(given, numbers.Integral) and not isinstance(given, bool):
            given = [given]
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise TypeError(f"candidate_leaves: expected an integer or a list of integers, got {given!r}")
        if not given or (self.candidates == "quantile" and len(given) > 1):
            expected = "one integer with candidates='quantile'" if given else "one integer or more"
            raise ValueError(f"candidate_leaves: expected {expected}, got {given!r}")
        least = 1 if self.candidates == "quantile" else 2
        return tuple(integer("candidate_leaves", leaves, least, MAX_LEAVES) for leaves in given)

    @property
    def leaves(self) -> tuple[int, ...]:
        """`candidate_leaves` by level from the root; the last entry repeats."""
        assert isinstance(self.candidate_leaves, tuple)
        return self.candidate_leaves

    def to_json(self) -> dict[str, Any]:
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        data["candidate_leaves"] = list(self.leaves)
        if isinstance(self.class_weight, Mapping):
            data["class_weight"] = [[labels.to_json(k), float(w)] for k, w in self.class_weight.items()]
        return data

    @classmethod
    def from_json(cls, data: Any) -> SolverOptions:
        """ValueError or TypeError for anything that `to_json` does not write."""
        if not isinstance(data, dict) or set(data) != {field.name for field in fields(cls)}:
            raise ValueError("the parameters are not those of this version")
        weights = data["class_weight"]
        if isinstance(weights, list):
            weights = {labels.from_json(label): weight for label, weight in weights}
        return cls(**{**data, "class_weight": weights})
