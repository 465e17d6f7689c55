"""Every value and lower bound that a search keeps for some rows, against the oracle's value of these rows.

A bound that is too high need not spoil the tree that is found at the end, so a test of the optimum alone may
not notice it. A checkpoint holds the bounds of all states with the hash of their rows; on few rows the rows
can be told from the hash.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from literati._engine._checkpoint import HEADER, NODE, VALUE
from literati._engine._engine import _row_hashes

from literati.search.costs import choose_scale
from tests.support.solver.engines import PROVEN, engine
from tests.support.solver.mask_oracle import MaskOracle
from tests.support.solver.problems import MODES, Problem, larger_problem, random_table

ROWS = 18


class Subsets:
    """All subsets of so many rows, found by their hash."""

    def __init__(self, n_rows: int) -> None:
        sums = np.zeros(1, dtype=np.uint64)
        for value in _row_hashes(n_rows)[::2]:
            sums = np.concatenate([sums, sums + value])
        self._order = np.argsort(sums)
        self._sums = sums[self._order]

    def rows(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        places = np.searchsorted(self._sums, hashes)
        assert (self._sums[places] == hashes).all(), "a hash of no rows"
        return self._order[places]


@pytest.fixture(scope="module")
def subsets() -> Subsets:
    return Subsets(ROWS)


def kept_values(blob: bytes) -> npt.NDArray[Any]:
    head = np.frombuffer(blob, HEADER, 1)[0]
    start = HEADER.itemsize + int(head["tree_nodes"]) * NODE.itemsize + 8 * int(head["steps"])
    return np.frombuffer(blob, VALUE, int(head["values"]), start)


def problem_of(seed: int, mode: str, depth: int, rng: random.Random) -> Problem:
    """A problem whose splits cost much, so that many states are pruned before they are solved."""
    distinct, n_classes = (14, 2 + seed % 2) if depth == 3 else (8, 4)
    codes, values, _ = random_table(rng, ROWS, 2, 2, distinct, distinct - 2)
    return larger_problem(seed, depth=depth, mode=mode).but(
        codes=codes,
        values=values,
        y=[rng.randrange(n_classes) for _ in range(ROWS)],
        n_classes=n_classes,
        weights=[float(rng.randint(1, 30)) for _ in range(ROWS)] if seed % 2 else None,
        max_changepoints=1 + seed % 3,
        split_penalty=rng.choice((0.0, 0.5, 1.0, 1.5)),
        changepoint_penalty=rng.choice((0.0, 0.25)),
        candidate_leaves=[9],
        grid=[list(range(1, len(column))) for column in values] if mode == "quantile" else None,
        name=f"{mode} depth {depth} seed {seed}",
    )


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_no_bound_is_higher_than_the_optimum_of_its_rows(mode: str, depth: int, subsets: Subsets) -> None:
    rng = random.Random(depth)
    checked = 0
    for seed in range(120):
        problem = problem_of(seed, mode, depth, rng)
        oracle = MaskOracle(problem)
        weights = None if problem.weights is None else np.array(problem.weights)
        scale = choose_scale(weights, ROWS, (problem.split_penalty, problem.changepoint_penalty))
        search = engine(problem)
        seen: set[tuple[int, int, int, bool]] = set()
        status = None
        while status != PROVEN and search.expansions < 2000:
            status = search.run(60.0, search.expansions + 1 + search.expansions // 2)
            values = kept_values(search.checkpoint())
            rows = subsets.rows(values["hash"][:, 0])
            for mask, value in zip(rows, values, strict=True):
                key = (int(mask), int(value["depth"]), int(value["lower"]), bool(value["exact"]))
                if key in seen:
                    continue
                seen.add(key)
                optimum = oracle.value(*key[:2]) * scale
                assert key[2] <= optimum, (problem.name, key, optimum)
                assert not key[3] or key[2] == optimum, (problem.name, key, optimum)
        checked += len(seen)
    assert checked > 500
