"""What a search takes does not grow faster than the data: memory, and the time of scans by classes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from literati import Search, SearchLimits
from literati.search.engine_factory import TableSize, min_memory
from literati.search.options import SolverOptions

MODES = ("adaptive", "shape", "quantile", "all")


def memory(rows: int, columns: int, classes: int, mode: str, changepoints: int) -> int:
    size = TableSize(rows, [rows] * columns, classes, False)
    options: dict[str, Any] = {"candidates": mode, "max_changepoints": changepoints}
    return min_memory(size, SolverOptions(max_depth=4, **options))


@pytest.mark.parametrize("changepoints", [1, 3])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(10_000, 1_000, 2), (1_000, 5_000, 2), (100_000, 20, 2), (2_000, 200, 500)])
def test_memory_doubles_at_most_when_a_dimension_doubles(
    size: tuple[int, int, int], mode: str, changepoints: int
) -> None:
    before = memory(*size, mode, changepoints)
    for place in range(3):
        rows, columns, classes = (n * (1 + (at == place)) for at, n in enumerate(size))
        assert memory(rows, columns, classes, mode, changepoints) <= 2.02 * before


@pytest.mark.parametrize("mode", MODES)
def test_five_million_rows_take_as_many_bytes_a_cell_as_fewer(mode: str) -> None:
    a_cell = memory(5_000_000, 20, 2, mode, 3) / (5_000_000 * 20)
    assert a_cell == pytest.approx(memory(50_000, 20, 2, mode, 3) / (50_000 * 20), rel=0.1)
    assert a_cell < 56  # all values are distinct here


@pytest.mark.parametrize("options", [{"criterion": "gini"}, {"criterion": "entropy"}], ids=str)
def test_scans_of_missing_values_do_not_take_longer_with_more_classes(options: dict[str, Any]) -> None:
    """With 16 times the classes it took 16 times as long before; the processor time may still double."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 8))
    X[rng.random(X.shape) < 0.05] = np.nan

    def seconds(classes: int) -> float:
        search = Search(X, np.arange(4_000) % classes, limits=SearchLimits(max_expansions=1), **options)
        start = time.process_time()
        search.run()
        return time.process_time() - start

    few, many = (min(seconds(classes) for _ in range(3)) for classes in (40, 640))
    assert many < 6 * few


def test_lookaheads_do_not_grow_with_the_square_of_the_columns() -> None:
    """The first state has four choices for each column, and every lookahead visits every column."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 320)), rng.integers(0, 2, 200)

    def work(columns: int) -> int:
        limits = SearchLimits(max_expansions=2)  # all lookaheads of the first state come before the second
        options: dict[str, Any] = {
            "candidates": "shape",
            "max_depth": 4,
            "max_changepoints": 3,
            "polish": False,
        }
        search = Search(X[:, :columns], y, limits=limits, **options)
        search.run()
        return int(search._engine.work)

    assert work(320) < 2.5 * work(160)
