"""Create the compiled objects of a search, and compute the memory that they need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from literati._engine._engine import Engine, starting_bytes
from literati.data.table import Poll, TrainingTable
from literati.search.costs import ExactCosts
from literati.search.options import SearchLimits, SolverOptions

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


def min_memory(size: TableSize, options: SolverOptions) -> int:
    """Return the smallest memory limit with which a search on a table of this size can start.

    A table that is smaller in every respect does not need more.
    """
    engine: int = starting_bytes(
        size.rows,
        size.cardinalities,
        size.classes,
        max_depth=options.max_depth,
        max_changepoints=options.max_changepoints,
        candidates=options.candidates,
        candidate_leaves=list(options.leaves),
    )
    return engine + _bytes_outside_engine(size, options)


def _bytes_outside_engine(size: TableSize, options: SolverOptions) -> int:
    """Return the bytes of the table and, if trees are polished, of the polisher's data about each row."""
    return size.nbytes + (POLISHER_ROW_BYTES * size.rows if options.polish else 0)


def make_engine(
    table: TrainingTable,
    costs: ExactCosts,
    options: SolverOptions,
    limits: SearchLimits,
    poll: Poll | None = None,
) -> Any:
    """Create the engine. Raise ValueError if the memory limit is too small for the data."""
    if limits.memory_limit is not None:
        needed = min_memory(TableSize.of(table), options)
        if limits.memory_limit < needed:
            raise ValueError(
                f"memory_limit: {limits.memory_limit} bytes are too few for this data; "
                f"expected {needed} or more"
            )
    try:
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
            candidates=options.candidates,
            candidate_leaves=list(options.leaves),
            or_selection=options.or_selection,
            and_selection=options.and_selection,
            heuristic=options.heuristic,
            criterion=options.criterion,
            memory_limit=engine_bytes(table, options, limits),
            grid=table.grid(options.leaves[0]) if options.candidates == "quantile" else None,
        )
    except MemoryError as error:
        if limits.memory_limit is None:
            raise
        raise ValueError(
            f"memory_limit: {limits.memory_limit} bytes are too few for this data ({error})"
        ) from None


def engine_bytes(table: TrainingTable, options: SolverOptions, limits: SearchLimits) -> int:
    """Return what a memory limit leaves for the engine, which may be nothing; 0 if there is no limit."""
    if limits.memory_limit is None:
        return 0
    return limits.memory_limit - _bytes_outside_engine(TableSize.of(table), options)
