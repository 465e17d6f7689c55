"""Numbers and sizes at the edge of what the engine's integers and its memory hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support.solver.engines import EXPANSION_LIMIT, MEMORY_LIMIT, PATIENCE, PROVEN, engine
from tests.support.solver.problems import Problem, rank


def parity(n_rows: int, n_features: int, seed: int, **options: Any) -> Problem:
    """Two classes by the parity of thresholds, some labels turned over: greedy trees see nothing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_features, n_rows))
    y = (x[0] > 0) ^ (x[1 % n_features] > 0.3) ^ (rng.random(n_rows) < 0.1)
    coded = [rank(column) for column in x.tolist()]
    given: dict[str, Any] = {
        "weights": None,
        "max_depth": 3,
        "max_changepoints": 1,
        "split_penalty": 0.0,
        "changepoint_penalty": 0.0,
        "candidates": "adaptive",
        "candidate_leaves": [9],
    }
    return Problem(
        codes=[codes for codes, _ in coded],
        values=[values for _, values in coded],
        y=y.astype(int).tolist(),
        n_classes=2,
        **given | options,
    )


def test_many_change_points_are_not_opened_all_at_once() -> None:
    rng = np.random.default_rng(0)
    problem = parity(400, 1, 0, max_changepoints=3, candidate_leaves=[101])
    problem = problem.but(y=rng.integers(0, 2, 400).tolist())
    search = engine(problem)
    assert search.run(PATIENCE, max_expansions=1) == EXPANSION_LIMIT
    assert 2 * 100 < search.states_live < 40_000  # of 170 000 shape functions, with two children each


def test_as_many_leaves_as_there_are_rows() -> None:
    problem = parity(60, 2, 1, max_depth=2)
    few, many = (engine(problem.but(candidate_leaves=[leaves])) for leaves in (60, 1 << 20))
    assert few.bytes == many.bytes
    assert (few.run(PATIENCE), many.run(PATIENCE)) == (PROVEN, PROVEN)
    assert few.upper == many.upper


def test_memory_that_the_data_all_but_fills() -> None:
    problem = parity(1500, 6, 4, max_depth=6, candidate_leaves=[7])
    free = engine(problem)
    fixed = free.bytes
    assert free.run(PATIENCE) == PROVEN
    limit = fixed + fixed // 5
    tight = engine(problem, memory_limit=limit)
    status = 0
    while status == 0:
        status = tight.run(0.001, max_expansions=10 * free.expansions)
        assert tight.bytes <= limit
    assert status == PROVEN
    assert tight.upper == free.upper


def test_the_rows_of_a_whole_path_stay_under_the_limit() -> None:
    problem = parity(2000, 20, 5, max_depth=7, candidate_leaves=[3])
    fixed = engine(problem).bytes
    for share in (20, 10, 5):
        limit = fixed + fixed // share
        search = engine(problem, memory_limit=limit)
        for _ in range(200):
            status = search.run(0.0)
            assert search.bytes <= limit
            if status in (PROVEN, MEMORY_LIMIT):
                break
        assert search.lower <= search.upper
