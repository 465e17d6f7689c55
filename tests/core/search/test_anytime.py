"""What the search says between its first report and its proof is always true."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from tests.support.solver import oracle
from tests.support.solver.engines import EXPANSION_LIMIT, GAP_REACHED, PATIENCE, PROVEN, engine, proven_engine
from tests.support.solver.problems import MODES, Problem, random_problem
from tests.support.solver.trees import check_legal, objective, rows_by_node, subtree_objective

SWITCHES: list[dict[str, Any]] = [
    {},
    {"or_selection": "informative"},
    {"or_selection": "admissible", "heuristic": "primal"},
    {"and_selection": "worst_primal", "heuristic": "impurity"},
    {"and_selection": "worst_heuristic"},
]


def hard_problems(mode: str, count: int) -> list[Problem]:
    """Problems that take the search a few expansions."""
    found: list[Problem] = []
    for seed in range(10_000, 11_000):
        problem = random_problem(seed, depth=3 + seed % 2, mode=mode)
        if proven_engine(problem).expansions >= 3:
            found.append(problem)
        if len(found) == count:
            return found
    raise AssertionError(f"only {len(found)} of 1000 problems take the search three expansions")


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: "-".join(switch.values()) or "default")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_bounds_hold_at_every_step(mode: str, switch: dict[str, Any]) -> None:
    for problem in hard_problems(mode, 12):
        best = oracle.optimum(problem)
        search = engine(problem, **switch)
        upper, lower, limit = float("inf"), 0.0, 0
        while True:
            status = search.run(PATIENCE, max_expansions=limit)
            assert lower <= search.lower <= best <= search.upper <= upper, problem.name
            upper, lower = search.upper, search.lower
            nodes = search.nodes()
            assert objective(problem, nodes) == upper
            check_legal(problem, nodes)
            if status == PROVEN:
                break
            assert status == EXPANSION_LIMIT
            assert search.expansions == limit
            limit += 1
        assert upper == lower == best


@pytest.mark.parametrize("mode", MODES)
def test_bounds_are_true_before_the_first_step(mode: str) -> None:
    for seed in range(50):
        problem = random_problem(seed, mode=mode)
        search = engine(problem)
        assert search.lower <= oracle.optimum(problem) <= search.upper
        assert objective(problem, search.nodes()) == search.upper


@pytest.mark.parametrize("mode", MODES)
def test_what_nodes_claim_is_true(mode: str) -> None:
    proven = 0
    for problem in hard_problems(mode, 8):
        value = oracle.state_values(problem)
        search = engine(problem)
        limit, status = 1, EXPANSION_LIMIT
        while status != PROVEN:
            status = search.run(PATIENCE, max_expansions=limit)
            limit += 1
            nodes = search.nodes()
            states = [sum(1 << row for row in rows) for rows in rows_by_node(problem, nodes)]
            depth_left = {0: problem.max_depth}
            for at, node in enumerate(nodes):
                for child in (int(node["left"]), int(node["right"])):
                    if int(node["feature"]) >= 0:
                        depth_left[child] = depth_left[at] - 1
                best = value(states[at], depth_left[at])
                assert node["lower_bound"] <= best
                if node["proven"]:
                    proven += 1
                    assert subtree_objective(problem, nodes, at) == best
        assert nodes[0]["proven"]
        assert nodes[0]["lower_bound"] == search.upper
    assert proven > 0


def steps(search: Any) -> list[tuple[int, float, float]]:
    trace = search.trace()
    seconds = trace["seconds"]
    assert (np.diff(seconds) >= 0).all()
    return [(int(point["expansions"]), float(point["upper"]), float(point["lower"])) for point in trace]


@pytest.mark.parametrize("mode", MODES)
def test_runs_repeat_exactly(mode: str) -> None:
    for problem in hard_problems(mode, 10):
        first, second = proven_engine(problem), proven_engine(problem)
        assert steps(first) == steps(second)
        assert (first.nodes() == second.nodes()).all()
        assert first.expansions == second.expansions
        # In slices the search takes the same steps, so a run stopped by time can be repeated by its count.
        sliced = engine(problem)
        while sliced.run(0.0, clock=perf_counter()) != PROVEN:
            pass
        assert (sliced.nodes() == first.nodes()).all()
        assert sliced.expansions == first.expansions
        assert steps(sliced) == steps(first)
        for limit in {expansions for expansions, _, _ in steps(first)}:
            counted = engine(problem)
            counted.run(PATIENCE, max_expansions=limit)
            assert counted.expansions == limit
            assert steps(counted) == steps(first)[: len(steps(counted))]
        stopped = engine(problem)
        stopped.run(PATIENCE, max_expansions=2)
        again = engine(problem)
        again.run(PATIENCE, max_expansions=2)
        assert (stopped.nodes() == again.nodes()).all()
        assert (stopped.upper, stopped.lower) == (again.upper, again.lower)


@pytest.mark.parametrize("mode", MODES)
def test_trace_is_monotone_and_ends_in_the_result(mode: str) -> None:
    for problem in hard_problems(mode, 10):
        search = proven_engine(problem)
        points = steps(search)
        for (n, upper, lower), (next_n, next_upper, next_lower) in pairwise(points):
            assert n <= next_n
            assert next_upper <= upper
            assert next_lower >= lower
        assert points[-1][1:] == (search.upper, search.lower)
        assert all(lower <= upper for _, upper, lower in points)


def test_gaps_stop_the_search_without_a_claim() -> None:
    reached = 0
    for mode in MODES:
        for problem in hard_problems(mode, 10):
            best = oracle.optimum(problem)
            for gap, gap_absolute in ((0.5, 0.0), (0.0, 1.0)):
                search = engine(problem)
                status = search.run(PATIENCE, gap=gap, gap_absolute=gap_absolute)
                assert search.lower <= best <= search.upper
                if status == GAP_REACHED:
                    reached += 1
                    assert not search.proven
                    assert search.upper - search.lower <= max(gap * search.upper, gap_absolute)
                else:
                    assert status == PROVEN
    assert reached > 0
