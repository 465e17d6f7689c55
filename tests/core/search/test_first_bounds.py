"""The bounds before the first step: as tight as the formula from class weights says, and true."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.support.solver import mask_oracle
from tests.support.solver.engines import engine
from tests.support.solver.problems import MODES, Problem, larger_problem, random_problem


def bound_from_classes(problem: Problem) -> float:
    """The least cost of l leaves: l - 1 splits, and every row outside the l heaviest classes wrong.

    Of rows with equal features only those of one class can be right, whatever the tree.
    """
    weights = problem.weights or [1.0] * problem.n_rows
    classes: dict[int, float] = defaultdict(float)
    alike: dict[tuple[int, ...], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, (label, weight) in enumerate(zip(problem.y, weights, strict=True)):
        classes[label] += weight
        alike[tuple(column[row] for column in problem.codes)][label] += weight
    lost = sum(sum(group.values()) - max(group.values()) for group in alike.values())
    heaviest = sorted(classes.values(), reverse=True)
    return min(
        (leaves - 1) * problem.split_penalty + max(sum(heaviest[leaves:]), lost)
        for leaves in range(1, min(2**problem.max_depth, len(heaviest)) + 1)
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_the_first_lower_bound_is_that_of_the_classes(mode: str) -> None:
    for seed in range(100):
        for problem in (random_problem(seed, mode=mode), larger_problem(seed, mode=mode)):
            if problem.n_rows > mask_oracle.MOST_ROWS:
                continue
            bound = bound_from_classes(problem)
            assert bound <= engine(problem).lower <= mask_oracle.optimum(problem), problem.name


def test_many_classes_on_few_leaves_are_bounded_at_once() -> None:
    """Eight classes of equal weight, four leaves: half of the rows are wrong."""
    problem = random_problem(0, depth=2, mode="all").but(
        codes=[list(range(16))],
        values=[[float(i) for i in range(16)]],
        y=[i // 2 for i in range(16)],
        n_classes=8,
        weights=None,
        split_penalty=0.5,
    )
    search = engine(problem)
    assert search.lower == 8 + 3 * 0.5
    assert search.upper >= search.lower
