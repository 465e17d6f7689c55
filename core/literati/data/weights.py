"""Check the weights of the training rows, and multiply them by the weights of their classes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data import labels
from literati.data.columns import Floats

MAX_WEIGHT = 2.0**50  # sum of all weights: costs in the search are integers that must be exact as floats
MIN_WEIGHT = 2.0**-500  # sum of all weights: with less, the unit of the search would not be a float


def checked_weights(sample_weight: Any, n_rows: int) -> Floats | None:
    """Return the weights as an array. Raise ValueError if they are not valid."""
    if sample_weight is None:
        return None
    try:
        weights = np.array(labels.as_vector(sample_weight, "sample_weight"), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight: expected a 1d array of {n_rows} numbers ({error})") from None
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight: expected {n_rows} numbers, one for each row, got {len(weights)}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight: expected finite numbers that are not negative")
    if not weights.any():
        raise ValueError("sample_weight: Sample weights must contain at least one non-zero number.")
    return weights


def check_total(weights: Floats) -> None:
    """Raise ValueError if the sum of the weights is too large or too small for exact costs."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not MIN_WEIGHT <= total <= MAX_WEIGHT:
        limit = f"at least {MIN_WEIGHT:g}" if total < MIN_WEIGHT else f"at most {MAX_WEIGHT:g}"
        raise ValueError(f"sample_weight, class_weight: expected a sum of {limit}, got {total:g}")


def times_class_weights(
    weights: Floats | None, class_weight: Any, y: npt.NDArray[np.int32], classes: npt.NDArray[Any]
) -> Floats | None:
    """Return the weights of the rows times the weights of their classes; None means that all are 1."""
    if class_weight is None:
        return weights
    factors = np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(y, weights, minlength=len(classes))
        used = totals > 0
        factors[used] = totals.sum() / (np.count_nonzero(used) * totals[used])
    elif isinstance(class_weight, Mapping):
        index = {labels.plain(label): code for code, label in enumerate(classes)}
        for label, factor in class_weight.items():
            if labels.plain(label) not in index:
                raise ValueError(f"class_weight: {label!r} is not one of the classes {list(index)[:10]}")
            if not isinstance(factor, numbers.Real) or not math.isfinite(factor) or factor < 0:
                raise ValueError(
                    f"class_weight: the weight of {label!r} must be a finite number >= 0, got {factor!r}"
                )
            factors[index[labels.plain(label)]] = factor
    else:
        raise ValueError("class_weight: expected None, 'balanced' or a mapping from label to weight")
    with np.errstate(over="ignore"):  # `check_total` raises an error after an overflow
        return factors[y] if weights is None else weights * factors[y]
