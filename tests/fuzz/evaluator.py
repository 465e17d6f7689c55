"""An evaluator of a tree's JSON form by the rules of the model format, without code of the library."""

from __future__ import annotations

import math
from typing import Any

from tests.fuzz.cases import Case


class Evaluator:
    """Route rows through a tree and add up its cost."""

    def __init__(self, tree: dict[str, Any]) -> None:
        self.nodes, self.columns = tree["nodes"], tree["columns"]
        self.labels = [entry["value"] for entry in tree["classes"]["labels"]]
        self.depths = {0: 0}
        for at, node in enumerate(self.nodes):
            if node["split"] is not None:
                for side in ("left", "right"):
                    self.depths[node["split"][side]] = self.depths[at] + 1

    def label(self, leaf: int) -> Any:
        return self.labels[self.nodes[leaf]["label"]]

    def path(self, cells: list[Any]) -> list[int]:
        """Return the nodes on the path of a row, from the root to its leaf."""
        passed = [0]
        while (split := self.nodes[passed[-1]]["split"]) is not None:
            passed.append(split["right" if self._goes_right(split, cells[split["column"]]) else "left"])
        return passed

    def _goes_right(self, split: dict[str, Any], cell: Any) -> bool:
        column = self.columns[split["column"]]
        if cell is None:
            return bool(split["missing_right"])
        if column["kind"] == "category":
            names = [entry["value"] for entry in column["categories"]]
            if cell not in names:
                return bool(split["unknown_right"])
            return names.index(cell) in list(split["right_categories"])
        return sum(float(cell) > float(threshold) for threshold in split["thresholds"]) % 2 == 1

    def _splits(self) -> list[dict[str, Any]]:
        return [node["split"] for node in self.nodes if node["split"] is not None]

    def penalties(self, case: Case) -> float:
        split, further = case.parameter("split_penalty", 0.0), case.parameter("changepoint_penalty", 0.0)
        return math.fsum(split + further * (s["changepoints"] - 1) for s in self._splits())

    def most_changepoints(self) -> int:
        return max((s["changepoints"] for s in self._splits()), default=0)

    def depth(self) -> int:
        return max(self.depths.values())
