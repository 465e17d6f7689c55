"""Write a tree as rules in text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from literati.data.labels import plain
from literati.data.schema import Column
from literati.tree.nodes import Node, Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

INDENT = "    "
ONE_LINE = str.maketrans({"\n": " ", "\r": " ", "\t": " "})


def number_text(number: float) -> str:
    """Return a short decimal within a relative error of 1e-9, such as 2.45 for 2.4500000000000002."""
    for digits in range(3, 17):
        text = f"{number:.{digits}g}"
        if math.isclose(float(text), number, rel_tol=1e-9):
            return text
    return repr(number)


def label_text(label: object) -> str:
    """Return a label or a name on one line."""
    return str(plain(label)).translate(ONE_LINE)


def rows_text(node: Node) -> str:
    """Return the number of a node's training rows in words."""
    return "1 row" if node.rows == 1 else f"{node.rows} rows"


def to_text(tree: ShapeTree) -> str:
    """Return the tree as nested rules."""
    root = tree.nodes[0]
    lines = [
        f"Shape tree of depth {tree.depth} with {tree.n_leaves} leaves, learned from {root.rows} rows",
        tree.proof.statement(),
        "",
    ]
    _write(tree, 0, 0, lines)
    splits = [node.split for node in tree.nodes if node.split is not None]
    if not all(split.missing_seen for split in splits):
        lines += ["", "* No training row here had the value missing: it goes where most rows went."]
    return "\n".join(lines) + "\n"


def _write(tree: ShapeTree, index: int, level: int, lines: list[str]) -> None:
    node = tree.nodes[index]
    if node.split is None:
        name = label_text(tree.classes[node.label])
        lines.append(f"{INDENT * level}class {name} ({100 * node.share:.4g} % of {rows_text(node)})")
        return
    column = tree.schema.columns[node.split.column]
    lines.append(
        f"{INDENT * level}if {left_condition(column, node.split)}{_others(column, node.split, False)}:"
    )
    _write(tree, node.split.left, level + 1, lines)
    lines.append(f"{INDENT * level}else{_others(column, node.split, True)}:")
    _write(tree, node.split.right, level + 1, lines)


def left_condition(column: Column, split: Split) -> str:
    """Return the condition under which a known value goes left."""
    name = label_text(column.name)
    if column.kind == "category":
        left = [k for k in range(len(column.categories)) if k not in split.right_categories]
        return f"{name} is one of {{{', '.join(label_text(column.categories[k]) for k in left)}}}"
    if not split.thresholds:
        return f"{name} is known"
    if column.kind == "boolean":
        return f"{name} is false"
    return " or ".join(_piece(name, *limits) for *limits, right in split.intervals() if not right)


def _piece(name: str, above: float | None, up_to: float | None) -> str:
    if above is None:
        return f"{name} <= {number_text(up_to or 0.0)}"
    if up_to is None:
        return f"{name} > {number_text(above)}"
    return f"{number_text(above)} < {name} <= {number_text(up_to)}"


def _others(column: Column, split: Split, right: bool) -> str:
    """Return a condition for missing and unknown values if they go to this side."""
    words = []
    if column.kind == "category" and split.unknown_right == right:
        words.append("not seen in training")
    if split.missing_right == right:
        words.append("missing" if split.missing_seen else "missing*")
    return f", or {' or '.join(words)}" if words else ""
