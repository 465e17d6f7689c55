"""An evaluator of a tree's JSON form by the rules of the model format, without code of the library."""

from __future__ import annotations

import math
from itertools import groupby
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

    def shortest_interval(self, case: Case, kept: list[bool]) -> int:
        """Return the number of rows in the shortest interval of any split; all of them if there is none."""
        reached: dict[int, list[int]] = {}
        for row in (row for row, keep in enumerate(kept) if keep):
            for node in self.path([column[row] for column in case.columns]):
                reached.setdefault(node, []).append(row)
        shortest = sum(kept)
        for at, node in enumerate(self.nodes):
            if (split := node["split"]) is not None:
                cells = [case.columns[split["column"]][row] for row in reached.get(at, [])]
                shortest = min(shortest, *self._interval_rows(split, cells))
        return shortest

    def _interval_rows(self, split: dict[str, Any], cells: list[Any]) -> list[int]:
        """Return the rows in each interval; missing values that are alone on a side are the last one."""
        known = [cell for cell in cells if cell is not None]
        place = {cell: float(cell) for cell in known if not isinstance(cell, str)}
        if self.columns[split["column"]]["kind"] == "category":
            names = [entry["value"] for entry in self.columns[split["column"]]["categories"]]
            place = {cell: float(names.index(cell)) for cell in known}
        sides = {cell: self._goes_right(split, cell) for cell in known}
        if len(set(sides.values())) < 2:
            return [len(known), len(cells) - len(known)]
        if split["changepoints"] == 1:  # with one-hot columns a category may lie between the others
            return [sum(sides[cell] == side for cell in known) for side in (False, True)]
        ordered = sorted(known, key=lambda cell: place[cell])
        return [len(list(run)) for _, run in groupby(ordered, key=lambda cell: sides[cell])]

    def depth(self) -> int:
        return max(self.depths.values())
