"""Split the rows of a sweep: test rows that no trial sees, and folds that are held out in turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from worker.domain.jobs import SweepPlace
from worker.domain.validation import ColumnFolds, Folds, RandomFolds, ValidationFraction
from worker.training.tables import DatasetRows, Mask, coded_column, draw_by_class

FoldNumbers = npt.NDArray[np.int64]  # of each row; -1 if it is never held out
NEVER = -1


def split_for_sweep(rows: DatasetRows, place: SweepPlace) -> tuple[DatasetRows, DatasetRows | None]:
    """Return the training rows and the held-out rows of a job of a sweep.

    The last job of a sweep trains on all rows but the test rows, and holds out these.
    """
    tested = draw_test_rows(rows, place.test)
    if place.fold is None:
        rows = _without_fold_column(rows, place.folds)
        return rows.select(~tested), rows.select(tested) if tested.any() else None
    held = held_rows(rows, place.folds, place.fold, tested)
    rows = _without_fold_column(rows, place.folds)
    if not held.any():
        raise ValueError(f"validation: fold {place.fold} has no rows; use fewer folds")
    return rows.select(~tested & ~held), rows.select(held)


def held_rows(rows: DatasetRows, folds: Folds, fold: int, tested: Mask) -> Mask:
    """Return which rows a fold holds out."""
    number = fold % folds.folds if isinstance(folds, RandomFolds) else fold
    held: Mask = fold_numbers(rows, folds, fold, tested) == number
    return held


def draw_test_rows(rows: DatasetRows, test: ValidationFraction | None) -> Mask:
    """Return which rows are for the test of the chosen tree."""
    if test is None:
        return np.zeros(rows.n_rows, dtype=bool)
    return draw_by_class(rows, test.fraction, test.seed)


def fold_numbers(rows: DatasetRows, folds: Folds, fold: int, tested: Mask) -> FoldNumbers:
    """Return the fold of each row in the repetition to which `fold` belongs; -1 for test rows."""
    if isinstance(folds, ColumnFolds):
        numbers = _folds_of_column(rows.X, folds)
    else:
        counted = ~tested if rows.weights is None else ~tested & (rows.weights > 0)
        numbers = _drawn_folds(rows.y, folds, fold // folds.folds, counted)
    return np.where(tested, NEVER, numbers)


def fold_values(column: Any) -> list[Any]:
    """Return the distinct values of a column of folds, in the order of their numbers."""
    if pa.types.is_dictionary(column.type):
        codes, labels = coded_column(column)
        return sorted(labels[code] for code in np.unique(codes[codes >= 0]))
    return sorted(value for value in column.unique().drop_null().to_pylist() if value == value)


def _folds_of_column(table: Any, folds: ColumnFolds) -> FoldNumbers:
    if folds.column not in table.column_names:
        raise ValueError(f"validation: {folds.column!r} is not one of the dataset's feature columns")
    column = table.column(folds.column)
    index = {value: number for number, value in enumerate(fold_values(column))}
    if pa.types.is_dictionary(column.type):
        codes, labels = coded_column(column)
        of_label = np.array([*(index.get(label, NEVER) for label in labels), NEVER])
        return np.asarray(of_label[codes], dtype=np.int64)  # -1, a missing cell, reads the last entry
    return np.array([index.get(value, NEVER) for value in column.to_pylist()], dtype=np.int64)


def _drawn_folds(y: npt.NDArray[Any], folds: RandomFolds, repetition: int, used: Mask) -> FoldNumbers:
    """Deal out the rows to the folds in random order, one class after another if they are stratified.

    So the folds differ by at most one row, and every class has a row to learn from in every fold.
    """
    rows = np.flatnonzero(used)
    codes = np.unique(y[rows], return_inverse=True)[1]
    # The raw bits are the same in every version of NumPy; the numbers of its generators are not.
    keys = np.random.PCG64([folds.seed, repetition]).random_raw(len(rows))
    order = np.lexsort((keys, codes)) if folds.stratified else np.argsort(keys, kind="stable")
    order = order[np.bincount(codes)[codes[order]] > 1]  # a class with one row is always learned
    numbers = np.full(len(y), NEVER, dtype=np.int64)
    numbers[rows[order]] = np.arange(len(order)) % folds.folds
    if not folds.stratified:  # all rows of a class may be in one fold
        lowest, highest = np.full((2, codes.max() + 1), NEVER)
        np.maximum.at(highest, codes, numbers[rows])
        lowest[:] = folds.folds
        np.minimum.at(lowest, codes, numbers[rows])
        first = np.unique(codes, return_index=True)[1]
        numbers[rows[first[lowest == highest]]] = NEVER
    return numbers


def _without_fold_column(rows: DatasetRows, folds: Folds) -> DatasetRows:
    if isinstance(folds, ColumnFolds) and folds.column in rows.X.column_names:
        return replace(rows, X=rows.X.drop_columns([folds.column]))
    return rows
