"""The compiled oracle: it agrees with the naive one wherever both reach, and it reaches 40 rows."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.solver import mask_oracle, oracle
from tests.support.solver.mask_oracle import MaskOracle
from tests.support.solver.problems import MODES, larger_problem, random_problem, random_table


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_it_agrees_with_the_naive_oracle(mode: str, depth: int) -> None:
    for seed in range(30_000, 30_150):
        problem = random_problem(seed, depth=depth, mode=mode)
        assert mask_oracle.optimum(problem) == oracle.optimum(problem), problem.name


@pytest.mark.parametrize("mode", MODES)
def test_it_agrees_on_many_change_points_and_classes(mode: str) -> None:
    rng = random.Random(7)
    for seed in range(60):
        classes = rng.randint(2, 9)
        codes, values, y = random_table(rng, rng.randint(6, 20), rng.randint(1, 2), classes, 9)
        problem = random_problem(seed, depth=rng.randint(1, 2), mode=mode).but(
            codes=codes,
            values=values,
            y=y,
            n_classes=classes,
            weights=None,
            max_changepoints=rng.randint(3, 8),
            grid=[list(range(1, len(column), 2)) for column in values] if mode == "quantile" else None,
        )
        assert mask_oracle.optimum(problem) == oracle.optimum(problem), seed


@pytest.mark.parametrize("mode", MODES)
def test_its_candidates_are_those_of_the_naive_oracle(mode: str) -> None:
    """For any rows and depth left. Positions with no row between them are the same change point."""
    rng = random.Random(8)
    for seed in range(150):
        problem = larger_problem(seed, mode=mode)
        data, compiled = oracle.Rows(problem), MaskOracle(problem)
        rows = rng.getrandbits(problem.n_rows) or 1
        depth_left = rng.randint(1, problem.max_depth)
        expected = oracle.candidates(data, rows, depth_left)
        found = compiled.cuts(rows, depth_left)
        for j, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
            behind = [{rows & (data.passing[j][c] or 0) for c in cuts} for cuts in (ours, theirs)]
            parted = rows & ~data.missing[j]
            assert behind[0] - {0, parted} == behind[1] - {0, parted}, problem.name
            assert (problem.cardinality(j) in ours) == (problem.cardinality(j) in theirs), problem.name


def test_it_reaches_forty_rows() -> None:
    """Depth 3 and 3 change points over every cut, and labels that are noise: well under a second."""
    rng = random.Random(9)
    seconds = []
    for seed in range(5):
        codes, values, _ = random_table(rng, 40, 2, 2, 14)
        problem = larger_problem(seed, depth=3, mode="all").but(
            codes=codes,
            values=values,
            y=[rng.randrange(3) for _ in range(40)],
            n_classes=3,
            weights=None,
            max_changepoints=3,
            split_penalty=0.0,
            changepoint_penalty=0.0,
        )
        start = time.process_time()
        assert mask_oracle.optimum(problem) > 0
        seconds.append(time.process_time() - start)
    assert sorted(seconds)[2] < 0.5, seconds


def test_too_many_rows_are_refused() -> None:
    codes, values, y = random_table(random.Random(1), 64, 1, 2, 5)
    problem = random_problem(1, depth=2, mode="all").but(codes=codes, values=values, y=y, weights=None)
    with pytest.raises(ValueError, match="at most 63 rows, got 64"):
        MaskOracle(problem)


def test_processes_may_compile_it_at_the_same_time(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); from tests.support.solver import mask_oracle;"
        "mask_oracle.BUILD = pathlib.Path(sys.argv[2]); mask_oracle.library()"
    )
    command = [
        sys.executable,
        "-c",
        script,
        str(ROOT),
        str(tmp_path / "made"),
    ]
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: subprocess.run(command, check=True, timeout=120), range(3)))
    assert len(list((tmp_path / "made").iterdir())) == 1
