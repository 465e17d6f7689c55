"""The solvers by their names in specs and tables."""

from __future__ import annotations

from benchmarks.runners import contree, greedy, ours, pytrees, shapecart, streed
from benchmarks.runners.base import Fit, FitOnce, Solver, load_module

__all__ = ["SOLVERS", "Fit", "FitOnce", "Solver", "find"]

SOLVERS: dict[str, Solver] = {
    **ours.SOLVERS,
    **greedy.SOLVERS,
    **streed.SOLVERS,
    **contree.SOLVERS,
    **shapecart.SOLVERS,
    **pytrees.SOLVERS,
}


def find(name: str) -> Solver:
    """Return the solver of this name, which may be "module:attribute" for a solver of another module."""
    if name in SOLVERS:
        return SOLVERS[name]
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"unknown solver {name!r}; use one of {', '.join(SOLVERS)}, or 'module:attribute'")
    solver = getattr(load_module(module), attribute)
    if not isinstance(solver, Solver):
        raise TypeError(f"{name} must be a Solver, not {type(solver).__name__}")
    return solver
