"""The description of a dataset: its columns, its warnings and the file in which it is stored."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.ingest.options import Options, content_key
from service.ingest.profile import describe
from service.ingest.tables import Column
from tests.support.http.uploads import PLAIN, arrow, info, issue, made
from worker.blobs.local import Blobs
from worker.training.tables import load


def number(values: list[Any], kind: Any = None) -> Any:
    return describe(Column("x", "number", pa.array(values, kind or pa.float64())), "feature")


def test_a_column_of_numbers() -> None:
    found = number([3.0, None, 1.0, 3.0, 2.5])
    assert (found.missing, found.distinct, found.minimum, found.maximum) == (1, 3, 1.0, 3.0)
    assert found.histogram is not None
    assert sum(found.histogram.counts) == 4
    assert len(found.histogram.edges) == 21


def test_whole_numbers_in_a_small_range_have_a_bin_each() -> None:
    found = number([3, 1, 1, 7], pa.int64())
    assert found.histogram is not None
    assert found.histogram.edges == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert found.histogram.counts == [2, 0, 1, 0, 0, 0, 1]


def test_constant_empty_and_enormous_columns() -> None:
    assert number([2.0, 2.0]).histogram.counts == [2]
    empty = number([None, None])
    assert (empty.distinct, empty.minimum, empty.histogram) == (0, None, None)
    wide = number([-1.7e308, 0.0, 1.7e308])
    assert np.isfinite(wide.histogram.edges).all()
    assert sum(wide.histogram.counts) == 3
    deep = number([-(2**63), 2**63 - 1, 0], pa.int64())
    assert sum(deep.histogram.counts) == 3


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.none(), finite, st.integers(-50, 50).map(float)), min_size=1, max_size=200))
def test_numbers_are_counted_as_numpy_does(values: list[float | None]) -> None:
    found = number(values)
    known = np.array([value for value in values if value is not None])
    assert found.missing == len(values) - len(known)
    assert found.distinct == len(np.unique(known))
    if found.histogram is None:
        assert not len(known)
        return
    assert (found.minimum, found.maximum) == (known.min(), known.max())
    edges, counts = np.array(found.histogram.edges), found.histogram.counts
    assert (np.diff(edges) >= 0).all()
    assert (edges[0], edges[-1]) == (known.min(), known.max())
    if found.distinct > 1:
        inner = [int((known < edge).sum()) for edge in edges[1:-1]]
        assert counts == np.diff([0, *inner, len(known)]).tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(0, 300)), min_size=1))
def test_integers_are_counted_as_numpy_does(values: list[int | None]) -> None:
    found = number(values, pa.int64())
    known = [value for value in values if value is not None]
    assert found.distinct == len(set(known))
    if found.histogram is not None:
        assert sum(found.histogram.counts) == len(known)
        assert all(count >= 0 for count in found.histogram.counts)


def test_categories_by_frequency(tmp_path: Path) -> None:
    words = ["b"] * 3 + ["a"] * 5 + ["c", ""]
    dataset = made(tmp_path, "x,label\n" + "".join(f"{w},{i % 2}\n" for i, w in enumerate(words)))
    found = info(dataset, "x")
    assert (found.type, found.missing, found.distinct) == ("category", 1, 3)
    assert found.categories == ["a", "b", "c"]
    assert found.category_counts == [5, 3, 1]


def test_listed_categories_are_limited_in_number_and_length(tmp_path: Path) -> None:
    rows = "".join(f"w{i % 150},{'z' * 9000}{i % 3},{i % 2}\n" for i in range(450))
    dataset = made(tmp_path, "x,y,label\n" + rows)
    assert info(dataset, "x").distinct == 150
    assert len(info(dataset, "x").categories or []) == len(info(dataset, "x").category_counts or []) == 100
    assert len(info(dataset, "y").categories or []) == 1


def test_booleans(tmp_path: Path) -> None:
    found = info(made(tmp_path, "x,label\ntrue,a\nfalse,b\ntrue,a\n,b\n"), "x")
    assert (found.type, found.missing, found.distinct) == ("boolean", 1, 2)
    assert (found.categories, found.category_counts) == ([True, False], [2, 1])


def test_warnings_about_columns(tmp_path: Path) -> None:
    rows = "".join(f"7,,{i},u{i},{i * 3},{i % 4},{i % 2}\n" for i in range(30))
    dataset = made(tmp_path, f"same,gone,counter,word,order_id,x,label\n{rows}")
    warnings = {name: [w for w in dataset.warnings if f"'{name}'" in w] for name in
            ("same", "gone", "counter", "word", "order_id", "x")}  # fmt: skip
    assert "same value in every row" in warnings["same"][0]
    assert "is empty" in warnings["gone"][0]
    assert all("looks like an id" in warnings[name][0] for name in ("counter", "word", "order_id"))
    assert warnings["x"] == []


def test_a_target_with_a_class_for_every_row(tmp_path: Path) -> None:
    rows = "".join(f"{i % 3},2024-01-{i:02}\n" for i in range(1, 31))
    (warning,) = made(tmp_path, f"x,day\n{rows}", target="day").warnings
    assert "'day' has 30 classes in 30 rows" in warning


def test_a_measurement_that_differs_in_every_row_is_not_an_id(tmp_path: Path) -> None:
    rows = "".join(f"{i / 7:.5f},{i % 2}\n" for i in range(50))
    assert made(tmp_path, f"length,label\n{rows}").warnings == []


def test_no_column_varies(tmp_path: Path) -> None:
    assert issue(tmp_path, "x,y,label\n1,,a\n1,,b\n").code == "NO_FEATURES"
    assert made(tmp_path, "x,label\n1,a\n,b\n").rows == 2


def test_the_number_of_warnings_is_limited(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(200))
    dataset = made(tmp_path, f"{names},x,label\n{'1,' * 200}1,a\n{'1,' * 200}2,b\n")
    assert len(dataset.warnings) == 51
    assert dataset.warnings[-1] == "And 151 more warnings."


# The stored file


def test_the_file_has_one_batch_and_is_named_by_its_hash(tmp_path: Path) -> None:
    rows = "".join(f"{i},w{i % 9},{i % 2}\n" for i in range(300_000))
    dataset = made(tmp_path, f"x,word,label\n{rows}")
    path = Blobs(tmp_path / "blobs").path(dataset.blob)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == dataset.blob
    with pa.memory_map(str(path)) as file:
        reader = pa.ipc.open_file(file)
        assert reader.num_record_batches == 1
        assert reader.schema.metadata[b"literati.dataset"] == b"ds_1"
        assert [str(field.type) for field in reader.schema][::2] == ["int64", "int64"]
    loaded = load(path, dataset)
    assert loaded.X["x"].to_pylist() == list(range(300_000))
    assert loaded.X["word"][5].as_py() == "w5"
    assert loaded.y[:4].tolist() == [0, 1, 0, 1]
    assert not list((tmp_path / "blobs" / "incoming").iterdir())


def test_a_dropped_column_is_not_stored(tmp_path: Path) -> None:
    dataset = made(tmp_path, PLAIN, drop="age")
    assert dataset.dropped == ["age"]
    assert [column.name for column in dataset.columns] == ["colour", "label"]


def test_the_order_of_options_does_not_change_the_content_key() -> None:
    def key(**given: Any) -> str:
        return content_key("0" * 64, "csv", "utf-8", None, Options(**given))

    assert key(drop=("a", "b")) == key(drop=("b", "a"))
    assert key(null_values=("x", "y")) == key(null_values=("y", "x", "x"))
    keys = [key(), key(target="a"), key(weight="a"), key(drop=("a",)), key(types=("a:number",))]
    keys += [key(delimiter=";"), key(decimal=","), key(null_values=()), key(name="a")]
    keys += [
        content_key("1" * 64, "csv", "utf-8", None, Options()),
        content_key("0" * 64, "csv", "utf-16", None, Options()),
        content_key("0" * 64, None, "utf-8", None, Options()),
        content_key("0" * 64, "csv", "utf-8", "gzip", Options()),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_stored_cells_equal_the_upload(tmp_path: Path, rows: int) -> None:
    table = pa.table({"x": [1.5, None] * rows, "word": ["a", None] * rows, "label": [True, False] * rows})
    dataset = made(tmp_path, arrow(table), "arrow")
    loaded = load(Blobs(tmp_path / "blobs").path(dataset.blob), dataset)
    assert loaded.X["x"].to_pylist() == table["x"].to_pylist()
    assert loaded.X["word"].to_pylist() == table["word"].to_pylist()
    assert loaded.y.tolist() == table["label"].to_pylist()
