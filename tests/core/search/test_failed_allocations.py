"""An allocation that fails anywhere ends in a result or a retry, never in a wrong bound or a loop."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from literati._engine._engine import Engine

from tests.support.solver import oracle
from tests.support.solver.engines import MEMORY_LIMIT, PATIENCE, PROVEN, engine, proven_engine
from tests.support.solver.problems import MODES, Problem, random_problem
from tests.support.solver.trees import check_legal, objective

NEVER = 1 << 40
ALL_OF_THEM = 1 << 40
SOME = 60  # places tried in a run that has many


def problems(mode: str) -> list[Problem]:
    """Problems with some expansions, with and without missing values, of two and of more classes."""
    found = []
    for seed in itertools.count(500):
        problem = random_problem(seed, depth=2 + seed % 3, mode=mode)
        if problem.max_changepoints > 1 and proven_engine(problem).expansions >= 2:
            found.append(problem)
        if len(found) == 4:
            return found
    raise AssertionError


def allocations(problem: Problem) -> int:
    """How many a run to the proof makes."""
    search = engine(problem)
    search.fail_allocations(NEVER)
    assert search.run(PATIENCE) == PROVEN
    return NEVER - int(search.allocations_left)


def places(n: int) -> list[int]:
    """All of the first ones, and some of the others."""
    return sorted({*range(min(n, SOME)), *range(0, n, max(1, n // SOME))})


def check(search: Any, problem: Problem, best: float) -> None:
    assert search.lower <= best <= search.upper
    search.fail_allocations(0, 0)
    nodes = search.nodes()
    assert objective(problem, nodes) == search.upper
    check_legal(problem, nodes)


@pytest.mark.parametrize("mode", MODES)
def test_one_that_fails_is_made_up_for(mode: str) -> None:
    for problem in problems(mode):
        best = oracle.optimum(problem)
        for place in places(allocations(problem)):
            search = engine(problem)
            search.fail_allocations(place)
            status = search.run(PATIENCE)
            assert status in (PROVEN, MEMORY_LIMIT), (problem.name, place)
            check(search, problem, best)
            if status == MEMORY_LIMIT:
                assert search.run(PATIENCE) == PROVEN, (problem.name, place)
            assert search.lower == search.upper == best, (problem.name, place)


@pytest.mark.parametrize("mode", MODES)
def test_from_then_on_all_fail(mode: str) -> None:
    """The search ends by its memory limit, or with the proof; when there is memory again it goes on."""
    ended = 0
    for problem in problems(mode):
        best = oracle.optimum(problem)
        for place in places(allocations(problem)):
            search = engine(problem)
            search.fail_allocations(place, ALL_OF_THEM)
            status = search.run(PATIENCE)
            assert status in (PROVEN, MEMORY_LIMIT), (problem.name, place)
            ended += status == MEMORY_LIMIT
            check(search, problem, best)
            assert search.run(PATIENCE) == PROVEN
            assert search.lower == search.upper == best, (problem.name, place)
    assert ended > 20


def test_a_solve_of_depth_two_that_needs_more_room_is_not_retried_for_ever() -> None:
    """With this many columns its list of intervals has to grow in the middle of the solve."""
    rng = np.random.default_rng(0)
    columns = [np.argsort(np.argsort(rng.random(30))) for _ in range(300)]

    def search() -> Any:
        return Engine(
            np.array(columns),
            [np.arange(30.0)] * 300,
            np.arange(30) % 2,
            2,
            max_depth=2,
            max_changepoints=1,
            candidates="all",
            candidate_leaves=[17],
        )

    whole = search()
    whole.fail_allocations(NEVER)
    assert whole.run(PATIENCE) == PROVEN
    made = NEVER - int(whole.allocations_left)
    short_of_memory = 0
    for place in range(made):
        for count in (1, ALL_OF_THEM):
            failing = search()
            failing.fail_allocations(place, count)
            status = failing.run(PATIENCE)
            assert status in (PROVEN, MEMORY_LIMIT), (place, count)
            short_of_memory += status == MEMORY_LIMIT
            failing.fail_allocations(0, 0)
            assert failing.run(PATIENCE) == PROVEN
            assert failing.upper == whole.upper
    assert short_of_memory > 3
