"""Explain a prediction: the splits on the way from the root to the leaf of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from literati.data.columns import read_objects
from literati.data.labels import is_missing, plain
from literati.data.schema import encode_column
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

Status = Literal["known", "missing", "unknown"]


@dataclass(frozen=True)
class Step:
    """A split that a row passes."""

    node: int
    feature: str
    value: Any  # as given; None if missing
    status: Status  # "unknown" for a category that training did not see
    side: Literal["left", "right"]
    interval: tuple[float | None, float | None] | None  # (above, up to) of a known number or boolean
    categories: tuple[Any, ...] | None  # all categories that go to the same side, for a known category
    seen: bool  # whether training rows had this kind of value; if not, it goes where most rows went

    def __str__(self) -> str:
        if self.status == "missing":
            why = "as the missing ones in training" if self.seen else "none missing in training here"
            return f"{self.feature} is missing ({why}): {self.side}"
        if self.status == "unknown":
            return f"{self.feature} = {self.value!r} was not seen in training: {self.side}"
        if self.categories is not None:
            return f"{self.feature} = {self.value!r} is one of {list(self.categories)!r}: {self.side}"
        if isinstance(self.value, bool):
            return f"{self.feature} is {str(self.value).lower()}: {self.side}"
        assert self.interval is not None
        return f"{self.feature} = {self.value!r} is {interval_text(*self.interval)}: {self.side}"


@dataclass(frozen=True)
class Explanation:
    """The splits that a row passes, and its leaf."""

    steps: tuple[Step, ...]
    leaf: int
    label: Any
    probability: float
    probabilities: tuple[float, ...]  # in the order of the tree's classes

    def to_dict(self) -> dict[str, Any]:
        steps = [dict(vars(step)) for step in self.steps]
        return {**vars(self), "steps": steps, "probabilities": list(self.probabilities)}

    def __str__(self) -> str:
        return "\n".join(
            [*map(str, self.steps), f"class {self.label!r} (probability {self.probability:.3g})"]
        )


def interval_text(above: float | None, up_to: float | None) -> str:
    """Return an interval in words."""
    if above is None:
        return "any number" if up_to is None else f"<= {up_to:g}"
    return f"> {above:g}" if up_to is None else f"in ({above:g}, {up_to:g}]"


def explain(tree: ShapeTree, row: Any) -> Explanation:
    """Return the explanation of one row."""
    cells = _cells(tree, row)
    steps: list[Step] = []
    index = 0
    while (split := tree.nodes[index].split) is not None:
        steps.append(_step(tree, index, split, plain(cells[split.column])))
        index = split.right if steps[-1].side == "right" else split.left
    leaf = tree.nodes[index]
    probabilities = tuple(tree.probabilities[index].tolist())
    label = plain(tree.classes[leaf.label])
    return Explanation(tuple(steps), index, label, probabilities[leaf.label], probabilities)


def _step(tree: ShapeTree, index: int, split: Split, cell: Any) -> Step:
    column = tree.schema.columns[split.column]
    status: Status = "known"
    interval = categories = None
    seen = True
    x = None if is_missing(cell) else encode_column(column, read_objects([cell], column.name))[0][0]
    if x is None:
        status, right, seen, cell = "missing", split.missing_right, split.missing_seen, None
    elif column.kind != "category":
        above, up_to, right = next(p for p in split.intervals() if p[1] is None or x <= p[1])
        interval = (above, up_to)
    elif x < 0:
        status, right, seen = "unknown", split.unknown_right, False
    else:
        right = int(x) in split.right_categories
        same = [k for k in range(len(column.categories)) if (k in split.right_categories) == right]
        categories = tuple(column.categories[k] for k in same)
    side: Literal["left", "right"] = "right" if right else "left"
    return Step(index, column.name, cell, status, side, interval, categories, seen)


def _cells(tree: ShapeTree, row: Any) -> list[Any]:
    """Return the cells of the row in the order of the model's columns."""
    columns = tree.schema.columns
    row = _first_row(row)
    if isinstance(row, Mapping):
        if absent := [column.name for column in columns if column.name not in row]:
            raise ValueError(f"row: the column {absent[0]!r} is absent; expected all training columns")
        return [row[column.name] for column in columns]
    if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
        raise TypeError("row: expected a mapping from column name to value, or a sequence of values")
    if len(row) != len(columns):
        raise ValueError(f"row: expected {len(columns)} values, got {len(row)}")
    return list(row)


def _first_row(row: Any) -> Any:
    """Return the row of a frame, an Arrow table or an array as a mapping or a sequence."""
    module = type(row).__module__.partition(".")[0]
    shape = getattr(row, "shape", None)
    if shape is not None and len(shape) == 2:
        if shape[0] != 1:
            raise ValueError(f"row: expected one row, got {shape[0]}")
        if module == "pandas":
            row = row.iloc[0]
        elif module == "polars":
            return row.row(0, named=True)
        elif module == "pyarrow":
            return row.to_pylist()[0]
        else:
            return list(row[0])
    if module == "pandas" and hasattr(row, "to_dict"):
        named = row.to_dict()
        return named if all(isinstance(key, str) for key in named) else list(named.values())
    return row
