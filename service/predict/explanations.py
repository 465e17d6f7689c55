"""Explain the prediction of a row by the steps from the root to its leaf.

The steps are those of `ShapeTree.explain`, but for rows that are encoded already.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import Any

from literati import ShapeTree
from literati.data.labels import plain
from literati.tree.explain import Status, Step
from literati.tree.nodes import Split
from service.predict.layout import Batch
from service.predict.row_warnings import shown

MAX_CATEGORIES = 20  # listed in one step
MAX_EXACT = 2.0**53  # larger integers are not all floating-point numbers


@dataclass(frozen=True, slots=True)
class CategorySide:
    """The categories that a node sends to one side."""

    codes: frozenset[int]
    listed: tuple[Any, ...]


class Explainer:
    """Explains the predictions of one tree."""

    def __init__(self, tree: ShapeTree) -> None:
        self.tree = tree

    def explain(self, batch: Batch, row: int) -> dict[str, Any]:
        """Return the steps of a row, and the same in words, as JSON data."""
        steps: list[dict[str, Any]] = []
        index = 0
        while (split := self.tree.nodes[index].split) is not None:
            step, more = self._step(batch, row, index, split)
            steps.append(_entry(step, more))
            index = split.right if step.side == "right" else split.left
        text = "\n".join([*(step["text"] for step in steps), self._leaf_texts[index]])
        return {"steps": steps, "text": text}

    def _step(self, batch: Batch, row: int, index: int, split: Split) -> tuple[Step, int]:
        """Return the step, and the number of categories that go the same way but are not listed."""
        column = self.tree.schema.columns[split.column]
        name, x = column.name, float(batch.matrix[row, split.column])
        status: Status = "known"
        value = interval = listed = None
        seen, more = True, 0
        if x != x:
            status, right, seen = "missing", split.missing_right, split.missing_seen
        elif column.kind != "category":
            above, up_to, right = next(p for p in split.intervals() if p[1] is None or x <= p[1])
            value, interval = bool(x) if column.kind == "boolean" else _number(x), (above, up_to)
        elif x < 0:
            status, right, seen = "unknown", split.unknown_right, False
            value = shown(batch.cell(row, split.column))
        else:
            sides = self._sides[index]
            right = int(x) in sides[1].codes
            side = sides[right]
            value, listed = shown(column.categories[int(x)]), side.listed
            if value not in listed:
                listed = (value, *listed[1:])
            more = len(side.codes) - len(listed)
        return Step(index, name, value, status, "right" if right else "left", interval, listed, seen), more

    @cached_property
    def _leaf_texts(self) -> list[str]:
        """Return the prediction of every node in words."""
        labels = [plain(label) for label in self.tree.classes]
        return [
            f"class {labels[node.label]!r} (probability {probabilities[node.label]:.3g})"
            for node, probabilities in zip(self.tree.nodes, self.tree.probabilities, strict=True)
        ]

    @cached_property
    def _sides(self) -> dict[int, tuple[CategorySide, CategorySide]]:
        """Return the left and right categories of every node that splits a category column."""
        sides = {}
        for index, node in enumerate(self.tree.nodes):
            if node.split is not None and self.tree.schema.columns[node.split.column].kind == "category":
                categories = self.tree.schema.columns[node.split.column].categories
                right = frozenset(node.split.right_categories)
                left = frozenset(range(len(categories))) - right
                sides[index] = (_category_side(left, categories), _category_side(right, categories))
        return sides


def _category_side(codes: frozenset[int], categories: tuple[Any, ...]) -> CategorySide:
    listed = islice(sorted(codes), MAX_CATEGORIES)
    return CategorySide(codes, tuple(shown(categories[code]) for code in listed))


def _number(x: float) -> float | int:
    """Return whole numbers as integers."""
    return int(x) if x.is_integer() and abs(x) <= MAX_EXACT else x


def _entry(step: Step, more: int) -> dict[str, Any]:
    text = str(step)
    if more:
        side = f": {step.side}"
        text = f"{text.removesuffix(side)} and {more} more{side}"
    entry = {part.name: getattr(step, part.name) for part in fields(step)}
    if step.interval is not None:
        entry["interval"] = {"above": step.interval[0], "up_to": step.interval[1]}
    return {**entry, "more_categories": more, "text": text}
