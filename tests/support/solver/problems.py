"""Random small problems, each made from a seed alone: what the solver and the naive oracle are compared on.

A problem is in the encoded form the engine takes (rank codes, -1 for a missing value), as plain lists so
that the oracle stays free of NumPy. Weights and penalties are dyadic: every sum of them is exact, so two
solvers that agree must agree to the last bit.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from typing import Any

MODES = ("adaptive", "shape", "quantile", "all")


@dataclass(frozen=True)
class Problem:
    """One problem: the encoded data and every option that changes its optimum."""

    codes: list[list[int]]  # [feature][row], -1 is missing
    values: list[list[float]]  # [feature][code], the distinct values in order
    y: list[int]
    n_classes: int
    weights: list[float] | None
    max_depth: int
    max_changepoints: int
    split_penalty: float
    changepoint_penalty: float
    candidates: str
    candidate_leaves: list[int]
    criterion: str = "gini"
    grid: list[list[int]] | None = None  # [feature] allowed cut positions, for "quantile" only
    min_samples_leaf: int = 1  # rows in every interval of a shape function
    name: str = field(default="", compare=False)

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def cardinality(self, feature: int) -> int:
        return len(self.values[feature])

    def but(self, **changes: Any) -> Problem:
        """The same problem with some fields changed."""
        return replace(self, **changes)


def dyadic(rng: random.Random, choices: tuple[float, ...] = (0.0, 0.125, 0.25, 0.5, 1.0, 1.5)) -> float:
    return rng.choice(choices)


def rank(column: list[float | None]) -> tuple[list[int], list[float]]:
    """Rank codes of a column and the values they stand for."""
    values = sorted({x for x in column if x is not None})
    code_of = {x: i for i, x in enumerate(values)}
    return [-1 if x is None else code_of[x] for x in column], values


def random_values(rng: random.Random, count: int) -> list[float]:
    """Increasing values whose spacing matters: midpoints that round to an end, overflow, or skip a code."""
    kind = rng.randrange(6)
    if kind == 0:  # categories, or any evenly spaced numbers
        return [float(i) for i in range(count)]
    if kind == 1:  # neighbouring floats: the midpoint of two is one of them
        values = [rng.uniform(-2.0, 2.0)]
        while len(values) < count:
            values.append(math.nextafter(values[-1], math.inf))
        return values
    if kind == 2:  # so large that a + b is infinite
        return [1e305 * i for i in sorted(rng.sample(range(-1700, 1701), count))]
    if kind == 3:  # geometric: midpoints lie far above the lower value
        return [2.0**i for i in range(count)]
    return sorted({rng.gauss(0.0, 1.0) for _ in range(count * 2)})[:count]


def random_column(rng: random.Random, n_rows: int, distinct: int, missing: float) -> list[float | None]:
    levels = random_values(rng, distinct)
    return [None if rng.random() < missing else rng.choice(levels) for _ in range(n_rows)]


def random_table(
    rng: random.Random, n_rows: int, n_features: int, n_classes: int, distinct: int, fewest: int = 2
) -> tuple[list[list[int]], list[list[float]], list[int]]:
    """Columns with ties, duplicate rows, missing values and some signal; none of them constant."""
    missing = rng.choice((0.0, 0.0, 0.0, 0.15, 0.4))
    columns: list[list[float | None]] = []
    while len(columns) < n_features:
        column = random_column(rng, n_rows, rng.randint(fewest, distinct), missing)
        if len(set(column)) > 1:
            columns.append(column)
    if rng.random() < 0.4:  # duplicate rows; their labels may differ
        for _ in range(rng.randint(1, max(1, n_rows // 2))):
            source, target = rng.randrange(n_rows), rng.randrange(n_rows)
            for column in columns:
                column[target] = column[source]
        if any(len(set(column)) < 2 for column in columns):
            return random_table(rng, n_rows, n_features, n_classes, distinct, fewest)
    labels = [rng.randrange(n_classes) for _ in range(n_rows)]
    if rng.random() < 0.5:  # signal: parity of a few thresholds, which no greedy tree finds
        codes = [rank(column)[0] for column in columns]
        cuts = [(rng.randrange(n_features), rng.randint(0, distinct - 1)) for _ in range(rng.randint(1, 3))]
        labels = [sum(codes[j][i] > c for j, c in cuts) % n_classes for i in range(n_rows)]
        labels = [rng.randrange(n_classes) if rng.random() < 0.1 else k for k in labels]
    encoded = [rank(column) for column in columns]
    return [codes for codes, _ in encoded], [values for _, values in encoded], labels


def random_problem(seed: int, *, depth: int | None = None, mode: str | None = None) -> Problem:
    """The problem of this seed. It gets smaller as the depth grows, so that the oracle stays quick."""
    rng = random.Random(seed)
    max_depth = rng.randint(1, 4) if depth is None else depth
    candidates = rng.choice(MODES) if mode is None else mode
    changepoints = rng.randint(1, 3)
    n_classes = rng.choice((2, 2, 3, 4))
    largest = {1: 60, 2: 48, 3: 32, 4: 28}[max_depth]
    if candidates == "all" and max_depth > 2:  # the oracle's time is a power of the rows here
        largest -= 12
    n_rows = rng.randint(2 if rng.random() < 0.1 else largest // 3, largest)
    n_features = rng.randint(1, 3)
    distinct = rng.randint(2, max(2, min(n_rows, {1: 12, 2: 9, 3: 7, 4: 6}[max_depth])))
    codes, values, y = random_table(rng, n_rows, n_features, n_classes, distinct)
    weights = None
    if rng.random() < 0.4:
        weights = [rng.choice((0.25, 0.5, 1.0, 1.0, 1.5, 3.0)) for _ in range(n_rows)]
    penalised = rng.random() < 0.6
    return Problem(
        codes=codes,
        values=values,
        y=y,
        n_classes=n_classes,
        weights=weights,
        max_depth=max_depth,
        max_changepoints=changepoints,
        split_penalty=dyadic(rng) if penalised else 0.0,
        changepoint_penalty=dyadic(rng) if penalised else 0.0,
        candidates=candidates,
        candidate_leaves=[rng.randint(2, 6) for _ in range(rng.randint(1, 3))],
        criterion=rng.choice(("gini", "gini", "entropy")),
        grid=[random_grid(rng, len(column)) for column in values] if candidates == "quantile" else None,
        name=f"seed {seed}",
    )


def larger_problem(seed: int, *, depth: int | None = None, mode: str | None = None) -> Problem:
    """A problem of 14 to 40 rows and depth 3 or 4, where prunes act that smaller problems never reach.

    Only the compiled oracle solves these quickly. Labels are noise in most of them, so that no tree is
    without errors, and most have 17 candidate leaves: a good first tree makes the search prune.
    """
    rng = random.Random(f"larger {seed}")
    max_depth = rng.choice((3, 3, 3, 4)) if depth is None else depth
    candidates = rng.choice(MODES) if mode is None else mode
    changepoints = rng.choice((1, 2, 2, 2, 3, 3, 4))
    n_classes = rng.choice((2, 2, 2, 3, 4))
    n_rows = rng.choice((rng.randint(14, 40), 40))
    n_features = rng.randint(1, 3)
    most = {3: (36, 22, 16), 4: (16, 9, 7)}[max_depth][n_features - 1] * 2 // max(2, changepoints)
    codes, values, y = random_table(rng, n_rows, n_features, n_classes, most, most // 2)
    if rng.random() < 0.6:
        y = [rng.randrange(n_classes) for _ in y]
    weighted, penalised = rng.random() < 0.4, rng.random() < 0.5
    return random_problem(seed, depth=max_depth, mode=candidates).but(
        codes=codes,
        values=values,
        y=y,
        n_classes=n_classes,
        weights=[rng.choice((0.25, 0.5, 1.0, 1.5, 3.0, 7.5, 11.0)) for _ in y] if weighted else None,
        max_changepoints=changepoints,
        split_penalty=dyadic(rng, (0.0, 0.125, 0.25, 0.5)) if penalised else 0.0,
        changepoint_penalty=dyadic(rng, (0.0, 0.125, 0.25, 0.5)) if penalised else 0.0,
        candidate_leaves=rng.choice(([17], [17], [rng.randint(3, 9) for _ in range(rng.randint(1, 3))])),
        grid=[random_grid(rng, len(column)) for column in values] if candidates == "quantile" else None,
        name=f"larger seed {seed}, {candidates}, depth {max_depth}",
    )


def random_grid(rng: random.Random, cardinality: int) -> list[int]:
    """Some of a feature's cut positions; a feature with one known value and missing ones has none."""
    positions = range(1, cardinality)
    if not positions:
        return []
    return sorted(rng.sample(positions, rng.randint(1, min(4, len(positions)))))
