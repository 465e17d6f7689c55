"""The compiled parts, made from a training table and checked parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ._polish import Polisher
from ._search import Engine, starting_bytes
from .costs import ExactCosts
from .nodes import Settings
from .options import SearchLimits, SolverOptions
from .table import TrainingTable


@dataclass(frozen=True)
class TableSize:
    """What decides how much memory a training table takes."""

    rows: int
    cardinalities: Sequence[int]  # the different values of each feature
    classes: int
    weighted: bool

    @classmethod
    def of(cls, table: TrainingTable) -> TableSize:
        cardinalities = [len(values) for values in table.values]
        return cls(table.n_rows, cardinalities, len(table.classes), table.weights is not None)

    @property
    def code_bytes(self) -> int:
        return 4 * self.rows * len(self.cardinalities)

    @property
    def nbytes(self) -> int:
        """`TrainingTable.nbytes` of a table of this size."""
        return self.code_bytes + (12 if self.weighted else 4) * self.rows + 8 * sum(self.cardinalities)


def least_memory(size: TableSize, options: SolverOptions) -> int:
    """Return the smallest memory limit with which a search on a table of this size begins.

    A table that is smaller in every respect does not take more.
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
    return engine + _beside_the_engine(size, options)


def _beside_the_engine(size: TableSize, options: SolverOptions) -> int:
    """Return the bytes of the table, and of the polisher's copy of its order."""
    return size.nbytes + (size.code_bytes if options.polish else 0)


def make_engine(
    table: TrainingTable,
    costs: ExactCosts,
    options: SolverOptions,
    limits: SearchLimits,
    poll: Callable[[], None] | None = None,
) -> Any:
    if limits.memory_limit is not None:
        least = least_memory(TableSize.of(table), options)
        if limits.memory_limit < least:
            raise ValueError(
                f"memory_limit: {limits.memory_limit} bytes are too few for this data; "
                f"the search takes {least} to start with"
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
    return limits.memory_limit - _beside_the_engine(TableSize.of(table), options)


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
