"""Create the compiled objects of a search, and compute the memory that they need."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from literati._engine._engine import Engine, starting_bytes
from literati.cores import usable_cores
from literati.data.table import Poll, TrainingTable
from literati.errors import DataWarning
from literati.search.costs import ExactCosts
from literati.search.options import MAX_THREADS, SEQUENTIAL, SearchLimits, SolverOptions
from literati.search.stages import Stages, largest_space

# For min_samples_leaf: the row, its position and three sums; and for each change point the one before it.
INTERVAL_ROW_BYTES = 4 + 4 + 3 * 8
INTERVAL_CUT_BYTES = 4
POLISHER_ROW_BYTES = 4  # 16 bits for the node that the row reaches, 16 for its target side there


@dataclass(frozen=True)
class TableSize:
    """The sizes that determine the memory of a training table."""

    rows: int
    cardinalities: Sequence[int]  # number of distinct values of each feature
    classes: int
    weighted: bool

    @classmethod
    def of(cls, table: TrainingTable) -> TableSize:
        cardinalities = [len(values) for values in table.values]
        return cls(table.n_rows, cardinalities, len(table.classes), table.weights is not None)

    @property
    def nbytes(self) -> int:
        """Return `TrainingTable.nbytes` of a table of this size."""
        row_bytes = 4 * len(self.cardinalities) + (12 if self.weighted else 4)
        return row_bytes * self.rows + 8 * sum(self.cardinalities)


def thread_count(options: SolverOptions) -> int:
    """Return how many threads a search uses: a core each for -1, but no more than find something to do."""
    if options.candidates in SEQUENTIAL:
        return 1
    return min(usable_cores(), MAX_THREADS) if options.n_threads == -1 else options.n_threads


def _affordable_threads(size: TableSize, options: SolverOptions, limits: SearchLimits) -> int:
    """Return how many threads a search can have within its memory limit, and warn if they are fewer."""
    threads = wanted = thread_count(options)
    while threads > 1 and (limits.memory_limit or math.inf) < min_memory(size, options, threads):
        threads -= 1
    if threads < wanted:
        message = (
            f"n_threads: the search has {threads} instead of {wanted} threads, because the memory limit of "
            f"{limits.memory_limit} bytes leaves no room for more; {wanted} need "
            f"{min_memory(size, options, wanted)} bytes"
        )
        warnings.warn(message, DataWarning, stacklevel=6)
    return threads


def min_memory(size: TableSize, options: SolverOptions, threads: int = 1) -> int:
    """Return the smallest memory limit with which a search with these threads can start on such a table.

    A table that is smaller in every respect does not need more. One engine serves all stages of a search.
    """
    largest = largest_space(options)
    engine: int = starting_bytes(
        size.rows,
        size.cardinalities,
        size.classes,
        max_depth=options.max_depth,
        max_changepoints=options.max_changepoints,
        candidates=largest.candidates,
        candidate_leaves=list(largest.leaves),
        min_samples_leaf=options.min_samples_leaf,
        n_threads=threads,
    )
    return engine + _bytes_outside_engine(size, options)


def _bytes_outside_engine(size: TableSize, options: SolverOptions) -> int:
    """Return the bytes of the table and, if trees are polished, of the polisher's data about each row."""
    if not options.polish:
        return size.nbytes
    row_bytes = POLISHER_ROW_BYTES
    if options.min_samples_leaf > 1:
        row_bytes += INTERVAL_ROW_BYTES + INTERVAL_CUT_BYTES * options.max_changepoints
    return size.nbytes + row_bytes * size.rows


def make_engine(
    table: TrainingTable,
    costs: ExactCosts,
    options: SolverOptions,
    limits: SearchLimits,
    stages: Stages,
    poll: Poll | None = None,
    complexities: tuple[int, int] = (0, 0),
) -> Any:
    """Create the engine for a stage. Raise ValueError if the memory limit is too small for the data.

    `complexities` is for penalties that change: see `PenaltySearch`.
    """
    space, largest = stages.options, largest_space(options)
    if limits.memory_limit is not None:
        needed = min_memory(TableSize.of(table), options)
        if limits.memory_limit < needed:
            raise ValueError(
                f"memory_limit: {limits.memory_limit} bytes are too few for this data; "
                f"expected {needed} or more"
            )
    return Engine(
        table.codes,
        table.values,
        table.y,
        len(table.classes),
        None if table.weights is None else costs.table.weights,
        max_depth=options.max_depth,
        max_changepoints=options.max_changepoints,
        split_cost=int(costs.settings.split_penalty),
        changepoint_cost=int(costs.settings.changepoint_penalty),
        scale=costs.scale,
        poll=poll,
        candidates=space.candidates,
        candidate_leaves=list(space.leaves),
        min_samples_leaf=options.min_samples_leaf,
        or_selection=options.or_selection,
        and_selection=options.and_selection,
        heuristic=options.heuristic,
        criterion=options.criterion,
        memory_limit=engine_bytes(table, options, limits),
        n_threads=_affordable_threads(TableSize.of(table), options, limits),
        grid=table.grid(space.leaves[0]) if space.candidates == "quantile" else None,
        largest_space=(largest.candidates, list(largest.leaves)),
        stage=stages.index,
        complexities=complexities,
    )


def engine_bytes(table: TrainingTable, options: SolverOptions, limits: SearchLimits) -> int:
    """Return what a memory limit leaves for the engine, which may be nothing; 0 if there is no limit."""
    if limits.memory_limit is None:
        return 0
    return limits.memory_limit - _bytes_outside_engine(TableSize.of(table), options)
