"""Trees for every export, and what the library predicts for their rows."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.export.code import used_columns
from literati.tree.model import ShapeTree
from tests.support.solver.format_problems import as_frame, random_problem
from tests.support.solver.hard_problems import HARD_PROBLEMS

Key = int | str  # the seed of a random problem, or the name of a hard one
SMALL = (0, 1, 2, 7, -3, 12, 30)  # integers that are exact as doubles
LARGE, MIXED = 1, 4  # seeds with these remainders by 5 have classes beyond 32 bits, or of several types


def fifty(*without: int) -> list[Key]:
    """Return fifty seeds without these remainders by 5, and the hard problems."""
    seeds = [seed for seed in range(100) if seed % 5 not in without]
    return [*seeds[:50], *HARD_PROBLEMS]


PROBLEMS = fifty()
ONE_TYPE = fifty(MIXED)
LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Expected:
    """A tree, rows by column name, and the predictions of the library's kernel."""

    tree: ShapeTree
    rows: list[dict[str, Any]]
    leaves: list[int]
    labels: list[Any]
    probabilities: list[list[float]]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.tree.schema.columns]

    @property
    def used(self) -> list[Column]:
        return list(used_columns(self.tree).values())

    def needed(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the cells that the tree uses, and one of a column that it does not have."""
        return {column.name: row[column.name] for column in self.used} | {"no column": 1}


def expected(key: Key, exact: bool = True) -> Expected:
    """Return a problem. With `exact`, all categories that are integers are exact as doubles."""
    if isinstance(key, str):
        problem = HARD_PROBLEMS[key]()
    else:
        problem = random_problem(key, SMALL) if exact else random_problem(key)
    return predicted(problem.tree, problem.rows)


def predicted(tree: ShapeTree, rows: list[dict[str, Any]]) -> Expected:
    frame = as_frame(rows)
    labels = [plain(label) for label in tree.predict(frame)]
    return Expected(tree, rows, tree.apply(frame).tolist(), labels, tree.predict_proba(frame).tolist())


@cache
def infinite() -> Expected:
    """Return rows with infinities; they are expected where the largest numbers go."""
    problem = expected(0)
    numbers = [column.name for column in problem.used if column.kind == "number"]
    assert numbers
    rows = [
        {**row, name: cell} for row in problem.rows[:20] for name in numbers for cell in (LARGEST, -LARGEST)
    ]
    found = predicted(problem.tree, rows)
    assert len(set(found.leaves)) > 1
    beyond = {LARGEST: float("inf"), -LARGEST: float("-inf")}
    cells = [
        {name: beyond.get(cell, cell) if name in numbers else cell for name, cell in row.items()}
        for row in rows
    ]
    return replace(found, rows=cells)


@cache
def with_nan() -> Expected:
    """Return rows with NaN for missing numbers."""
    problem = expected(0)
    numbers = {column.name for column in problem.used if column.kind == "number"}
    rows = [
        {name: float("nan") if cell is None and name in numbers else cell for name, cell in row.items()}
        for row in problem.rows
    ]
    assert rows != problem.rows
    return replace(problem, rows=rows)
