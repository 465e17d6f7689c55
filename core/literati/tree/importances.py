"""How many training errors the splits on each column save.

A split saves the errors that its node would make as a leaf, less those that its two children would make as
leaves. Over a tree the savings add up to the errors of the root as a leaf less those of the tree.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.tree.nodes import Node

# Sums of weights are rounded. A saving below this share of the training weight is not told from none.
ROUNDING = 1e-12
Floats = npt.NDArray[np.float64]


def errors_saved(nodes: Sequence[Node], n_columns: int) -> Floats:
    """Return the weight of the training errors that the splits on each column save, never below 0."""
    parts = [None if (s := node.split) is None else (s.column, s.left, s.right) for node in nodes]
    saved = np.zeros(n_columns)
    for column, weight in _by_column([node.error for node in nodes], parts, nodes[0].weight).items():
        saved[column] = weight
    return saved


def normalized(saved: Floats) -> Floats:
    """Return the shares of a total of 1, or zeros if nothing is saved."""
    largest = saved.max(initial=0.0)
    if largest == 0:
        return np.zeros(len(saved))
    shares = saved / largest  # their sum is exact enough even if the weights are very small
    importances: Floats = shares / shares.sum()
    return importances


def summary(columns: Sequence[dict[str, Any]], nodes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the field `summary` of a JSON model, from its columns and nodes.

    `feature_importances` has the columns that the tree uses, the most important first.
    """
    parts = [None if (s := node["split"]) is None else (s["column"], s["left"], s["right"]) for node in nodes]
    saved = _by_column([node["error"] for node in nodes], parts, sum(nodes[0]["counts"]))
    shares = normalized(np.array(list(saved.values()))).tolist()
    entries = [
        {"column": column, "feature": columns[column]["name"], "errors_saved": weight, "importance": share}
        for (column, weight), share in zip(saved.items(), shares, strict=True)
    ]
    entries.sort(key=lambda entry: (-entry["errors_saved"], entry["column"]))
    return {"feature_importances": entries}


def _by_column(
    errors: Sequence[float], splits: Sequence[tuple[int, int, int] | None], total: float
) -> dict[int, float]:
    """Return the weight saved by the columns that the splits use. A split is (column, left, right)."""
    saved: dict[int, list[float]] = defaultdict(list)
    for error, split in zip(errors, splits, strict=True):
        if split is not None:
            column, left, right = split
            weight = math.fsum((error, -errors[left], -errors[right]))
            saved[column].append(weight if weight > ROUNDING * total else 0.0)
    return {column: math.fsum(weights) for column, weights in sorted(saved.items())}
