"""Rank codes of a column of numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from literati._encode._ranks import rank_numbers


def rank(numbers: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return rank codes, -1 for NaN, and the distinct values in order. -0.0 counts as 0.0."""
    codes = np.full(len(numbers), -1, dtype=np.int32)
    return codes, rank_numbers(np.ascontiguousarray(numbers), codes)
