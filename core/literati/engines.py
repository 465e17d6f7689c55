"""The compiled parts, made from a training table and checked parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._polish import Polisher
from ._search import Engine
from .costs import ExactCosts
from .nodes import Settings
from .options import SearchLimits, SolverOptions
from .table import TrainingTable


def make_engine(
    table: TrainingTable,
    costs: ExactCosts,
    options: SolverOptions,
    limits: SearchLimits,
    poll: Callable[[], None] | None = None,
) -> Any:
    memory = engine_bytes(table, options, limits)
    if limits.memory_limit is not None and memory <= 0:
        raise ValueError(
            f"memory_limit: {limits.memory_limit} bytes are too few for this data "
            f"(its table takes {limits.memory_limit - memory})"
        )
    try:
        return Engine(
            table.codes,
            table.values,
            table.y,
            len(table.classes),
            table.weights,
            max_depth=options.max_depth,
            max_changepoints=options.max_changepoints,
            split_penalty=costs.split_penalty / costs.scale,
            changepoint_penalty=costs.changepoint_penalty / costs.scale,
            scale=costs.scale,
            poll=poll,
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


def engine_bytes(table: TrainingTable, options: SolverOptions, limits: SearchLimits) -> int:
    """Return what a memory limit leaves for the engine, which may be nothing; 0 if there is no limit.

    The table, and the polisher's copy of its order, live beside the engine.
    """
    if limits.memory_limit is None:
        return 0
    return limits.memory_limit - table.nbytes - (table.codes.nbytes if options.polish else 0)


def make_polisher(costs: ExactCosts, settings: Settings) -> Any:
    table = costs.table
    return Polisher(
        table.codes,
        table.values,
        table.y,
        len(table.classes),
        table.weights,
        max_changepoints=settings.max_changepoints,
        split_penalty=costs.split_penalty,
        changepoint_penalty=costs.changepoint_penalty,
        max_depth=settings.max_depth,
    )
