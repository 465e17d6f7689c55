"""Estimate the seconds to the proof from the explored share of the search space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

MIN_EXPLORED = 0.01  # below that share the rate says nothing


def estimate_seconds_left(
    trace: npt.NDArray[Any], stage: int, seconds: float, explored: float
) -> float | None:
    """Return the expected seconds to the proof of a stage, 0 after it, or None while too little is explored.

    The share grows at about the same rate for the whole stage, but often faster in the beginning. The result
    is the geometric mean of two estimates: by the rate so far, and by the rate of the last half of the time.
    """
    if explored >= 1.0:
        return 0.0
    points = trace[trace["stage"] == stage]
    start = float(points["seconds"][0]) if len(points) else seconds
    if explored < MIN_EXPLORED or seconds <= start:
        return None
    rate = explored / (seconds - start)
    half = float(np.interp((start + seconds) / 2, points["seconds"], points["explored"]))
    late_rate = 2 * (explored - half) / (seconds - start)
    if late_rate <= 0.0:
        return None
    return (1.0 - explored) / math.sqrt(rate * late_rate)
