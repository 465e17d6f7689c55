"""Write a tree as an SQL query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from literati.data.labels import plain
from literati.data.schema import UNKNOWN, Column
from literati.tree.export.code import leaves
from literati.tree.export.conditions import ExportError, boolean_sides, code_sides, right_ranges
from literati.tree.export.provenance import comment_lines
from literati.tree.export.text import label_text
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

INDENT = "  "
MAX_BIGINT = 1 << 63
EXACT_DIGITS = 15  # a decimal of so many digits and a small power of ten is read exactly by every engine
POWER = 1 << 60  # numbers are divided or multiplied by it in exact steps


@dataclass(frozen=True)
class Dialect:
    """How a database writes numbers and tests for NaN."""

    double: str  # the type of 64-bit floating-point numbers
    literal: Callable[[float], str]
    is_nan: str | None  # a condition on {x}; None if the database has no NaN
    boolean: str  # a boolean column as 0 or 1


def _cast_text(number: float) -> str:
    return f"CAST('{number!r}' AS DOUBLE PRECISION)"


def _sqlite_literal(number: float) -> str:
    """Return an expression with exactly this value; SQLite may read long decimals with an error."""
    text = repr(number)
    exponent = int(f"{number:e}".partition("e")[2])
    if float(f"{number:.{EXACT_DIGITS - 1}e}") == number and abs(exponent) <= EXACT_DIGITS:
        return text
    numerator, denominator = number.as_integer_ratio()
    steps = ""
    while denominator > POWER:
        denominator //= POWER
        steps += f" / {POWER}.0"
    while abs(numerator) >= MAX_BIGINT:
        numerator //= POWER
        steps += f" * {POWER}.0"
    return f"(CAST({numerator} AS REAL) / {denominator}.0{steps} /* {text} */)"


DIALECTS = {
    "ansi": Dialect("DOUBLE PRECISION", _cast_text, None, "CASE WHEN {x} THEN 1 WHEN NOT {x} THEN 0 END"),
    "postgresql": Dialect("DOUBLE PRECISION", _cast_text, "{x} = 'NaN'", "CAST({x} AS INTEGER)"),
    "duckdb": Dialect("DOUBLE", _cast_text, "isnan({x})", "CAST({x} AS INTEGER)"),
    "sqlite": Dialect("REAL", _sqlite_literal, None, "CAST({x} AS INTEGER)"),
}


def to_sql(
    tree: ShapeTree, dialect: str = "ansi", table: str = "rows_to_predict", model_id: str | None = None
) -> str:
    """Return a query that adds the prediction, the leaf and the probability of each class to the rows."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect: expected one of {', '.join(DIALECTS)}, got {dialect!r}")
    return _Writer(tree, DIALECTS[dialect]).query(table, model_id)


class _Writer:
    def __init__(self, tree: ShapeTree, dialect: Dialect) -> None:
        self.tree = tree
        self.dialect = dialect

    def query(self, table: str, model_id: str | None) -> str:
        tree = self.tree
        ends = leaves(tree)
        probabilities = tree.probabilities.tolist()
        labels = [_label(label, self.dialect) for label in tree.classes]
        if len({text[:1] == "'" for text in labels}) > 1:
            raise ExportError(
                "a column of SQL has one type, but the classes are texts and numbers; use Python instead"
            )
        outputs = [self._cases("prediction", [labels[tree.nodes[index].label] for index in ends])]
        for k, label in enumerate(tree.classes):
            shares = [self.dialect.literal(probabilities[index][k]) for index in ends]
            outputs.append(self._cases(f"probability of {label_text(label)}", shares))
        lines = [f"-- {line}" for line in comment_lines(tree, model_id)]
        lines += [
            "SELECT",
            f"{INDENT}tree.*,",
            ",\n".join(outputs),
            "FROM (",
            f"{INDENT}SELECT",
            f"{INDENT * 2}input.*,",
        ]
        lines += [
            *self._tree(0, 2),
            f"{INDENT * 2}AS leaf_id",
            f"{INDENT}FROM {_name(table)} AS input",
            ") AS tree;",
        ]
        return "\n".join(lines) + "\n"

    def _cases(self, name: str, values: list[str]) -> str:
        """Return a value for each leaf; the most frequent one needs no case."""
        usual = max(dict.fromkeys(values), key=values.count)
        pairs = zip(leaves(self.tree), values, strict=True)
        cases = [f"WHEN {index} THEN {value}" for index, value in pairs if value != usual]
        if not cases:
            return f"{INDENT}{usual} AS {_name(name)}"
        return f"{INDENT}CASE tree.leaf_id {' '.join(cases)} ELSE {usual} END AS {_name(name)}"

    def _tree(self, index: int, level: int) -> list[str]:
        space = INDENT * level
        split = self.tree.nodes[index].split
        if split is None:
            return [f"{space}{index}"]
        condition = self._goes_right(self.tree.schema.columns[split.column], split)
        return [
            f"{space}CASE WHEN {condition} THEN",
            *self._tree(split.right, level + 1),
            f"{space}ELSE",
            *self._tree(split.left, level + 1),
            f"{space}END",
        ]

    def _goes_right(self, column: Column, split: Split) -> str:
        """Return a condition that is true for rows that go right, and false or null for others."""
        cell = f"input.{_name(column.name)}"
        writer = {"category": self._category, "boolean": self._boolean, "number": self._number}[column.kind]
        parts = writer(cell, column, split)
        if split.missing_right:
            parts.insert(0, f"{cell} IS NULL")
        return " OR ".join(parts)

    def _number(self, cell: str, column: Column, split: Split) -> list[str]:
        x = f"CAST({cell} AS {self.dialect.double})"
        nan = self.dialect.is_nan and self.dialect.is_nan.format(x=x)
        parts = [nan] if nan and split.missing_right else []
        for above, up_to in right_ranges(split):
            ends = [
                f"{x} {sign} {self.dialect.literal(end)}"
                for sign, end in ((">", above), ("<=", up_to))
                if end is not None
            ]
            if up_to is None and nan:  # NaN is above every number
                ends.append(f"NOT {nan}")
            parts.append(ends[0] if len(ends) == 1 else f"({' AND '.join(ends)})")
        return parts

    def _boolean(self, cell: str, column: Column, split: Split) -> list[str]:
        x = self.dialect.boolean.format(x=cell)
        return [f"{x} = {value}" for value, right in enumerate(boolean_sides(split)) if right]

    def _category(self, cell: str, column: Column, split: Split) -> list[str]:
        left, right = code_sides(column, split)
        unknown = int(UNKNOWN)
        listed, sign = (left, "NOT IN") if unknown in right else (right, "IN")
        texts = [_label(column.categories[code], self.dialect) for code in listed]
        if len({text[:1] == "'" for text in (_label(c, self.dialect) for c in column.categories)}) > 1:
            raise ExportError(
                f"a column of SQL has one type, but the categories of {column.name!r} are texts and numbers; "
                "export to Python instead"
            )
        if texts:
            return [f"{cell} {sign} ({', '.join(texts)})"]
        return [f"{cell} IS NOT NULL"] if sign == "NOT IN" else []


def _name(name: str) -> str:
    if "\0" in name:
        raise ExportError(f"a name in SQL cannot contain the code point 0, as {name!r} does")
    return '"' + name.replace('"', '""') + '"'


def _label(label: Any, dialect: Dialect) -> str:
    """Return a class or a category as a literal."""
    label = plain(label)
    if isinstance(label, bool):
        return str(int(label))
    if isinstance(label, int):
        if not -MAX_BIGINT < label < MAX_BIGINT:
            raise ExportError(f"SQL cannot hold the integer {label} in 64 bits; export to Python instead")
        return str(label)
    if isinstance(label, float):
        return dialect.literal(label)
    if isinstance(label, str) and "\0" not in label:
        return "'" + label.replace("'", "''") + "'"
    raise ExportError(f"SQL has no literal for {label!r}; export to Python instead")
