"""Write a tree as nested conditions over an encoded row, for C, Java, JavaScript and Python.

A row has the columns that splits use, encoded as for the predict kernel: a double for each, NaN where the
cell is missing, and the code of a category or -1 for one that training did not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from literati.data.schema import UNKNOWN, Column
from literati.tree.export.conditions import code_sides, right_ranges
from literati.tree.export.names import comment_text
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

MAX_LISTED = 16  # categories in a condition; if both sides have more, a table is read instead


@dataclass(frozen=True)
class Syntax:
    """How a language writes conditions, blocks and tables."""

    entry: str  # whether the table of a node says that the category of a cell goes right
    both: str = "&&"
    either: str = "||"
    negation: str = "!"
    if_line: str = "if ({condition}) {{ // {name}"
    else_line: str = "}} else {{"
    end_line: str = "}}"
    leaf_line: str = "return {leaf};"
    indent: str = "    "

    def table(self, declaration: str, entries: Iterable[str]) -> list[str]:
        """Return the lines of a declaration with the entries in the place of its three dots."""
        opening, closing = declaration.split("...")
        return [opening, *(f"{self.indent}{entry}," for entry in entries), closing]


def leaves(tree: ShapeTree) -> list[int]:
    """Return the indices of the leaves among the nodes, in order."""
    return [index for index, node in enumerate(tree.nodes) if node.split is None]


def used_columns(tree: ShapeTree) -> dict[int, Column]:
    """Return the columns that splits use by their index; a tree of one leaf uses none."""
    used = {node.split.column for node in tree.nodes if node.split is not None}
    return {index: tree.schema.columns[index] for index in sorted(used)}


def cell_kind(column: Column) -> str:
    """Return how a cell of the column is read: "text" is a category that is a text, as all of its column."""
    texts = column.kind == "category" and all(isinstance(category, str) for category in column.categories)
    return "text" if texts else column.kind


def category_tables(tree: ShapeTree) -> dict[int, str]:
    """Return the tables of the nodes that need one: a digit for each code from -1 on, 1 if it goes right."""
    tables = {}
    for index, node in enumerate(tree.nodes):
        if node.split is not None and tree.schema.columns[node.split.column].kind == "category":
            left, right = code_sides(tree.schema.columns[node.split.column], node.split)
            if min(len(left), len(right)) > MAX_LISTED:
                in_right = set(right)
                codes = range(int(UNKNOWN), len(left) + len(right) - 1)
                tables[index] = "".join("1" if code in in_right else "0" for code in codes)
    return tables


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
    cells = {column: f"x[{at}]" for at, column in enumerate(used_columns(tree))}
    tables = category_tables(tree)
    lines: list[str] = []

    def write(index: int, level: int) -> None:
        space = syntax.indent * level
        split = tree.nodes[index].split
        if split is None or (index in calls and index != root):
            lines.append(space + syntax.leaf_line.format(leaf=calls.get(index, place.get(index))))
            return
        column, cell = tree.schema.columns[split.column], cells[split.column]
        entry = syntax.entry.format(node=index, cell=cell) if index in tables else None
        condition = right_condition(cell, column, split, syntax, entry)
        lines.append(space + syntax.if_line.format(condition=condition, name=comment_text(column.name)))
        write(split.right, level + 1)
        lines.append(space + syntax.else_line.format())
        write(split.left, level + 1)
        if syntax.end_line:
            lines.append(space + syntax.end_line.format())

    write(root, level)
    return lines


def right_condition(cell: str, column: Column, split: Split, syntax: Syntax, entry: str | None) -> str:
    """Return the condition under which a row goes right."""
    missing = f"{cell} != {cell}"
    if entry is not None:
        either = f"{missing} {syntax.either} {entry}"
        return either if split.missing_right else f"{cell} == {cell} {syntax.both} {entry}"
    if column.kind == "category":
        return _category_condition(cell, missing, column, split, syntax)
    parts = []
    for above, up_to in right_ranges(split):
        ends = [f"{cell} {sign} {end!r}" for sign, end in ((">", above), ("<=", up_to)) if end is not None]
        parts.append(ends[0] if len(ends) == 1 else f"({f' {syntax.both} '.join(ends)})")
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
    """Return nodes whose subtrees become functions, so that none has more than about twice `most` nodes."""
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
