"""Engine.widen: each space contains the one before, and each stage is proven at the optimum of the oracle."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from literati.search.stages import SPACES
from tests.support.solver import oracle
from tests.support.solver.engines import PATIENCE, PROVEN, engine
from tests.support.solver.problems import Problem, larger_problem, random_problem
from tests.support.solver.trees import check_legal, objective

WORK_LIMIT = 7
# Few leaves, so that the spaces differ on small problems too.
SMALL = (("adaptive", [2]), ("adaptive", [3]), ("shape", [3]), ("shape", [4]), ("all", [2]))
LARGEST = ("shape", [4])


def in_space(problem: Problem, space: tuple[str, list[int]]) -> Problem:
    return problem.but(candidates=space[0], candidate_leaves=space[1], grid=None)


def start(problem: Problem, **options: Any) -> Any:
    return engine(in_space(problem, SMALL[0]), largest_space=LARGEST, **options)


def widen(search: Any, stage: int, nodes: Any = None, upper: float | None = None) -> None:
    nodes = search.nodes() if nodes is None else nodes
    search.widen(*SMALL[stage], nodes, search.upper if upper is None else upper, stage)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_every_stage_ends_at_its_optimum(depth: int) -> None:
    better = 0
    for seed in range(120):
        problem = random_problem(seed, depth=depth, mode="adaptive")
        search = start(problem)
        optima: list[float] = []
        for stage, space in enumerate(SMALL):
            if stage:
                widen(search, stage)
                assert (search.stage, search.upper) == (stage, optima[-1])
                check_legal(in_space(problem, ("all", [2])), search.nodes())
            assert search.run(PATIENCE) == PROVEN
            optima.append(search.upper)
            expected = oracle.optimum(in_space(problem, space))
            assert search.upper == search.lower == expected, (problem.name, space)
            assert objective(problem, search.nodes()) == search.upper
        assert sorted(optima, reverse=True) == optima
        better += optima[-1] < optima[0]
    assert better > 5 or depth == 1, "the problems must tell the spaces apart"


def test_each_space_contains_the_one_before() -> None:
    """Every split of rows is allowed in the wider space too, at no larger penalty, for any set of rows."""
    rng = random.Random(0)
    spaces = [SMALL, [(mode, [leaves]) for mode, leaves in SPACES]]
    wider = 0
    for seed in range(150):
        problem = random_problem(seed, depth=3, mode="all")
        for narrow, wide in (pair for chain in spaces for pair in pairwise(chain)):
            for depth_left in (1, 2, 3):
                rows = rng.getrandbits(problem.n_rows)
                found = []
                for space in (narrow, wide):
                    data = oracle.Rows(in_space(problem, space))
                    cuts = oracle.candidates(data, rows, depth_left)
                    found.append(oracle.splits(data, rows, cuts))
                less, more = found
                assert less.keys() <= more.keys()
                assert all(more[side] <= penalty for side, penalty in less.items())
                wider += len(more) > len(less)
    assert wider > 100


def test_bounds_bracket_the_optimum_within_a_stage_and_the_trace_tells_the_stage() -> None:
    for seed in range(40):
        problem = random_problem(seed, depth=3 + seed % 2, mode="shape")
        search = start(problem)
        for stage, space in enumerate(SMALL):
            if stage:
                widen(search, stage)
            optimum = oracle.optimum(in_space(problem, space))
            expansions = search.expansions
            while not search.proven:
                assert search.lower <= optimum <= search.upper
                expansions += 1
                search.run(PATIENCE, expansions)
            search.run(PATIENCE)
        trace = search.trace()
        assert sorted(set(trace["stage"])) == list(range(len(SMALL)))
        assert (np.diff(trace["stage"]) >= 0).all()
        assert (np.diff(trace["upper"]) <= 0).all()
        assert (np.diff(trace["expansions"]) >= 0).all()
        for stage in range(len(SMALL)):
            rows = trace[trace["stage"] == stage]
            assert (np.diff(rows["lower"]) >= 0).all()


def test_a_stage_that_is_left_early_begins_the_next_with_its_tree() -> None:
    left = 0
    for seed in range(60):
        problem = random_problem(seed, depth=4, mode="all")
        search = start(problem)
        left += search.run(PATIENCE, 1) != PROVEN
        upper, first = search.upper, search.first_lower
        widen(search, len(SMALL) - 1)
        assert (search.upper, search.lower) == (upper, min(upper, first))
        assert search.run(PATIENCE) == PROVEN
        assert search.upper == oracle.optimum(in_space(problem, SMALL[-1]))
    assert left > 10


def test_a_checkpoint_of_a_stage_continues_in_that_stage_only() -> None:
    for seed in range(20):
        problem = random_problem(seed, depth=4, mode="adaptive")
        search = start(problem)
        assert search.run(PATIENCE) == PROVEN
        widen(search, 2)
        search.run(PATIENCE, search.expansions + 2)
        blob = search.checkpoint()
        again = engine(in_space(problem, SMALL[2]), largest_space=LARGEST, stage=2)
        again.restore(blob)
        assert (again.upper, again.lower, again.stage) == (search.upper, search.lower, 2)
        assert again.first_lower == search.first_lower, "a proof of one stage does not hold in the next"
        widen(again, 4)
        counted = again.expansions
        assert again.run(PATIENCE) == PROVEN
        assert again.upper == oracle.optimum(in_space(problem, SMALL[4]))
        whole = engine(in_space(problem, SMALL[4]))
        whole.run(PATIENCE)
        assert again.upper == whole.upper
        assert again.expansions > counted or whole.expansions == 0 or again.upper == again.first_lower
        with pytest.raises(ValueError, match="the checkpoint belongs to another search: options"):
            start(problem).restore(blob)


def test_the_work_limit_ends_a_run_at_the_same_step_in_any_slices() -> None:
    problem = larger_problem(6, depth=4, mode="adaptive").but(split_penalty=0.0)
    whole = engine(in_space(problem, ("adaptive", [4])))
    assert whole.run(PATIENCE, max_work=0) == WORK_LIMIT
    assert whole.expansions == 0
    assert whole.upper < objective(problem, engine(problem).nodes()), "the CART of the root comes first"
    limit = 4 * whole.work
    assert whole.run(PATIENCE, max_work=limit) == WORK_LIMIT
    sliced = engine(in_space(problem, ("adaptive", [4])))
    while (status := sliced.run(0.0, max_work=limit)) != WORK_LIMIT:
        assert status == 0
    assert (sliced.work, sliced.expansions, sliced.upper) == (whole.work, whole.expansions, whole.upper)
    assert whole.run(PATIENCE, max_work=-1) == PROVEN


def test_nodes_that_are_no_tree_are_refused() -> None:
    problem = random_problem(5, depth=3, mode="adaptive")
    search = start(problem)
    search.run(PATIENCE)
    nodes = search.nodes()
    assert len(nodes) > 3
    before = (search.upper, search.lower, search.stage)
    wrong = []
    for field, value in (
        ("feature", 99),
        ("left", 0),
        ("right", len(nodes)),
        ("right", 1),
        ("n_changepoints", 0),
        ("n_changepoints", problem.max_changepoints + 1),
        ("changepoints", 0),
        ("changepoints", 1 << 20),
        ("missing_right", 2),
    ):
        changed = nodes.copy()
        changed[field][0] = value
        wrong.append(changed)
    wrong += [nodes[:-1], np.concatenate([nodes, nodes[-1:]]), nodes[:0]]
    for changed in wrong:
        with pytest.raises(ValueError, match="nodes: "):
            widen(search, 1, changed)
    assert (search.upper, search.lower, search.stage) == before
    widen(search, 1, nodes)
    assert search.run(PATIENCE) == PROVEN


def test_without_memory_for_the_tree_nothing_changes() -> None:
    problem = random_problem(5, depth=3, mode="adaptive")
    search = start(problem)
    search.run(PATIENCE)
    nodes = search.nodes()
    before = (search.upper, search.lower, search.stage, search.bytes)
    search.fail_allocations(0)
    with pytest.raises(MemoryError, match="no memory for the tree"):
        widen(search, 1, nodes)
    assert (search.upper, search.lower, search.stage, search.bytes) == before
    widen(search, 1, nodes)
    assert search.run(PATIENCE) == PROVEN


def test_memory_is_freed_between_stages() -> None:
    problem = random_problem(8, depth=4, mode="adaptive")
    search = start(problem)
    fixed = search.fixed_bytes
    for stage in range(1, len(SMALL)):
        search.run(PATIENCE, search.expansions + 5)
        widen(search, stage)
        # What is left is the tree and the empty table of the cache.
        assert search.states_live == 1
        assert search.bytes <= fixed + 64 * 128
