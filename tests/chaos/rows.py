"""Small tables that clients upload, and with which they check the cost of every tree that they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from literati import Search, ShapeTree
from tests.support.records import jobs

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Rows:
    name: str
    csv: bytes
    X: Any
    y: npt.NDArray[Any]

    @classmethod
    def of(cls, name: str, cells: dict[str, Any]) -> Rows:
        columns = list(cells)
        lines = [",".join(columns)]
        lines += [",".join(map(str, row)) for row in zip(*(c.tolist() for c in cells.values()), strict=True)]
        table = pa.table({column: cells[column] for column in columns if column != "label"})
        return cls(name, "\n".join(lines).encode(), table, cells["label"])

    def search(self, **parameters: Any) -> Search:
        """Run the library's search on the table and return it."""
        search = Search(self.X, self.y, **parameters)
        search.run()
        return search

    def faults(self, tree: dict[str, Any], objective: float) -> list[str]:
        """Evaluate the tree on the table, and return a sentence if its cost is not the reported one."""
        read = ShapeTree.from_dict(tree)
        cost = read.evaluate(self.X, self.y)
        if abs(cost - objective) > TOLERANCE or abs(read.objective - objective) > TOLERANCE:
            return [f"a tree of {self.name} said to cost {objective} ({read.objective}) costs {cost}"]
        return []


def easy(seed: int = 0) -> Rows:
    """Return a table whose tree is proven optimal at once."""
    return Rows.of(f"easy {seed}", jobs.easy(200, seed))


def hard(seed: int = 0) -> Rows:
    """Return a table whose bounds move for many seconds, so that its search ends by a limit."""
    cells = jobs.noise(120, 3, seed)
    rounded = {name: cells[name].round(3) if name != "label" else cells[name] for name in cells}
    return Rows.of(f"hard {seed}", rounded)
