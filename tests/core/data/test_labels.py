"""Labels are any hashable; weights of rows and classes; complaints name what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from literati.data.table import build


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3], [1, 3]),
        (np.array([3, 1, 3], dtype=np.uint8), [1, 3]),
        (["b", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "b"]), ["a", "b"]),
        ([True, False, True], [False, True]),
        ([2.0, 1.0, 2.0], [1.0, 2.0]),
        ([("b", 1), ("a", 2), ("b", 1)], [("a", 2), ("b", 1)]),
        (["b", 1, "b"], ["b", 1]),  # cannot be sorted: first appearance
        ([frozenset({1}), None.__class__, frozenset({1})], [frozenset({1}), type(None)]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series(["b", "a", "b"]), ["a", "b"]),
        (pl.Series(["b", "a", "b"]), ["a", "b"]),
        (pl.Series(["b", "a", "b"]).cast(pl.Categorical), ["a", "b"]),
        (pa.array(["b", "a", "b"]), ["a", "b"]),
        (pa.chunked_array([["b"], ["a", "b"]]), ["a", "b"]),
        (np.array([0.5, 0.25, 0.5], dtype=object), [0.25, 0.5]),
        ([10**30, 1, 10**30], [1, 10**30]),
    ],
)
def test_labels_are_any_hashable(y: Any, classes: list[Any]) -> None:
    table = build([[1], [2], [3]], y)
    assert table.classes.tolist() == classes
    assert table.y[0] == table.y[2] != table.y[1]
    assert [type(label) for label in table.classes.tolist()] == [type(label) for label in classes]


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "y: .* requires y to be passed"),
        ([0, 1], ValueError, "X and y must have the same number of rows; got 3 and 2"),
        ([1, 1, 1], ValueError, "y: expected two or more classes, got 1 class: 1"),
        ([0, None, 1], ValueError, "Input y contains NaN or None"),
        ([0, np.nan, 1], ValueError, "Input y contains NaN"),
        ([0, np.inf, 1], ValueError, "Input y contains infinity"),
        ([0.5, 1.25, 2.0], ValueError, "Unknown label type: continuous"),
        ([[0, 1], [1, 0], [0, 0]], ValueError, "y should be a 1d array"),
        (np.array([{}, {}, 1], dtype=object), TypeError, "Unknown label type: y holds a dict"),
        (np.array([1j, 2, 1]), ValueError, "Unknown label type: y has dtype complex128"),
    ],
)
def test_bad_labels_are_named(y: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build([[1], [2], [3]], y)


def test_classes_are_counted() -> None:
    with pytest.raises(ValueError, match="1 class among the rows that weigh more than zero: 1"):
        build([[1], [2], [3]], [0, 1, 1], sample_weight=[0, 1, 1])
    most = np.arange(1024)
    assert len(build(most[:, None], most).classes) == 1024
    with pytest.raises(ValueError, match="y: expected at most 1024 classes, got 1025"):
        build(np.arange(1025)[:, None], np.arange(1025))


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert build([[1], [2], [3]], [[1], [0], [1]]).y.tolist() == [1, 0, 1]


def test_rows_without_weight_are_no_rows() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.inf], "word": ["a", "b", "c", "d"]})
    table = build(frame, ["n", "m", "n", "k"], sample_weight=[1, 2, 0.5, 0])
    assert table.classes.tolist() == ["m", "n"]
    assert table.y.tolist() == [1, 0, 1]
    assert table.weights is not None
    assert table.weights.tolist() == [1, 2, 0.5]
    assert set(table.schema.columns[1].categories) == {"a", "b", "c"}
    assert build(frame[:3], [0, 1, 0], sample_weight=np.ones(3)).weights is None


def test_weights_stay_countable() -> None:
    X, y = [[1], [2]], [0, 1]
    assert build(X, y, sample_weight=[2.0**49, 2.0**49]).weights is not None
    for weight in (2.0**50, 1e300, 1e308):
        with pytest.raises(ValueError, match="sample_weight, class_weight: expected a sum of at most"):
            build(X, y, sample_weight=[weight, weight])
    with pytest.raises(ValueError, match=r"sample_weight, class_weight: .* got inf$"):
        build(X, y, sample_weight=[1e300, 1], class_weight={0: 1e300})


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1], "sample_weight: expected 3 numbers, one for each row, got 2"),
        ([1, -1, 1], "sample_weight: expected finite numbers"),
        ([1, np.nan, 1], "sample_weight: expected finite numbers"),
        ([1, np.inf, 1], "sample_weight: expected finite numbers"),
        ([0, 0, 0], "sample_weight: Sample weights must contain at least one non-zero"),
        (["a", "b", "c"], "sample_weight: expected a 1d array of 3 numbers"),
        ([[1, 2], [1, 2], [1, 2]], "sample_weight: expected a 1d array of 3 numbers"),
    ],
)
def test_bad_weights_are_named(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build([[1], [2], [3]], [0, 1, 0], sample_weight=weight)


def test_class_weights() -> None:
    X, y = [[1], [2], [3], [4]], ["a", "b", "a", "a"]
    balanced = build(X, y, class_weight="balanced").weights
    assert balanced is not None
    np.testing.assert_allclose(balanced, [4 / 6, 2, 4 / 6, 4 / 6])
    given = build(X, y, class_weight={"b": 3}, sample_weight=[1, 2, 1, 1]).weights
    assert given is not None
    assert given.tolist() == [1, 6, 1, 1]
    with pytest.raises(ValueError, match="class_weight: 'c' is not one of the classes"):
        build(X, y, class_weight={"c": 3})
    for bad in (-1, np.nan, np.inf, "1"):
        with pytest.raises(ValueError, match="class_weight: the weight of 'a'"):
            build(X, y, class_weight={"a": bad})  # type: ignore[dict-item]
