"""A case as the encoded problem that the oracles solve, by code that shares nothing with the library.

Only the grid of "quantile" is the library's own: it is a part of the problem, not of the search.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

from tests.fuzz.cases import Case, Cell
from tests.support.solver.problems import Problem


def final_weights(case: Case) -> list[float]:
    """Return sample weights times class weights, one per row; a row of weight zero has no effect."""
    weights = list(case.weights or [1.0] * case.n_rows)
    given = case.parameter("class_weight", None)
    if given is None:
        return weights
    if given == "balanced":
        totals: dict[Any, float] = {}
        for label, weight in zip(case.y, weights, strict=True):
            totals[label] = totals.get(label, 0.0) + weight
        used = {label: total for label, total in totals.items() if total > 0}
        everything = sum(used[label] for label in sorted(used))
        factors = {label: everything / (len(used) * total) for label, total in used.items()}
    else:
        factors = given
    return [weight * factors.get(label, 1.0) for label, weight in zip(case.y, weights, strict=True)]


def exact(weights: list[float], penalties: tuple[float, float]) -> bool:
    """Return whether all costs are multiples of one binary fraction, with sums of at most 50 bits."""
    total = sum(map(Fraction, weights))
    numbers = [Fraction(number) for number in (*weights, *(min(p, float(total)) for p in penalties))]
    finest = max(number.denominator for number in numbers)
    if finest == 1:  # large whole numbers may share factors of two
        shared = math.gcd(*(int(number) for number in numbers))
        return total / (shared & -shared or 1) <= 2**50
    return total * finest <= 2**50


def rank(cells: list[Cell]) -> tuple[list[int], list[float]]:
    values = sorted({float(cell) for cell in cells if cell is not None})  # True and False are 1 and 0
    place = {value: code for code, value in enumerate(values)}
    return [-1 if cell is None else place[float(cell)] for cell in cells], values


def ordered_categories(cells: list[Cell], y: list[int], weights: list[float]) -> list[str]:
    """Order categories by the share of the most frequent class, then by name."""
    per_class: Counter[int] = Counter()
    for label, weight in zip(y, weights, strict=True):
        per_class[label] += weight  # type: ignore[assignment]
    top = min(per_class, key=lambda label: (-per_class[label], label))
    share = {}
    for name in {cell for cell in cells if isinstance(cell, str)}:
        inside = [(label, w) for cell, label, w in zip(cells, y, weights, strict=True) if cell == name]
        share[name] = sum(w for label, w in inside if label == top) / sum(w for _, w in inside)
    return sorted(share, key=lambda name: (share[name], name))


def features_of(case: Case, cells: list[Cell], y: list[int], weights: list[float]) -> list[list[Cell]]:
    """Return a column as the search sees it: numbers, or None if it is constant."""
    if len(set(cells)) < 2 or all(cell is None for cell in cells):
        return []
    if not any(isinstance(cell, str) for cell in cells):
        return [cells]
    names = ordered_categories(cells, y, weights)
    if case.parameter("categories", "ordered") == "one_hot":
        return [[None if cell is None else float(cell == name) for cell in cells] for name in names]
    place = {name: float(code) for code, name in enumerate(names)}
    return [[None if cell is None else place[str(cell)] for cell in cells]]


def problem_of(case: Case, grid: list[list[int]] | None) -> Problem:
    """Return the encoded problem; `grid` has each feature's allowed positions, if they are restricted."""
    everything = final_weights(case)
    kept = [row for row, weight in enumerate(everything) if weight > 0]
    weights = [everything[row] for row in kept]
    names = sorted({case.y[row] for row in kept})
    y = [names.index(case.y[row]) for row in kept]
    features = [
        feature
        for column in case.columns
        for feature in features_of(case, [column[row] for row in kept], y, weights)
    ]
    encoded = [rank(feature) for feature in features]
    leaves = case.parameter("candidate_leaves", 17)
    total = sum(weights)
    return Problem(
        codes=[codes for codes, _ in encoded],
        values=[values for _, values in encoded],
        y=y,
        n_classes=len(names),
        weights=None if all(weight == 1 for weight in weights) else weights,
        max_depth=case.parameter("max_depth", 4),
        max_changepoints=case.parameter("max_changepoints", 2),
        # A split that costs as much as all rows together is never worth it.
        split_penalty=min(case.parameter("split_penalty", 0.0), total),
        changepoint_penalty=min(case.parameter("changepoint_penalty", 0.0), total),
        candidates=case.parameter("candidates", "adaptive"),
        candidate_leaves=[leaves] if isinstance(leaves, int) else list(leaves),
        criterion=case.parameter("criterion", "gini"),
        grid=grid,
        min_samples_leaf=case.parameter("min_samples_leaf", 1),
        name=f"fuzz {case.seed}",
    )
