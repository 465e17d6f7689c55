"""Mixed selection raises the lower bound on the way to the proof, and not only at its end."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from literati._engine._engine import Engine

from tests.support.solver.engines import EXPANSION_LIMIT, PATIENCE, PROVEN

STEP = 50  # expansions


def noisy_engine(seed: int, or_selection: str) -> Any:
    random = np.random.default_rng(seed)
    codes = random.integers(0, 60, size=(5, 1500)).astype(np.int32)
    y = ((codes[0] + codes[1] > 60) ^ (codes[2] > 40) ^ (random.random(1500) < 0.2)).astype(np.int32)
    values = [np.arange(60, dtype=np.float64)] * 5
    options = {"max_depth": 5, "max_changepoints": 1, "candidates": "adaptive", "candidate_leaves": [9]}
    return Engine(codes, values, y, 2, or_selection=or_selection, **options)


def points_to_proof(search: Any) -> list[tuple[int, float]]:
    """Return the work and the relative gap every few expansions, until the proof."""
    points = [(0, 1.0)]
    status = EXPANSION_LIMIT
    while status == EXPANSION_LIMIT:
        status = search.run(PATIENCE, max_expansions=search.expansions + STEP)
        points.append((search.work, (search.upper - search.lower) / search.upper))
    assert status == PROVEN
    return points


def average_gap(points: list[tuple[int, float]]) -> float:
    return sum(gap * (to - at) for (at, gap), (to, _) in pairwise(points)) / points[-1][0]


def test_the_gap_closes_earlier_and_the_proof_is_not_later() -> None:
    ratios, works = [], []
    for seed in range(4):
        searches = [noisy_engine(seed, selection) for selection in ("informative", "mixed")]
        informative, mixed = [points_to_proof(search) for search in searches]
        assert searches[0].upper == searches[1].upper
        ratios.append(average_gap(mixed) / average_gap(informative))
        works.append(mixed[-1][0] / informative[-1][0])
    assert np.mean(ratios) < 0.97, ratios
    assert np.mean(works) < 1.05, works
