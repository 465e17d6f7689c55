"""A model's columns, prepared once for reading many bodies."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.columns import Kind
from literati.export import number_text
from literati.table import Schema

from .faults import too_many_rows

Floats = npt.NDArray[np.float64]
MOST_CELLS = 1 << 26  # of a matrix, half a gigabyte: an Arrow stream can hold cells that take no bytes
MOST_PARTS = 8  # layouts without some columns that are kept
NOT_PLAIN = re.compile(rb'["\\\x00-\x1f]')
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
NONE: type = type(None)
FINITE_TYPES = frozenset({int, float})
NUMBER_TYPES = frozenset({int, float, NONE})
BOOLEAN_TYPES = frozenset({bool, int, float, NONE})


@dataclass(frozen=True, slots=True)
class Field:
    """A column that the model may use: what a cell of it may be, and what it becomes."""

    name: str
    place: int  # in the model's schema, and so in the matrix
    kind: Kind
    types: frozenset[type]  # of a JSON cell
    expected: str  # in words
    index: dict[Any, float] = field(default_factory=dict)  # kind "category": cell to code
    minimum: float = -math.inf  # what training saw
    maximum: float = math.inf
    span: str = ""  # both in words

    def known(self, cell: Any) -> Any:
        """The cell of a category column as training may have seen it: without blanks, or as a number."""
        if type(cell) is not str or cell in self.index:
            return cell
        if str in self.types:
            bare = cell.strip()
            return bare if bare in self.index else cell
        return spelt_number(cell, cell) if int in self.types else cell


def spelt_number(text: str, otherwise: Any) -> Any:
    """The finite number that a text spells, an integer if it is one."""
    if _INTEGER.fullmatch(text.strip()):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return otherwise
    return number if math.isfinite(number) else otherwise


class Layout:
    """The columns that rows are read by. Rows may lack those that no split uses.

    Columns that were constant in training are no fields: their cells are not looked at.
    """

    def __init__(self, schema: Schema, used: frozenset[int], absent: tuple[str, ...] = ()) -> None:
        """`used` are the places of the columns that the tree splits on; rows lack those that are `absent`."""
        self.schema = schema
        self.used = used
        self.absent = absent
        self.width = len(schema.columns)
        lacking = frozenset(absent)
        self.names = frozenset(column.name for column in schema.columns)
        self.fields = [
            _field(column.name, place, column.kind, column.categories, column.minimum, column.maximum)
            for place, column in enumerate(schema.columns)
            if not column.constant and column.name not in lacking
        ]
        self.spare = [entry.name for entry in self.fields if entry.place not in used]
        self._parts: dict[tuple[str, ...], Layout] = {}  # by absent columns: clients send the same ones again
        self.by_name = {entry.name: entry for entry in self.fields}
        self.by_place = {entry.place: entry for entry in self.fields}
        self.numbers = [entry for entry in self.fields if entry.kind == "number"]
        self.others = [entry for entry in self.fields if entry.kind != "number"]
        self.number_places = np.array([entry.place for entry in self.numbers], dtype=np.intp)
        self.plain_names = self._plain_names()
        # Unseen categories are coded below 0 and NaN is inside nothing, so comparing the whole matrix with
        # these finds every cell that needs a word.
        self.lows = np.zeros(self.width)
        self.highs = np.zeros(self.width)
        for entry in self.fields:
            self.lows[entry.place], self.highs[entry.place] = entry.minimum, entry.maximum

    def lacking(self, present: Callable[[str], bool]) -> Layout:
        """The layout for rows that have only these columns; itself where nothing is absent.

        A column that is absent and used stays a field, so that reading the rows complains about it.
        """
        absent = tuple(name for name in self.spare if not present(name))
        if not absent:
            return self
        part = self._parts.get(absent)
        if part is None:
            part = Layout(self.schema, self.used, (*self.absent, *absent))
            if len(self._parts) >= MOST_PARTS:
                self._parts.clear()
            self._parts[absent] = part  # threads share this; whoever is last is kept
        return part

    @cached_property
    def used_only(self) -> Layout:
        """The layout for rows that have nothing but what the tree uses."""
        return self.lacking(lambda name: False)

    def _plain_names(self) -> list[bytes] | None:
        """The fields as JSON spells them, if all are numbers whose names need no escapes."""
        names = [entry.name.encode(errors="replace") for entry in self.fields]
        plain = not self.others and not any(NOT_PLAIN.search(name) for name in names)
        return names if plain else None

    def empty_matrix(self, n_rows: int) -> Floats:
        """Columns that are constant or absent hold 0; every field is to be filled in."""
        if n_rows * self.width > MOST_CELLS:
            raise too_many_rows("/body", MOST_CELLS // self.width)
        return np.zeros((n_rows, self.width))


def _field(
    name: str,
    place: int,
    kind: Kind,
    categories: tuple[Any, ...],
    minimum: float | None,
    maximum: float | None,
) -> Field:
    if kind == "number":
        assert minimum is not None
        assert maximum is not None
        span = f"[{number_text(minimum)}, {number_text(maximum)}]"
        return Field(name, place, kind, NUMBER_TYPES, "a number", {}, minimum, maximum, span)
    if kind == "boolean":
        return Field(name, place, kind, BOOLEAN_TYPES, "true or false", {}, 0.0, 1.0)
    index: dict[Any, float] = {category: float(code) for code, category in enumerate(categories)}
    types = {type(category) for category in categories}
    if types & {int, float}:  # 1 and 1.0 are the same category
        types |= {int, float}
    index[None] = math.nan
    if str in types:
        index.setdefault("", math.nan)
    words = {str: "text", bool: "true or false", int: "a number", float: "a number"}
    expected = " or ".join(dict.fromkeys(word for kind, word in words.items() if kind in types))
    return Field(
        name, place, "category", frozenset(types | {NONE}), expected, index, 0.0, len(categories) - 1.0
    )
