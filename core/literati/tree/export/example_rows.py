"""Rows that reach the leaves of a tree, for exports that contain examples."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from literati.data.columns import Floats
from literati.data.schema import Column
from literati.tree.export.code import used_columns
from literati.tree.nodes import Split
from literati.tree.routing import goes_right

if TYPE_CHECKING:
    from literati.tree.model import ShapeTree

Sides = list[tuple[Split, bool]]  # splits of a column, and whether the row goes right
Row = dict[int, float]  # cells by column, encoded as for the predict kernel, without those that are missing


def example_rows(tree: ShapeTree, most: int, codes: Callable[[Column], list[float]]) -> list[tuple[int, Row]]:
    """Return at most so many rows, each behind the leaf that it reaches.

    All cells of the first row are missing. Every other row reaches a leaf of its own, and its numbers equal a
    threshold or are the next double above one. `codes` returns the codes of categories that may be cells. A
    leaf that only other cells reach has no row.
    """
    columns = used_columns(tree)
    allowed = {at: codes(column) for at, column in columns.items() if column.kind == "category"}
    rows: list[tuple[int, Row]] = [(_leaf_of_missing(tree), {})]
    paths = list(_paths(tree).items()) if columns else []
    chosen = min(len(paths), most - 1)
    for leaf, path in (paths[place * len(paths) // chosen] for place in range(chosen)):
        cells = {at: _cell(columns[at], sides, allowed.get(at, [])) for at, sides in sorted(path.items())}
        known = {at: cell for at, cell in cells.items() if cell is not None}
        if len(known) == len(cells):
            rows.append((leaf, {at: cell for at, cell in known.items() if not math.isnan(cell)}))
    return rows


def _paths(tree: ShapeTree) -> dict[int, dict[int, Sides]]:
    """Return the sides that lead to each leaf, by column."""
    paths: dict[int, dict[int, Sides]] = {0: {}}
    for index, node in enumerate(tree.nodes):  # parents come before their children
        if (split := node.split) is not None:
            path = paths.pop(index)
            for child, right in ((split.left, False), (split.right, True)):
                paths[child] = {**path, split.column: [*path.get(split.column, []), (split, right)]}
    return dict(sorted(paths.items()))


def _leaf_of_missing(tree: ShapeTree) -> int:
    index = 0
    while (split := tree.nodes[index].split) is not None:
        index = split.right if split.missing_right else split.left
    return index


def _cell(column: Column, sides: Sides, codes: list[float]) -> float | None:
    """Return a cell that takes these sides, NaN if only a missing one does, or None."""
    cells = _cells(column, sides, codes)
    fits = np.ones(len(cells), dtype=bool)
    for split, right in sides:
        fits &= goes_right(split, column.kind, cells) == right
    return float(cells[fits.argmax()]) if fits.any() else None


def _cells(column: Column, sides: Sides, codes: list[float]) -> Floats:
    """Return a cell of every kind that the splits tell apart; the missing one is the last."""
    if column.kind == "category":
        return np.array([*codes, math.nan])
    if column.kind == "boolean":
        return np.array([0.0, 1.0, math.nan])
    thresholds = sorted({threshold for split, _ in sides for threshold in split.thresholds}) or [0.0]
    above = math.nextafter(thresholds[-1], math.inf)
    return np.array([*thresholds, *([above] if math.isfinite(above) else []), math.nan])
