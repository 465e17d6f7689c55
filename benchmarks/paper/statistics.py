"""Mean ranks, and pairwise Wilcoxon tests with Holm's correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

SIGNIFICANCE = 0.05
DECIMALS = 9  # scores that are equal to so many decimals are equal

Scores = Mapping[str, Sequence[float]]  # method -> its score on each dataset; higher is better


def mean_ranks(scores: Scores) -> dict[str, float]:
    """Return the mean rank of each method, 1 for the best; equal scores share their ranks."""
    ranks = stats.rankdata(-_table(scores), axis=0)
    return dict(zip(scores, ranks.mean(axis=1).tolist(), strict=True))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted with Holm's step-down method."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    adjusted = np.minimum(np.maximum.accumulate(np.asarray(p_values)[order] * factors), 1.0)
    found = np.empty(len(p_values))
    found[order] = adjusted
    return [float(value) for value in found]


def pairwise(scores: Scores) -> dict[frozenset[str], float]:
    """Return the adjusted p-value of each pair of methods, from two-sided Wilcoxon signed-rank tests.

    Half of the datasets with equal scores count for each method, so that ties are no evidence.
    """
    table = dict(zip(scores, _table(scores), strict=True))
    pairs = list(combinations(scores, 2))
    p_values = [_wilcoxon(table[a] - table[b]) for a, b in pairs]
    return {frozenset(pair): p for pair, p in zip(pairs, holm(p_values), strict=True)}


def _wilcoxon(differences: NDArray[np.float64]) -> float:
    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences, zero_method="zsplit").pvalue)


def groups(scores: Scores) -> list[list[str]]:
    """Return the longest runs of methods in the order of their ranks of which no two differ significantly."""
    ranks = mean_ranks(scores)
    ordered = sorted(ranks, key=lambda name: ranks[name])
    p_values = pairwise(scores)
    found: list[list[str]] = []
    reached = 0  # the end of the last group
    for start in range(len(ordered)):
        end = start + 1
        while end < len(ordered) and all(
            p_values[frozenset((ordered[end], other))] >= SIGNIFICANCE for other in ordered[start:end]
        ):
            end += 1
        if end > reached and end - start > 1:
            found.append(ordered[start:end])
        reached = max(reached, end)
    return found


def _table(scores: Scores) -> NDArray[np.float64]:
    table: NDArray[np.float64] = np.array([list(values) for values in scores.values()], dtype=np.float64)
    return table.round(DECIMALS)
