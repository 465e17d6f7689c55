"""The polish: never worse, and no change of a single node makes its result better."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from literati._engine._engine import Engine
from literati._engine._polish import Polisher
from literati._engine._tree_writer import NODE_DTYPE

from literati.search.costs import whole_weights
from tests.support.solver import oracle
from tests.support.solver.engines import engine
from tests.support.solver.problems import Problem, random_problem
from tests.support.solver.trees import (
    check_shape,
    class_weights,
    depths,
    goes_right,
    leaf_error,
    objective,
    penalty,
    rows_by_node,
)


def polisher(problem: Problem, **changes: Any) -> Any:
    return engine(problem, **changes).polisher()


def polished(problem: Problem, tree: Any) -> Any:
    """Polish a tree to its end, for which some milliseconds are enough."""
    tool = polisher(problem)
    result = tool.polish(tree, seconds=5.0)
    assert tool.finished
    return result


def random_tree(rng: random.Random, problem: Problem) -> Any:
    """Any tree within depth and K; its functions need not part the rows that reach them."""
    entries: list[list[Any]] = []

    def grow(depth: int) -> int:
        index = len(entries)
        entries.append([])
        if depth == problem.max_depth or rng.random() < 0.2:
            entries[index] = [-1, 0, [0] * 8, 0, 1, -1, -1, 0.5]
            return index
        feature = rng.randrange(len(problem.codes))
        positions = range(1, problem.cardinality(feature) + 1)
        count = rng.randint(1, min(problem.max_changepoints, len(positions)))
        cuts = sorted(rng.sample(positions, count))
        left, right = grow(depth + 1), grow(depth + 1)
        entries[index] = [feature, count, cuts + [0] * (8 - count), rng.randrange(2), 1, left, right, 0.25]
        return index

    grow(0)
    return np.array([tuple(entry) for entry in entries], dtype=NODE_DTYPE)


LEAF = np.array([(-1, 0, [0] * 8, 0, 1, -1, -1, 0.0)], dtype=NODE_DTYPE)


def labels_of(problem: Problem, nodes: Any) -> list[int]:
    totals = [class_weights(problem, rows) for rows in rows_by_node(problem, nodes)]
    return [weights.index(max(weights)) for weights in totals]


def errors_below(problem: Problem, nodes: Any, labels: list[int], root: int, rows: list[int]) -> float:
    """Weight of these rows that the subtree, with its labels as they are, gets wrong."""
    wrong = 0.0
    for row in rows:
        at = root
        while int(nodes[at]["feature"]) >= 0:
            at = int(nodes[at]["right"] if goes_right(problem, nodes[at], row) else nodes[at]["left"])
        if labels[at] != problem.y[row]:
            wrong += 1.0 if problem.weights is None else problem.weights[row]
    return wrong


def penalties_below(problem: Problem, nodes: Any, root: int) -> float:
    if int(nodes[root]["feature"]) < 0:
        return 0.0
    own = penalty(problem, nodes[root])
    left, right = int(nodes[root]["left"]), int(nodes[root]["right"])
    return own + penalties_below(problem, nodes, left) + penalties_below(problem, nodes, right)


def partitions(problem: Problem, rows: list[int]) -> Iterator[tuple[float, list[int], list[int]]]:
    """Every way a single shape function can part the rows, with its penalty."""
    for feature, column in enumerate(problem.codes):
        positions = range(1, problem.cardinality(feature) + 1)
        for size in range(1, problem.max_changepoints + 1):
            cost = problem.split_penalty + problem.changepoint_penalty * (size - 1)
            for cuts in combinations(positions, size):
                for missing in (0, 1):
                    right = [
                        row
                        for row in rows
                        if (missing if column[row] < 0 else sum(c <= column[row] for c in cuts) % 2)
                    ]
                    left = [row for row in rows if row not in right]
                    yield cost, left, right
                    yield cost, right, left


def cheapest_change(problem: Problem, nodes: Any, at: int, depth: int) -> float:
    """The least cost that any change of one node gives its subtree."""
    rows, labels = rows_by_node(problem, nodes)[at], labels_of(problem, nodes)
    best = leaf_error(problem, rows)
    left, right = int(nodes[at]["left"]), int(nodes[at]["right"])
    is_leaf = int(nodes[at]["feature"]) < 0
    if is_leaf or (int(nodes[left]["feature"]) < 0 and int(nodes[right]["feature"]) < 0):
        if depth < problem.max_depth:
            for cost, a, b in partitions(problem, rows):
                best = min(best, cost + leaf_error(problem, a) + leaf_error(problem, b))
        return best
    fees = [penalties_below(problem, nodes, child) for child in (left, right)]
    best = min(best, fees[0] + errors_below(problem, nodes, labels, left, rows))
    best = min(best, fees[1] + errors_below(problem, nodes, labels, right, rows))
    wrong = {
        child: {row: errors_below(problem, nodes, labels, child, [row]) for row in rows}
        for child in (left, right)
    }
    for cost, a, b in partitions(problem, rows):
        errors = sum(wrong[left][row] for row in a) + sum(wrong[right][row] for row in b)
        best = min(best, cost + sum(fees) + errors)
    return best


@pytest.mark.parametrize("block", range(8))
def test_single_nodes_are_optimal_and_nothing_got_worse(block: int) -> None:
    improved = 0
    for seed in range(block * 40, block * 40 + 40):
        rng = random.Random(seed)
        problem = random_problem(seed)
        tree = random_tree(rng, problem)
        before = objective(problem, tree)
        result = polished(problem, tree)
        after = objective(problem, result)
        assert after <= before
        improved += after < before
        if after < before:
            check_shape(problem, result)
        reached = rows_by_node(problem, result)
        for at, depth in enumerate(depths(result)):
            labels = labels_of(problem, result)
            now = errors_below(problem, result, labels, at, reached[at]) + penalties_below(
                problem, result, at
            )
            assert cheapest_change(problem, result, at, depth) >= now, (seed, at)
    assert improved > 20


@pytest.mark.parametrize("block", range(4))
def test_a_single_leaf_becomes_the_best_tree_of_depth_one(block: int) -> None:
    for seed in range(block * 100, block * 100 + 100):
        problem = random_problem(seed, depth=1, mode="all")
        result = polished(problem, LEAF)
        check_shape(problem, result)
        assert objective(problem, result) == oracle.optimum(problem), seed


def test_polish_is_deterministic_and_settled() -> None:
    for seed in range(100):
        problem = random_problem(seed)
        tree = random_tree(random.Random(seed), problem)
        given = tree.copy()
        tool = polisher(problem)
        first = tool.polish(tree, seconds=5.0)
        assert (tree == given).all(), "the given tree was written to"
        again = polished(problem, tree)
        assert (first == again).all()
        assert (tool.polish(first) == first).all()


@pytest.mark.slow
def test_weights_that_round_never_make_it_worse() -> None:
    """The engine rounds such weights to whole units, of which it counts the objective."""
    improved = 0
    for seed in range(100):
        rng = random.Random(seed)
        problem = random_problem(seed)
        problem = problem.but(weights=[rng.random() for _ in problem.y], split_penalty=0.1 * rng.random())
        scale = 2.0**20
        rounded = problem.but(
            weights=whole_weights(np.array(problem.weights), scale).tolist(),
            split_penalty=float(round(problem.split_penalty * scale)),
            changepoint_penalty=float(round(problem.changepoint_penalty * scale)),
        )
        tree = random_tree(rng, problem)
        before = objective(rounded, tree)
        after = objective(rounded, polisher(problem, scale=scale).polish(tree))
        assert after <= before
        improved += after < before
    assert improved > 50


def test_bounds_stay_only_where_the_rows_did() -> None:
    problem = random_problem(3, depth=2, mode="all").but(
        codes=[[0, 1, 2, 3, 0, 1, 2, 3], [0, 0, 0, 0, 1, 1, 1, 1]],
        values=[[0.0, 1.0, 2.0, 3.0], [0.0, 1.0]],
        y=[0, 0, 1, 1, 1, 1, 0, 0],
        n_classes=2,
        weights=None,
        max_changepoints=1,
        split_penalty=0.0,
        changepoint_penalty=0.0,
        grid=None,
    )
    cut_at = [[position] + [0] * 7 for position in range(4)]
    nodes = np.array(
        [
            (1, 1, cut_at[1], 0, 1, 1, 4, 0.5),
            (0, 1, cut_at[2], 0, 1, 2, 3, 0.0),
            (-1, 0, cut_at[0], 0, 1, -1, -1, 0.0),
            (-1, 0, cut_at[0], 0, 1, -1, -1, 0.0),
            (0, 1, cut_at[1], 0, 1, 5, 6, 0.25),
            (-1, 0, cut_at[0], 0, 1, -1, -1, 1.0),
            (-1, 0, cut_at[0], 0, 1, -1, -1, 1.0),
        ],
        dtype=NODE_DTYPE,
    )
    result = polished(problem, nodes)
    assert objective(problem, result) == 0
    assert result["proven"].tolist() == [0, 1, 1, 1, 0, 0, 0]
    assert result["lower_bound"].tolist() == [0.5, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0]


def small_problem(codes: list[list[int]], y: list[int], **changes: Any) -> Problem:
    """Columns whose values are their codes, without weights or penalties."""
    plain = {"weights": None, "split_penalty": 0.0, "changepoint_penalty": 0.0, "grid": None}
    return random_problem(3, depth=2, mode="all").but(
        codes=codes,
        values=[[float(code) for code in range(max(column) + 1)] for column in codes],
        y=y,
        n_classes=max(y) + 1,
        max_changepoints=2,
        **plain | changes,
    )


def split(feature: int, cuts: list[int], left: int, right: int) -> tuple[Any, ...]:
    return (feature, len(cuts), cuts + [0] * (8 - len(cuts)), 0, 0, left, right, 0.0)


A_LEAF = (-1, 0, [0] * 8, 0, 0, -1, -1, 0.0)


@pytest.mark.parametrize("above", ["leaves", "a split"])
def test_a_shape_of_the_same_cost_with_fewer_change_points_is_taken(above: str) -> None:
    if above == "leaves":
        problem = small_problem([[0, 1, 2, 3], [0, 1, 1, 0]], [0, 1, 1, 0])
        tree = [split(0, [1, 3], 1, 2), A_LEAF, A_LEAF]
    else:
        problem = small_problem([[0, 1, 2, 3], [0, 1, 1, 0], [0, 0, 1, 0]], [0, 1, 2, 0])
        tree = [split(0, [1, 3], 1, 2), A_LEAF, split(2, [1], 3, 4), A_LEAF, A_LEAF]
    result = polished(problem, np.array(tree, dtype=NODE_DTYPE))
    assert objective(problem, result) == 0
    assert (result[0]["feature"], result[0]["n_changepoints"]) == (1, 1)


def test_a_split_that_gains_nothing_is_removed_even_if_it_is_free() -> None:
    problem = small_problem([[0, 0, 0, 1, 1, 1]], [0, 0, 1, 0, 0, 1])
    tree = np.array([split(0, [1], 1, 2), A_LEAF, A_LEAF], dtype=NODE_DTYPE)
    assert len(polished(problem, tree)) == 1


def test_a_node_becomes_a_leaf_with_a_label_that_no_child_has() -> None:
    problem = small_problem([[0] * 5 + [1] * 5], [0, 0, 0, 2, 2, 1, 1, 1, 2, 2], split_penalty=3.0)
    tree = np.array([split(0, [1], 1, 2), A_LEAF, A_LEAF], dtype=NODE_DTYPE)
    assert objective(problem, tree) == 7
    result = polished(problem, tree)
    assert len(result) == 1
    assert objective(problem, result) == 6


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("left", 40, "does not exist"),
        ("feature", 9, "no such feature"),
        ("n_changepoints", 9, "change points"),
    ],
)
def test_damaged_trees_are_refused(field: str, value: int, message: str) -> None:
    problem = random_problem(5, depth=3)
    tree = random_tree(random.Random(8), problem)
    assert tree[0]["feature"] >= 0
    tree[0][field] = value
    with pytest.raises(ValueError, match=message):
        polisher(problem).polish(tree)


def test_values_without_rows_change_nothing() -> None:
    for seed in range(20):
        problem = random_problem(seed, mode="all")
        tree = random_tree(random.Random(seed), problem)
        more_values = problem.but(values=[[*column, 1e300] for column in problem.values])
        expected = objective(problem, polished(problem, tree))
        assert objective(more_values, polished(more_values, tree)) == expected


def test_cuts_need_not_lie_on_the_grid() -> None:
    problem = small_problem([[0, 1, 2, 3]], [0, 0, 0, 1], grid=[[2]], candidates="quantile")
    result = polished(problem, LEAF)
    assert result[0]["changepoints"][0] == 3
    assert objective(problem, result) == 0


def test_only_an_engine_makes_a_polisher() -> None:
    with pytest.raises(TypeError, match=r"Engine\.polisher"):
        Polisher()


def test_a_tree_too_deep_is_refused() -> None:
    problem = random_problem(5, depth=3)
    tree = random_tree(random.Random(8), problem)
    assert max(depths(tree)) == 3
    with pytest.raises(ValueError, match="max_depth=2"):
        polisher(problem, max_depth=2).polish(tree)
    tree[0]["right"] = 0  # a cycle
    with pytest.raises(ValueError, match="max_depth=3"):
        polisher(problem).polish(tree)


def test_time_budget_holds_and_still_helps() -> None:
    rng = np.random.default_rng(0)
    n_rows = 200_000
    codes = np.ascontiguousarray(rng.integers(0, 5000, (10, n_rows)), dtype=np.int32)
    codes[:, :5000] = np.arange(5000)
    y = ((codes[0] > 2000) ^ (codes[1] > 3000) ^ (rng.random(n_rows) < 0.1)).astype(np.int32)
    values = [np.arange(5000.0)] * 10
    tool = Engine(
        codes,
        values,
        y,
        2,
        None,
        max_changepoints=3,
        split_cost=1,
        changepoint_cost=1,
        scale=1.0,
        max_depth=6,
        candidates="adaptive",
        candidate_leaves=[6],
    ).polisher()
    start = time.monotonic()
    assert (tool.polish(LEAF, seconds=0.0) == LEAF).all()
    tool.polish(LEAF, seconds=0.05)
    assert time.monotonic() - start < 1.0
    assert len(tool.polish(LEAF)) > 1
