"""Checks of a tree in JSON: the type and range of a field, and whether the nodes agree with each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, TypeVar

from literati.data import labels
from literati.data.schema import Schema
from literati.errors import ModelFormatError
from literati.tree.nodes import Node, Settings, Split, depths

MAX_LIST = 1 << 20
Item = TypeVar("Item")


def check_tree(nodes: tuple[Node, ...], schema: Schema, settings: Settings) -> None:
    """Check that the nodes are one tree in preorder and that every node agrees with its children.

    Preorder rules out cycles and shared children.
    """
    size = [1] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        split = nodes[index].split
        if split is None:
            continue
        if (
            not (split.left == index + 1 < split.right < len(nodes))
            or split.right != split.left + size[split.left]
        ):
            raise ModelFormatError(f"nodes[{index}].split: expected the children of a tree in preorder")
        size[index] = 1 + size[split.left] + size[split.right]
    if not nodes or size[0] != len(nodes):
        raise ModelFormatError("nodes: expected one tree that reaches every node")
    if max(depths(nodes)) > settings.max_depth:
        raise ModelFormatError(f"nodes: the tree is deeper than its max_depth, {settings.max_depth}")
    for index, node in enumerate(nodes):
        _check_node(node, f"nodes[{index}]")
        if index and node.rows < settings.min_samples_leaf:
            raise ModelFormatError(
                f"nodes[{index}].rows: fewer than min_samples_leaf, {settings.min_samples_leaf}"
            )
        if node.split is not None:
            _check_split(node.split, schema, settings, f"nodes[{index}].split")
            children = nodes[node.split.left], nodes[node.split.right]
            _check_children(node, *children, settings, nodes[0].weight, f"nodes[{index}]")


def _check_node(node: Node, where: str) -> None:
    if node.label != node.counts.index(max(node.counts)):
        raise ModelFormatError(f"{where}.label: expected the class with the largest count")
    if not is_close(node.error, math.fsum(node.counts) - node.counts[node.label], node.weight):
        raise ModelFormatError(f"{where}.error: expected the weight of the other classes")
    if node.split is None and node.cost != node.error:
        raise ModelFormatError(f"{where}.cost: expected the error, because the node is a leaf")


def _check_children(
    node: Node, left: Node, right: Node, settings: Settings, total: float, where: str
) -> None:
    """Check the sums over the children, with a tolerance in proportion to `total`, the weight of all rows."""
    assert node.split is not None
    sums = [a + b for a, b in zip(left.counts, right.counts, strict=True)]
    weight = node.weight
    if left.rows + right.rows != node.rows or not all(map(is_close, sums, node.counts, [weight] * len(sums))):
        raise ModelFormatError(f"{where}: expected rows and counts that are the sums over its children")
    if not is_close(node.cost, settings.penalty(node.split.changepoints) + left.cost + right.cost, total):
        raise ModelFormatError(f"{where}.cost: expected the sum of the penalties and the children's costs")


def _check_split(split: Split, schema: Schema, settings: Settings, where: str) -> None:
    if split.column >= len(schema.columns) or schema.columns[split.column].constant:
        raise ModelFormatError(f"{where}.column: expected the index of a column that is not constant")
    if split.changepoints > settings.max_changepoints:
        raise ModelFormatError(
            f"{where}.changepoints: more than max_changepoints, {settings.max_changepoints}"
        )
    column = schema.columns[split.column]
    if column.kind == "category":
        if split.thresholds or not _rising((-1, *split.right_categories, len(column.categories))):
            raise ModelFormatError(f"{where}: expected rising indices of categories and no thresholds")
        divides = 0 < len(split.right_categories) < len(column.categories)
        if not divides and not (split.missing_seen and split.missing_right != bool(split.right_categories)):
            raise ModelFormatError(f"{where}.right_categories: expected values on both sides")
        return
    low, high = (
        (0.0, 1.0) if column.minimum is None or column.maximum is None else (column.minimum, column.maximum)
    )
    if split.right_categories or split.changepoints != max(1, len(split.thresholds)):
        raise ModelFormatError(f"{where}: a number has no categories and a change point for each threshold")
    if not _rising(split.thresholds) or not all(low <= t < high for t in split.thresholds):
        raise ModelFormatError(f"{where}.thresholds: expected rising numbers inside the column's range")
    if not split.thresholds and not (split.missing_right and split.missing_seen):
        raise ModelFormatError(f"{where}.thresholds: expected one or more, because nothing else goes right")


def _rising(numbers: tuple[float, ...]) -> bool:
    return all(a < b for a, b in pairwise(numbers))


def is_close(a: float, b: float, scale: float = 0.0) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * scale)


def check_fields(entry: Any, where: str, names: Iterable[str], optional: Iterable[str] = ()) -> None:
    if not isinstance(entry, dict):
        raise ModelFormatError(f"{where}: expected an object")
    expected = set(names)
    if wrong := (entry.keys() - set(optional)) ^ expected:
        name = min(map(str, wrong))
        kind = "absent" if name in expected else "unknown"
        raise ModelFormatError(f"{where}: the field {name[:80]!r} is {kind}")


def checked_list(
    value: Any, where: str, check: Callable[..., Item], *bounds: Any, max_length: int = MAX_LIST
) -> tuple[Item, ...]:
    """Return the entries of a list, each checked within `bounds`."""
    if not isinstance(value, list) or len(value) > max_length:
        raise ModelFormatError(f"{where}: expected a list of at most {max_length} entries")
    return tuple(check(item, f"{where}[{index}]", *bounds) for index, item in enumerate(value))


def checked_integer(value: Any, where: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ModelFormatError(f"{where}: expected an integer from {low} to {high}")
    return value


def checked_number(value: Any, where: str, low: float = -math.inf) -> float:
    if type(value) in (int, float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and number >= low:
            return number
    raise ModelFormatError(f"{where}: expected a finite number" + (f" >= {low:g}" if low == 0 else ""))


def checked_flag(value: Any, where: str) -> bool:
    if type(value) is not bool:
        raise ModelFormatError(f"{where}: expected true or false")
    return value


def checked_text(value: Any, where: str) -> str:
    if type(value) is not str:
        raise ModelFormatError(f"{where}: expected text")
    return value


def checked_label(value: Any, where: str) -> Any:
    try:
        return labels.from_json(value)
    except ValueError as error:
        raise ModelFormatError(f"{where}: {error}") from None
