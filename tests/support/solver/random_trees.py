"""Random tables of every kind of column, and random trees on them in the engine's form."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from literati._engine._engine import NODE_DTYPE

from literati.data.table import TrainingTable
from literati.tree.model import ShapeTree
from literati.tree.nodes import Settings

COLOURS = ["red", "green", "blue", "cyan", "teal", "plum", "gold", "grey"]


def random_frame(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """A few columns: coarse numbers, neighbouring floats, booleans, categories; some with missing cells."""
    columns: dict[str, Any] = {}
    for index in range(rng.integers(1, 6)):
        kind = rng.integers(4)
        cells: Any
        if kind == 0:
            cells = rng.normal(size=rows).round(int(rng.integers(0, 3)))
        elif kind == 1:  # the midpoint of two neighbours is one of them
            cells = 1.0 + np.spacing(1.0) * rng.integers(0, 6, rows)
        elif kind == 2:
            cells = rng.random(rows) < 0.5
        else:
            cells = np.array(COLOURS, dtype=object)[rng.integers(0, len(COLOURS), rows)]
        cells = cells.astype(object)
        if rng.random() < 0.4:
            cells[rng.random(rows) < 0.3] = None
        columns[f"column {index}"] = cells
    columns["always"] = rng.permutation(rows).astype(float)  # at least one column that varies
    return pd.DataFrame(columns)


def random_nodes(table: TrainingTable, rng: np.random.Generator, depth: int, most: int) -> npt.NDArray[Any]:
    """A tree of random legal shape functions with at most so many change points each."""
    records: list[Any] = []

    def grow(rows: npt.NDArray[np.intp], left: int) -> int:
        index = len(records)
        record = np.zeros(1, NODE_DTYPE)[0]
        record["feature"] = -1
        records.append(record)
        for _ in range(6 if left else 0):
            feature = int(rng.integers(len(table.features)))
            codes = table.codes[feature][rows]
            present = np.unique(codes[codes >= 0])
            cuts = [*present[1:], *([len(table.values[feature])] if (codes < 0).any() else [])]
            if not cuts:
                continue
            chosen = np.sort(rng.choice(cuts, int(rng.integers(1, min(most, len(cuts)) + 1)), replace=False))
            missing_right = bool(rng.integers(2))
            passed = np.searchsorted(chosen, codes, side="right") % 2 == 1
            right = np.where(codes < 0, missing_right, passed)
            if right.any() and not right.all():
                record["feature"], record["n_changepoints"] = feature, len(chosen)
                record["changepoints"][: len(chosen)] = chosen
                record["missing_right"] = missing_right
                record["left"] = grow(rows[~right], left - 1)
                record["right"] = grow(rows[right], left - 1)
                break
        return index

    grow(np.arange(table.n_rows), depth)
    nodes = np.zeros(len(records), NODE_DTYPE)
    for index, record in enumerate(records):
        nodes[index] = record
    return nodes


def random_tree(
    table: TrainingTable, rng: np.random.Generator, depth: int = 4, most: int = 3
) -> tuple[ShapeTree, npt.NDArray[Any]]:
    """A tree and the nodes it was made from."""
    nodes = random_nodes(table, rng, depth, most)
    tree = ShapeTree.from_nodes(
        nodes,
        table,
        settings=Settings(depth, most, 0.5, 0.25),
        upper_bound=1e9,
        lower_bound=0.0,
        proven_optimal=False,
        proven_space="adaptive",
        candidate_leaves=(17,),
    )
    return tree, nodes
