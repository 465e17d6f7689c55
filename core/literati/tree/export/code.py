"""Write a tree as nested conditions over an encoded row, for C, Java, JavaScript and Python.

A row is encoded as for the predict kernel: a double for each column, NaN where the cell is missing, and the
code of a category or -1 for one that training did not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from literati.data.schema import Column
from literati.tree.export.conditions import code_sides, right_ranges
from literati.tree.export.text import label_text
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree


@dataclass(frozen=True)
class Syntax:
    """How a language writes conditions and blocks."""

    both: str = "&&"
    either: str = "||"
    negation: str = "!"
    if_line: str = "if ({condition}) {{ // {name}"
    else_line: str = "}} else {{"
    end_line: str = "}}"
    leaf_line: str = "return {leaf};"
    indent: str = "    "


def leaves(tree: ShapeTree) -> list[int]:
    """Return the indices of the leaves among the nodes, in order."""
    return [index for index, node in enumerate(tree.nodes) if node.split is None]


def conditions(
    tree: ShapeTree,
    syntax: Syntax,
    root: int = 0,
    level: int = 1,
    calls: Mapping[int, str] = MappingProxyType({}),
) -> list[str]:
    """Return lines that return the place of a row's leaf among the leaves.

    `calls` has the nodes whose subtrees are functions of their own, with the calls of these.
    """
    place = {index: at for at, index in enumerate(leaves(tree))}
    lines: list[str] = []

    def write(index: int, level: int) -> None:
        space = syntax.indent * level
        split = tree.nodes[index].split
        if split is None or (index in calls and index != root):
            lines.append(space + syntax.leaf_line.format(leaf=calls.get(index, place.get(index))))
            return
        column = tree.schema.columns[split.column]
        name = label_text(column.name)
        lines.append(
            space + syntax.if_line.format(condition=right_condition(column, split, syntax), name=name)
        )
        write(split.right, level + 1)
        lines.append(space + syntax.else_line.format())
        write(split.left, level + 1)
        if syntax.end_line:
            lines.append(space + syntax.end_line.format())

    write(root, level)
    return lines


def right_condition(column: Column, split: Split, syntax: Syntax) -> str:
    """Return the condition under which a row goes right."""
    cell = f"x[{split.column}]"
    missing = f"{cell} != {cell}"
    if column.kind == "category":
        return _category_condition(cell, missing, column, split, syntax)
    parts = []
    for above, up_to in right_ranges(split):
        ends = [f"{cell} {sign} {end!r}" for sign, end in ((">", above), ("<=", up_to)) if end is not None]
        parts.append(
            f" {syntax.both} ".join(ends) if len(ends) == 1 else f"({f' {syntax.both} '.join(ends)})"
        )
    if split.missing_right:
        parts.append(missing)
    return f" {syntax.either} ".join(parts)


def _category_condition(cell: str, missing: str, column: Column, split: Split, syntax: Syntax) -> str:
    """List the categories of the shorter side."""
    left, right = code_sides(column, split)
    either = f" {syntax.either} "
    if len(right) <= len(left):
        parts = [f"{cell} == {code}" for code in right]
        return either.join([*parts, missing] if split.missing_right else parts)
    if not left:
        return f"{cell} == {cell}"  # only missing cells go left
    known = f"{syntax.negation}({either.join(f'{cell} == {code}' for code in left)})"
    return known if split.missing_right else f"{cell} == {cell} {syntax.both} {known}"


def large_subtrees(tree: ShapeTree, most: int) -> list[int]:
    """Return nodes whose subtrees become functions, so that none has more than about `most` nodes."""
    size = [1] * len(tree.nodes)
    found = []
    for index in reversed(range(len(tree.nodes))):
        split = tree.nodes[index].split
        if split is None:
            continue
        size[index] += size[split.left] + size[split.right]
        if size[index] > most and index:
            found.append(index)
            size[index] = 1
    return found[::-1]
