"""Small datasets as a client has them: to upload, and to judge every served tree by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import pyarrow as pa

import jobs
from literati import Search, ShapeTree

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
        """The library's own search of them, at its end."""
        search = Search(self.X, self.y, **parameters)
        search.run()
        return search

    def faults(self, tree: dict[str, Any], objective: float) -> list[str]:
        """Whether the tree costs on these rows what is said of it, by code that no worker runs."""
        read = ShapeTree.from_dict(tree)
        cost = read.evaluate(self.X, self.y)
        if abs(cost - objective) > TOLERANCE or abs(read.objective - objective) > TOLERANCE:
            return [f"a tree of {self.name} said to cost {objective} ({read.objective}) costs {cost}"]
        return []


def easy(seed: int = 0) -> Rows:
    """Proven within a moment."""
    return Rows.of(f"easy {seed}", jobs.easy(200, seed))


def hard(seed: int = 0) -> Rows:
    """Searched for as long as its job is allowed to, with bounds that move for many seconds."""
    cells = jobs.noise(120, 3, seed)
    rounded = {name: cells[name].round(3) if name != "label" else cells[name] for name in cells}
    return Rows.of(f"hard {seed}", rounded)
