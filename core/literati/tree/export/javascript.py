"""Write a tree as a JavaScript module without dependencies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from literati.data.labels import plain
from literati.tree.export.code import (
    Syntax,
    category_tables,
    cell_kind,
    conditions,
    leaves,
    used_columns,
)
from literati.tree.export.conditions import MAX_EXACT, ExportError
from literati.tree.export.provenance import comment_lines

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

SYNTAX = Syntax(entry='RIGHT[{node}][{cell} + 1] === "1"', indent="  ")

FUNCTIONS = """
const isMissing = (cell) => cell === null || cell === undefined || Number.isNaN(cell);

const refuse = (name, expected, cell) => {
  throw new TypeError(`${name}: expected ${expected}, got ${typeof cell} ${String(cell)}`);
};

// Returns a cell in the form of the keys of CATEGORIES: booleans as 0 and 1, integers beyond 2^53 as BigInt.
const plain = (cell) => {
  if (typeof cell === "boolean") return Number(cell);
  if (typeof cell === "bigint" && cell >= -(2n ** 53n) && cell <= 2n ** 53n) return Number(cell);
  return Number.isInteger(cell) && Math.abs(cell) > 2 ** 53 ? BigInt(cell) : cell;
};

const number = (name, cell) => {
  const value = ["boolean", "bigint", "number"].includes(typeof cell) ? Number(cell) : NaN;
  return Number.isFinite(value) ? value : refuse(name, "a finite number", cell);
};

const READERS = {
  number,
  boolean: (name, cell) => (
    [0, 1].includes(plain(cell)) ? Number(cell) : refuse(name, "a boolean, 0 or 1", cell)
  ),
  text: (name, cell) => (
    typeof cell === "string" ? CATEGORIES.get(name).get(cell) ?? -1 : refuse(name, "a text", cell)
  ),
  category: (name, cell) => CATEGORIES.get(name).get(plain(cell)) ?? -1,
};

// Returns a number for each column: NaN for a missing cell, the code of a category, -1 for an unknown one.
const encode = (row) => KINDS.map(([name, kind]) => {
  if (!Object.hasOwn(row, name)) {
    throw new TypeError(`${name}: the row has no such column; null is a missing cell`);
  }
  const cell = row[name];
  return isMissing(cell) ? NaN : READERS[kind](name, cell);
});

/**
 * Returns the id of the leaf of a row, an object with a cell for each of COLUMNS. null, undefined and NaN are
 * missing.
 */
export function leafId(row) {
  return LEAF_IDS[leaf(encode(row))];
}

/** Returns the class of a row. */
export function predict(row) {
  return CLASSES[LABELS[leaf(encode(row))]];
}

/** Returns the probability of each class in CLASSES for a row. */
export function predictProba(row) {
  return [...PROBABILITIES[leaf(encode(row))]];
}
"""


def literal(value: Any) -> str:
    """Return a label or a category as a JavaScript literal."""
    value = plain(value)
    if isinstance(value, tuple):
        raise ExportError(
            f"JavaScript has no value that equals the tuple {value!r}; export to Python instead"
        )
    if isinstance(value, int) and abs(value) > MAX_EXACT:
        return f"{value}n"  # a BigInt
    return json.dumps(value)


def to_javascript(tree: ShapeTree, model_id: str | None = None) -> str:
    """Return an ECMAScript module with `predict`, `predictProba` and `leafId` for one row."""
    ends = leaves(tree)
    columns = used_columns(tree).values()
    probabilities = tree.probabilities.tolist()
    lines = [f"// {line}" for line in comment_lines(tree, model_id)]
    lines += ["", f"export const CLASSES = [{', '.join(literal(label) for label in tree.classes)}];"]
    lines += [f"export const COLUMNS = [{', '.join(literal(column.name) for column in columns)}];"]
    lines += SYNTAX.table(
        "const KINDS = [...];", [f"[{literal(c.name)}, {literal(cell_kind(c))}]" for c in columns]
    )
    categories = [
        f"[{literal(c.name)}, new Map([{_entries(c.categories)}])]" for c in columns if c.kind == "category"
    ]
    lines += SYNTAX.table("const CATEGORIES = new Map([...]);", categories)
    if tables := category_tables(tree):
        lines += SYNTAX.table(
            "const RIGHT = {...};", [f'{node}: "{table}"' for node, table in tables.items()]
        )
    lines += [f"const LEAF_IDS = {ends};", f"const LABELS = {[tree.nodes[index].label for index in ends]};"]
    lines += SYNTAX.table(
        "const PROBABILITIES = [...];", [json.dumps(probabilities[index]) for index in ends]
    )
    lines += ["", "function leaf(x) {", *conditions(tree, SYNTAX), "}"]
    return "\n".join(lines) + "\n" + FUNCTIONS


def _entries(categories: tuple[Any, ...]) -> str:
    return ", ".join(f"[{_key(category)}, {code}]" for code, category in enumerate(categories))


def _key(category: Any) -> str:
    """Return a category as a key of a Map: true equals 1, and 1e20 equals 100000000000000000000n."""
    category = plain(category)
    whole = isinstance(category, bool) or (isinstance(category, float) and category.is_integer())
    return literal(int(category) if whole else category)
