"""The bins and categories of a histogram in a node."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati.data.columns import RawColumn
from literati.data.schema import Column
from literati.tree.nodes import Split
from service.nodes.histogram import MAX_BINS, bin_edges, histogram
from service.nodes.node_sample import NodeSample
from service.nodes.schemas import CategoryHistogram, NumberHistogram


def split_at(*thresholds: float, right_categories: tuple[int, ...] = ()) -> Split:
    return Split(0, thresholds, right_categories, 1, True, False, True, 1, 2)


def numbers(values: list[float], *thresholds: float) -> NumberHistogram:
    sample = NodeSample(
        np.arange(len(values), dtype=np.intp) % 2, None, RawColumn("number", np.array(values)), 2
    )
    found = histogram(sample, split_at(*thresholds), Column("x", "number"))
    assert isinstance(found, NumberHistogram)
    return found


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-50, 50).map(float)


@settings(max_examples=300)
@given(
    st.one_of(st.lists(FLOATS, min_size=1, max_size=60), st.lists(WHOLE, min_size=1, max_size=60)),
    st.lists(st.one_of(FLOATS, WHOLE, st.integers(-50, 50).map(lambda x: x + 0.5)), max_size=8, unique=True),
)
def test_every_row_is_in_a_bin_that_lies_on_its_side(values: list[float], cuts: list[float]) -> None:
    cuts = sorted(cuts)
    found = numbers(values, *cuts)
    assert 1 <= len(found.bins) <= MAX_BINS
    assert found.bins[0].low == min(values)
    assert found.bins[-1].high == max(values)
    assert all(before.high == after.low for before, after in pairwise(found.bins))
    assert sum(sum(entry.rows) for entry in found.bins) == len(values)
    for place, entry in enumerate(found.bins):
        inside = [
            (row, x)
            for row, x in enumerate(values)
            if entry.low < x <= entry.high or (place == 0 and x == entry.low)
        ]
        assert entry.rows == [sum(row % 2 == label for row, _ in inside) for label in (0, 1)]
        assert {sum(x > cut for cut in cuts) % 2 for _, x in inside} <= {int(entry.side == "right")}
        assert entry.child == (2 if entry.side == "right" else 1)


def test_bins_of_whole_numbers_contain_equally_many_of_them() -> None:
    edges = bin_edges(np.arange(100.0), ())
    sizes = np.histogram(np.arange(100.0), edges)[0]
    assert len(set(sizes[:-1])) == 1
    assert len(edges) - 1 <= MAX_BINS
    edges = bin_edges(np.array([0.0, 1.0, 2.0, 3.0]), (1.5,))
    assert edges.tolist() == [0.0, 0.5, 1.5, 2.5, 3.0]


@pytest.mark.parametrize(
    ("values", "cuts", "edges"),
    [
        ([], (1.0,), []),
        ([3.5], (1.0,), [3.5, 3.5]),
        ([3.5], (3.5,), [3.5, 3.5]),
        ([1.0, 2.0], (1.0,), [1.0, 1.0, 2.0]),  # a threshold at the least value separates it from the others
        ([1.0, 2.0], (2.0,), [1.0, 1.5, 2.0]),  # one at the greatest value separates nothing
    ],
)
def test_edges(values: list[float], cuts: tuple[float, ...], edges: list[float]) -> None:
    assert bin_edges(np.array(values), cuts).tolist() == edges


def test_missing_numbers() -> None:
    found = numbers([np.nan, np.nan, np.nan, 1.0], 0.5)
    assert (found.missing.rows, found.missing.side, found.missing.child) == ([2, 1], "right", 2)
    assert [entry.rows for entry in found.bins] == [[0, 1]]
    assert numbers([np.nan]).bins == []


def test_frequent_and_other_categories() -> None:
    """There are 60 categories, of which category k has k + 1 rows; the training rows had the first 58."""
    codes = np.repeat(np.arange(60), np.arange(1, 61)).astype(np.int32)
    labels = [f"c{k}" for k in range(60)]
    column = Column("x", "category", tuple(labels[:58]))
    weights = np.full(len(codes) + 1, 0.5)
    cells = RawColumn("category", codes=np.append(codes, -1).astype(np.int32), labels=labels)
    sample = NodeSample(np.zeros(len(weights), dtype=np.intp), weights, cells, 1)
    found = histogram(sample, split_at(right_categories=(0, 1, 2, 57)), column)
    assert isinstance(found, CategoryHistogram)
    assert [entry.value for entry in found.categories] == [f"c{k}" for k in range(59, 9, -1)]
    assert [entry.rows for entry in found.categories] == [[k + 1] for k in range(59, 9, -1)]
    assert found.categories[0].weights == [30.0]
    assert [entry.seen for entry in found.categories[:3]] == [False, False, True]
    assert [entry.side for entry in found.categories[:4]] == ["right", "right", "right", "left"]
    assert [(other.side, other.categories, other.rows) for other in found.other] == [
        ("left", 7, [sum(range(4, 11))]),
        ("right", 3, [1 + 2 + 3]),
    ]
    assert found.missing.rows == [1]
    assert found.missing.weights == [0.5]
