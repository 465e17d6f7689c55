"""The kernels behind an answer for many rows, beside NumPy and Python saying the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from literati._predict._reports import joined_parts, unusual_cells

CELLS = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, np.inf, np.nan])


@given(st.data())
def test_unusual_cells(data: st.DataObject) -> None:
    matrix = data.draw(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=CELLS))
    bounds = st.sampled_from([-1.0, 0.0, 1.0])
    lows, highs = (data.draw(arrays(np.float64, matrix.shape[1], elements=bounds)) for _ in range(2))
    usual = (matrix >= lows) & (matrix <= highs)
    expected = {
        column: np.flatnonzero(~usual[:, column]).tolist()
        for column in range(matrix.shape[1])
        if not usual[:, column].all()
    }
    assert {column: rows.tolist() for column, rows in unusual_cells(matrix, lows, highs).items()} == expected


def test_bounds_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="for each column"):
        unusual_cells(np.zeros((2, 3)), np.zeros(2), np.zeros(3))


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=6), st.data())
def test_joined_parts(parts: list[bytes], data: st.DataObject) -> None:
    leaves = data.draw(st.lists(st.integers(0, len(parts) - 1), max_size=40))
    assert joined_parts(parts, np.array(leaves, np.int32)) == b",".join(parts[leaf] for leaf in leaves)


@pytest.mark.parametrize("leaf", [-1, 2])
def test_a_leaf_without_a_part(leaf: int) -> None:
    with pytest.raises(IndexError):
        joined_parts([b"a", b"b"], np.array([0, leaf], np.int32))


@pytest.mark.parametrize("part", ["a", None])
def test_parts_that_are_no_bytes(part: Any) -> None:
    with pytest.raises(TypeError):
        joined_parts([part], np.array([0], np.int32))
