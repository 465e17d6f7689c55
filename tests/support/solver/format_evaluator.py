"""An evaluator of models written from docs/model-format.md alone: nothing but the standard library.

It is what a user in another language would write, so it must not import Literati or share code with it.
Where it turns out wrong, the document is to be mended first.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Prediction(NamedTuple):
    label: Any
    probabilities: list[float]
    leaf_id: int


class Evaluator:
    def __init__(self, text: str) -> None:
        model = json.loads(text)
        if model["format"] != "literati-tree" or model["version"] != 1:
            raise ValueError("not a model of a version that is known here")
        self.named = model["named_columns"]
        self.columns = model["columns"]
        self.nodes = model["nodes"]
        self.smoothing = model["settings"].get("probability_smoothing", 0.0)
        self.classes = [read_label(entry) for entry in model["classes"]["labels"]]
        self.places = [
            {read_label(entry): place for place, entry in enumerate(column.get("categories", ()))}
            for column in self.columns
        ]

    def predict(self, row: Mapping[str, Any] | Sequence[Any]) -> Prediction:
        """Predict a row: a mapping by name, or a sequence by position."""
        at = 0
        while (split := self.nodes[at]["split"]) is not None:
            at = split["right" if self._goes_right(split, self._cell(row, split["column"])) else "left"]
        counts = [count + self.smoothing for count in self.nodes[at]["counts"]]
        total = sum(counts)
        return Prediction(self.classes[self.nodes[at]["label"]], [count / total for count in counts], at)

    def _cell(self, row: Mapping[str, Any] | Sequence[Any], place: int) -> Any:
        if isinstance(row, Mapping):
            return row.get(self.columns[place]["name"])
        return row[place]

    def _goes_right(self, split: dict[str, Any], cell: Any) -> bool:
        if cell is None or (isinstance(cell, float) and math.isnan(cell)):
            return bool(split["missing_right"])
        if self.columns[split["column"]]["kind"] == "category":
            place = self.places[split["column"]].get(cell)
            return bool(split["unknown_right"] if place is None else place in split["right_categories"])
        number = float(cell)
        if math.isinf(number):
            raise ValueError("infinite")
        return bisect_left(split["thresholds"], number) % 2 == 1


def read_label(entry: dict[str, Any]) -> Any:
    kind, value = entry["type"], entry["value"]
    if kind == "tuple":
        return tuple(read_label(part) for part in value)
    return float(value) if kind == "float" else value


def probability_key(label: Any) -> str:
    """How the service spells a class as a key of `probabilities`."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return label if isinstance(label, str) else repr(label)
