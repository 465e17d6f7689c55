"""The predict kernel against plain NumPy, at the edges, and at speed."""

from __future__ import annotations

import time

import numpy as np
import pytest

from literati._predict._leaves import route
from literati.data.schema import UNKNOWN, Column, Schema
from literati.data.table import build
from literati.tree.nodes import Node, Settings, Split
from literati.tree.routing import flatten, leaves_by_numpy
from tests.support.solver.random_trees import random_frame, random_tree

LEAF = Node(1, (1.0, 0.0), 0, 0.0, 0.0, 0.0, True)


def inner(
    column: int, thresholds: tuple[float, ...] = (), right: tuple[int, ...] = (), **sides: bool
) -> Node:
    flags = {"missing_right": False, "missing_seen": False, "unknown_right": False} | sides
    split = Split(column, thresholds, right, max(1, len(thresholds)), left=1, right=2, **flags)
    return Node(2, (1.0, 1.0), 0, 1.0, 0.0, 0.0, True, split)


def leaves(node: Node, schema: Schema, rows: list[list[float]]) -> list[int]:
    nodes = (node, LEAF, LEAF)
    matrix = np.array(rows)
    found = flatten(nodes, schema).leaves(matrix)
    np.testing.assert_array_equal(
        found, leaves_by_numpy(nodes, schema, lambda j, r: matrix[r, j], len(matrix))
    )
    return [int(leaf) for leaf in found]


def test_the_number_of_thresholds_passed_decides() -> None:
    schema = Schema((Column("x", "number", (), 0.0, 9.0),), True)
    rows = [[0.0], [1.0], [np.nextafter(1.0, 2)], [3.0], [3.5], [5.0], [8.0], [-1e300], [1e300]]
    assert leaves(inner(0, (1.0, 3.0, 5.0)), schema, rows) == [1, 1, 2, 2, 1, 1, 2, 1, 2]


def test_missing_and_unknown_take_their_sides() -> None:
    schema = Schema((Column("w", "category", ("a", "b", "c")), Column("x", "number", (), 0.0, 1.0)), True)
    rows = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [np.nan, 0.0], [UNKNOWN, 0.0], [3.0, 0.0]]
    assert leaves(inner(0, right=(0, 2)), schema, rows[:5]) == [2, 1, 2, 1, 1]
    assert leaves(inner(0, right=(0, 2), missing_right=True), schema, rows[:5]) == [2, 1, 2, 2, 1]
    assert leaves(inner(0, right=(0, 2), unknown_right=True), schema, rows[:5]) == [2, 1, 2, 1, 2]
    # A code beyond the table cannot come from a schema; the kernel must not read past it all the same.
    flat = flatten((inner(0, right=(0, 2), unknown_right=True), LEAF, LEAF), schema)
    assert flat.leaves(np.array(rows)).tolist()[-1] == 2
    assert leaves(inner(1, missing_right=True), schema, [[0.0, 0.5], [0.0, np.nan]]) == [1, 2]


def test_a_lone_leaf_and_no_rows() -> None:
    schema = Schema((Column("x", "number", (), 0.0, 1.0),), True)
    assert flatten((LEAF,), schema).leaves(np.zeros((3, 1))).tolist() == [0, 0, 0]
    assert flatten((LEAF,), schema).leaves(np.zeros((0, 1))).tolist() == []


def test_the_output_must_fit() -> None:
    flat = flatten((LEAF,), Schema((Column("x", "number"),), True))
    with pytest.raises(ValueError, match="one entry for each row"):
        route(np.zeros((3, 1)), flat.records, flat.thresholds, flat.sides, np.zeros(2, dtype=np.int32))


@pytest.mark.parametrize("seed", range(40))
def test_kernel_agrees_with_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = build(random_frame(rng, 80), np.r_[0, 1, rng.integers(0, 3, 78)])
    tree, _ = random_tree(table, rng, depth=6, most=8)
    matrix = np.full((200, len(table.schema.columns)), np.nan)
    for index, column in enumerate(table.schema.columns):
        if column.kind == "category":
            matrix[:, index] = rng.integers(-1, len(column.categories), 200)
        else:
            matrix[:, index] = rng.choice([*table.values[0], -1e9, 1e9, *rng.normal(size=5)], 200)
        matrix[rng.random(200) < 0.1, index] = np.nan
    expected = leaves_by_numpy(tree.nodes, tree.schema, lambda j, rows: matrix[rows, j], len(matrix))
    np.testing.assert_array_equal(flatten(tree.nodes, tree.schema).leaves(matrix), expected)


@pytest.mark.alone
def test_a_million_rows_in_well_under_a_second() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 20))
    table = build(X[:5000], rng.integers(0, 2, 5000))
    tree, _ = random_tree(table, rng, depth=6, most=3)
    assert tree.n_leaves > 30
    start = time.perf_counter()
    tree.apply(X)
    assert time.perf_counter() - start < 1.0  # 0.1 s on a machine of its own


def test_settings_charge_for_change_points() -> None:
    settings = Settings(3, 3, 2.0, 0.5)
    assert [settings.penalty(k) for k in (1, 2, 3)] == [2.0, 2.5, 3.0]
