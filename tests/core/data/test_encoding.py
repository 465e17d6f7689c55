"""Columns of every kind are read as a simple loop over their cells reads them, and in no such loop."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import literati
from literati import LiteratiClassifier
from literati.data import labels
from literati.data.columns import RawColumn, open_table, read_objects
from literati.data.labels import is_missing, plain
from literati.data.ranks import rank
from literati.data.table import build

NUMBERS = (bool, np.bool_, int, np.integer, float, np.floating, Decimal, Fraction)
WORDS = ["", "a", "b", "nan", "None", "ä", "日本", "a\0b", "long " * 20, "\U0001f600"]
MISSING = [
    None,
    np.nan,
    float("nan"),
    np.float64("nan"),
    np.float32("nan"),
    pd.NA,
    pd.NaT,
    np.datetime64("NaT"),
]
COUNTS = [0, -3, 7, 2**53 + 1, -(2**70), np.int8(5), np.uint64(2**64 - 1)]
FRACTIONS = [0.5, -0.0, np.inf, 1e-320, np.float32(0.1), np.float64(2.5), np.longdouble(1.5)]
FLAGS = [True, False, np.True_, np.False_]
EXACT = [Decimal("0.1"), Decimal("NaN"), Fraction(1, 3), Decimal("1e400")]


class Word(str):
    """A type of text of its own."""


# A column as it must be read: its kind and each cell, with None for a missing one.
Cells = tuple[str, list[Any]]


def expected(cells: list[Any]) -> Cells:
    """Read a column cell by cell."""
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        return "number", [None] * len(cells)
    if all(isinstance(cell, str) for cell in known):
        return "category", [None if is_missing(cell) else cell for cell in cells]
    for cell in known:
        if not isinstance(cell, (*NUMBERS, str)):
            raise TypeError(f"not {type(cell).__name__!r}")
    if any(isinstance(cell, str) for cell in known):
        raise TypeError("holds text and numbers")
    try:
        numbers = [None if is_missing(cell) else float(cell) for cell in cells]
    except OverflowError:
        raise ValueError("too large for a float") from None
    boolean = all(isinstance(cell, bool | np.bool_) for cell in known)
    found = [None if number is None or np.isnan(number) else number for number in numbers]
    return "boolean" if boolean else "number", found


def decoded(raw: RawColumn) -> Cells:
    """Return the cells of a column that was read."""
    if raw.values is not None:
        return raw.kind, [None if np.isnan(value) else value for value in raw.values.tolist()]
    assert raw.codes is not None
    assert raw.codes.dtype == np.int32
    return raw.kind, [None if code < 0 else raw.labels[code] for code in raw.codes.tolist()]


def check(raw: RawColumn, cells: list[Any]) -> None:
    kind, found = expected(cells)
    assert decoded(raw) == (kind, found)
    if kind == "category":  # labels in order of appearance, each the object that came first
        first = list(dict.fromkeys(cell for cell in found if cell is not None))
        assert [(label, type(label)) for label in raw.labels] == [(label, type(label)) for label in first]


def only_column(data: Any) -> RawColumn:
    return open_table(data).read(0, "it")


def draw(pool: list[Any], n: int, seed: int) -> list[Any]:
    random = np.random.default_rng(seed)
    return [pool[index] for index in random.integers(0, len(pool), n)]


POOLS: dict[str, list[Any]] = {
    "words": WORDS,
    "words and None": [*WORDS, None],
    "words and every missing value": [*WORDS, *MISSING],
    "words of several types": [*WORDS, *map(np.str_, WORDS), *map(Word, WORDS), np.nan],
    "many words": [f"word {i}" for i in range(3000)],
    "missing": MISSING,
    "one None": [None],
    "counts": [*COUNTS],
    "counts and missing": [*COUNTS, *MISSING],
    "fractions": FRACTIONS,
    "everything that is a number": [*COUNTS, *FRACTIONS, *FLAGS, *EXACT, *MISSING],
    "flags": FLAGS,
    "flags and missing": [*FLAGS, *MISSING],
    "equal objects": [1, True, 1.0, Decimal(1), Fraction(1), np.int8(1), np.float32(1), np.True_],
    "durations without a unit": [np.timedelta64(5), np.timedelta64("NaT"), 1.5],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pool", POOLS)
def test_objects(pool: str, seed: int) -> None:
    cells = draw(POOLS[pool], 5000 if pool == "many words" else 60, seed)
    check(read_objects(cells, "it"), cells)
    column = labels.object_array(cells)[:, None]
    check(only_column(column), cells)
    check(only_column(np.repeat(column, 3, axis=1)[::-1]), cells[::-1])  # not contiguous
    check(only_column(pd.DataFrame({"it": pd.Series(cells, dtype=object)})), cells)
    check(only_column(pl.DataFrame({"it": pl.Series(cells, dtype=pl.Object)})), cells)


@pytest.mark.parametrize(
    "pool",
    [
        ["a", 1],
        ["a", None, 0.5, np.nan],
        [Word("a"), np.float32(1)],
        [1, {}],
        [None, [], 2.0],
        [np.datetime64("2020-01-01"), np.datetime64("NaT")],
        [b"a", None],
        [10**400, 1],
        [10**400, 1, "a"],  # the type is what is wrong, wherever the number stands
        [1, Fraction(10**400, 1)],
    ],
    ids=repr,
)
def test_objects_that_are_no_column(pool: list[Any]) -> None:
    for seed in range(3):
        cells = [*draw(pool, 20, seed), *pool]
        with pytest.raises((TypeError, ValueError)) as wanted:
            expected(cells)
        with pytest.raises(type(wanted.value), match=f"X: column 'it'.*{wanted.value}"):
            read_objects(cells, "it")


class Unhashable(str):
    """Text that is no key."""

    __hash__ = None  # type: ignore[assignment]


def test_cells_that_raise_errors() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        read_objects(["a", Unhashable("b"), "c"], "it")
    with pytest.raises(TypeError, match="holds text and numbers"):
        read_objects(["a", Unhashable("b"), 1], "it")
    with pytest.raises(ValueError, match="signaling NaN"):
        read_objects([1, Decimal("sNaN")], "it")


def test_a_label_is_the_object_that_comes_first() -> None:
    first = Word("a")
    raw = read_objects([None, first, "a", np.str_("a"), "b"], "it")
    assert raw.labels == ["a", "b"]
    assert raw.labels[0] is first


def pandas_forms(cells: list[Any]) -> list[pd.Series]:
    series = pd.Series(cells, dtype=object)
    return [
        series,
        series.astype("str"),
        series.astype("string[python]"),
        series.astype("string[pyarrow]"),
        series.astype(pd.ArrowDtype(pa.string())),
        series.astype(pd.ArrowDtype(pa.large_string())),
        pd.concat([series[:7], series[7:]]).astype("string[pyarrow]"),
        pd.Series([*cells, *cells], dtype="str")[len(cells) :],
        pd.Series(cells, dtype="str", index=[0] * len(cells)),
        pd.Series(cells).astype(pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    ]


@pytest.mark.parametrize("pool", [WORDS, [*WORDS, None], [None], [f"word {i}" for i in range(300)]])
def test_text_of_pandas(pool: list[Any]) -> None:
    cells = draw(pool, 200, 1)
    for series in pandas_forms(cells):
        check(only_column(pd.DataFrame({"it": series})), cells)


@pytest.mark.parametrize("categories", [["z", "a", "b", "c"], [3, 1, 2], [0.5, 0.25], [True, False]])
@pytest.mark.parametrize("seed", range(3))
def test_categories_of_pandas_and_arrow(categories: list[Any], seed: int) -> None:
    """Labels keep the order of the dictionary, without those that do not occur."""
    cells = draw([*categories[1:], None], 50, seed)
    codes = [-1 if cell is None else categories.index(cell) for cell in cells]
    indices = [None if code < 0 else code for code in codes]
    frames: list[Any] = [pd.DataFrame({"it": pd.Categorical.from_codes(codes, categories)})]
    for index_type in (pa.int8(), pa.uint32(), pa.int64()):
        coded = pa.DictionaryArray.from_arrays(pa.array(indices, index_type), pa.array(categories))
        parts = [coded.slice(0, 9), coded.slice(9, 0), coded.slice(9)]
        frames += [pa.table({"it": coded}), pa.table({"it": pa.chunked_array(parts)})]
    for frame in frames:
        raw = only_column(frame)
        assert decoded(raw) == ("category", cells)
        assert raw.labels == [label for label in categories if label in cells]
        assert [type(label) for label in raw.labels] == [type(categories[0])] * len(raw.labels)


@pytest.mark.parametrize("pool", [WORDS, [*WORDS, None], [None], [f"word {i}" for i in range(300)]])
def test_text_of_polars(pool: list[Any]) -> None:
    cells = draw(pool, 200, 2)
    series = pl.Series(cells, dtype=pl.String)
    chunks = series[:50].append(series[50:])
    assert chunks.n_chunks() == 2
    other = pl.Series(["zzz", *reversed(cells), "b"]).cast(pl.Categorical)  # shares codes with the others
    words = pl.Enum([word for word in reversed(pool) if word is not None] + ["unused"])
    forms = [
        series,
        chunks,
        pl.concat([series, series])[200:],
        series.cast(pl.Categorical),
        chunks.cast(pl.Categorical)[::-1][::-1],
        series.cast(words),
        chunks.cast(words),
    ]
    for form in forms:
        check(only_column(pl.DataFrame({"it": form})), cells)
    assert len(other) == len(cells) + 2


@pytest.mark.parametrize("pool", [WORDS, [*WORDS, None], [None], [f"word {i}" for i in range(300)]])
def test_text_of_arrow(pool: list[Any]) -> None:
    cells = draw(pool, 200, 3)
    if pool == [None]:
        check(only_column(pa.table({"it": pa.nulls(200)})), cells)
        return  # a column of text without a cell is a category without labels
    for text in (pa.string(), pa.large_string(), pa.string_view()):
        whole = pa.array(cells, text)
        parts = [whole.slice(0, 30), whole.slice(30, 0), whole.slice(30)]
        check(only_column(pa.table({"it": whole})), cells)
        check(only_column(pa.table({"it": pa.chunked_array(parts)})), cells)
        check(only_column(pa.record_batch({"it": whole})), cells)
    own = [pa.array(part, pa.string()).dictionary_encode() for part in (cells[:30], cells[30:])]
    check(only_column(pa.table({"it": pa.chunked_array(own)})), cells)


def test_text_of_numpy() -> None:
    cells = draw([word for word in WORDS if "\0" not in word], 100, 4)
    check(only_column(np.array(cells)[:, None]), cells)
    check(only_column([[cell] for cell in cells]), cells)


@pytest.mark.parametrize(
    "dtype", ["Int64", "Float64", "boolean", "int8[pyarrow]", "double[pyarrow]", "bool[pyarrow]"]
)
def test_nullable_numbers(dtype: str) -> None:
    cells = draw([0, 1, None] if "bool" in dtype else [0, 1, 5, -7, None], 100, 5)
    kind, found = expected([cell if cell is None or "bool" not in dtype else bool(cell) for cell in cells])
    frame = pd.DataFrame({"it": pd.Series(cells, dtype=dtype)})
    for data in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert decoded(only_column(data)) == (kind, found)


def columns_of_numbers(random: np.random.Generator) -> dict[str, npt.NDArray[np.float64]]:
    n = int(random.integers(1, 400))
    bits = random.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
    return {
        "any bits": bits,
        "normal": random.normal(size=n),
        "few": random.integers(-3, 4, n) / 2,
        "whole": random.integers(-(2**40), 2**40, n).astype(float),
        "zeros": random.choice([0.0, -0.0, np.nan, 5e-324, -5e-324], n),
        "extremes": random.choice([np.inf, -np.inf, np.nan, 1.8e308, -1.8e308, 2.0], n),
        "missing": np.full(n, np.nan),
        "one": np.full(n, -7.5),
        "one and missing": random.choice([3.0, np.nan], n),
    }


@pytest.mark.parametrize("seed", range(20))
def test_ranks(seed: int) -> None:
    for name, column in columns_of_numbers(np.random.default_rng(seed)).items():
        codes, distinct = rank(column)
        known = ~np.isnan(column)
        values, inverse = np.unique(column[known], return_inverse=True)
        assert codes.dtype == np.int32, name
        np.testing.assert_array_equal(codes[known], inverse, err_msg=name)
        assert (codes[~known] == -1).all(), name
        np.testing.assert_array_equal(distinct, values, err_msg=name)
        assert not np.signbit(distinct[distinct == 0]).any(), name
        strided = np.repeat(column, 3)[::3]
        np.testing.assert_array_equal(rank(strided)[0], codes)


def test_ranks_of_many_rows() -> None:
    random = np.random.default_rng(0)
    for column in (random.normal(size=200_000), random.integers(0, 2**62, 200_000).astype(float)):
        codes, distinct = rank(column)
        np.testing.assert_array_equal(distinct[codes], column)
        assert (np.diff(distinct) > 0).all()
    assert [part.tolist() for part in rank(np.empty(0))] == [[], []]


Y_POOLS: list[list[Any]] = [
    ["b", "a", "c"],
    [("b", 1), ("a", 2)],
    [1, True, 0, False, 0.0, np.int64(1), np.float32(2.5)],
    [np.str_("a"), "a", "b"],
    [10**30, 1],
    [np.datetime64("2020-01-01"), np.datetime64("2021-01-01")],
    ["b", 1, ("c",)],
    [frozenset({1}), frozenset({2})],
]


@pytest.mark.parametrize("pool", Y_POOLS, ids=repr)
def test_labels(pool: list[Any]) -> None:
    cells = [*draw(pool, 40, 6), *pool]
    simple = [plain(cell) for cell in cells]
    classes = labels.ordered(simple)
    codes, found = labels.encode(labels.object_array(cells))
    assert codes.tolist() == [classes.index(cell) for cell in simple]
    assert [(label, type(label)) for label in found.tolist()] == [(label, type(label)) for label in classes]


@pytest.mark.parametrize(
    "cells", [["b", "a", "b"], [3, 1, 3], [0.5, 0.25, 0.5], [Decimal("0.5"), Decimal("0.25")], [True, False]]
)
def test_labels_of_arrow(cells: list[Any]) -> None:
    whole = pa.array(cells)
    wanted = labels.encode(labels.object_array(cells))
    for y in (
        whole,
        whole.dictionary_encode(),
        pa.chunked_array([whole.slice(0, 1), whole.slice(1)]),
        pa.chunked_array([whole.slice(0, 1).dictionary_encode(), whole.slice(1).dictionary_encode()]),
    ):
        codes, classes = labels.encode(y)
        assert codes.tolist() == wanted[0].tolist()
        assert classes.tolist() == wanted[1].tolist()
        assert classes.dtype == wanted[1].dtype
    with pytest.raises(ValueError, match="Input y contains NaN or None"):
        labels.encode(pa.array([*cells, None]))


def test_labels_that_are_no_keys() -> None:
    for y, error, message in (
        ([[1], ([2],)], TypeError, "y holds a list"),
        ([(1,), ([2],)], TypeError, "y holds a tuple"),
        ([None, {}], ValueError, "Input y contains NaN or None"),
    ):
        with pytest.raises(error, match=message):
            labels.encode(labels.object_array(y))
    with pytest.raises(TypeError, match="y holds a list"):
        labels.encode(pa.array([[1], [2]]))
    with pytest.raises(ValueError, match="got 2 and 0"):
        build([[1], [2]], pa.chunked_array([], pa.string()))


def frames(n: int) -> dict[str, Any]:
    """Return the same table of text, numbers and missing cells in every container."""
    texts = {f"t{j}": draw([f"word {i}" for i in range(20)] + [None] * (j % 2), n, j) for j in range(3)}
    whole = {"n": draw(list(range(40)), n, 9)}
    frame = pd.DataFrame({**{name: pd.Series(cells, dtype=object) for name, cells in texts.items()}, **whole})
    nan = frame.copy()
    nan[list(texts)] = nan[list(texts)].map(lambda cell: float("nan") if cell is None else cell)
    return {
        "objects": frame.to_numpy(dtype=object),
        "pandas object": frame,
        "pandas object with NaN": nan,
        "pandas str": frame.astype(dict.fromkeys(texts, "str")),
        "pandas category": frame.astype(dict.fromkeys(texts, "category")),
        "pandas arrow": frame.astype(dict.fromkeys(texts, pd.ArrowDtype(pa.string()))),
        "polars": pl.DataFrame({**texts, **whole}),
        "polars categorical": pl.DataFrame({**texts, **whole}).cast({pl.String: pl.Categorical}),
        "arrow": pa.table({**texts, **whole}),
        "arrow views": pl.DataFrame({**texts, **whole}).to_arrow(compat_level=pl.CompatLevel.newest()),
        "numbers": np.random.default_rng(0).integers(0, 50, (n, 3)) / 2,
    }


@pytest.mark.parametrize("name", [name for name in frames(1) if name != "numbers"])
def test_whole_tables(name: str) -> None:
    y = np.random.default_rng(1).integers(0, 2, 500)
    forms = frames(500)
    wanted, table = build(forms["objects"], y), build(forms[name], y)
    np.testing.assert_array_equal(table.codes, wanted.codes)
    assert [c.categories for c in table.schema.columns] == [c.categories for c in wanted.schema.columns]
    other = frames(70)
    rows = table.schema.encode(other[name])
    np.testing.assert_array_equal(rows.matrix, wanted.schema.encode(other["objects"]).matrix)


def opcodes(work: Callable[[], object]) -> int:
    """Count the bytecode instructions that the library executes."""
    count = 0
    package = str(Path(literati.__file__).parent)

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if event == "call":
            if not frame.f_code.co_filename.startswith(package):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_opcodes_are_counted() -> None:
    short, long = (opcodes(partial(list, map(is_missing, [0.5] * n))) for n in (10, 1010))
    assert long - short >= 1000 * 5
    assert len(list(dis.get_instructions(is_missing))) > 5


@pytest.mark.parametrize("name", frames(1))
def test_no_instruction_is_executed_for_each_cell(name: str) -> None:
    """Python code runs for every column and every distinct value, whose number is the same here."""
    few, many = (frames(n)[name] for n in (500, 3000))
    y = [draw(["yes", "no"], n, 8) for n in (500, 3000)]
    y_few, y_many = (pd.Series(cells, dtype=object) for cells in y)
    build(few, y_few)
    slack = 400  # far below one instruction for each of the 2500 further rows
    assert abs(opcodes(lambda: build(many, y_many)) - opcodes(lambda: build(few, y_few))) < slack
    arrow = [pa.array(cells) for cells in y]
    assert abs(opcodes(lambda: labels.encode(arrow[1])) - opcodes(lambda: labels.encode(arrow[0]))) < slack
    tree = LiteratiClassifier(max_depth=2, time_limit=1).fit(few, y_few).tree_
    for method in (tree.predict, tree.predict_proba, tree.decision_path):
        method(few)
        assert abs(opcodes(partial(method, many)) - opcodes(partial(method, few))) < slack
