"""Optima on scikit-learn's bundled data: the fewest errors of any tree of threshold splits.

Found once with ConTree (pycontree 1.0.8, `ConTree(max_depth=D, max_gap=0)`), which searches the same space:
every midpoint between neighbouring values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from literati._engine._engine import Engine
from sklearn import datasets

CONTREE = [
    ("iris", 1, 50),
    ("iris", 2, 6),
    ("iris", 3, 1),
    ("iris", 4, 0),
    ("wine", 1, 54),
    ("wine", 2, 6),
    ("wine", 3, 0),
    ("breast_cancer", 1, 44),
    ("breast_cancer", 2, 22),
    ("breast_cancer", 3, 9),
]


def bundled(name: str) -> tuple[Any, list[Any], Any]:
    features, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    encoded = [np.unique(column, return_inverse=True) for column in features.T]
    codes = np.array([inverse for _, inverse in encoded], dtype=np.int32)
    return codes, [values for values, _ in encoded], labels.astype(np.int32)


def errors(name: str, **options: Any) -> float:
    codes, values, y = bundled(name)
    given: dict[str, Any] = {
        "max_changepoints": 1,
        "candidates": "all",
        "candidate_leaves": [17],
        "or_selection": "informative",
        "and_selection": "round_robin",
        "heuristic": "cart",
        "criterion": "gini",
        "memory_limit": 0,
    }
    search = Engine(codes, values, y, int(y.max()) + 1, None, **given | options)
    assert search.run(60.0) == 1
    return float(search.upper)


@pytest.mark.parametrize(("name", "depth", "optimum"), CONTREE)
def test_agrees_with_contree(name: str, depth: int, optimum: int) -> None:
    assert errors(name, max_depth=depth) == optimum


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
def test_wider_spaces_are_never_worse(name: str) -> None:
    adaptive, shape, everything = (
        errors(name, max_depth=2, candidates=mode) for mode in ("adaptive", "shape", "all")
    )
    assert everything <= shape <= adaptive
    with_shapes = errors(name, max_depth=2, max_changepoints=2, candidates="shape")
    assert with_shapes <= shape
