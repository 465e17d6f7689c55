"""Engines for the problems of `problems.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from literati._engine._engine import Engine

from literati.search.costs import choose_scale, whole_weights
from tests.support.solver.problems import Problem

SLICE_OVER, PROVEN, GAP_REACHED, EXPANSION_LIMIT, MEMORY_LIMIT, STOPPED = range(6)

# Long enough for any problem here; a run that needs it has failed.
PATIENCE = 60.0


def engine(problem: Problem, **options: Any) -> Any:
    weights = None if problem.weights is None else np.array(problem.weights, dtype=np.float64)
    scale = choose_scale(weights, len(problem.y), (problem.split_penalty, problem.changepoint_penalty))
    given: dict[str, Any] = {
        "max_depth": problem.max_depth,
        "max_changepoints": problem.max_changepoints,
        "split_cost": round(problem.split_penalty * scale),
        "changepoint_cost": round(problem.changepoint_penalty * scale),
        "scale": scale,
        "candidates": problem.candidates,
        "candidate_leaves": problem.candidate_leaves,
        "or_selection": "mixed",
        "and_selection": "round_robin",
        "heuristic": "cart",
        "criterion": problem.criterion,
        "memory_limit": 0,
        "min_samples_leaf": problem.min_samples_leaf,
    }
    if problem.grid is not None:
        given["grid"] = [np.array(positions, dtype=np.int32) for positions in problem.grid]
    return Engine(
        np.array(problem.codes, dtype=np.int32),
        [np.array(column, dtype=np.float64) for column in problem.values],
        np.array(problem.y, dtype=np.int32),
        problem.n_classes,
        None if weights is None else whole_weights(weights, scale),
        **given | options,
    )


def proven_engine(problem: Problem, **options: Any) -> Any:
    """Return an engine that has run to its proof."""
    search = engine(problem, **options)
    status = search.run(PATIENCE)
    assert status == PROVEN, f"{problem.name}: status {status}"
    assert search.proven
    assert search.lower == search.upper
    return search
