"""The search against the compiled oracle, on problems of 14 to 40 rows and depth 3 and 4.

Many prunes hardly act on the problems that the naive oracle can solve; here they do.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from literati._engine._checkpoint import HEADER

from tests.support.solver import mask_oracle
from tests.support.solver.engines import EXPANSION_LIMIT, PATIENCE, PROVEN, engine, proven_engine
from tests.support.solver.mask_oracle import MaskOracle
from tests.support.solver.problems import MODES, Problem, larger_problem, random_table
from tests.support.solver.trees import check_legal, check_shape, objective, rows_by_node, subtree_objective

pytestmark = pytest.mark.slow

BLOCK = 75


@pytest.mark.parametrize("block", range(2))
@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("mode", MODES)
def test_the_optimum_is_found(mode: str, depth: int, block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = larger_problem(seed, depth=depth, mode=mode)
        search = proven_engine(problem)
        assert search.upper == mask_oracle.optimum(problem), problem.name
        nodes = search.nodes()
        assert objective(problem, nodes) == search.upper, problem.name
        check_shape(problem, nodes)


@pytest.mark.parametrize("mode", ["adaptive", "shape"])
def test_choices_that_are_refined(mode: str) -> None:
    """At depth left 4, choices begin with one change point; those with more come by refinement."""
    for seed in (14, 84, 163, 200, 201):
        problem = larger_problem(seed, depth=4, mode=mode).but(max_changepoints=2 + seed % 2)
        assert proven_engine(problem).upper == mask_oracle.optimum(problem), problem.name


@pytest.mark.parametrize("mode", ["quantile", "all"])
def test_two_change_points_over_every_cut(mode: str) -> None:
    """Gaps between tried change points: their bounds decide what is opened at depth left 3 and more."""
    rng = random.Random(3)
    for seed in range(150):
        rows = rng.randint(20, 40)
        codes, values, _ = random_table(rng, rows, 2, 2, 20, 12)
        problem = larger_problem(seed, depth=3, mode=mode).but(
            codes=codes,
            values=values,
            y=[rng.randrange(2) for _ in range(rows)],
            n_classes=2,
            weights=[float(rng.randint(1, 30)) for _ in range(rows)] if seed % 2 else None,
            max_changepoints=2,
            changepoint_penalty=rng.choice((0.0, 0.25, 1.0, 2.0)),
            candidate_leaves=[17],
            grid=[list(range(1, len(column))) for column in values] if mode == "quantile" else None,
            name=f"noise {seed}",
        )
        assert proven_engine(problem).upper == mask_oracle.optimum(problem), problem.name


def banded(rng: random.Random, codes: list[list[int]], top: int) -> list[int]:
    """Labels that say in how many of two bands of values a row lies, with some noise."""
    rows = len(codes[0])
    bands = [(rng.choice(codes), sorted(rng.sample(range(-1, top), 2))) for _ in range(2)]
    y = [sum(low < column[row] <= high for column, (low, high) in bands) % 2 for row in range(rows)]
    y = [label ^ (rng.random() < 0.08) for label in y]
    return y if len(set(y)) > 1 else [1 - y[0], *y[1:]]


def test_bands_with_penalties() -> None:
    """A second change point that costs more than some errors: the gaps' bounds must not count it twice."""
    rng = random.Random(11)
    for seed in range(250):
        codes, values, _ = random_table(rng, rng.randint(24, 40), 2, 2, 18, 10)
        problem = larger_problem(seed, depth=3, mode="all").but(
            codes=codes,
            values=values,
            y=banded(rng, codes, 18),
            n_classes=2,
            weights=None,
            max_changepoints=2 + seed % 2,
            split_penalty=rng.choice((0.0, 0.5, 1.0, 1.5)),
            changepoint_penalty=rng.choice((0.5, 1.0, 2.0)),
            candidate_leaves=[2],
            name=f"bands {seed}",
        )
        assert proven_engine(problem).upper == mask_oracle.optimum(problem), problem.name


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("mode", ["quantile", "all"])
def test_thresholds_of_many_values(mode: str, depth: int) -> None:
    """One change point and up to 60 values a feature: runs of positions beside dear ones are cut off."""
    rng = random.Random(4)
    for seed in range(60):
        rows, values_each = (60, 60) if depth == 3 else (40, 14)
        codes, values, _ = random_table(rng, rows, 2, 2, values_each, values_each // 2)
        problem = larger_problem(seed, depth=depth, mode=mode).but(
            codes=codes,
            values=values,
            y=[rng.randrange(2 + seed % 2) for _ in range(rows)],
            n_classes=2 + seed % 2,
            weights=[float(rng.randint(4, 7)) for _ in range(rows)] if seed % 3 == 0 else None,
            max_changepoints=1,
            split_penalty=rng.choice((0.0, 0.5)),
            candidate_leaves=[2],
            grid=[list(range(1, len(column))) for column in values] if mode == "quantile" else None,
            name=f"thresholds {seed}",
        )
        assert proven_engine(problem).upper == mask_oracle.optimum(problem), problem.name


@pytest.mark.parametrize("mode", MODES)
def test_a_column_that_has_a_value_or_none(mode: str) -> None:
    """The cut behind all values parts the rows without one; a column of one value has no other."""
    rng = random.Random(6)
    for seed in range(120):
        rows = rng.randint(20, 40)
        codes, values, _ = random_table(rng, rows, 2, 2, 6)
        some = [rng.choice((-1, 0)) for _ in range(rows)]
        some[:2] = [-1, 0]
        problem = larger_problem(seed, depth=3, mode=mode).but(
            codes=[*codes, some],
            values=[*values, [1.0]],
            y=[rng.randrange(2) for _ in range(rows)],
            n_classes=2,
            weights=None,
            max_changepoints=1 + seed % 2,
            grid=[list(range(1, len(column))) for column in (*values, [1.0])] if mode == "quantile" else None,
            name=f"one value {seed}",
        )
        assert proven_engine(problem).upper == mask_oracle.optimum(problem), problem.name


SWITCHES: list[dict[str, Any]] = [
    {"or_selection": "admissible", "heuristic": "primal"},
    {"and_selection": "worst_primal", "heuristic": "impurity"},
    {"and_selection": "worst_heuristic"},
]


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: "-".join(switch.values()))
@pytest.mark.parametrize("mode", MODES)
def test_every_switch_finds_the_optimum(mode: str, switch: dict[str, Any]) -> None:
    for seed in range(1000, 1030):
        problem = larger_problem(seed, mode=mode)
        assert proven_engine(problem, **switch).upper == mask_oracle.optimum(problem), problem.name


def long_problems(mode: str, count: int, first: int) -> list[Problem]:
    """Problems that take the search a few expansions."""
    found: list[Problem] = []
    for seed in range(first, first + 2000):
        problem = larger_problem(seed, mode=mode)
        if proven_engine(problem).expansions >= 3:
            found.append(problem)
        if len(found) == count:
            return found
    raise AssertionError(f"only {len(found)} of 2000 problems take the search three expansions")


@pytest.mark.parametrize("mode", MODES)
def test_bounds_and_nodes_are_true_at_every_step(mode: str) -> None:
    """After each expansion, including those of the warm-up: the root's bounds and what each node claims."""
    for problem in long_problems(mode, 15, 2000):
        exact = MaskOracle(problem)
        best = exact.optimum()
        search, status, limit = engine(problem), EXPANSION_LIMIT, 0
        upper, lower = float("inf"), 0.0
        while status != PROVEN and limit < 300:
            status = search.run(PATIENCE, max_expansions=limit)
            limit += 1 if limit < 20 else 20
            assert lower <= search.lower <= best <= search.upper <= upper, problem.name
            upper, lower = search.upper, search.lower
            nodes = search.nodes()
            assert objective(problem, nodes) == upper
            states = [sum(1 << row for row in rows) for rows in rows_by_node(problem, nodes)]
            left = {0: problem.max_depth}
            for at, node in enumerate(nodes):
                if int(node["feature"]) >= 0:
                    left |= {int(node[child]): left[at] - 1 for child in ("left", "right")}
                value = exact.value(states[at], left[at])
                assert node["lower_bound"] <= value, problem.name
                if node["proven"]:
                    assert subtree_objective(problem, nodes, at) == value, problem.name


def interrupted(problem: Problem, best: float, rng: random.Random, most: int) -> Any:
    """A search that was stopped and taken up again at random moments; it has not ended."""
    search = engine(problem)
    for _ in range(rng.randint(1, 4)):
        limit = search.expansions + rng.randint(0, most)
        search.run(PATIENCE, max_expansions=limit)
        assert search.lower <= best <= search.upper, problem.name
        resumed = engine(problem)
        resumed.restore(search.checkpoint(max_bytes=rng.choice((1 << 10, 1 << 13, 16 << 20))))
        assert search.lower <= resumed.lower <= best <= resumed.upper <= search.upper, problem.name
        search = resumed
    return search


@pytest.mark.parametrize("mode", MODES)
def test_resumes_at_random_moments_end_at_the_optimum(mode: str) -> None:
    rng = random.Random(5)
    for problem in long_problems(mode, 40, 5000):
        best = mask_oracle.optimum(problem)
        search = interrupted(problem, best, rng, max(1, proven_engine(problem).expansions // 2))
        assert search.run(PATIENCE) == PROVEN, problem.name
        assert search.upper == search.lower == best, problem.name
        nodes = search.nodes()
        assert objective(problem, nodes) == best, problem.name
        check_legal(problem, nodes)


@pytest.mark.parametrize("mode", ["quantile", "all"])
def test_a_checkpoint_of_the_warm_up_proves_nothing(mode: str) -> None:
    """The warm-up searches few candidates. What it proves of them must not come back as the space's bound."""
    resumes = 0
    for seed in range(8000, 8040):
        problem = larger_problem(seed, mode=mode).but(
            candidate_leaves=[3],
            max_changepoints=2,
            weights=None,
            split_penalty=0.0,
            changepoint_penalty=0.0,
        )
        best = mask_oracle.optimum(problem)
        for limit in (1, 2, 4, 8):
            search = engine(problem)
            if search.run(PATIENCE, max_expansions=limit) == PROVEN:
                break
            blob = search.checkpoint()
            assert np.frombuffer(blob, HEADER, 1)["lower"] <= best, problem.name  # costs are rows here
            resumed = engine(problem)
            resumed.restore(blob)
            resumes += 1
            assert search.lower <= resumed.lower <= best, problem.name
            assert resumed.run(PATIENCE) == PROVEN
            assert resumed.upper == best, problem.name
    assert resumes > 50
