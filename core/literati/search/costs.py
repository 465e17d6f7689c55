"""Count costs in whole units, so that every sum of weights and penalties is exact.

One misclassified row counts as a number of units, the scale: a power of two or ten that makes all weights and
penalties whole. Inside a search every cost is in units; users see it divided by the scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from literati.data.columns import Floats
from literati.data.table import TrainingTable
from literati.tree.nodes import Node, Settings

# All weights together have fewer units if they have to be rounded. Penalties then need no finer units, so
# searches with different penalties round weights alike, and CART breaks ties between cuts alike.
ROUNDED_BITS = 40
EXACT_BITS = 50  # a sum of weights stays below 2**50 units, which is exact as an integer and a double
MAX_PLACES = 22  # 10**22 is the largest power of ten that is exact as a double


@dataclass(frozen=True)
class ExactCosts:
    """The table and the settings of a search, with weights and penalties in units."""

    table: TrainingTable  # without weights, a row is one unit
    settings: Settings
    scale: float  # units in one misclassified row of weight 1

    def in_rows(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Convert the counts, errors and costs of nodes from units to misclassified rows."""
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


def exact_costs(table: TrainingTable, settings: Settings, scale: float) -> ExactCosts:
    """Convert weights and penalties to whole units. They are rounded, but no weight becomes zero.

    A penalty above the sum of all weights is replaced by that sum, because no split can save more.
    """
    total = _total(table.weights, table.n_rows)
    split, changepoint = (float(round(min(penalty, total) * scale)) for penalty in settings.penalties)
    if table.weights is not None:
        table = replace(table, weights=whole_weights(table.weights, scale))
    elif scale != 1.0:
        table = replace(table, weights=np.full(table.n_rows, scale))
    return ExactCosts(table, replace(settings, split_penalty=split, changepoint_penalty=changepoint), scale)


def _total(weights: Floats | None, n_rows: int) -> float:
    return float(n_rows if weights is None else weights.sum())


def whole_weights(weights: Floats, scale: float) -> Floats:
    """Return weights in units, rounded, at least 1."""
    return np.maximum(np.rint(weights * scale), 1.0)


def choose_scale(
    weights: Floats | None,
    n_rows: int,
    penalties: Sequence[float],
    *,
    binary_only: bool = False,
    bits: int = EXACT_BITS,
) -> float:
    """Return the smallest scale that makes all weights and penalties whole.

    Powers of two are tried first (for 0.5 or 3.125), then powers of ten (for 0.1 or 0.003). If none fits,
    penalties such as 1/3 are rounded to as many decimal places as possible, and weights to as many binary
    places. Version 0.1.0 used powers of two only (`binary_only`). All weights together stay below 2**bits
    units.
    """
    total = _total(weights, n_rows)
    numbers = np.concatenate([np.minimum(penalties, total), np.ones(1) if weights is None else weights])
    binary, exact = _binary_scale(numbers, total, bits)
    if exact or binary_only:
        return binary
    places = min(math.floor(bits * math.log10(2.0) - math.log10(total)), MAX_PLACES)
    for count in range(max(places, 0) + 1):
        if _decimal(numbers, count):
            return 10.0**count
    if places >= 0 and (weights is None or _decimal(weights, places)):
        return 10.0**places
    return _binary_scale(numbers, total, min(bits, ROUNDED_BITS))[0]


def _binary_scale(numbers: Floats, total: float, max_bits: int) -> tuple[float, bool]:
    """Return the power of two that makes all numbers whole and True, or the largest possible and False."""
    bits = max_bits - math.ceil(math.log2(total))
    scaled = numbers * 2.0**bits
    if (scaled != np.floor(scaled)).any():
        return 2.0**bits, False
    # Trailing zero bits that all numbers share are not needed.
    used = int(np.bitwise_or.reduce(scaled.astype(np.int64)))
    return 2.0 ** max(0, bits - ((used & -used).bit_length() - 1)), True


def _decimal(numbers: Floats, places: int) -> bool:
    """Return whether no number has more decimal places than `places`, up to the precision of a double."""
    scale = 10.0**places
    return bool((np.rint(numbers * scale) / scale == numbers).all())
