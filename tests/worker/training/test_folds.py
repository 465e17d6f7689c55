"""Folds of a sweep: every row is held out once, classes are spread evenly, nothing depends on chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from worker.domain.jobs import SweepPlace
from worker.domain.validation import ColumnFolds, RandomFolds, ValidationFraction
from worker.training.folds import (
    draw_test_rows,
    fold_numbers,
    fold_values,
    held_rows,
    split_for_sweep,
)
from worker.training.tables import DatasetRows

COUNTS = {"a": 101, "b": 37, "c": 5, "d": 2, "e": 1}


def make(**columns: Any) -> DatasetRows:
    y = np.repeat(list(COUNTS), list(COUNTS.values()))
    y = y[np.random.default_rng(0).permutation(len(y))]
    return DatasetRows(pa.table({"x": np.arange(len(y)), **columns}), y)


ROWS = make()
NOTHING = np.zeros(ROWS.n_rows, dtype=bool)


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("folds", [2, 3, 5, 10])
def test_every_row_is_held_out_once(folds: int, stratified: bool) -> None:
    drawn = RandomFolds(folds=folds, stratified=stratified, repeats=2)
    for repetition in range(2):
        held = [held_rows(ROWS, drawn, repetition * folds + k, NOTHING) for k in range(folds)]
        times = np.sum(held, axis=0)
        common = np.isin(ROWS.y, ["a", "b", "c"])
        assert (times[common] == 1).all()
        assert (times[ROWS.y == "e"] == 0).all(), "a class with one row is always learned"
        sizes = [mask.sum() for mask in held]
        assert max(sizes) - min(sizes) <= 2
    again = fold_numbers(ROWS, drawn, 0, NOTHING)
    assert np.array_equal(again, fold_numbers(ROWS, drawn, folds - 1, NOTHING))
    assert not np.array_equal(again, fold_numbers(ROWS, drawn, folds, NOTHING)), "the next repetition"
    other = drawn.model_copy(update={"seed": 1})
    assert not np.array_equal(again, fold_numbers(ROWS, other, 0, NOTHING))


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_stratified_folds_have_equal_shares_of_each_class(folds: int) -> None:
    numbers = fold_numbers(ROWS, RandomFolds(folds=folds), 0, NOTHING)
    for label, count in COUNTS.items():
        of_class = np.bincount(numbers[(ROWS.y == label) & (numbers >= 0)], minlength=folds)
        assert of_class.max() - of_class.min() <= 1
        if count > 1:
            assert np.count_nonzero(of_class) >= 2, "each fold leaves a row to learn from"


def test_the_folds_are_those_of_earlier_versions() -> None:
    """A sweep that is extended after an upgrade needs the same folds."""
    y = np.array(["a", "b"] * 6)
    rows = DatasetRows(pa.table({"x": np.arange(12)}), y)
    numbers = fold_numbers(rows, RandomFolds(folds=3), 0, np.zeros(12, dtype=bool))
    assert numbers.tolist() == [0, 2, 0, 1, 1, 1, 2, 0, 1, 2, 2, 0]


def test_test_rows_are_in_no_fold() -> None:
    test = ValidationFraction(fraction=0.2, seed=1)
    tested = draw_test_rows(ROWS, test)
    folds = RandomFolds(folds=4)
    parts = [
        split_for_sweep(ROWS, SweepPlace(sweep_id="s", setting=0, fold=k, folds=folds, test=test))
        for k in range(4)
    ]
    hidden = set(np.flatnonzero(tested))
    for train, held in parts:
        assert held is not None
        seen = [set(part.X.column("x").to_pylist()) for part in (train, held)]
        assert not seen[0] & seen[1]
        assert seen[0] | seen[1] == set(range(ROWS.n_rows)) - hidden
    whole, last = split_for_sweep(ROWS, SweepPlace(sweep_id="s", folds=folds, test=test))
    assert last is not None
    assert set(last.X.column("x").to_pylist()) == hidden
    assert whole.n_rows + last.n_rows == ROWS.n_rows
    assert split_for_sweep(ROWS, SweepPlace(sweep_id="s", folds=folds))[1] is None


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([3, 1, None, 3, 2, 1]),
        pa.array([3.5, 1.0, float("nan"), 3.5, 2.0, 1.0]),
        pa.array(["z", "a", None, "z", "m", "a"]).dictionary_encode(),
    ],
)
def test_each_value_of_a_column_is_a_fold(cells: Any) -> None:
    rows = DatasetRows(pa.table({"x": range(6), "part": cells}), np.array(list("aabbab")))
    folds = ColumnFolds(column="part")
    assert len(fold_values(rows.X.column("part"))) == 3
    numbers = fold_numbers(rows, folds, 0, np.zeros(6, dtype=bool))
    assert numbers.tolist() == [2, 0, -1, 2, 1, 0]
    train, held = split_for_sweep(rows, SweepPlace(sweep_id="s", setting=0, fold=2, folds=folds))
    assert held is not None
    assert train.X.column_names == held.X.column_names == ["x"]
    assert held.X.column("x").to_pylist() == [0, 3]
    whole, _ = split_for_sweep(rows, SweepPlace(sweep_id="s", folds=folds))
    assert whole.X.column_names == ["x"]


def test_a_fold_without_rows() -> None:
    rows = DatasetRows(pa.table({"x": range(4)}), np.array(list("aabb")))
    with pytest.raises(ValueError, match="fold 7 has no rows; use fewer folds"):
        split_for_sweep(rows, SweepPlace(sweep_id="s", setting=0, fold=7, folds=RandomFolds(folds=10)))


def test_rows_without_weight_are_never_held_out() -> None:
    """A class with one row of weight is always learned, whatever other rows it has."""
    y = np.array(["a"] * 8 + ["b"] * 3)
    rows = DatasetRows(pa.table({"x": range(11)}), y, np.array([1.0] * 8 + [1.0, 0.0, 0.0]))
    for seed in range(10):
        for fold in range(2):
            held = held_rows(rows, RandomFolds(folds=2, seed=seed), fold, np.zeros(11, dtype=bool))
            assert not held[8:].any()


@pytest.mark.parametrize("seed", range(20))
def test_every_fold_leaves_a_row_of_each_class(seed: int) -> None:
    rows = make()
    folds = RandomFolds(folds=2, stratified=False, seed=seed)
    for fold in range(2):
        train, _ = split_for_sweep(rows, SweepPlace(sweep_id="s", setting=0, fold=fold, folds=folds))
        assert set(train.y) == set(COUNTS)
