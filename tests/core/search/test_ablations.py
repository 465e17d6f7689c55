"""Every switch of the search reaches the same optimum; it only changes the way there."""

from __future__ import annotations

from itertools import product

import pytest

from tests.support.solver import oracle
from tests.support.solver.engines import proven_engine
from tests.support.solver.problems import MODES, random_problem
from tests.support.solver.trees import check_legal, objective

OR_SELECTIONS = ("informative", "admissible", "mixed")
AND_SELECTIONS = ("round_robin", "worst_primal", "worst_heuristic")
HEURISTICS = ("cart", "primal", "impurity")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("or_selection", "and_selection", "heuristic"), list(product(OR_SELECTIONS, AND_SELECTIONS, HEURISTICS))
)
def test_every_switch(mode: str, or_selection: str, and_selection: str, heuristic: str) -> None:
    for seed in range(24):
        problem = random_problem(seed, depth=3 + seed % 2, mode=mode)
        search = proven_engine(
            problem, or_selection=or_selection, and_selection=and_selection, heuristic=heuristic
        )
        assert search.upper == oracle.optimum(problem), problem.name
        nodes = search.nodes()
        assert objective(problem, nodes) == search.upper
        check_legal(problem, nodes)
