"""Random trees for every export, and what the library predicts for their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from literati.data.labels import plain
from literati.tree.model import ShapeTree
from tests.support.solver.format_problems import as_frame, random_problem

SEEDS = range(50)
SMALL = (0, 1, 2, 7, -3, 12, 30)  # integers that are exact as doubles
MIXED = 4  # seeds with this remainder by 5 have classes of several types
ONE_TYPE = [seed for seed in SEEDS if seed % 5 != MIXED]


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


def expected(seed: int, exact: bool = True) -> Expected:
    """Return a problem. With `exact`, all categories that are integers are exact as doubles."""
    problem = random_problem(seed, SMALL) if exact else random_problem(seed)
    frame = as_frame(problem.rows)
    tree = problem.tree
    labels = [plain(label) for label in tree.predict(frame)]
    return Expected(
        tree, problem.rows, tree.apply(frame).tolist(), labels, tree.predict_proba(frame).tolist()
    )
