"""Random fits of the public estimator, each made from a seed: data, weights, parameters and limits."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

Cell = float | str | bool | None
SPACES = ("adaptive", "shape", "quantile", "all")
PENALTIES = (0.0, 0.0, 0.0, 0.125, 0.5, 1.0, 1 / 3, 1 / 7, 0.123456789, 1e-9, 0.1, 2.5, 1e6)


@dataclass(frozen=True)
class Case:
    """One fit. A cell is None where its value is missing."""

    seed: int
    kind: str
    columns: tuple[tuple[Cell, ...], ...]
    y: tuple[Any, ...]
    weights: tuple[float, ...] | None
    parameters: dict[str, Any] = field(hash=False)
    watched: bool = True  # by a progress callback
    resumes: tuple[int, ...] = ()  # expansions between two checkpoints; without any if empty

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def but(self, **changes: Any) -> Case:
        return replace(self, **changes)

    def parameter(self, name: str, default: Any) -> Any:
        return self.parameters.get(name, default)


def numbers(rng: random.Random, distinct: int) -> list[float]:
    """Return values of different spacing: even, neighbouring floats, enormous, geometric, or random."""
    kind = rng.randrange(6)
    if kind == 0:
        return [float(i - distinct // 2) for i in range(distinct)]
    if kind == 1:
        values = [rng.uniform(-2.0, 2.0)]
        while len(values) < distinct:
            values.append(math.nextafter(values[-1], math.inf))
        return values
    if kind == 2:
        return [1e305 * rng.randint(-1700, 1700) for _ in range(distinct)]
    if kind == 3:
        return [2.0 ** rng.randint(-1000, 1000) for _ in range(distinct)]
    return [rng.gauss(0.0, 1.0) for _ in range(distinct)]


def column(rng: random.Random, n_rows: int, distinct: int) -> list[Cell]:
    kind = rng.choice(("number",) * 6 + ("category", "category", "boolean"))
    levels: list[Cell]
    if kind == "number":
        levels = list(numbers(rng, distinct))
    elif kind == "category":
        levels = [f"k{i}" for i in range(min(distinct, 12))]
    else:
        levels = [False, True]
    missing = rng.choice((0.0, 0.0, 0.0, 0.1, 0.5))
    return [None if rng.random() < missing else rng.choice(levels) for _ in range(n_rows)]


def table(rng: random.Random, n_rows: int, n_columns: int, distinct: int) -> list[list[Cell]]:
    """Return columns with ties and duplicate rows, of which at least one is not constant."""
    columns = [column(rng, n_rows, rng.randint(2, max(2, distinct))) for _ in range(n_columns)]
    if rng.random() < 0.4:
        for _ in range(rng.randint(1, max(1, n_rows // 2))):
            source, target = rng.randrange(n_rows), rng.randrange(n_rows)
            for cells in columns:
                cells[target] = cells[source]
    if all(len(set(cells)) < 2 for cells in columns):
        columns[0] = [float(i) for i in range(n_rows)]
    return columns


def classes(rng: random.Random, columns: list[list[Cell]], n_rows: int, n_classes: int) -> list[int]:
    """Return random labels, or labels that depend on a few conditions, with some noise."""
    if rng.random() < 0.5:
        y = [rng.randrange(n_classes) for _ in range(n_rows)]
    else:
        keys = [rng.sample(sorted({repr(c) for c in cells}), 1)[0] for cells in columns]
        y = [
            sum(repr(cells[row]) <= key for cells, key in zip(columns, keys, strict=True)) % n_classes
            for row in range(n_rows)
        ]
        y = [rng.randrange(n_classes) if rng.random() < 0.1 else label for label in y]
    if len(set(y)) < 2:
        y[0] = 1 - min(y[0], 1)
    return y


WEIGHTS: dict[str, Callable[[random.Random], float]] = {
    "ones": lambda rng: 1.0,
    "dyadic": lambda rng: rng.choice((0.25, 0.5, 1.0, 1.5, 3.0)),
    "uniform": lambda rng: rng.uniform(0.01, 2.0),
    "wide": lambda rng: 10.0 ** rng.uniform(-9.0, 9.0),
    "zeros": lambda rng: rng.choice((0.0, 1.0, 1.0, 2.0)),
    "equal": lambda rng: 0.1,
    "heavy": lambda rng: rng.choice((1.0, 1e9, 1e9 + 0.5)),
}


def row_weights(rng: random.Random, n_rows: int) -> tuple[float, ...] | None:
    if rng.random() < 0.4:
        return None
    drawn = WEIGHTS[rng.choice(sorted(WEIGHTS))]
    return tuple(drawn(rng) for _ in range(n_rows))


def penalties(rng: random.Random) -> dict[str, Any]:
    drawn = {name: rng.choice(PENALTIES) for name in ("split_penalty", "changepoint_penalty")}
    return {name: value for name, value in drawn.items() if value or rng.random() < 0.2}


def switches(rng: random.Random) -> dict[str, Any]:
    """Return options for the order of the search; most fits have none."""
    drawn = {
        "or_selection": rng.choice(("informative", "admissible", "mixed")),
        "and_selection": rng.choice(("round_robin", "worst_primal", "worst_heuristic")),
        "heuristic": rng.choice(("cart", "primal", "impurity")),
        "criterion": rng.choice(("gini", "entropy")),
        "polish": False,
        "categories": "one_hot",
    }
    return {name: value for name, value in drawn.items() if rng.random() < 0.12}


def candidates(rng: random.Random) -> dict[str, Any]:
    space = rng.choice(SPACES)
    drawn: dict[str, Any] = {"candidates": space} if space != "adaptive" or rng.random() < 0.5 else {}
    if rng.random() < 0.5:
        leaves = [rng.randint(2, 17) for _ in range(rng.randint(1, 3))]
        drawn["candidate_leaves"] = leaves[0] if space == "quantile" or rng.random() < 0.5 else leaves
    return drawn


def leaf_rows(seed: int, n_rows: int) -> int:
    """Return the `min_samples_leaf` of a third of the cases, which may leave no split, and 1 of the others.

    It is drawn from numbers of its own, so that a seed still gives the data that it gave before.
    """
    rng = random.Random(f"fuzz leaves {seed}")
    return rng.choice((1, 1, 1, 1, 2, rng.randint(2, max(2, n_rows // rng.choice((2, 4, 10))))))


def limits(rng: random.Random, total: float) -> dict[str, Any]:
    drawn = {
        "time_limit": rng.choice((0.001, 0.02, 0.1, 0.3)),
        "max_expansions": rng.choice((1, 2, 5, 30, 300, 2000)),
        "memory_limit": rng.choice((600_000, 2_000_000, 20_000_000)),
        "gap": rng.choice((1e-12, 0.01, 0.3, 0.99)),
        "gap_absolute": rng.choice((1e-12, 0.5, 1.0, 0.1 * total)),
        "patience": rng.choice((0.001, 0.05, 0.2)),
    }
    chosen = rng.sample(sorted(drawn), rng.choice((1, 1, 2, 3)))
    return {name: drawn[name] for name in chosen}


def small(rng: random.Random) -> tuple[int, int, int, int, dict[str, Any]]:
    """Return rows, columns, distinct values, classes and parameters that an oracle can solve."""
    depth, changepoints = rng.choice((1, 2, 2, 3, 3, 4, 4, 6, 12)), rng.choice((1, 1, 2, 2, 2, 3, 4, 8))
    n_columns = rng.randint(1, 3)
    room = {1: 40, 2: 20, 3: 12, 4: 8}.get(depth, 6)
    parameters: dict[str, Any] = {}
    if depth != 4 or rng.random() < 0.5:
        parameters["max_depth"] = depth
    if changepoints != 2 or rng.random() < 0.5:
        parameters["max_changepoints"] = changepoints
    n_classes = rng.choice((2, 2, 2, 3, 4, 10))
    return rng.randint(2, 40), n_columns, max(2, room // max(1, changepoints // 2)), n_classes, parameters


def large(rng: random.Random) -> tuple[int, int, int, int, dict[str, Any]]:
    parameters = {"max_depth": rng.randint(1, 12), "max_changepoints": rng.randint(1, 8)}
    return (
        rng.randint(41, 400),
        rng.randint(1, 8),
        rng.choice((4, 20, 400)),
        rng.choice((2, 3, 7)),
        parameters,
    )


def many_classes(rng: random.Random) -> tuple[int, int, int, int, dict[str, Any]]:
    parameters = {"max_depth": rng.randint(1, 12), "max_changepoints": rng.randint(1, 8)}
    n_classes = rng.choice((30, 100, 300, 1000))
    return rng.randint(n_classes, 2000), rng.randint(1, 6), rng.choice((4, 50, 2000)), n_classes, parameters


KINDS = {"small": small, "large": large, "many classes": many_classes}


def draw(seed: int) -> Case:
    """Return the case of this seed."""
    rng = random.Random(f"fuzz {seed}")
    kind = rng.choice(("small",) * 14 + ("large",) * 5 + ("many classes",))
    n_rows, n_columns, distinct, n_classes, parameters = KINDS[kind](rng)
    columns = table(rng, n_rows, n_columns, distinct)
    codes = classes(rng, columns, n_rows, n_classes)
    y = tuple(f"class {code}" for code in codes) if rng.random() < 0.2 else tuple(codes)
    weights = row_weights(rng, n_rows)
    if weights is not None and len({label for label, w in zip(y, weights, strict=True) if w}) < 2:
        weights = None
    parameters |= candidates(rng) | penalties(rng) | switches(rng)
    if rng.random() < 0.1:
        parameters["class_weight"] = rng.choice(("balanced", {y[0]: 0.3}))
    least = leaf_rows(seed, n_rows)
    if least > 1:
        parameters["min_samples_leaf"] = least
    total = sum(weights) if weights else float(n_rows)
    resumes: tuple[int, ...] = ()
    watched = rng.random() < 0.85
    if kind != "small" or rng.random() < 0.25:
        parameters |= limits(rng, total)
    elif rng.random() < 0.35:
        resumes = tuple(rng.choice((0, 1, 1, 2, 3, 10, 50, 300)) for _ in range(rng.randint(1, 4)))
    elif rng.random() < 0.2 and watched:
        parameters["time_limit"] = None
    if kind != "small":
        parameters["time_limit"] = min(parameters.get("time_limit", 1.0), rng.choice((0.05, 0.2, 0.5)))
    return Case(seed, kind, tuple(map(tuple, columns)), y, weights, parameters, watched, resumes)
