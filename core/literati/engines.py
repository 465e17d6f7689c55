"""The compiled parts, made from a training table and checked parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._polish import Polisher
from ._search import Engine
from .nodes import Settings
from .options import SearchLimits, SolverOptions
from .table import TrainingTable

COST_BITS = 50  # of the engine's costs


def make_engine(table: TrainingTable, options: SolverOptions, limits: SearchLimits) -> Any:
    memory = 0
    if (
        limits.memory_limit is not None
    ):  # the table, and the polisher's copy of its order, live beside the engine
        beside = table.nbytes + (table.codes.nbytes if options.polish else 0)
        memory = limits.memory_limit - beside
        if memory <= 0:
            raise ValueError(
                f"memory_limit: {limits.memory_limit} bytes are too few for this data "
                f"(its table takes {beside})"
            )
    # A split as dear as all rows together never pays; not charging more keeps the engine's integers small.
    total = float(table.n_rows if table.weights is None else table.weights.sum())
    try:
        return Engine(
            table.codes,
            table.values,
            table.y,
            len(table.classes),
            table.weights,
            max_depth=options.max_depth,
            max_changepoints=options.max_changepoints,
            split_penalty=min(options.split_penalty, total),
            changepoint_penalty=min(options.changepoint_penalty, total),
            candidates=options.candidates,
            candidate_leaves=list(options.leaves),
            or_selection=options.or_selection,
            and_selection=options.and_selection,
            heuristic=options.heuristic,
            criterion=options.criterion,
            memory_limit=memory,
            grid=table.grid(options.leaves[0]) if options.candidates == "quantile" else None,
        )
    except MemoryError as error:
        if limits.memory_limit is None:
            raise
        raise ValueError(
            f"memory_limit: {limits.memory_limit} bytes are too few for this data ({error})"
        ) from None


def make_polisher(table: TrainingTable, settings: Settings) -> Any:
    return Polisher(
        table.codes,
        table.values,
        table.y,
        len(table.classes),
        table.weights,
        max_changepoints=settings.max_changepoints,
        split_penalty=settings.split_penalty,
        changepoint_penalty=settings.changepoint_penalty,
        max_depth=settings.max_depth,
    )


def costs_are_exact(table: TrainingTable, settings: Settings) -> bool:
    """Whether all weights and penalties are whole multiples of one unit of the engine (decision 4)."""
    total = float(table.n_rows if table.weights is None else table.weights.sum())
    scale = 2.0 ** (COST_BITS - math.ceil(math.log2(total)))
    scaled = np.array([settings.split_penalty, settings.changepoint_penalty]) * scale
    if not (scaled == np.floor(scaled)).all():
        return False
    return table.weights is None or bool((table.weights * scale == np.floor(table.weights * scale)).all())
