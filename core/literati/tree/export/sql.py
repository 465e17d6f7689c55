"""Write a tree as an SQL query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from literati.data.labels import plain
from literati.data.schema import UNKNOWN, Column
from literati.tree.export.code import leaves
from literati.tree.export.conditions import ExportError, boolean_sides, code_sides, right_ranges
from literati.tree.export.names import free_name, utf8
from literati.tree.export.provenance import comment_lines
from literati.tree.nodes import Split

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

INDENT = "  "
MAX_BIGINT = 1 << 63
EXACT_DIGITS = 15  # a decimal of so many digits
EXACT_PLACES = 3  # and so many behind the point is read exactly by every engine
POWER = 1 << 60  # numbers are divided or multiplied by it in exact steps


@dataclass(frozen=True)
class Dialect:
    """How a database writes numbers and tests for NaN."""

    double: str  # the type of 64-bit floating-point numbers
    literal: Callable[[float], str]
    is_nan: str | None  # a condition on {x}; None if the database has no NaN
    boolean: str  # a boolean column as 0 or 1
    max_depth: int = 64  # of nested conditions; the depth of a tree that can be read is at most 64
    has_escapes: bool = False  # whether a backslash in a text may begin an escape sequence


def _cast_text(number: float) -> str:
    return f"CAST('{number!r}' AS DOUBLE PRECISION)"


def _sqlite_literal(number: float) -> str:
    """Return an expression with exactly this value.

    SQLite may read a decimal with an error in the last bit, because it rounds twice. It does not for a number
    with few digits behind the point; other numbers are written as a fraction.
    """
    text = repr(number)
    digits, exponent = Decimal(text).as_tuple()[1:]
    if len(digits) <= EXACT_DIGITS and isinstance(exponent, int) and -EXACT_PLACES <= exponent <= 1:
        return text
    numerator, denominator = number.as_integer_ratio()
    steps = ""
    while denominator > POWER:
        denominator //= POWER
        steps += f" / {POWER}.0"
    twos = max(0, (numerator & -numerator).bit_length() - 1)  # powers of two, which multiply without an error
    if abs(numerator) < MAX_BIGINT:
        twos = 0
    numerator >>= twos
    while twos > 0:
        step = min(twos, POWER.bit_length() - 1)
        steps += f" * {1 << step}.0"
        twos -= step
    return f"(CAST({numerator} AS REAL) / {denominator}.0{steps} /* {text} */)"


DIALECTS = {
    "ansi": Dialect(
        "DOUBLE PRECISION",
        _cast_text,
        None,
        "CASE WHEN {x} THEN 1 WHEN NOT {x} THEN 0 END",
        has_escapes=True,  # in MySQL, BigQuery and others
    ),
    "postgresql": Dialect("DOUBLE PRECISION", _cast_text, "{x} = 'NaN'", "CAST({x} AS INTEGER)"),
    "duckdb": Dialect("DOUBLE", _cast_text, "isnan({x})", "CAST({x} AS INTEGER)"),
    "sqlite": Dialect("REAL", _sqlite_literal, None, "CAST({x} AS INTEGER)", max_depth=16),
}


def to_sql(
    tree: ShapeTree, dialect: str = "ansi", table: str = "rows_to_predict", model_id: str | None = None
) -> str:
    """Return a query that adds the leaf, the prediction and the probability of each class to the rows.

    The leaf comes first, so that databases that take the first of several columns of one name take this one,
    also if the table has such a column, as the result of an earlier query has.
    """
    if dialect not in DIALECTS:
        raise ValueError(f"dialect: expected one of {', '.join(DIALECTS)}, got {dialect!r}")
    return _Writer(tree, DIALECTS[dialect]).query(table, model_id)


class _Writer:
    def __init__(self, tree: ShapeTree, dialect: Dialect) -> None:
        self.tree = tree
        self.dialect = dialect
        self.categories: dict[int, list[str]] = {}  # as literals, by column

    def query(self, table: str, model_id: str | None) -> str:
        tree = self.tree
        if tree.depth > self.dialect.max_depth:
            raise ExportError(
                f"The parser of SQLite allows {self.dialect.max_depth} nested conditions, but the depth of "
                f"the tree is {tree.depth}; export to Python instead"
            )
        ends = leaves(tree)
        probabilities = tree.probabilities.tolist()
        labels = _literals(tree.classes, "the classes", self.dialect)
        leaf = _name(free_name(tree, "leaf_id"))
        outputs = {"prediction": [labels[tree.nodes[index].label] for index in ends]}
        for k, label in enumerate(tree.classes):
            outputs[f"probability_{plain(label)}"] = [
                self.dialect.literal(probabilities[index][k]) for index in ends
            ]
        lines = [f"-- {line}" for line in comment_lines(tree, model_id)]
        lines += ["SELECT", f"{INDENT}tree.*,"]
        lines.append(
            ",\n".join(
                f"{INDENT}{self._cases(leaf, values)} AS {_name(free_name(tree, name))}"
                for name, values in outputs.items()
            )
        )
        lines += [
            "FROM (",
            f"{INDENT}SELECT",
            *self._tree(0, 2),
            f"{INDENT * 2}AS {leaf},",
            f"{INDENT * 2}input.*",
            f"{INDENT}FROM {_name(table)} AS input",
            ") AS tree;",
        ]
        return "\n".join(lines) + "\n"

    def _cases(self, leaf: str, values: list[str]) -> str:
        """Return a value for each leaf; the most frequent one needs no case."""
        ((usual, _),) = Counter(values).most_common(1)
        pairs = zip(leaves(self.tree), values, strict=True)
        cases = [f"WHEN {index} THEN {value}" for index, value in pairs if value != usual]
        return f"CASE tree.{leaf} {' '.join(cases)} ELSE {usual} END" if cases else usual

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
        listed, sign = (left, "NOT IN") if int(UNKNOWN) in right else (right, "IN")
        if split.column not in self.categories:
            what = f"the categories of {column.name!r}"
            self.categories[split.column] = _literals(column.categories, what, self.dialect)
        literals = self.categories[split.column]
        parts = [f"{cell} {sign} ({', '.join(literals[code] for code in listed)})"] if listed else []
        if not listed and sign == "NOT IN":
            parts = [f"{cell} IS NOT NULL"]
        if self.dialect.is_nan is None or any(literal[:1] == "'" for literal in literals):
            return parts
        nan = self.dialect.is_nan.format(x=f"CAST({cell} AS {self.dialect.double})")  # it is a missing value
        if split.missing_right:
            return [nan, *parts]
        return [f"({part} AND NOT {nan})" for part in parts]


def _name(name: str) -> str:
    if not utf8(name, "SQL"):
        raise ExportError("A column without a name cannot be written in SQL; export to Python instead")
    return '"' + name.replace('"', '""') + '"'


def _literals(values: Iterable[Any], what: str, dialect: Dialect) -> list[str]:
    """Return classes or categories as literals of one type."""
    literals = [_literal(plain(value), dialect) for value in values]
    if len({literal[:1] == "'" for literal in literals}) > 1:
        raise ExportError(
            f"A column of SQL has one type, but {what} are texts and numbers; export to Python instead"
        )
    return literals


def _literal(value: Any, dialect: Dialect) -> str:
    if isinstance(value, int):  # also a boolean
        if not -MAX_BIGINT < value < MAX_BIGINT:
            raise ExportError(f"SQL cannot hold the integer {value} in 64 bits; export to Python instead")
        return str(int(value))
    if isinstance(value, float):
        return dialect.literal(value)
    if isinstance(value, str):
        utf8(value, "SQL")
        if dialect.has_escapes and "\\" in value:
            raise ExportError(
                f"Some databases read the backslash in {value!r} as an escape; name the database as the "
                "dialect, or export to Python instead"
            )
        return "'" + value.replace("'", "''") + "'"
    raise ExportError(f"SQL has no literal for {value!r}; export to Python instead")
