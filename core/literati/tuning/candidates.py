"""What can be chosen: settings with intervals of penalties, and their mean scores over the folds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Setting:
    """The parameters that a path does not choose."""

    max_depth: int
    max_changepoints: int

    def describe(self) -> str:
        """Return the parameters in words."""
        many = "" if self.max_changepoints == 1 else "s"
        return f"depth {self.max_depth} with {self.max_changepoints} change point{many}"


class Segment(Protocol):
    """What candidates need to know of a tree of a path."""

    @property
    def penalty_from(self) -> float: ...
    @property
    def found_penalty(self) -> float: ...
    @property
    def leaves(self) -> int: ...
    @property
    def changepoints(self) -> int: ...
    @property
    def proven(self) -> bool: ...
    @property
    def gap(self) -> float: ...


@dataclass(frozen=True)
class FoldResult:
    """A path on the training rows of a fold, and the scores of its trees, from the smallest penalty on."""

    fold: int
    path: Sequence[Segment]  # a RegularizationPath, or what is stored of one
    scores: tuple[float, ...]  # on the held-out rows
    train_scores: tuple[float, ...]
    weight: float  # of the training rows, as a share of all rows

    @cached_property
    def penalties(self) -> list[float]:
        """The smallest penalty of each segment, as a penalty for all rows.

        Errors grow with the rows, so the same tree is best at a penalty that grows with them.
        """
        return [segment.penalty_from / self.weight for segment in self.path]

    def at(self, penalty: float) -> int:
        """Return the index of the segment at a penalty for all rows."""
        return bisect_right(self.penalties, penalty) - 1


@dataclass(frozen=True)
class Candidate:
    """A setting with an interval of penalties in which no fold's tree changes."""

    setting: Setting
    penalty_from: float
    penalty_to: float
    scores: tuple[float, ...]  # by fold, on held-out rows
    train_scores: tuple[float, ...]
    leaves: float  # mean over the folds
    changepoints: float  # mean over the folds; all change points after the first one of a split
    proven_folds: int
    max_gap: float
    found_penalty: float  # at which the folds found their trees, as a penalty for all rows: the mean

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """The standard error of the mean over the folds; 0 if there is one fold only."""
        n = len(self.scores)
        return float(np.std(self.scores, ddof=1) / np.sqrt(n)) if n > 1 else 0.0

    @property
    def penalty(self) -> float:
        """The penalty for all rows: the geometric middle of the interval if every fold is proven in it.

        Otherwise it is where the folds found their trees. A path that was cut short has wide intervals, and
        in the middle of one, a search would find another tree than the one that was scored.
        """
        if self.proven_folds < len(self.scores):
            return float(np.clip(self.found_penalty, self.penalty_from, self.penalty_to))
        if self.penalty_to == np.inf:
            return 2 * self.penalty_from
        if not self.penalty_from:
            return self.penalty_to / 2
        return float(np.sqrt(self.penalty_from * self.penalty_to))


def candidates_of(setting: Setting, folds: Sequence[FoldResult]) -> list[Candidate]:
    """Return the candidates of a setting, from the smallest penalty on."""
    starts = sorted({penalty for fold in folds for penalty in fold.penalties})
    found = []
    for start, end in zip(starts, [*starts[1:], np.inf], strict=True):
        places = [fold.at(start) for fold in folds]
        segments = [fold.path[place] for fold, place in zip(folds, places, strict=True)]
        found.append(
            Candidate(
                setting=setting,
                penalty_from=start,
                penalty_to=end,
                scores=tuple(fold.scores[place] for fold, place in zip(folds, places, strict=True)),
                train_scores=tuple(
                    fold.train_scores[place] for fold, place in zip(folds, places, strict=True)
                ),
                leaves=float(np.mean([segment.leaves for segment in segments])),
                changepoints=float(np.mean([segment.changepoints for segment in segments])),
                proven_folds=sum(segment.proven for segment in segments),
                max_gap=max(segment.gap for segment in segments),
                found_penalty=float(
                    np.mean(
                        [
                            segment.found_penalty / fold.weight
                            for fold, segment in zip(folds, segments, strict=True)
                        ]
                    )
                ),
            )
        )
    return found
