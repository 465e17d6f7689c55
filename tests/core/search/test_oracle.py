"""The search against the naive oracle: at the proof the two agree to the last bit."""

from __future__ import annotations

import random

import pytest

from tests.support.solver import oracle
from tests.support.solver.engines import proven_engine
from tests.support.solver.problems import MODES, Problem, random_problem, random_table
from tests.support.solver.trees import check_legal, objective

BLOCK = 100  # 4 modes, 4 depths, 4 blocks: 6,400 problems


def check(problem: Problem) -> None:
    search = proven_engine(problem)
    assert search.upper == oracle.optimum(problem), problem.name
    nodes = search.nodes()
    assert objective(problem, nodes) == search.upper, problem.name
    check_legal(problem, nodes)


@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", MODES)
def test_random_problems(mode: str, depth: int, block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check(random_problem(seed, depth=depth, mode=mode))


def shaped(
    rng: random.Random,
    mode: str,
    *,
    rows: int,
    features: int,
    distinct: int,
    classes: int,
    depth: int,
    k: int,
) -> Problem:
    """A problem of a given size, where `random_problem` draws its own."""
    codes, values, y = random_table(rng, rows, features, classes, distinct)
    return random_problem(rng.randrange(10**9), depth=depth, mode=mode).but(
        codes=codes,
        values=values,
        y=y,
        n_classes=classes,
        weights=None,
        max_changepoints=k,
        grid=[list(range(1, len(column), 2)) for column in values] if mode == "quantile" else None,
        name=f"{mode}, {rows} rows, {features} features, depth {depth}, K {k}",
    )


@pytest.mark.parametrize("mode", MODES)
def test_many_classes(mode: str) -> None:
    rng = random.Random(1)
    for _ in range(25):
        k, depth = rng.randint(1, 3), rng.randint(1, 3)
        check(shaped(rng, mode, rows=24, features=2, distinct=6, classes=9, depth=depth, k=k))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_many_classes_and_missing_values(criterion: str) -> None:
    """Ties are broken as by sums over all classes, also where the scan corrects its sums row by row."""
    rng = random.Random(4)
    for _ in range(60):
        mode, k, depth = rng.choice(("adaptive", "shape")), rng.randint(1, 2), rng.randint(2, 3)
        problem = shaped(rng, mode, rows=24, features=2, distinct=7, classes=7, depth=depth, k=k)
        codes = [[-1 if rng.random() < 0.2 else code for code in column] for column in problem.codes]
        for j, column in enumerate(codes):  # every code of a feature stays in use
            for code in range(problem.cardinality(j)):
                if code not in column:
                    column[problem.codes[j].index(code)] = code
        weights = [rng.choice((0.5, 1.0, 3.0)) for _ in problem.y] if rng.random() < 0.5 else None
        check(problem.but(codes=codes, weights=weights, criterion=criterion))


@pytest.mark.parametrize("mode", MODES)
def test_many_changepoints(mode: str) -> None:
    rng = random.Random(2)
    for k in (4, 5, 6, 7, 8):
        for depth in (1, 2, 3):
            check(shaped(rng, mode, rows=20, features=2, distinct=10, classes=2, depth=depth, k=k))
            check(shaped(rng, mode, rows=20, features=2, distinct=8, classes=3, depth=depth, k=k))


@pytest.mark.parametrize("mode", MODES)
def test_many_features(mode: str) -> None:
    rng = random.Random(3)
    for depth in (1, 2, 3):
        for k in (1, 2):
            check(shaped(rng, mode, rows=14, features=20, distinct=3, classes=3, depth=depth, k=k))


@pytest.mark.parametrize("mode", MODES)
def test_deep_trees(mode: str) -> None:
    rng = random.Random(4)
    for depth in (5, 6, 7, 12):
        for k in (1, 2):
            problem = shaped(rng, mode, rows=14, features=2, distinct=4, classes=3, depth=4, k=k)
            check(problem.but(max_depth=depth))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rows", [17_000, 70_000])
@pytest.mark.slow
def test_more_rows_than_16_bits_count(mode: str, rows: int) -> None:
    rng = random.Random(5)
    for classes, k, depth in ((2, 3, 2), (3, 2, 2), (2, 1, 3)):
        problem = shaped(rng, mode, rows=rows, features=2, distinct=5, classes=classes, depth=depth, k=k)
        penalised = problem.but(
            split_penalty=rng.choice([0.0, 64.0]), changepoint_penalty=rng.choice([0.0, 16.5])
        )
        check(penalised)


@pytest.mark.parametrize("mode", MODES)
def test_weights_of_every_size(mode: str) -> None:
    # Counted in the smallest weight these need 16, 32 and 64 bits.
    rng = random.Random(6)
    for heavy in (2.0**6, 2.0**20, 2.0**36):
        for _ in range(10):
            k, depth, classes = rng.randint(1, 3), rng.randint(1, 3), rng.randint(2, 3)
            problem = shaped(rng, mode, rows=24, features=2, distinct=6, classes=classes, depth=depth, k=k)
            weights = [rng.choice((0.5, 1.0, 3.0, heavy, heavy + 0.5)) for _ in problem.y]
            check(problem.but(weights=weights, split_penalty=rng.choice([0.0, 0.25, heavy / 2])))
