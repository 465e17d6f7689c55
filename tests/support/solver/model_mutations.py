"""A small model as JSON, and every way to change one place of it."""

from __future__ import annotations

import copy
import math
from typing import Any

import pandas as pd

from literati import LiteratiClassifier, ShapeTree


def model() -> ShapeTree:
    frame = pd.DataFrame(
        {
            "x": [0.1, 0.2, 1 / 3, 4.0, 5.0, None, 7.0, 0.1],
            "word": ["a", "b", "c", "a", None, "b", "c", "a"],
            "flag": [True, False, True, False, False, True, True, False],
        }
    )
    weights = [0.1, 0.2, 0.3, 1, 1, 1, 1, 1]
    estimator = LiteratiClassifier(max_depth=3, split_penalty=0.01)
    tree: ShapeTree = estimator.fit(frame, ["u", "v", "u", "v", "u", "v", "v", "v"], weights).tree_
    return tree


TREE = model()
DATA = TREE.to_dict()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in nested data, inner ones too."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += places(inner, (*path, index))
    return found


def changed(path: tuple[Any, ...], value: Any, remove: bool = False) -> Any:
    data = copy.deepcopy(DATA)
    at = data
    for step in path[:-1]:
        at = at[step]
    if remove:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


HOSTILE: list[Any] = [
    None,
    True,
    -1,
    10**30,
    0.5,
    math.nan,
    math.inf,
    "x",
    "",
    [],
    {},
    [0],
    [[]],
    {"type": "int", "value": 1},
]
