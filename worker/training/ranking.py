"""Rank rows of two classes by the probability of the second class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
MAX_POINTS = 256


@dataclass(frozen=True)
class Ranking:
    """The weight of the rows of each class at every distinct probability, the highest probability first."""

    probabilities: Floats
    positives: Floats  # weights of rows of the second class
    negatives: Floats  # weights of rows of the first class

    @staticmethod
    def of(probabilities: Floats, y: npt.NDArray[np.intp], weights: Floats) -> Ranking:
        """Rank rows by the probability of the class 1. Rows without weight are left out."""
        distinct, group = np.unique(probabilities, return_inverse=True)
        positives: Floats = np.bincount(group, weights * (y == 1), len(distinct)).astype(np.float64)
        negatives: Floats = np.bincount(group, weights * (y == 0), len(distinct)).astype(np.float64)
        order = np.flatnonzero(positives + negatives)[::-1]
        return Ranking(distinct[order], positives[order], negatives[order])

    @property
    def area(self) -> float | None:
        """The area under the ROC curve; None if the rows of a class have no weight.

        It is the probability that a row of the second class is ranked before one of the first. Equal
        probabilities count half.
        """
        all_positives, all_negatives = self.positives.sum(), self.negatives.sum()
        if not (all_positives > 0 and all_negatives > 0):
            return None
        before = (np.cumsum(self.positives) - self.positives / 2) / all_positives
        return float(np.clip((before * (self.negatives / all_negatives)).sum(), 0.0, 1.0))

    def points(self) -> list[dict[str, float]]:
        """Return the operating points: what is predicted as the second class from each probability on.

        A point has the weights between it and the point before. If there are too many, neighbours are merged
        into the one with the lowest probability, so that each is on the curve. Those that stay are spaced
        evenly along the ROC curve.
        """
        ends = self._ends()
        starts = np.concatenate(([0], ends[:-1] + 1))
        columns = (
            self.probabilities[ends],
            np.add.reduceat(self.positives, starts),
            np.add.reduceat(self.negatives, starts),
        )
        return [
            {"probability": p, "positives": integer_if_whole(a), "negatives": integer_if_whole(b)}
            for p, a, b in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def _ends(self) -> npt.NDArray[np.intp]:
        """Return the places of the points that stay."""
        n = len(self.probabilities)
        if n <= MAX_POINTS:
            return np.arange(n)
        sums = (np.cumsum(weights) for weights in (self.positives, self.negatives))
        place = sum(total / total[-1] for total in sums if total[-1] > 0)  # along the ROC curve
        wanted = np.linspace(0, np.asarray(place)[-1], MAX_POINTS + 1)[1:-1]
        return np.unique(np.append(np.searchsorted(place, wanted), n - 1))


def integer_if_whole(value: float) -> int | float:
    """Return a weight as JSON shows it: a number of rows is an integer."""
    return int(value) if float(value).is_integer() else float(value)
