"""Quantile thresholds as pystreed chooses them, for the solvers that get the same grid."""

from __future__ import annotations

import numpy as np

from benchmarks.runners.base import Array

QUANTILES = 15  # thresholds of a feature, which make 16 intervals


class Quantiles:
    """Binarize columns as x <= t with the thresholds of pystreed, or number the intervals between these."""

    def __init__(self, X: Array, n_thresholds: int = QUANTILES) -> None:
        self.thresholds = [self._of_column(column, n_thresholds) for column in X.T]

    @staticmethod
    def _of_column(column: Array, n_thresholds: int) -> Array:
        distinct = np.unique(column)
        if len(distinct) <= n_thresholds + 1:
            return np.asarray((distinct[1:] + distinct[:-1]) / 2)
        return np.unique(np.quantile(column, np.linspace(0, 1, n_thresholds + 2)[1:-1]))

    def __call__(self, X: Array) -> Array:
        blocks = [
            column[:, None] <= thresholds[None, :]
            for column, thresholds in zip(X.T, self.thresholds, strict=True)
        ]
        return np.hstack(blocks).astype(np.float64)

    def intervals(self, X: Array) -> Array:
        """Return the numbers of the intervals in which the values lie."""
        columns = [
            np.searchsorted(thresholds, column)  # equal to a threshold is below it
            for column, thresholds in zip(X.T, self.thresholds, strict=True)
        ]
        return np.column_stack(columns).astype(np.float64)
