"""The oracle itself: known optima, an enumeration of every tree, and scikit-learn's CART."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.support.solver import oracle
from tests.support.solver.problems import Problem, random_problem, random_table, rank

PLAIN = Problem(
    codes=[],
    values=[],
    y=[],
    n_classes=2,
    weights=None,
    max_depth=1,
    max_changepoints=1,
    split_penalty=0.0,
    changepoint_penalty=0.0,
    candidates="all",
    candidate_leaves=[17],
)


def problem_of(columns: list[list[float | None]], y: list[int], **options: Any) -> Problem:
    encoded = [rank(column) for column in columns]
    return PLAIN.but(
        codes=[c for c, _ in encoded], values=[v for _, v in encoded], y=y, n_classes=max(y) + 1, **options
    )


XOR: list[list[float | None]] = [[0, 0, 1, 1], [0, 1, 0, 1]]
STRIPES: list[list[float | None]] = [[0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("mode", ["adaptive", "shape", "all"])
def test_exclusive_or_needs_two_levels(mode: str) -> None:
    problem = problem_of(XOR, [0, 1, 1, 0], candidates=mode)
    assert oracle.optimum(problem) == 2
    assert oracle.optimum(problem.but(max_depth=2)) == 0
    assert oracle.optimum(problem.but(max_depth=2, split_penalty=0.5)) == 1.5
    assert oracle.optimum(problem.but(max_depth=2, split_penalty=0.75)) == 2


def test_change_points_stand_for_levels() -> None:
    problem = problem_of(STRIPES, [0, 1, 0, 1, 0, 0])
    assert [oracle.optimum(problem.but(max_changepoints=k)) for k in (1, 2, 3, 4)] == [2, 1, 1, 0]
    assert oracle.optimum(problem.but(max_changepoints=4, changepoint_penalty=0.25)) == 0.75
    assert oracle.optimum(problem.but(max_changepoints=4, changepoint_penalty=0.25, split_penalty=1)) == 1.75
    assert oracle.optimum(problem.but(max_changepoints=4, changepoint_penalty=0.5, split_penalty=1)) == 2


def test_weights_and_classes() -> None:
    problem = problem_of([[0, 1, 2]], [0, 1, 2], weights=[0.5, 3.0, 0.25])
    assert oracle.optimum(problem) == 0.25
    assert oracle.optimum(problem.but(max_depth=2)) == 0


def test_missing_rows_join_the_better_side() -> None:
    problem = problem_of([[None, 1, 2, None]], [0, 0, 1, 0])
    assert oracle.optimum(problem) == 0
    assert oracle.optimum(problem.but(y=[1, 0, 1, 1])) == 0
    # Known values against missing ones needs the cut above every value.
    assert oracle.optimum(problem.but(y=[1, 0, 0, 1])) == 0
    assert oracle.optimum(problem.but(y=[1, 0, 0, 1], candidates="quantile", grid=[[1]])) == 0


def test_quantile_stays_on_its_grid() -> None:
    problem = problem_of(STRIPES, [0, 1, 1, 1, 1, 1], candidates="quantile", grid=[[3]])
    assert oracle.optimum(problem) == 1
    assert oracle.optimum(problem.but(grid=[[1, 3]])) == 0


def test_adaptive_is_held_to_its_leaves() -> None:
    # With two leaves the root may cut only where CART cuts first.
    problem = problem_of(
        STRIPES, [0, 1, 0, 1, 0, 0], max_depth=2, candidates="adaptive", candidate_leaves=[2]
    )
    assert oracle.optimum(problem) == 1
    assert oracle.optimum(problem.but(candidate_leaves=[6])) == 1
    assert oracle.optimum(problem.but(max_changepoints=3, candidate_leaves=[6])) == 0
    spaces = [oracle.optimum(problem.but(candidates=mode)) for mode in ("adaptive", "shape", "all")]
    assert spaces == sorted(spaces, reverse=True)


def sides(
    problem: Problem, rows: list[int], feature: int, chosen: tuple[int, ...]
) -> Iterator[list[list[int]]]:
    for missing_side in (0, 1):
        parts: list[list[int]] = [[], []]
        for row in rows:
            code = problem.codes[feature][row]
            parts[missing_side if code < 0 else len([c for c in chosen if c <= code]) % 2].append(row)
        if parts[0] and parts[1]:
            yield parts


def all_costs(problem: Problem, rows: list[int], depth: int) -> Iterator[float]:
    """The cost of every single tree of the space on these rows, one by one."""
    weight = problem.weights or [1.0] * problem.n_rows
    for label in range(problem.n_classes):
        yield sum(weight[row] for row in rows if problem.y[row] != label)
    if depth == problem.max_depth:
        return
    state = sum(1 << row for row in rows)
    cuts = oracle.candidates(oracle.Rows(problem), state, problem.max_depth - depth)
    for feature, positions in enumerate(cuts):
        for size in range(1, problem.max_changepoints + 1):
            for chosen in combinations(sorted(positions), size):
                for left, right in sides(problem, rows, feature, chosen):
                    rights = list(all_costs(problem, right, depth + 1))
                    own = problem.split_penalty + (size - 1) * problem.changepoint_penalty
                    for cost in all_costs(problem, left, depth + 1):
                        yield from (own + cost + other for other in rights)


@pytest.mark.parametrize("block", range(6))
def test_agrees_with_an_enumeration_of_every_tree(block: int) -> None:
    checked = 0
    for seed in range(block * 40, block * 40 + 40):
        rng = random.Random(seed)
        depth = rng.randint(1, 3)
        codes, values, y = random_table(rng, 4 if depth == 3 else 6, rng.randint(1, 2), 3, 4)
        problem = random_problem(seed, depth=depth).but(
            codes=codes, values=values, y=y, n_classes=3, max_changepoints=1 if depth == 3 else 2
        )
        weights = [rng.choice((0.5, 1.0, 2.5)) for _ in y] if rng.random() < 0.5 else None
        grid = [list(range(1, len(column))) for column in values] if problem.grid else None
        problem = problem.but(weights=weights, grid=grid)
        assert oracle.optimum(problem) == min(all_costs(problem, list(range(len(y))), 0)), seed
        checked += 1
    assert checked == 40


Split = tuple[frozenset[int], int, int]  # the two sides, feature, position


def sklearn_splits(problem: Problem, max_leaves: int) -> list[Split]:
    columns = [
        [np.nan if code < 0 else values[code] for code in column]
        for column, values in zip(problem.codes, problem.values, strict=True)
    ]
    features = np.array(columns).T
    model = DecisionTreeClassifier(criterion=problem.criterion, max_leaf_nodes=max_leaves, random_state=0)
    model.fit(features, problem.y, sample_weight=problem.weights)
    tree, reached = model.tree_, model.decision_path(features).toarray()
    rows = [sum(1 << row for row in np.flatnonzero(column).tolist()) for column in reached.T]
    splits: list[Split] = []
    for node, (feature, threshold) in enumerate(zip(tree.feature, tree.threshold, strict=True)):
        if feature >= 0:
            parts = frozenset({rows[tree.children_left[node]], rows[tree.children_right[node]]})
            position = sum(value <= threshold for value in problem.values[feature])
            splits.append((parts, int(feature), int(position)))
    return splits


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("missing", [False, True])
def test_cart_agrees_with_scikit_learn(criterion: str, missing: bool) -> None:
    same_feature = 0
    for seed in range(60):
        rng = random.Random(seed)
        n_rows = rng.randint(20, 150)
        columns: list[list[float | None]] = [
            [
                None if missing and rng.random() < 0.2 else float(rng.choice([0, 1, 2, 4, 8, 16, 32]))
                for _ in range(n_rows)
            ]
            for _ in range(3)
        ]
        y = [rng.randrange(3) for _ in range(n_rows)]
        # Weights of many digits leave no ties but between cuts that part the rows in the same way.
        weights = [float(rng.randint(100_000, 1_000_000)) for _ in y]
        problem = problem_of(columns, y, weights=weights, criterion=criterion)
        data = oracle.Rows(problem)
        leaves = rng.randint(2, 7)
        ours = {
            frozenset(split[2:]): split[:2] for split in oracle.cart(data, data.everyone, [0, 1, 2], leaves)
        }
        theirs = sklearn_splits(problem, leaves)
        assert set(ours) == {parts for parts, _, _ in theirs}, seed
        for parts, feature, position in theirs:
            if ours[parts][0] == feature:
                same_feature += 1
                assert ours[parts][1] == position, seed
    assert same_feature > 100
