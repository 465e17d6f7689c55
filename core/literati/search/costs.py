"""Count costs in whole units, so that every sum of weights and penalties is exact.

A unit is a part of one misclassified row, by a power of two or of ten, that makes all weights and penalties
whole. Inside a search every cost is a number of units; what people read is that number divided by the units
in a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .nodes import Node
from .table import TrainingTable

EXACT_BITS = 50  # a sum of weights stays below 2**50 units: exact in 64-bit integers and as a double
MAX_PLACES = 22  # 10**22 is the largest power of ten that is exact as a double


@dataclass(frozen=True)
class ExactCosts:
    """What a search minimises, in units."""

    table: TrainingTable  # its weights are units; without weights a row is one unit
    split_penalty: float
    changepoint_penalty: float
    scale: float  # units in one misclassified row of weight 1

    def in_rows(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Return nodes whose counts, errors and costs are in units with these in misclassified rows."""
        if self.scale == 1.0:
            return nodes
        return tuple(
            replace(
                node,
                counts=tuple(count / self.scale for count in node.counts),
                error=node.error / self.scale,
                cost=node.cost / self.scale,
            )
            for node in nodes
        )


def exact_costs(
    table: TrainingTable,
    split_penalty: float,
    changepoint_penalty: float,
    scale: float | None = None,
    *,
    binary_only: bool = False,
) -> ExactCosts:
    """Express weights and penalties in units. What is not whole is rounded; no weight becomes zero.

    A penalty of more than all the weight there is counts as that much: no split pays for it.
    """
    total = float(table.n_rows if table.weights is None else table.weights.sum())
    penalties = [min(penalty, total) for penalty in (split_penalty, changepoint_penalty)]
    if scale is None:
        scale = choose_scale(table.weights, table.n_rows, penalties, binary_only=binary_only)
    if table.weights is not None:
        table = replace(table, weights=whole_weights(table.weights, scale))
    elif scale != 1.0:
        table = replace(table, weights=np.full(table.n_rows, scale))
    split, changepoint = (float(round(penalty * scale)) for penalty in penalties)
    return ExactCosts(table, split, changepoint, scale)


def whole_weights(weights: npt.NDArray[np.float64], scale: float) -> npt.NDArray[np.float64]:
    return np.maximum(np.rint(weights * scale), 1.0)


def choose_scale(
    weights: npt.NDArray[np.float64] | None,
    n_rows: int,
    penalties: Sequence[float],
    *,
    binary_only: bool = False,
) -> float:
    """Return the units in one row: the fewest that make all weights and penalties whole, if any do.

    Powers of two come first (counts, 0.5, 3.125), then powers of ten (0.1, 0.003). Penalties such as 1/3 are
    rounded to as many decimal places as there is room for, weights that have no end to as many binary ones.
    Version 0.1.0 knew powers of two only (`binary_only`).
    """
    total = float(n_rows if weights is None else weights.sum())
    numbers = np.concatenate([np.array(penalties), np.ones(1) if weights is None else weights])
    binary, exact = _binary_scale(numbers, total)
    if exact or binary_only:
        return binary
    places = min(math.floor(EXACT_BITS * math.log10(2.0) - math.log10(total)), MAX_PLACES)
    for count in range(max(places, 0) + 1):
        if _decimal(numbers, count):
            return 10.0**count
    if places >= 0 and (weights is None or _decimal(weights, places)):
        return 10.0**places
    return binary


def _binary_scale(numbers: npt.NDArray[np.float64], total: float) -> tuple[float, bool]:
    """Return the power of two that makes all numbers whole and True, or the largest there is room for."""
    bits = EXACT_BITS - math.ceil(math.log2(total))
    scaled = numbers * 2.0**bits
    if (scaled != np.floor(scaled)).any():
        return 2.0**bits, False
    # The places that no number needs are the zeros at the end of all of them.
    used = int(np.bitwise_or.reduce(scaled.astype(np.int64)))
    return 2.0 ** max(0, bits - ((used & -used).bit_length() - 1)), True


def _decimal(numbers: npt.NDArray[np.float64], places: int) -> bool:
    """Whether all numbers are decimals of so many places, as exactly as a double can be."""
    scale = 10.0**places
    return bool((np.rint(numbers * scale) / scale == numbers).all())
