"""Columns of every origin become the same codes; labels and weights too; complaints name what is wrong."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from literati import DataWarning
from literati.data.ranks import rank
from literati.data.schema import UNKNOWN
from literati.data.table import TrainingTable, build

Y = np.array([0, 1, 0, 1, 1, 0])
CELLS: dict[str, list[Any]] = {
    "number": [1.5, None, -2.0, 1.5, 3.0, 0.0],
    "whole": [3, 1, 2, 3, None, 1],
    "flag": [True, False, None, True, False, False],
    "word": ["b", "a", "b", None, "c", "a"],
}


def assert_same(a: TrainingTable, b: TrainingTable) -> None:
    assert [(c.kind, c.categories, c.minimum, c.maximum) for c in a.schema.columns] == [
        (c.kind, c.categories, c.minimum, c.maximum) for c in b.schema.columns
    ]
    np.testing.assert_array_equal(a.codes, b.codes)
    for left, right in zip(a.values, b.values, strict=True):
        np.testing.assert_array_equal(left, right)


def objects() -> np.ndarray[Any, Any]:
    return np.array([list(row) for row in zip(*CELLS.values(), strict=True)], dtype=object)


def test_rank_codes() -> None:
    codes, values = rank(np.array([2.0, np.nan, -0.0, 0.0, 7.0, 2.0, -np.inf]))
    assert codes.tolist() == [2, -1, 1, 1, 3, 2, 0]
    assert values.tolist() == [-np.inf, 0.0, 2.0, 7.0]
    assert not np.signbit(values[1])
    assert [part.tolist() for part in rank(np.array([np.nan, np.nan]))] == [[-1, -1], []]


def test_what_the_engine_gets() -> None:
    table = build(objects(), Y)
    assert table.codes.dtype == np.int32
    assert table.codes.flags.c_contiguous
    assert table.codes[0].tolist() == [2, -1, 0, 2, 3, 1]
    assert table.values[0].tolist() == [-2.0, 0.0, 1.5, 3.0]
    assert [column.kind for column in table.schema.columns] == ["number", "number", "boolean", "category"]
    # Classes 0 and 1 weigh the same, so class 0 counts as the most frequent. Its rates: c 0, a 1/2, b 1.
    assert table.schema.columns[3].categories == ("c", "a", "b")
    assert table.codes[3].tolist() == [2, 1, 2, -1, 0, 1]
    assert table.y.dtype == np.int32
    assert table.weights is None
    assert table.features[2].column == 2


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(CELLS),
        pd.DataFrame(CELLS).convert_dtypes(),
        pd.DataFrame(CELLS).astype({"word": "category"}),
        pd.DataFrame(CELLS).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(CELLS),
        pl.DataFrame(CELLS).with_columns(
            pl.col("word").cast(pl.Categorical), pl.col("number").cast(pl.Decimal(9, 2))
        ),
        pl.DataFrame(CELLS).with_columns(pl.col("word").cast(pl.Enum(["z", "c", "b", "a"]))),
        pa.table(CELLS),
        pa.concat_tables([pa.table(CELLS).slice(0, 2), pa.table(CELLS).slice(2)]),
        pa.concat_tables(
            [
                pa.table({**CELLS, "word": pa.array(CELLS["word"]).dictionary_encode()}).slice(0, 4),
                pa.table({**CELLS, "word": pa.array(CELLS["word"]).dictionary_encode()}).slice(4),
            ]
        ),
        pa.RecordBatch.from_pydict(CELLS),
        pl.DataFrame(CELLS).to_arrow(compat_level=pl.CompatLevel.newest()),
        pl.DataFrame(CELLS).with_columns(pl.col("word").cast(pl.Categorical)).to_arrow(),
        [list(row) for row in zip(*CELLS.values(), strict=True)],
    ],
    ids=[
        "pandas",
        "pandas-nullable",
        "pandas-category",
        "pandas-arrow",
        "polars",
        "polars-categorical",
        "polars-enum",
        "arrow",
        "arrow-chunks",
        "arrow-dictionaries",
        "arrow-batch",
        "arrow-views",
        "arrow-of-polars-categorical",
        "lists",
    ],
)
def test_every_container_gives_the_same_table(frame: Any) -> None:
    expected = build(objects(), Y)
    table = build(frame, Y)
    assert_same(table, expected)
    if not isinstance(frame, list):
        assert [column.name for column in table.schema.columns] == list(CELLS)
        assert table.schema.named
    encoded = table.schema.encode(frame)
    np.testing.assert_array_equal(encoded.matrix, expected.schema.encode(objects()).matrix)
    assert encoded.unknown == {}


def test_no_frame_library_is_needed() -> None:
    program = (
        "import sys; sys.modules.update(pandas=None, polars=None, pyarrow=None); import literati;"
        "tree = literati.LiteratiClassifier().fit([[1, 'a'], [2, 'b']], [0, 1]).tree_;"
        "sys.exit(tree.predict([[1, 'a'], [2, None]]).tolist() != [0, 1])"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_encoding_is_undone_from_codes() -> None:
    for categories in ("ordered", "one_hot"):
        table = build(objects(), Y, categories=categories)
        matrix = table.schema.encode(objects()).matrix
        rows = np.arange(len(Y))
        for column in range(matrix.shape[1]):
            np.testing.assert_array_equal(table.column_values(column, rows), matrix[:, column])


def test_missing_in_every_spelling() -> None:
    cells = np.array(
        [[None], [np.nan], [pd.NA], [pd.NaT], [np.datetime64("NaT")], [2.0], [1.0]], dtype=object
    )
    table = build(cells, [0, 1, 0, 1, 0, 1, 0])
    assert table.codes[0].tolist() == [-1, -1, -1, -1, -1, 1, 0]


def test_numbers_in_unusual_clothes() -> None:
    cells = np.array([[Decimal("1.5"), True], [np.float32(0.5), 2], [3, np.int8(1)]], dtype=object)
    table = build(cells, [0, 1, 0])
    assert [column.kind for column in table.schema.columns] == ["number", "number"]
    assert table.values[0].tolist() == [0.5, 1.5, 3.0]


def test_categories_with_one_code_each() -> None:
    table = build(pd.DataFrame({"word": list("abcab"), "x": range(5)}), [0, 1, 0, 1, 0], categories="one_hot")
    categories = table.schema.columns[0].categories
    assert [(f.column, f.category) for f in table.features] == [(0, 0), (0, 1), (0, 2), (1, None)]
    for j, category in enumerate(categories):
        assert table.codes[j].tolist() == [int(cell == category) for cell in "abcab"]


def test_category_order_goes_by_weighted_rate_and_breaks_ties_by_label() -> None:
    frame = pd.DataFrame({"word": list("zzyyxxww")})
    y = [0, 1, 0, 1, 1, 1, 0, 0]
    assert build(frame, y).schema.columns[0].categories == ("x", "y", "z", "w")
    weights = [3, 1, 1, 1, 1, 1, 1, 1]  # class 0 is the heavier now; z is its for 3 of 4
    assert build(frame, y, sample_weight=weights).schema.columns[0].categories == ("x", "y", "z", "w")
    weights = [1, 3, 1, 1, 1, 1, 1, 1]  # class 1 is the heavier: w never, y half, z 3 of 4, x always
    assert build(frame, y, sample_weight=weights).schema.columns[0].categories == ("w", "y", "z", "x")


def test_constant_columns_are_set_aside_with_a_warning() -> None:
    frame = pd.DataFrame({"one": [1, 1, 1], "x": [1, 2, 3], "none": [None] * 3, "same": ["a"] * 3})
    with pytest.warns(DataWarning, match="constant columns are ignored: 'one', 'none', 'same'"):
        table = build(frame, [0, 1, 0])
    assert [feature.column for feature in table.features] == [1]
    assert [column.constant for column in table.schema.columns] == [True, False, True, True]
    with pytest.raises(ValueError, match="X: every column is constant"):
        build(frame[["one"]], [0, 1, 0])


def test_one_value_and_missing_ones_is_not_constant() -> None:
    table = build(pd.DataFrame({"x": [1.0, None, 1.0], "word": ["a", None, "a"]}), [0, 1, 0])
    assert table.codes.tolist() == [[0, -1, 0], [0, -1, 0]]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (np.array([[1.0, 2.0], [np.inf, 3.0]]), ValueError, "X: column 'x0' contains infinity"),
        (pd.DataFrame({"a": [1, 2], "b": [-np.inf, 1.0]}), ValueError, "X: column 'b' contains infinity"),
        (np.array([[10**400], [1]], dtype=object), ValueError, "X: column 'x0' holds an integer too large"),
        (
            np.array([["a"], [1]], dtype=object),
            TypeError,
            "X: column 'x0' holds text and numbers; expected one",
        ),
        (np.array([[{"a": 1}], [1]], dtype=object), TypeError, "X: column 'x0': argument must be .*'dict'"),
        (np.array([[1j], [2]]), ValueError, "X: Complex data not supported"),
        (np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), TypeError, "X: expected numbers.*dtype"),
        (
            pd.DataFrame({"when": pd.to_datetime(["2020", "2021"])}),
            TypeError,
            "X: column 'when' has type datetime64",
        ),
        (
            pl.DataFrame({"when": [datetime.date(2020, 1, 1)] * 2}),
            TypeError,
            "X: column 'when' has type Date",
        ),
        (pa.table({"when": [datetime.date(2020, 1, 1)] * 2}), TypeError, "X: column 'when' has type date32"),
        (pa.table({"l": [[1], [2]]}), TypeError, "X: column 'l' has type list"),
        (pl.DataFrame({"l": [[1], [2]]}), TypeError, "X: column 'l' has type List"),
        (pl.LazyFrame({"x": [1, 2]}), TypeError, "X: a polars LazyFrame"),
        (pd.DataFrame({"c": pd.Categorical([(1,), (2,)])}), TypeError, "X: column 'c': a category must be"),
        (sparse.csr_matrix([[1], [0]]), TypeError, "X: sparse data is not supported"),
        (np.array([1.0, 2.0]), ValueError, "X: Expected 2D array, got 1D"),
        (np.zeros((2, 2, 2)), ValueError, "X: Expected 2D array, got 3D"),
        (np.zeros((2, 0)), ValueError, r"X: Found array with 0 feature\(s\)"),
        (np.zeros((0, 2)), ValueError, r"X: Found array with 0 sample\(s\)"),
        (pd.DataFrame(), ValueError, "X: Found array with 0"),
        ([[1, 2], [3]], ValueError, "X: rows must all have the same number of columns"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), ValueError, "X: column names must differ; 'a'"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", 1]), TypeError, "X: column names must be all text"),
        (None, ValueError, "X: expected a two-dimensional array .*, got NoneType"),
        ({"a": [1, 2]}, ValueError, "X: expected a two-dimensional array .*, got dict"),
    ],
)
def test_bad_data_is_named(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build(data, [0, 1])


def test_quantile_grid() -> None:
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.permutation(100), rng.integers(0, 3, 100), np.r_[np.zeros(98), 1, 2]])
    table = build(x, rng.integers(0, 2, 100))
    cuts = table.grid(4)
    assert cuts[0].tolist() == [20, 40, 60, 80]
    assert cuts[1].tolist() == [1, 2]  # fewer values than quantiles: every cut
    assert table.grid(1)[2].tolist() == [1]  # a heavy value leaves a cut beside it
    assert all(len(c) <= 7 and c.dtype == np.int32 for c in table.grid(7))


def test_quantile_grid_counts_a_weight_of_two_as_two_rows() -> None:
    rng = np.random.default_rng(1)
    x, y, weights = rng.normal(size=(60, 2)), rng.integers(0, 2, 60), rng.integers(1, 4, 60)
    weighted = build(x, y, sample_weight=weights).grid(5)
    repeated = build(x.repeat(weights, axis=0), y.repeat(weights)).grid(5)
    for a, b in zip(weighted, repeated, strict=True):
        assert a.tolist() == b.tolist()


def test_fingerprint_tells_data_apart() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]), [0, 1, 0]
    tables = [
        build(X, y),
        build(X * 2, y),
        build(X[:, ::-1].copy(), y),
        build(X, [1, 0, 0]),
        build(X, ["0", "1", "0"]),
        build(X, y, sample_weight=[1, 2, 1]),
        build(pd.DataFrame(X, columns=["a", "b"]), y),
        build(pd.DataFrame(X, columns=["a", "c"]), y),
    ]
    assert len({table.fingerprint for table in tables}) == len(tables)
    assert build(X.copy(), np.array(y)).fingerprint == tables[0].fingerprint


def schema(categories: Any = None) -> Any:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "flag": [True, False, True], "word": ["a", "b", "a"]})
    if categories is not None:
        frame["word"] = pd.Categorical(categories)
    return build(frame, [0, 1, 0]).schema


def test_columns_are_found_by_name() -> None:
    shuffled = pd.DataFrame(
        {"word": ["b", "z", None], "extra": [1, 2, 3], "flag": [0, 1, None], "x": [1, None, 3]}
    )
    encoded = schema().encode(shuffled)
    np.testing.assert_array_equal(encoded.matrix, [[1, 0, 0], [np.nan, 1, UNKNOWN], [3, np.nan, np.nan]])
    assert encoded.ignored == ("extra",)
    assert encoded.unknown == {"word": ("z",)}


@pytest.mark.parametrize(
    ("frame", "error", "message"),
    [
        (pd.DataFrame({"x": [1], "word": ["a"]}), ValueError, "yet now missing: 'flag'"),
        ([[1, True]], ValueError, "X has 2 features, but LiteratiClassifier is expecting 3 features"),
        ([[1, 2, "a"]], ValueError, "X: column 'flag' was boolean in training"),
        (
            [["b", True, "a"]],
            TypeError,
            "X: column 'x' holds text or categories such as 'b'; expected numbers",
        ),
        ([[1, "b", "a"]], TypeError, "X: column 'flag' holds text .* expected booleans"),
        ([[1, True, 3]], TypeError, "X: column 'word' holds numbers; expected categories such as 'b'"),
        ([[np.inf, True, "a"]], ValueError, "X: column 'x' contains infinity"),
    ],
)
def test_bad_rows_are_named(frame: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        schema().encode(frame)


def test_categories_that_are_numbers() -> None:
    numbered = schema([7, 5, 7])
    assert numbered.columns[2].categories == (5, 7)
    rows = pd.DataFrame({"x": [1.0] * 4, "flag": [True] * 4, "word": [5.0, 7.0, None, 6.0]})
    encoded = numbered.encode(rows)
    np.testing.assert_array_equal(encoded.matrix[:, 2], [0, 1, np.nan, UNKNOWN])
    assert encoded.unknown == {"word": (6.0,)}


def test_constant_columns_are_not_looked_at_again() -> None:
    with pytest.warns(DataWarning):
        table = build([[1, 5], [2, 5], [3, 5]], [0, 1, 0])
    encoded = table.schema.encode([[1, "whatever"], [2, None]])
    np.testing.assert_array_equal(encoded.matrix, [[1, np.nan], [2, np.nan]])
    np.testing.assert_array_equal(table.schema.encode(np.array([[1, np.inf]])).matrix[:, 0], [1])


def test_integers_beyond_2_53_are_rounded_in_every_container() -> None:
    """They are no doubles; the nearest one is taken, as the model's format says."""
    cells = [(1 << 53) + 1, (1 << 62) + 257, -(1 << 53) - 3, 5]
    y = [0, 1, 0, 1]
    containers: list[Any] = [
        np.array(cells)[:, None],
        pd.DataFrame({"x": cells}),
        pl.DataFrame({"x": cells}),
        pa.table({"x": pa.array(cells, pa.int64())}),
    ]
    for container in containers:
        values = build(container, y).values[0]
        assert values.tolist() == sorted(float(cell) for cell in cells)


@pytest.mark.parametrize("weight", [1e-300, 5e-324, 1e-160])
def test_weights_that_are_useless(weight: float) -> None:
    """Costs so small have no unit; they used to end in an OverflowError."""
    x = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="expected a sum of at least"):
        build(x, [0, 1, 0, 1], sample_weight=[weight] * 4)
    with pytest.raises(ValueError, match="expected a sum of at least"):
        build(x, [0, 1, 0, 1], class_weight={0: weight, 1: weight})
    assert build(x, [0, 1, 0, 1], sample_weight=[1e-100] * 4).weights is not None
