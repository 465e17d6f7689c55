"""Why each row gets its class: the steps from the root to its leaf, for answers of many rows.

The same steps as `ShapeTree.explain` takes for one row, from rows that are encoded already.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from typing import Any, Literal

from literati import ShapeTree
from literati.explain import Step
from literati.labels import plain
from literati.nodes import Split

from .batch import Batch
from .notices import shown

MOST_CATEGORIES = 20  # named in one step
EXACT = 2.0**53  # beyond it, not every integer is a float


@dataclass(frozen=True, slots=True)
class CategorySide:
    """The categories that a node sends one way."""

    codes: frozenset[int]
    first: tuple[Any, ...]


class Paths:
    def __init__(self, tree: ShapeTree) -> None:
        self.tree = tree

    def explain(self, batch: Batch, row: int) -> dict[str, Any]:
        """A row's steps, and the same in words, as JSON-able data."""
        steps: list[dict[str, Any]] = []
        index = 0
        while (split := self.tree.nodes[index].split) is not None:
            step, more = self._step(batch, row, index, split)
            steps.append(_entry(step, more))
            index = split.right if step.side == "right" else split.left
        return {"steps": steps, "text": "\n".join([*(step["text"] for step in steps), self._ends[index]])}

    def _step(self, batch: Batch, row: int, index: int, split: Split) -> tuple[Step, int]:
        """The step, and how many categories go the same way beyond those that it names."""
        column = self.tree.schema.columns[split.column]
        name, x = column.name, float(batch.matrix[row, split.column])
        if x != x:
            return Step(
                index, name, None, "missing", _side(split.missing_right), None, None, split.missing_seen
            ), 0
        if column.kind != "category":
            above, up_to, right = next(p for p in split.intervals() if p[1] is None or x <= p[1])
            value = bool(x) if column.kind == "boolean" else _number(x)
            return Step(index, name, value, "known", _side(right), (above, up_to), None, True), 0
        if x < 0:
            value = shown(batch.cell(row, split.column))
            return Step(index, name, value, "unknown", _side(split.unknown_right), None, None, False), 0
        left, right_side = self._sides[index]
        side = right_side if int(x) in right_side.codes else left
        value, named = shown(column.categories[int(x)]), side.first
        if value not in named:
            named = (value, *named[1:])
        step = Step(index, name, value, "known", _side(side is right_side), None, named, True)
        return step, len(side.codes) - len(named)

    @cached_property
    def _ends(self) -> list[str]:
        """The last sentence, by node."""
        labels = [plain(label) for label in self.tree.classes]
        return [f"class {labels[node.label]!r} (probability {node.share:.3g})" for node in self.tree.nodes]

    @cached_property
    def _sides(self) -> dict[int, tuple[CategorySide, CategorySide]]:
        """By node of a category column: left and right."""
        sides = {}
        for index, node in enumerate(self.tree.nodes):
            if node.split is not None and self.tree.schema.columns[node.split.column].kind == "category":
                categories = self.tree.schema.columns[node.split.column].categories
                right = frozenset(node.split.right_categories)
                left = frozenset(range(len(categories))) - right
                sides[index] = (_category_side(left, categories), _category_side(right, categories))
        return sides


def _category_side(codes: frozenset[int], categories: tuple[Any, ...]) -> CategorySide:
    first = islice(sorted(codes), MOST_CATEGORIES)
    return CategorySide(codes, tuple(shown(categories[code]) for code in first))


def _side(right: bool) -> Literal["left", "right"]:
    return "right" if right else "left"


def _number(x: float) -> float | int:
    """Whole numbers as people write them."""
    return int(x) if x.is_integer() and abs(x) <= EXACT else x


def _entry(step: Step, more: int) -> dict[str, Any]:
    text = str(step)
    if more:
        side = f": {step.side}"
        text = f"{text.removesuffix(side)} and {more} more{side}"
    entry = {part.name: getattr(step, part.name) for part in fields(step)}
    if step.interval is not None:
        entry["interval"] = {"above": step.interval[0], "up_to": step.interval[1]}
    return {**entry, "more_categories": more, "text": text}
