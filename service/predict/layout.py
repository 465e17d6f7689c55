"""The columns of a model, prepared once to decode many requests, and the decoded rows of a request."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.data.columns import Kind
from literati.data.schema import Column, Schema
from literati.suggestions import nearest
from literati.tree.export.text import number_text
from service.http.problems import pointer
from service.predict.outputs import Wanted
from service.predict.row_errors import (
    AbsentColumn,
    absent_column,
    absent_remedies,
    column_positions,
    raise_absent,
    too_many_rows,
)

Floats = npt.NDArray[np.float64]
MAX_CELLS = 1 << 26  # of a matrix (512 MB), because the cells of an Arrow stream may take no bytes
MAX_VARIANTS = 8  # cached layouts without some columns
MAX_GUESSES = 3  # absent columns for which similar names are looked for
_JSON_ESCAPED = re.compile(rb'["\\\x00-\x1f]')
_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NONE: type = type(None)
FINITE_TYPES = frozenset({int, float})
NUMBER_TYPES = frozenset({int, float, NONE})
BOOLEAN_TYPES = frozenset({bool, int, float, NONE})


@dataclass(frozen=True, slots=True)
class Field:
    """A column of the model that is not constant."""

    name: str
    index: int  # in the model's schema and in the matrix
    kind: Kind
    types: frozenset[type]  # of a JSON cell
    expected: str  # the types in words
    codes: dict[Any, float] = field(default_factory=dict)  # kind "category": code of each cell
    minimum: float = -math.inf  # of the training data
    maximum: float = math.inf
    range_text: str = ""  # minimum and maximum in words

    def normalize(self, cell: Any) -> Any:
        """Return the cell of a category column as in the training data: stripped, or as a number."""
        if type(cell) is not str or cell in self.codes:
            return cell
        if str in self.types:
            text = cell.strip()
            return text if text in self.codes else cell
        return parse_number(cell, cell) if int in self.types else cell


def parse_number(text: str, otherwise: Any) -> Any:
    """Return the finite number that a text represents, an integer if possible.

    Numbers are written as in a CSV. Python reads more as a number: 1_000, and digits of other scripts.
    """
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _NUMBER.fullmatch(text):
        return otherwise
    number = float(text)
    return number if math.isfinite(number) else otherwise


class Layout:
    """The columns to decode. Rows may lack the columns that no split uses.

    Columns that were constant in the training data are not fields; their cells are ignored.
    """

    def __init__(
        self,
        schema: Schema,
        used: frozenset[int],
        absent: tuple[str, ...] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare the columns. The tree splits on the indices `used`; the rows lack the columns `absent`.

        `options` are the columns that a query option names, each with this option.
        """
        self.schema = schema
        self.options = options or {}
        self.used = used
        self.absent = absent
        self.width = len(schema.columns)
        missing = frozenset(absent)
        self.order = [column.name for column in schema.columns]
        self.names = frozenset(self.order)
        self.fields = [
            _field(column, index)
            for index, column in enumerate(schema.columns)
            if not column.constant and column.name not in missing
        ]
        self.unused_names = [entry.name for entry in self.fields if entry.index not in used]
        self._variants: dict[tuple[str, ...], Layout] = {}  # by absent columns
        self.by_name = {entry.name: entry for entry in self.fields}
        self.by_index = {entry.index: entry for entry in self.fields}
        self.numbers = [entry for entry in self.fields if entry.kind == "number"]
        self.others = [entry for entry in self.fields if entry.kind != "number"]
        self.number_indices = np.array([entry.index for entry in self.numbers], dtype=np.intp)
        self.plain_names = self._plain_names()
        # Unseen categories have codes below 0 and NaN is in no range, so comparing the matrix with these
        # ranges finds every cell that needs a warning.
        self.minimums = np.zeros(self.width)
        self.maximums = np.zeros(self.width)
        for entry in self.fields:
            self.minimums[entry.index], self.maximums[entry.index] = entry.minimum, entry.maximum

    def without_absent(self, is_present: Callable[[str], bool]) -> Layout:
        """Return the layout without the unused columns that are not present.

        A used column stays a field even if it is absent, so that decoding reports it.
        """
        absent = tuple(name for name in self.unused_names if not is_present(name))
        if not absent:
            return self
        variant = self._variants.get(absent)
        if variant is None:
            variant = Layout(self.schema, self.used, (*self.absent, *absent), self.options)
            if len(self._variants) >= MAX_VARIANTS:
                self._variants.clear()
            self._variants[absent] = variant  # threads may overwrite each other's entry
        return variant

    def matched(self, names: Sequence[str], *where: str) -> tuple[Layout, dict[str, int]]:
        """Return the layout without the absent columns, and the position of each name.

        `where` is the path of the names in the request. Raise RowsError if a used column is absent.
        """
        positions = column_positions(names, *where)
        layout = self.without_absent(positions.__contains__)
        place = pointer(*where)
        absent = [AbsentColumn(name, place) for name in layout.by_name if name not in positions]
        layout.raise_absent(positions, absent)
        return layout, positions

    def raise_absent(self, present: Collection[str], absent: Sequence[AbsentColumn]) -> None:
        """Raise RowsError if columns are absent. `present` are the names of the columns in the rows."""
        names = dict.fromkeys(column.name for column in absent)
        option = self.options.get(next(iter(names))) if len(names) == 1 else None
        others = [name for name in present if name not in self.names]
        fixes = () if option is None else absent_remedies(next(iter(names)), option, others)
        similar = {name: nearest(name, others) for name in islice(names, MAX_GUESSES)}
        raise_absent(
            [
                absent_column(column, self.options.get(column.name), similar.get(column.name))
                for column in absent
            ],
            fixes,
        )

    @cached_property
    def used_only(self) -> Layout:
        """Return the layout with only the columns that the tree uses."""
        return self.without_absent(lambda name: False)

    def _plain_names(self) -> list[bytes] | None:
        """Return the names of the fields in JSON if all are numbers and no name needs escapes, else None."""
        names = [entry.name.encode(errors="replace") for entry in self.fields]
        plain = not self.others and not any(_JSON_ESCAPED.search(name) for name in names)
        return names if plain else None

    def empty_matrix(self, n_rows: int) -> Floats:
        """Return a matrix of zeros, which is what constant and absent columns contain."""
        if n_rows * self.width > MAX_CELLS:
            raise too_many_rows("/body", MAX_CELLS // self.width)
        return np.zeros((n_rows, self.width))


@dataclass(frozen=True, slots=True)
class Batch:
    """The decoded rows of a request."""

    matrix: Floats  # C order; one column per column of the model
    layout: Layout  # without the columns that the rows lack
    ignored: list[str]  # columns that the model does not have
    cell: Callable[[int, int], Any]  # row and column index -> the cell of the request
    pointer: Callable[[int, int], str]  # row and column index -> a JSON pointer to the cell
    read_as: Mapping[str, str] = field(default_factory=dict)  # number styles by column
    # Unused columns that cannot be read, with the number of the first such row (from 1) if it is known.
    unreadable: Mapping[str, int | None] = field(default_factory=dict)
    wanted: Wanted | None = None  # the outputs that a request of another protocol asks for


def _field(column: Column, index: int) -> Field:
    name, kind = column.name, column.kind
    if kind == "number":
        minimum, maximum = column.minimum, column.maximum
        assert minimum is not None
        assert maximum is not None
        range_text = f"[{number_text(minimum)}, {number_text(maximum)}]"
        return Field(name, index, kind, NUMBER_TYPES, "a number", {}, minimum, maximum, range_text)
    if kind == "boolean":
        return Field(name, index, kind, BOOLEAN_TYPES, "true or false", {}, 0.0, 1.0)
    codes: dict[Any, float] = {category: float(code) for code, category in enumerate(column.categories)}
    types = set(map(type, column.categories))
    if types & {int, float}:  # 1 and 1.0 are the same category
        types |= {int, float}
    codes[None] = math.nan
    if str in types:
        codes.setdefault("", math.nan)
    words = {str: "text", bool: "true or false", int: "a number", float: "a number"}
    expected = " or ".join(dict.fromkeys(words[type_] for type_ in words if type_ in types))
    return Field(
        name, index, kind, frozenset(types | {NONE}), expected, codes, 0.0, len(column.categories) - 1.0
    )
