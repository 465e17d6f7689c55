"""Write a tree as a Python module without dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from literati.data.labels import plain
from literati.tree.export.code import (
    Syntax,
    category_tables,
    cell_kind,
    conditions,
    leaves,
    used_columns,
)
from literati.tree.export.provenance import comment_lines

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

SYNTAX = Syntax(
    entry='RIGHT[{node}][int({cell}) + 1] == "1"',
    both="and",
    either="or",
    negation="not ",
    if_line="if {condition}:  # {name}",
    else_line="else:",
    end_line="",
    leaf_line="return {leaf}",
)

FUNCTIONS = '''

def _is_missing(cell):
    return cell is None or type(cell).__name__ == "NAType" or cell != cell


def _number(name, cell):
    if not isinstance(cell, (Real, Decimal)):
        raise TypeError(f"{name}: expected a number, got {cell!r}")
    try:
        number = float(cell)
    except OverflowError:
        number = float("inf")
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{name}: expected a finite number, got {cell!r}")
    return number


def _boolean(name, cell):
    if cell not in (0, 1):
        raise ValueError(f"{name}: expected a boolean, 0 or 1, got {cell!r}")
    return float(cell)


def _text(name, cell):
    if not isinstance(cell, str):
        raise TypeError(f"{name}: expected a text, got {cell!r}")
    return CATEGORIES[name].get(cell, -1)


def _category(name, cell):
    return CATEGORIES[name].get(cell, -1)


_READERS = {"number": _number, "boolean": _boolean, "text": _text, "category": _category}


def _encode(row):
    """Return a number for each column: NaN if missing, the code of a category, -1 for an unknown one."""
    x = []
    for name, kind in COLUMNS.items():
        if name not in row:
            raise KeyError(f"{name}: the row has no such column; None is a missing cell")
        cell = row[name]
        x.append(NAN if _is_missing(cell) else _READERS[kind](name, cell))
    return x


def leaf_id(row):
    """Return the id of the leaf of a row, a mapping of COLUMNS to cells. None and NaN are missing."""
    return LEAF_IDS[_leaf(_encode(row))]


def predict(row):
    """Return the class of a row."""
    return CLASSES[LABELS[_leaf(_encode(row))]]


def predict_proba(row):
    """Return the probability of each class in CLASSES for a row."""
    return list(PROBABILITIES[_leaf(_encode(row))])
'''


def to_python(tree: ShapeTree, model_id: str | None = None) -> str:
    """Return a module with `predict`, `predict_proba` and `leaf_id` for one row."""
    ends = leaves(tree)
    columns = used_columns(tree).values()
    codes = {
        column.name: {plain(category): code for code, category in enumerate(column.categories)}
        for column in columns
        if column.kind == "category"
    }
    probabilities = tree.probabilities.tolist()
    lines = [f"# {line}" for line in comment_lines(tree, model_id)]
    lines += ["", "from decimal import Decimal", "from numbers import Real", "", 'NAN = float("nan")']
    lines += [f"CLASSES = {[plain(label) for label in tree.classes]!r}"]
    lines += SYNTAX.table(
        "COLUMNS = {...}", [f"{column.name!r}: {cell_kind(column)!r}" for column in columns]
    )
    lines += SYNTAX.table("CATEGORIES = {...}", [f"{name!r}: {found!r}" for name, found in codes.items()])
    if tables := category_tables(tree):
        lines += SYNTAX.table("RIGHT = {...}", [f"{node}: {table!r}" for node, table in tables.items()])
    lines += SYNTAX.table("LEAF_IDS = [...]", [str(index) for index in ends])
    lines += SYNTAX.table("LABELS = [...]", [str(tree.nodes[index].label) for index in ends])
    lines += SYNTAX.table("PROBABILITIES = [...]", [repr(probabilities[index]) for index in ends])
    lines += ["", "", "def _leaf(x):", *conditions(tree, SYNTAX)]
    return "\n".join(lines) + "\n" + FUNCTIONS
