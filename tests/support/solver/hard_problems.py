"""Trees that are hard to write in other languages: odd names, many leaves or one, many categories, depth."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from literati._engine._engine import NODE_DTYPE

from literati.data.table import build
from literati.errors import DataWarning
from literati.tree.model import ShapeTree
from literati.tree.nodes import Settings
from tests.support.solver.format_problems import Problem, as_frame
from tests.support.solver.random_trees import random_tree

Rows = list[dict[str, Any]]
ODD_NAMES = [
    *('a "quoted" name', "it's", "two\nlines", "*/ an end", "/* a start", "select", "naïve 🙂", "x y", "x_y"),
    *("x-y", "__proto__", "label", "leaf_id", "prediction", "probabilities", "literati_value_0", "{brace}"),
    *("back\\slash", "\\u000a", "# hash", "-- dash", "what??/", "100 % <&>", "line\u2028end", "tab\tname"),
]
ODD_WORDS = [*ODD_NAMES, "", " ", "NULL", "nan", "'", "''", '"', "\\", "$x", "`x`", "\\n", "a\nb", "a b"]
ODD_CLASSES = ["it's", 'say "no"', "*/", "new\nline", "new line", "back\\slash", "naïve 🙂", "--"]


@cache
def odd_names() -> Problem:
    """Names, categories and classes with quotes, line ends, signs of comments, and words of languages."""
    rng = np.random.default_rng(1)
    kinds: list[Callable[[], Any]] = [
        lambda: round(float(rng.normal()), 2),
        lambda: bool(rng.random() < 0.5),
        lambda: ODD_WORDS[rng.integers(len(ODD_WORDS))],
    ]
    rows = _rows(rng, 600, {name: kinds[place % 3] for place, name in enumerate(ODD_NAMES)})
    tree = _tree(rng, rows, ODD_CLASSES, depth=9)
    strange = [{**row, "two\nlines": "unseen", "select": None} for row in rows[:50]]
    return Problem(tree, [*rows[:150], *strange])


@cache
def many_leaves() -> Problem:
    """A tree of the largest depth that a search allows, with more than a thousand leaves."""
    rng = np.random.default_rng(2)
    columns: dict[str, Callable[[], Any]] = {
        "number": lambda: float(rng.normal()),
        "flag": lambda: bool(rng.random() < 0.5),
        "word": lambda: f"word {rng.integers(30)}",
    }
    rows = _rows(rng, 6000, columns)
    return Problem(_tree(rng, rows, ["no", "yes", "perhaps"], depth=12), rows[:400])


@cache
def many_categories() -> Problem:
    """Thousands of categories, texts and integers."""
    rng = np.random.default_rng(3)
    columns: dict[str, Callable[[], Any]] = {
        "word": lambda: f"word {rng.integers(20_000)} é",
        "zone": lambda: int(rng.integers(1000)),
    }
    rows = _rows(rng, 9000, columns)
    tree = _tree(rng, rows, [0, 1], depth=4)
    return Problem(tree, [*rows[:200], *({"word": f"word {k}", "zone": -k} for k in range(20))])


@cache
def deep_chain() -> Problem:
    """A tree of the largest depth that can be read from JSON: each split sends one row left."""
    depth = 64
    rows = [{"x": None if k < 0 else float(k)} for k in range(-1, depth + 2)]
    y = np.array(["a", "b"] * len(rows), dtype=object)[: len(rows)]
    nodes = np.zeros(2 * depth + 1, NODE_DTYPE)
    nodes["feature"] = -1
    for level in range(depth):
        split = nodes[2 * level]
        split["feature"], split["n_changepoints"], split["changepoints"][0] = 0, 1, level + 1
        split["left"], split["right"], split["missing_right"] = 2 * level + 1, 2 * level + 2, True
    settings = Settings(depth, 1, 0.5, 0.25)
    proof: dict[str, Any] = {
        "upper_bound": 1e9,
        "lower_bound": 0.0,
        "proven_optimal": False,
        "proven_space": "all",
    }
    tree = ShapeTree.from_nodes(nodes, build(as_frame(rows), y), settings=settings, **proof)
    return Problem(ShapeTree.from_json(tree.to_json()), rows)


@cache
def one_leaf() -> Problem:
    """A tree without a split, which uses no column. Its first column has no categories."""
    rows = [{"empty": None, "x": float(k)} for k in range(3)]
    frame = pd.DataFrame({"empty": pd.Categorical([None] * 3, categories=[]), "x": [0.0, 1.0, 2.0]})
    y = np.array(["no", "yes", "yes"], dtype=object)
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        table = build(frame, y)
    tree, _ = random_tree(table, np.random.default_rng(0), depth=0)
    return Problem(tree, rows)


HARD_PROBLEMS: dict[str, Callable[[], Problem]] = {
    "odd_names": odd_names,
    "many_leaves": many_leaves,
    "many_categories": many_categories,
    "deep_chain": deep_chain,
    "one_leaf": one_leaf,
}


def _rows(rng: np.random.Generator, count: int, columns: dict[str, Callable[[], Any]]) -> Rows:
    return [
        {name: None if rng.random() < 0.1 else draw() for name, draw in columns.items()} for _ in range(count)
    ]


def _tree(rng: np.random.Generator, rows: Rows, classes: list[Any], depth: int) -> ShapeTree:
    y = np.array([classes[k] for k in rng.integers(0, len(classes), len(rows))], dtype=object)
    tree, _ = random_tree(build(as_frame(rows), y, categories="ordered"), rng, depth=depth, most=4)
    return tree
