"""Rows that are refused, each with its place; no HTTP here."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati import LiteratiClassifier
from service.predict.predictor import Format, PredictOptions, Predictor
from service.predict.row_errors import MalformedError, RowsError
from tests.support.http.predict_bodies import (
    GOOD,
    WRITERS,
    Row,
    as_arrays,
    as_arrow,
    as_csv,
    as_records,
    as_table,
    ask,
    refused,
    stream,
)
from tests.support.records.model_maker import mixed_tree
from worker.domain.datasets import CsvStyle


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        *zip(repeat("size"), ("1.5", "text", True, [1.0], {})),
        *zip(repeat("colour"), (5, 5.5, True, ["red"], {"a": "red"})),
        *zip(repeat("member"), ("true", 2, 0.5, [True])),
        *zip(repeat("zone"), ("3x", "x", True, [3])),
    ],
)
def test_cells_of_the_wrong_type(predictor: Predictor, column: str, cell: Any) -> None:
    rows = [GOOD, GOOD, {**GOOD, column: cell}]
    error = refused(predictor, as_records(rows), pointers=[f"/body/records/2/{column}"])
    assert error.errors[0].code == "TYPE"
    place = list(GOOD).index(column)
    refused(predictor, as_arrays(rows), pointers=[f"/body/data/2/{place}"])


@pytest.mark.parametrize(
    ("column", "text"),
    [("size", "abc"), ("age", "1.5.5"), ("age", "1 2"), ("member", "maybe"), ("zone", "three")],
)
def test_texts_that_are_no_cell_of_the_column(predictor: Predictor, column: str, text: str) -> None:
    rows = [GOOD, {**GOOD, column: text}]
    error = refused(predictor, as_csv(rows), "csv", pointers=[f"/body/rows/1/{column}"])
    assert text not in str(error)
    assert text not in error.errors[0].message


def test_arrow_columns_of_the_wrong_type(predictor: Predictor) -> None:
    table = as_table([GOOD])
    for name, array in {
        "size": pa.array(["1.5"]),
        "age": pa.array([True]),
        "colour": pa.array([1.5]),
        "member": pa.array(["true"]),
        "zone": pa.array(["3x"]),
    }.items():
        wrong = table.set_column(table.column_names.index(name), name, array)
        at = "/body/rows/0/" if name in ("colour", "zone") else "/body/"
        refused(predictor, stream(wrong), "arrow", pointers=[at + name])
    for odd in (pa.array([b"red"]), pa.array([["red"]])):
        wrong = table.set_column(table.column_names.index("colour"), "colour", odd)
        refused(predictor, stream(wrong), "arrow", pointers=["/body/colour"])


def test_arrow_views_that_show_more_than_there_is(predictor: Predictor) -> None:
    """A megabyte that would be hundreds of megabytes of text."""
    views = np.zeros(
        20_000, dtype=[("length", "<i4"), ("prefix", "S4"), ("buffer", "<i4"), ("offset", "<i4")]
    )
    views["length"], views["prefix"] = 300_000, b"aaaa"
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(b"a" * 300_000)]
    column = pa.Array.from_buffers(pa.string_view(), 20_000, buffers)
    table = as_table([GOOD] * 20_000)
    table = table.set_column(table.column_names.index("colour"), "colour", column)
    with pytest.raises(RowsError) as caught:
        predictor.predict(stream(table, rows=20_000), PredictOptions(body_format="arrow"), 20_000)
    assert caught.value.errors[0].code == "TOO_LARGE"


def test_infinity_and_numbers_beyond_floats(predictor: Predictor) -> None:
    for text, code in (("1e999", "INFINITE"), ("-1e999", "INFINITE"), ("1" + "0" * 400, "TOO_LARGE")):
        body = as_records([GOOD, {**GOOD, "age": 12345}]).replace(b"12345", text.encode())
        error = refused(predictor, body, pointers=["/body/records/1/age"])
        assert error.errors[0].code == code
    refused(predictor, as_csv([{**GOOD, "age": "inf"}]), "csv", pointers=["/body/rows/0/age"])
    table = as_table([{**GOOD, "age": float("-inf")}])
    refused(predictor, stream(table), "arrow", pointers=["/body/rows/0/age"])
    nan = as_table([{**GOOD, "age": float("nan")}])
    assert ask(predictor, stream(nan), "arrow") == ask(predictor, as_records([{**GOOD, "age": None}]))


def test_absent_columns_are_named(predictor: Predictor) -> None:
    row = {name: cell for name, cell in GOOD.items() if name not in ("age", "colour")}
    error = refused(predictor, as_records([row]), pointers=["/body/records/0/age", "/body/records/0/colour"])
    assert "'age'" in error.detail
    refused(predictor, as_records([GOOD, row, GOOD])[:-1] + b"}", pointers=[
        "/body/records/1/age", "/body/records/1/colour"
    ])  # fmt: skip
    refused(predictor, as_arrays([row]), pointers=["/body/columns"] * 2)
    refused(predictor, as_csv([row]), "csv", pointers=["/body/header"] * 2)
    refused(predictor, as_arrow([row]), "arrow", pointers=["/body"] * 2)


def test_repeated_columns(predictor: Predictor) -> None:
    body = as_records([GOOD])
    refused(predictor, body.replace(b'"age"', b'"age": 1, "age"', 1), pointers=["/body"])
    arrays = json.dumps({"columns": [*GOOD, "age"], "data": [[*GOOD.values(), 3]]}).encode()
    refused(predictor, arrays, pointers=["/body/columns/1"])
    text = b"size,age,colour,member,zone,age\n1,2,red,true,3,4\n"
    refused(predictor, text, "csv", pointers=["/body/header/1"])
    table = as_table([GOOD]).append_column("age", pa.array([1.0]))
    refused(predictor, stream(table), "arrow", pointers=["/body/1"])


def test_a_repeated_field_is_found_among_texts_with_colons(predictor: Predictor) -> None:
    rows = [{**GOOD, "colour": "12:30"}, GOOD]
    assert len(ask(predictor, as_records(rows))["predictions"]) == 2
    refused(predictor, as_records(rows).replace(b'"age"', b'"age": 1, "age"', 1), pointers=["/body"])


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        (b"[]", ["/body"]),
        (b"5", ["/body"]),
        (b"{}", ["/body"]),
        (b'{"records": [], "more": 1}', ["/body/more"]),
        (b'{"records": [], "columns": [], "data": []}', ["/body"]),
        (b'{"columns": ["a"]}', ["/body/data"]),
        (b'{"records": []}', ["/body/records"]),
        (b'{"records": {}}', ["/body/records"]),
        (b'{"records": [5, {}, []]}', ["/body/records/0", "/body/records/2"]),
        (b'{"columns": ["a"], "data": []}', ["/body/data"]),
        (b'{"columns": ["a"], "data": [{}]}', ["/body/data/0"]),
        (b'{"columns": "a", "data": [[1]]}', ["/body/columns"]),
        (b'{"columns": [1], "data": [[1]]}', ["/body/columns"]),
    ],
)
def test_json_of_another_form(predictor: Predictor, body: bytes, pointers: list[str]) -> None:
    refused(predictor, body, pointers=pointers)


def test_rows_of_other_lengths(predictor: Predictor) -> None:
    body = json.dumps({"columns": list(GOOD), "data": [list(GOOD.values()), [1], []]}).encode()
    refused(predictor, body, pointers=["/body/data/1", "/body/data/2"])


@pytest.mark.parametrize(
    ("body", "form"),
    [
        (b"", "json"),
        (b"{", "json"),
        (b'{"records": [{"age": NaN}]}', "json"),
        (b'{"records": [{"age": -Infinity}]}', "json"),
        (b'{"records": [{"colour": "\xff"}]}', "json"),
        (b'{"records": [{"colour": "\\ud800"}]}', "json"),
        (b'{"records": ' + b"[" * 100_000, "json"),
        (b'{"records": [{"age": ' + b"1" * 5_000 + b"}]}", "json"),
        (b'{"records": [{}]} x', "json"),
        (b"", "csv"),
        (b"\xff\xfe\x00", "csv"),
        (b"size,age,colour,member,zone\n1,2,red\n", "csv"),
        (b"size,age,colour,member,zone\n1,2,re\xffd,true,3\n", "csv"),
        (b"", "arrow"),
        (b"ARROW1\x00\x00", "arrow"),
        (b"not an arrow stream at all", "arrow"),
        (as_arrow([GOOD])[:300], "arrow"),
    ],
)
def test_bodies_that_are_not_what_they_say(predictor: Predictor, body: bytes, form: Format) -> None:
    with pytest.raises(MalformedError):
        predictor.predict(body, PredictOptions(body_format=form), 1_000)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_arrow_streams_are_refused_or_read(predictor: Predictor, data: st.DataObject) -> None:
    body = bytearray(as_arrow([GOOD, {**GOOD, "colour": "pink"}] * 4))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(body) - 1))
        body[place] = data.draw(st.integers(0, 255))
    with suppress(RowsError):
        predictor.predict(bytes(body), PredictOptions(body_format="arrow"), 1_000)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_body_breaks_a_reader(predictor: Predictor, body: bytes) -> None:
    commas = Predictor(predictor.tree, predictor.source, CsvStyle(decimal=",", columns={"age": "."}))
    for reader in (predictor, commas):
        for form in ("json", "csv", "arrow"):
            for text in (
                body,
                b"size,age,colour,member,zone\n" + body,
                b"size;age;colour;member;zone\n" + body,
            ):
                with suppress(RowsError):
                    reader.predict(text, PredictOptions(body_format=form), 1_000)


def test_too_many_rows(predictor: Predictor) -> None:
    places = {"records": "/body/records", "arrays": "/body/data", "csv": "/body", "arrow": "/body"}
    for name, (write, form) in WRITERS.items():
        with pytest.raises(RowsError) as caught:
            predictor.predict(write([GOOD] * 11), PredictOptions(body_format=form), 10)
        assert [error.pointer for error in caught.value.errors] == [places[name]]
    for write, form in WRITERS.values():
        with pytest.raises(RowsError) as caught:
            predictor.predict(write([GOOD] * 1001), PredictOptions(body_format=form, explain=True), 10_000)
        assert [error.pointer for error in caught.value.errors] == ["/query/explain"]


def test_errors_are_few_however_many_cells_are_wrong(predictor: Predictor) -> None:
    rows: list[Row] = [{name: {} for name in GOOD}] * 500
    with pytest.raises(RowsError) as caught:
        predictor.predict(as_records(rows), PredictOptions(), 1_000)
    assert len(caught.value.errors) == 20


def test_an_arrow_stream_that_unpacks_to_too_much(predictor: Predictor) -> None:
    rows = 1 << 20
    table = pa.table({"size": np.zeros(rows), **{f"extra{i}": np.zeros(rows) for i in range(70)}})
    body = stream(table, rows=rows, options=pa.ipc.IpcWriteOptions(compression="zstd"))
    assert len(body) < 1 << 20
    with pytest.raises(RowsError, match="decompressed body is larger than"):
        predictor.predict(body, PredictOptions(body_format="arrow"), 1 << 24)


def test_cells_that_take_no_bytes_are_counted_too() -> None:
    x = np.random.default_rng(0).normal(size=(60, 100))
    tree = LiteratiClassifier(max_depth=1, max_expansions=1).fit(x, x[:, 0] > 0).tree_
    rows = 1 << 20
    table = pa.table({name: pa.nulls(rows) for name in tree.feature_names})
    with pytest.raises(RowsError, match="too many rows; the limit is"):
        Predictor(tree, {}).predict(stream(table, rows=1 << 20), PredictOptions(body_format="arrow"), 1 << 24)
