"""The smallest memory limit of a search is known before it begins; with less, it does not begin."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from literati import Search, SearchLimits
from literati.data.table import build
from literati.search.engine_factory import TableSize, min_memory
from literati.search.options import SolverOptions

SHAPES = [(5, 1, 2), (60, 7, 3), (400, 2, 40), (1500, 7, 2), (1500, 3, 200)]  # rows, features, classes
MODES = ["adaptive", "shape", "quantile", "all", "widening"]


def problem(rows: int, features: int, classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(rows)
    X = rng.integers(0, 9, (rows, features)) + np.where(
        np.arange(features) % 2, rng.random((rows, features)), 0
    )
    X[rng.random(X.shape) < 0.05] = np.nan
    X[0], X[1] = 0, 1
    return X, np.arange(rows) % classes


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_a_search_begins_with_the_least_memory_and_not_with_a_byte_less(
    mode: str, shape: tuple[int, int, int]
) -> None:
    X, y = problem(*shape)
    weights = np.random.default_rng(1).random(len(y)) + 0.5
    for k, depth, polish, weight in itertools.product((1, 3), (1, 4, 9), (True, False), (None, weights)):
        options: dict[str, Any] = {
            "candidates": mode,
            "max_changepoints": k,
            "max_depth": depth,
            "polish": polish,
            "candidate_leaves": 17 if mode == "widening" else 5,
        }
        table = build(X, y, sample_weight=weight)
        size = TableSize.of(table)
        assert size.nbytes == table.nbytes
        least = min_memory(size, SolverOptions(**options))
        with pytest.raises(
            ValueError, match=rf"memory_limit: {least - 1} bytes are too few.* expected {least} or"
        ):
            Search(X, y, sample_weight=weight, limits=SearchLimits(memory_limit=least - 1), **options)
        limits = SearchLimits(memory_limit=least, time_limit=5, max_expansions=3)
        search = Search(X, y, sample_weight=weight, limits=limits, **options)
        assert search._engine.fixed_bytes == least - size.nbytes - (4 * size.rows if polish else 0)
        report = search.run()
        # More than the majority leaf, unless that is the best there is.
        assert report.improvements > 1 or report.proven_optimal
        assert search.incumbent is not None


def test_a_smaller_table_takes_no_more() -> None:
    """A service that knows only the most that a table can be may rely on it."""
    options = SolverOptions(candidates="shape", max_changepoints=3)
    whole = TableSize(1000, [50, 1000, 2], 5, weighted=True)
    for smaller in (
        TableSize(999, [50, 999, 2], 5, weighted=True),
        TableSize(1000, [49, 1000, 2], 5, weighted=True),
        TableSize(1000, [50, 1000], 5, weighted=True),
        TableSize(1000, [50, 1000, 2], 2, weighted=True),
        TableSize(1000, [50, 1000, 2], 5, weighted=False),
    ):
        assert min_memory(smaller, options) <= min_memory(whole, options)
