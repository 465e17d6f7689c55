"""Random models over every kind of column, and rows that cover the corner cases of the format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from literati.data.table import build
from literati.tree.model import ShapeTree
from tests.support.solver.random_trees import random_tree

ROWS = 120
WORDS = [
    "red",
    "Red",
    "blue ",
    "",
    "1",
    "true",
    "naïve",
    "nai\u0308ve",
    "NaN",
]  # one of them with two code points
STRANGERS = ["RED", " red", "blue", "naive", "None", "Nan", "🙂"]
BIG = 1 << 53
ZONES = [0, 1, 2, BIG, BIG + 1, BIG + 2, -BIG - 1]
LABELS: list[list[Any]] = [
    ["no", "yes", "né"],
    [0, 1, BIG + 1],
    [True, False],
    [1.0, 2.0, -3.0],
    [1, "1", 2.5, False],
]
EDGES = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    0.1,
]
INTEGERS = [BIG - 1, BIG, BIG + 1, BIG + 2, BIG + 3, -BIG - 1, 10**18 + 1, (1 << 62) + 255, (1 << 62) + 257]


@dataclass(frozen=True)
class Problem:
    """A model, and rows by column name; a cell is None where it is missing."""

    tree: ShapeTree
    rows: list[dict[str, Any]]


def random_problem(seed: int, zones: tuple[int, ...] = tuple(ZONES)) -> Problem:
    """`zones` are the categories of a column of integers; by default some are not exact as doubles."""
    rng = np.random.default_rng(seed)
    frame = _training_frame(rng, zones)
    labels = LABELS[seed % len(LABELS)]
    y = np.empty(ROWS, dtype=object)
    y[:] = [labels[k] for k in [*range(len(labels)), *rng.integers(0, len(labels), ROWS - len(labels))]]
    weights = rng.random(ROWS) + 0.01 if seed % 2 else None
    mode: Any = ("ordered", "one_hot")[seed // 2 % 2]
    table = build(frame, y, sample_weight=weights, categories=mode)
    tree, _ = random_tree(table, rng, depth=5, most=4)
    return Problem(tree, _rows(tree, frame, rng, zones))


def _training_frame(rng: np.random.Generator, zones: tuple[int, ...]) -> pd.DataFrame:
    """Training rows with missing cells in every column but the last."""
    columns: dict[str, Any] = {
        "coarse": rng.normal(size=ROWS).round(1).tolist(),
        "close": (1.0 + np.spacing(1.0) * rng.integers(0, 6, ROWS)).tolist(),  # neighbouring doubles
        "narrow": rng.normal(size=ROWS).astype(np.float32).astype(float).round(3).tolist(),
        "edges": [EDGES[k] for k in rng.integers(0, len(EDGES), ROWS)],
        "whole": [INTEGERS[k] for k in rng.integers(0, len(INTEGERS), ROWS)],
        "flag": (rng.random(ROWS) < 0.5).tolist(),
        "word": [WORDS[k] for k in rng.integers(0, len(WORDS), ROWS)],
        "zone": [zones[k] for k in rng.integers(0, len(zones), ROWS)],
    }
    for name, cells in columns.items():
        columns[name] = [
            None if gone else cell for gone, cell in zip(rng.random(ROWS) < 0.15, cells, strict=True)
        ]
    return as_frame([dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)])


def as_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as the library reads them without losing a digit: integers that are categories stay integers."""
    columns = {name: np.array([None, *(row[name] for row in rows)], dtype=object)[1:] for name in rows[0]}
    if "zone" in columns:
        zones = sorted({cell for cell in columns["zone"] if cell is not None})
        columns["zone"] = pd.Categorical(columns["zone"], categories=pd.Index(zones, dtype=object))
    return pd.DataFrame(columns)


def _rows(
    tree: ShapeTree, frame: pd.DataFrame, rng: np.random.Generator, zones: tuple[int, ...]
) -> list[dict[str, Any]]:
    pools = {
        name: [None, *frame[name].astype(object).where(frame[name].notna(), None)] for name in frame.columns
    }
    for node in tree.nodes:
        if node.split is not None:
            for threshold in node.split.thresholds:
                below, above = math.nextafter(threshold, -math.inf), math.nextafter(threshold, math.inf)
                narrow = float(np.float32(threshold)) if abs(threshold) < 1e38 else threshold
                pools[frame.columns[node.split.column]] += [threshold, below, above, narrow]
    numbers = ("coarse", "close", "narrow", "edges", "whole")
    for name in numbers:
        pools[name] += [*EDGES, *INTEGERS, -7.25, 1e300, float(np.finfo(np.float32).max), 1e-45]
        pools[name] = [cell for cell in pools[name] if cell is None or math.isfinite(cell)]
    pools["flag"] = [None, True, False, 0, 1, 1.0]
    pools["word"] += STRANGERS
    pools["zone"] += [3, -1, max(zones) + 1, max(zones) - 3]
    return [{name: cells[rng.integers(len(cells))] for name, cells in pools.items()} for _ in range(400)]
