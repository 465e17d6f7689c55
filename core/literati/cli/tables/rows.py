"""A file as rows to predict, read as the columns of a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from literati.cli.errors import InputError
from literati.cli.tables.sources import Source
from literati.data.columns import ColumnTable, RawColumn
from literati.data.schema import Column
from literati.suggestions import did_you_mean, nearest
from literati.tree.model import ShapeTree


def read_rows(source: Source, tree: ShapeTree) -> ColumnTable:
    """Read the columns of the tree. Columns that it does not use may be absent, and are then missing."""
    used = {node.split.column for node in tree.nodes if node.split is not None}
    columns = {}
    for place, column in enumerate(tree.schema.columns):
        if place in used and column.name not in source.names:
            guess = did_you_mean(map(repr, nearest(column.name, source.names)))
            raise InputError(
                f"The tree needs the column {column.name!r}, which the file does not have.{guess}"
            )
        columns[column.name] = _read(source, column) if place in used else _missing(source.n_rows)
    return ColumnTable(source.n_rows, columns)


def _read(source: Source, column: Column) -> RawColumn:
    raw = source.feature(column.name, column.kind)
    assert raw is not None  # only a column without a given type is left out
    if column.kind != "category":
        return raw
    # A file may not tell whether 1 is a number or text, so categories are recognised by how they are written.
    spelled = {str(category): category for category in column.categories}
    return replace(raw, labels=[spelled.get(str(label), label) for label in raw.labels])


def _missing(n_rows: int) -> RawColumn:
    return RawColumn("number", values=np.full(n_rows, np.nan))
