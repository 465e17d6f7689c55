"""The explored share of the search space and the time that is left."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from literati import LiteratiClassifier, Search, SearchLimits, SearchReport
from literati.search.report import TRACE_DTYPE, read_trace
from literati.search.time_left import estimate_seconds_left
from tests.support.solver.engines import PATIENCE, PROVEN, engine
from tests.support.solver.problems import MODES, larger_problem, random_problem


def noise(rows: int = 400, columns: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)), rng.integers(0, 2, rows)


@pytest.mark.parametrize("mode", ["adaptive", "shape"])
def test_no_part_is_counted_twice(mode: str) -> None:
    """Before the proof the share is never at its limit, where it would be if parts were counted again."""
    steps = 0
    for seed in range(20):
        search = engine(larger_problem(seed, depth=4, mode=mode))
        while search.run(PATIENCE, max_expansions=search.expansions + 1) != PROVEN:
            assert search.explored < 1 - 1e-9
            steps += 1
    assert steps > 100


@pytest.mark.parametrize("mode", MODES)
def test_it_grows_to_one_at_the_proof(mode: str) -> None:
    moved = 0
    for seed in range(60):
        search = engine(random_problem(seed, mode=mode))
        shares, limit = [search.explored], 1
        while (status := search.run(PATIENCE, max_expansions=limit)) != PROVEN:
            shares.append(search.explored)
            assert search.explored < 1.0, status
            limit += 1
        shares.append(search.explored)
        assert all(0.0 <= before <= after for before, after in pairwise(shares))
        assert search.explored == 1.0
        assert search.trace()["explored"][-1] == 1.0
        moved += len({share for share in shares if 0.0 < share < 1.0}) > 1
    assert moved > 1


@pytest.mark.parametrize(
    ("mode", "changepoints", "rows"),
    [
        *((mode, k, 120) for mode in ("adaptive", "shape", "quantile") for k in (1, 3)),
        ("all", 1, 120),
        ("all", 2, 60),
    ],
)
def test_the_parts_of_the_space_add_up(mode: str, changepoints: int, rows: int) -> None:
    """Just before the proof nearly all is explored: nothing is lost and nothing is counted twice."""
    X, y = noise(rows, 3)
    options: dict[str, Any] = {"max_depth": 3, "max_changepoints": changepoints, "candidates": mode}
    search = Search(X, y, polish=False, **options)
    report = search.run()
    assert report.proven_optimal
    before = [share for share in search.trace()["explored"] if share < 1.0]
    assert before[-1] <= 1.0
    assert len(before) > 3
    steps = np.diff([*before, 1.0])
    assert steps.max() < 0.9
    assert before[len(before) // 2] < 0.99


def test_little_memory_does_not_take_it_back() -> None:
    X, y = noise(2000, 5)
    limits = SearchLimits(memory_limit=3 << 20, time_limit=3.0)
    search = Search(X, y, max_depth=5, max_changepoints=2, polish=False, limits=limits)
    shares = [search.run(0.1).explored for _ in range(20)]
    assert all(before <= after for before, after in pairwise(shares))
    assert shares[-1] > 0.0


def test_a_checkpoint_keeps_it() -> None:
    X, y = noise()
    search = Search(X, y, max_depth=5, max_changepoints=1, limits=SearchLimits(max_expansions=300))
    before = search.run()
    assert 0.0 < before.explored < 1.0
    resumed = Search.resume(X, y, search.checkpoint(), limits=SearchLimits(time_limit=60.0))
    assert resumed.report().explored == before.explored
    shares = [before.explored]
    while not (report := resumed.run(0.02)).proven_optimal:
        shares.append(report.explored)
    assert all(earlier <= later < 1.0 for earlier, later in pairwise(shares))
    assert report.explored == 1.0
    assert (np.diff(resumed.trace()["explored"]) >= 0.0).all()


def test_the_estimator_reports_it() -> None:
    X, y = noise(200, 3)
    seen: list[tuple[float, float | None]] = []

    def callback(report: SearchReport) -> None:
        seen.append((report.explored, report.seconds_left))

    model = LiteratiClassifier(max_depth=4, max_changepoints=1, callback=callback).fit(X, y)
    assert model.proven_optimal_
    assert model.explored_ == 1.0
    assert model.trace_["explored"][-1] == 1.0
    assert all(0.0 <= share <= 1.0 and (left is None or left >= 0.0) for share, left in seen)


def trace_of(shares: list[float]) -> Any:
    rows = [(float(second), 0, 1.0, 0.0, share, 0) for second, share in enumerate(shares)]
    return np.array(rows, dtype=TRACE_DTYPE)


def test_seconds_left() -> None:
    assert estimate_seconds_left(trace_of([0.0]), 0, 10.0, 1.0) == 0.0
    assert estimate_seconds_left(trace_of([0.0]), 0, 10.0, 0.001) is None
    assert estimate_seconds_left(trace_of([]), 0, 0.0, 0.5) is None
    # At a constant rate.
    assert estimate_seconds_left(trace_of([0.0, 0.1, 0.2, 0.3, 0.4]), 0, 4.0, 0.4) == pytest.approx(6.0)
    # 0.2 a second at first and 0.05 later.
    slower = estimate_seconds_left(trace_of([0.0, 0.2, 0.4, 0.45, 0.5]), 0, 4.0, 0.5)
    assert slower == pytest.approx(0.5 / np.sqrt(0.125 * 0.05))
    # Nothing was explored in the last half.
    assert estimate_seconds_left(trace_of([0.0, 0.5, 0.5, 0.5, 0.5]), 0, 4.0, 0.5) is None


def test_a_trace_without_the_column_is_read() -> None:
    old = read_trace([[0.0, 1, 3.0, 2.0]])
    assert old.tolist() == [(0.0, 1, 3.0, 2.0, 0.0, 0)]
    assert read_trace([]).dtype == TRACE_DTYPE
    assert read_trace([[0.0, 1, 3.0, 2.0, 0.25]])["explored"].tolist() == [0.25]
