"""Parquet and Arrow: column types, sizes that are checked before decompression, and damaged files."""

from __future__ import annotations

import datetime
import decimal
import io
import random
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from literati import LiteratiClassifier
from service.ingest.arrow_sizes import batch_sizes
from service.ingest.errors import IngestError
from service.ingest.file_format import FileFormat
from service.predict.predictor import PredictOptions, Predictor
from tests.support.http.uploads import all_issues, arrow, cells, info, issue, kind, made, parquet, parsed

FORMS: list[FileFormat] = ["parquet", "arrow"]
LABEL = ["a", "b", "a"]


def packed(table: Any, form: FileFormat) -> bytes:
    return parquet(table) if form == "parquet" else arrow(table)


@pytest.mark.parametrize("form", FORMS)
def test_supported_types(tmp_path: Path, form: FileFormat) -> None:
    table = pa.table(
        {
            "int8": pa.array([1, None, 3], pa.int8()),
            "uint64": pa.array([1, 2, 3], pa.uint64()),
            "float": pa.array([0.5, None, 2], pa.float32()),
            "nan": [0.5, float("nan"), 2.0],
            "decimal": pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("2.25")]),
            "whole": pa.array([decimal.Decimal(7), None, decimal.Decimal(8)]),
            "flag": [True, None, False],
            "word": ["x", None, ""],
            "large": pa.array(["x", "y", None], pa.large_string()),
            "view": pa.array(["x", "y", None], pa.string_view()),
            "coded": pa.array(["x", "y", None]).dictionary_encode(),
            "none": pa.nulls(3),
            "label": LABEL,
        }
    )
    result = parsed(tmp_path, packed(table, form), form)
    assert cells(result, "int8") == [1, None, 3]
    assert cells(result, "uint64") == [1, 2, 3]
    assert cells(result, "float") == cells(result, "nan") == [0.5, None, 2.0]
    assert cells(result, "decimal") == [1.5, None, 2.25]
    assert cells(result, "whole") == [7, None, 8]
    assert cells(result, "flag") == [True, None, False]
    assert cells(result, "word") == ["x", None, ""]
    assert cells(result, "large") == cells(result, "view") == cells(result, "coded") == ["x", "y", None]
    assert cells(result, "none") == [None, None, None]
    types = {str(column.array.type) for column in result.columns}
    coded = "dictionary<values=string, indices=int32, ordered=0>"
    assert types == {"int64", "double", "bool", coded}


def test_dictionaries_of_all_kinds(tmp_path: Path) -> None:
    def of(indices: list[int | None], values: Any, kind: Any = None) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(indices, kind or pa.int8()), pa.array(values))

    table = pa.table(
        {
            "numbers": of([0, 1, None], [10, 20]),
            "unused": of([0, 2, 0], ["x", "never", "y"]),
            "twice": of([0, 1, 2], ["x", "x", "y"]),
            "null": of([0, 1, 0], ["x", None]),
            "nan": of([0, 1, 0], [1.5, float("nan")]),
            "wide": of([0, 1, 0], ["x", "y"], pa.uint32()),
            "label": LABEL,
        }
    )
    result = parsed(tmp_path, arrow(table), "arrow")
    assert cells(result, "numbers") == [10, 20, None]
    assert kind(result, "numbers") == "category"
    assert cells(result, "unused") == ["x", "y", "x"]
    assert cells(result, "twice") == ["x", "x", "y"]
    assert cells(result, "null") == ["x", None, "x"]
    assert cells(result, "nan") == [1.5, None, 1.5]
    assert cells(result, "wide") == ["x", "y", "x"]
    for column in result.columns:
        if column.kind == "category":
            assert len(column.array.chunk(0).dictionary) == len(set(cells(result, column.name)) - {None})


@pytest.mark.parametrize("form", FORMS)
def test_unsupported_types_are_named(tmp_path: Path, form: FileFormat) -> None:
    day = datetime.date(2024, 1, 5)
    table = pa.table(
        {
            "day": [day] * 3,
            "moment": pa.array([0, 1, 2], pa.timestamp("us", "UTC")),
            "bytes": [b"x"] * 3,
            "list": [[1], [2], []],
            "struct": [{"a": 1}] * 3,
            "x": [1, 2, 3],
            "label": LABEL,
        }
    )
    found = all_issues(tmp_path, packed(table, form), form)
    assert [(f.location[-1], f.code) for f in found] == [
        ("bytes", "UNSUPPORTED_TYPE"),
        ("list", "UNSUPPORTED_TYPE"),
        ("struct", "UNSUPPORTED_TYPE"),
    ]
    assert all(f"drop={f.location[-1]}" in f.message for f in found)
    drop = "bytes,list,struct"
    result = parsed(tmp_path, packed(table, form), form, drop=drop, types="day:category")
    assert cells(result, "day") == ["2024-01-05"] * 3
    assert result.plan.dropped == ("bytes", "list", "struct", "moment")
    assert [w for w in result.warnings if "'moment' holds dates or times and was left out" in w]
    found = all_issues(tmp_path, packed(table, form), form, types="day:number", drop=drop)
    assert [(f.location[-1], f.code) for f in found] == [("day", "DATES")]
    for given in ({"target": "day"}, {"weight": "day"}):
        (found_issue,) = all_issues(tmp_path, packed(table, form), form, drop=drop, **given)
        assert found_issue.code == "DATES"


@pytest.mark.parametrize("form", FORMS)
def test_forced_types(tmp_path: Path, form: FileFormat) -> None:
    table = pa.table(
        {
            "code": [3, 1, 3],
            "share": [0.5, 1.0, 0.5],
            "flag": [True, False, True],
            "digits": ["1", "2.5", " 3 "],
            "bit": [0, 1, 0],
            "label": LABEL,
        }
    )
    types = "code:category,share:category,flag:number,digits:number,bit:boolean"
    result = parsed(tmp_path, packed(table, form), form, types=types)
    assert cells(result, "code") == [3, 1, 3]
    assert cells(result, "share") == [0.5, 1.0, 0.5]
    assert kind(result, "code") == kind(result, "share") == "category"
    assert cells(result, "flag") == [1, 0, 1]
    assert cells(result, "digits") == [1.0, 2.5, 3.0]
    assert cells(result, "bit") == [False, True, False]
    text = pa.table({"zip": ["1", "2", "1"], "label": LABEL})
    assert cells(parsed(tmp_path, packed(text, form), form, types="zip:category"), "zip") == ["1", "2", "1"]


@pytest.mark.parametrize("form", FORMS)
def test_infinity_and_large_integers(tmp_path: Path, form: FileFormat) -> None:
    table = pa.table({"x": [1.0, 2.0, float("-inf")], "label": LABEL})
    assert issue(tmp_path, packed(table, form), form).location == ("body", "rows", 3, "x")
    table = pa.table({"x": pa.array([1, 2, 2**64 - 1], pa.uint64()), "y": [1, 2, 2**53 + 1], "label": LABEL})
    table = table.append_column("z", pa.array([2**60, 2**60 + 1, 2**62]))
    table = table.append_column("exact", pa.array([2**60, 2**61, 2**62]))
    dataset = made(tmp_path, packed(table, form), form)
    assert info(dataset, "x").maximum == 2.0**64
    warnings = [warning for warning in dataset.warnings if "beyond" in warning]
    assert len(warnings) == 3
    assert "'x' holds whole numbers beyond 2^63, stored as floating-point numbers" in warnings[0]
    assert "with about 16 digits" in warnings[0]
    assert "'y' holds whole numbers beyond 2^53" in warnings[1]
    assert "3 of its 3 different values can be distinguished" in warnings[1]
    assert "2 of its 3 different values can be distinguished" in warnings[2]
    result = parsed(tmp_path, packed(table, form), form, types="z:category")
    assert cells(result, "z") == [2**60, 2**60 + 1, 2**62], "as categories they keep their digits"


@pytest.mark.parametrize("form", FORMS)
def test_csv_options_are_rejected(tmp_path: Path, form: FileFormat) -> None:
    data = packed(pa.table({"x": [1, 2, 3], "label": LABEL}), form)
    found = all_issues(tmp_path, data, form, delimiter=",", decimal=".", null_values="NA")
    assert [f.location[1] for f in found] == ["delimiter", "decimal", "null_values"]


@pytest.mark.parametrize("form", FORMS)
def test_names(tmp_path: Path, form: FileFormat) -> None:
    x = pa.array([1, 2, 3])
    for names, code in (
        (["x", "x", "label"], "DUPLICATE_COLUMN"),
        (["", "x", "label"], "NO_NAME"),
    ):
        table = pa.Table.from_arrays([x, x, pa.array(LABEL)], names=names)
        assert issue(tmp_path, packed(table, form), form).code == code
    table = pa.Table.from_arrays([x, x, pa.array(LABEL)], names=["a.b", "a", "label"])
    assert cells(parsed(tmp_path, packed(table, form), form), "a.b") == [1, 2, 3]


@pytest.mark.parametrize("form", FORMS)
def test_limits(tmp_path: Path, form: FileFormat) -> None:
    table = pa.table({"x": list(range(300)), "y": list(range(300)), "label": LABEL * 100})
    data = packed(table, form)
    assert issue(tmp_path, data, form, limits={"max_rows": 299}).code == "TOO_MANY_ROWS"
    assert issue(tmp_path, data, form, limits={"max_columns": 2}).code == "TOO_MANY_COLUMNS"
    too_large = issue(tmp_path, data, form, limits={"max_table_bytes": 4000})
    assert too_large.code == "TABLE_TOO_LARGE"
    assert "the limit is 4,000 (LITERATI_MAX_TABLE_BYTES)" in too_large.message
    assert parsed(tmp_path, data, form, limits={"max_rows": 300, "max_columns": 3}).rows == 300


@pytest.mark.parametrize("form", FORMS)
def test_no_rows(tmp_path: Path, form: FileFormat) -> None:
    table = pa.table({"x": pa.array([], pa.int64()), "label": pa.array([], pa.string())})
    assert issue(tmp_path, packed(table, form), form).code == "NO_ROWS"


def test_parquet_in_groups_and_text_that_repeats(tmp_path: Path) -> None:
    word = "w" * 60_000
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 10_000, pa.int32()), [word, "v"])
    table = pa.table({"x": list(range(20_000)), "word": words, "label": [0, 1] * 10_000})
    data = parquet(table, row_group_size=1000, compression="zstd", store_schema=False)
    assert len(data) < 2_000_000
    # Without a dictionary, the words would take 600 MB.
    result = parsed(tmp_path, data, "parquet", limits={"max_table_bytes": 4_000_000})
    assert result.rows == 20_000
    assert cells(result, "word")[:3] == [word, "v", word]


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_stream_that_is_too_large_is_not_decompressed(tmp_path: Path, codec: str) -> None:
    zeros = pa.table({"x": np.zeros(1_000_000), "label": pa.array([0, 1] * 500_000, pa.int8())})
    data = arrow(zeros, compression=codec)
    assert len(data) < 200_000
    found = issue(tmp_path, data, "arrow", limits={"max_table_bytes": 8_000_000})
    assert found.code == "TABLE_TOO_LARGE"
    # The declared size of a buffer is checked before memory is allocated.
    assert data.count(struct.pack("<q", 8_000_000)) == 1
    lying = data.replace(struct.pack("<q", 8_000_000), struct.pack("<q", 1 << 50))
    assert issue(tmp_path, lying, "arrow").code == "TABLE_TOO_LARGE"
    lying = data.replace(struct.pack("<q", 8_000_000), struct.pack("<q", -7))
    assert issue(tmp_path, lying, "arrow").code == "UNREADABLE"
    assert parsed(tmp_path, data, "arrow", limits={"max_table_bytes": 9_100_000}).rows == 1_000_000


def test_the_size_of_a_batch_is_that_of_its_buffers() -> None:
    table = pa.table({"x": np.arange(10_000), "word": pa.array(["x", "y"] * 5000).dictionary_encode()})
    plain = list(batch_sizes(pa.BufferReader(arrow(table, batch=4000))))
    assert [part.rows for part in plain] == [0, 4000, 4000, 2000]
    assert sum(part.bytes for part in plain) >= 10_000 * 12
    small = list(batch_sizes(pa.BufferReader(arrow(table, batch=4000, compression="zstd"))))
    assert [part.rows for part in small] == [0, 4000, 4000, 2000]
    for packed_size, plain_size in zip(small, plain, strict=True):
        # Arrow pads what it does not compress to multiples of 8 bytes.
        assert abs(packed_size.bytes - plain_size.bytes) < 128


def test_a_stream_of_many_batches(tmp_path: Path) -> None:
    words = [f"w{i % 50}" for i in range(10_000)]
    table = pa.table({"x": list(range(10_000)), "word": words, "label": [0, 1] * 5000})
    table = table.set_column(1, "word", pa.chunked_array([table["word"].chunk(0)]).dictionary_encode())
    result = parsed(tmp_path, arrow(table, batch=333), "arrow")
    assert cells(result, "word") == words


@pytest.mark.parametrize("form", FORMS)
def test_damaged_files_are_rejected(tmp_path: Path, form: FileFormat) -> None:
    table = pa.table(
        {
            "x": np.arange(500.0),
            "word": pa.array(["x", "yy"] * 250).dictionary_encode(),
            "label": [0, 1] * 250,
        }
    )
    good = packed(table, form)
    assert issue(tmp_path, b"nonsense", form).code == "UNREADABLE"
    assert issue(tmp_path, good[: len(good) // 2], form).code == "UNREADABLE"
    rng = random.Random(1)
    for _ in range(150):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        with suppress(IngestError):  # no other error is raised
            made(tmp_path, bytes(bad), form)


RARE = [
    np.array([1, 2, 3], dtype=np.float16),
    pa.array([decimal.Decimal("1.5"), None, decimal.Decimal("1e60")], pa.decimal256(70, 5)),
    pa.array([decimal.Decimal("1.5"), None, decimal.Decimal(2)], pa.decimal32(5, 2)),
    pa.array([decimal.Decimal(10) ** 30, None, decimal.Decimal(1)], pa.decimal128(38, 0)),
    pa.DictionaryArray.from_arrays([0, 1, 0], pa.array(["a", "b"], pa.string_view())),
    pa.DictionaryArray.from_arrays([0, 1, None], pa.array([1, 2**64 - 1], pa.uint64())),
    pa.DictionaryArray.from_arrays([0, 0, None], pa.nulls(1)),
    pa.RunEndEncodedArray.from_arrays([1, 3], [1, 2]),
    pa.array([b"0" * 16, b"1" * 16, None], pa.uuid()),
    pa.array(["{}", "[]", None], pa.json_()),
    pa.array([(1, 2, 3), None, (0, 0, 0)], pa.month_day_nano_interval()),
    pa.array([1, 2, None], pa.timestamp("s", "Not/AZone")),
    pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
    ),
]


@pytest.mark.parametrize("values", RARE, ids=lambda values: str(pa.array(values).type)[:40])
@pytest.mark.parametrize("role", ["feature", "target", "weight"])
def test_rare_types_are_accepted_or_rejected(tmp_path: Path, values: Any, role: str) -> None:
    table = pa.table({"v": pa.array(values), "x": [1, 2, 3], "label": LABEL})
    for types in ((), "v:number", "v:category", "v:boolean"):
        given: dict[str, Any] = {"types": types, **({} if role == "feature" else {role: "v"})}
        with suppress(IngestError):
            made(tmp_path, arrow(table), "arrow", **given)


# Arrow files and views


def arrow_file(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=400_000)
    return sink.getvalue()


def test_a_file_that_is_too_large_is_not_decompressed(tmp_path: Path) -> None:
    zeros = pa.table({"x": np.zeros(1_000_000), "label": pa.array([0, 1] * 500_000, pa.int8())})
    data = arrow_file(zeros, compression="zstd")
    assert len(data) < 200_000
    assert issue(tmp_path, data, "arrow", limits={"max_table_bytes": 8_000_000}).code == "TABLE_TOO_LARGE"
    assert issue(tmp_path, data, "arrow", limits={"max_rows": 999_999}).code == "TOO_MANY_ROWS"
    lying = data.replace(struct.pack("<q", 3_200_000), struct.pack("<q", 1 << 50))
    assert issue(tmp_path, lying, "arrow").code == "TABLE_TOO_LARGE"
    assert parsed(tmp_path, data, "arrow", limits={"max_table_bytes": 9_100_000}).rows == 1_000_000


def test_damaged_arrow_files(tmp_path: Path) -> None:
    words = pa.array(["x", "yy"] * 250).dictionary_encode()
    good = arrow_file(pa.table({"x": np.arange(500.0), "word": words, "label": [0, 1] * 250}))
    assert parsed(tmp_path, good, "arrow").rows == 500
    for bad in (good[: len(good) // 2], good[:-6], good[:8], b"ARROW1", good[:-10] + b"\xff" * 4 + b"ARROW1"):
        assert issue(tmp_path, bad, "arrow").code == "UNREADABLE"
    rng = random.Random(2)
    for place in range(200):
        damaged = bytearray(good)
        tail = place % 2  # every other time in the footer
        at = len(good) - rng.randrange(10, 600) if tail else rng.randrange(len(good))
        damaged[at] = rng.randrange(256)
        with suppress(IngestError):  # no other error is raised
            made(tmp_path, bytes(damaged), "arrow")


def overlapping_views(rows: int, length: int, *, step: int = 1) -> Any:
    """Return a column of views into one short text; each begins `step` bytes after the one before."""
    text = b"abcdefgh" * ((rows + length) // 8 + 1)
    views = np.zeros(rows, dtype=[("length", "<i4"), ("prefix", "S4"), ("buffer", "<i4"), ("offset", "<i4")])
    views["length"], views["offset"] = length, step * np.arange(rows)
    views["prefix"] = [text[i : i + 4] for i in views["offset"]]
    buffers = [None, pa.py_buffer(views.tobytes()), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string_view(), rows, buffers)


def test_overlapping_views_are_not_expanded(tmp_path: Path) -> None:
    """100,000 views of 50,000 bytes each: five gigabytes of text in a file of two megabytes."""
    label = pa.array(["a", "b"] * 50_000)
    views = overlapping_views(100_000, 50_000)
    for column in (views, pa.DictionaryArray.from_arrays(pa.array(np.arange(100_000)), views)):
        data = arrow(pa.table({"x": np.arange(100_000), "word": column, "label": label}))
        assert len(data) < 5_000_000
        found = issue(tmp_path, data, "arrow", limits={"max_table_bytes": 1 << 30})
        assert found.code == "TABLE_TOO_LARGE"
    same = overlapping_views(100_000, 50_000, step=0)
    data = arrow(pa.table({"x": np.arange(100_000), "word": same, "label": label}))
    result = parsed(tmp_path, data, "arrow", limits={"max_table_bytes": 1 << 26})
    assert len(result.columns[1].array.chunk(0).dictionary) == 1, "equal views are stored once"


def test_delta_encoded_text_is_read_in_small_parts(tmp_path: Path) -> None:
    """Words of 3,000 bytes differ only in the last byte, so that the file stores their beginning once."""
    words = [f"{'w' * 3_000}{i % 5}" for i in range(20_000)]
    table = pa.table({"x": np.arange(20_000), "word": words, "label": [0, 1] * 10_000})
    options = {"use_dictionary": False, "column_encoding": {"word": "DELTA_BYTE_ARRAY"}}
    data = parquet(table, **options, compression="zstd", row_group_size=20_000)
    assert len(data) < 200_000
    result = parsed(tmp_path, data, "parquet", limits={"max_table_bytes": 2_000_000})
    column = next(column for column in result.columns if column.name == "word")
    assert len(column.array.chunk(0).dictionary) == 5


@pytest.mark.parametrize("digits", [pa.decimal128(30, 9), pa.decimal256(50, 9), pa.decimal64(18, 9)])
def test_decimals_become_the_nearest_double(tmp_path: Path, digits: Any) -> None:
    """Predict reads them alike. Arrow's own cast misses the nearest double in a few of a hundred cells."""
    rng = random.Random(0)
    numbers = [decimal.Decimal(rng.randrange(10**17)).scaleb(-9) for _ in range(500)]
    table = pa.table({"x": pa.array([None, *numbers], digits), "label": ["a", "b", "c"] * 167})
    assert cells(parsed(tmp_path, parquet(table), "parquet"), "x") == [None, *map(float, numbers)]
    tree = LiteratiClassifier(max_depth=1).fit(pa.table({"x": [0.0, 1.0]}), [0, 1]).tree_
    batch = Predictor(tree, {}).decode(arrow(table), PredictOptions(body_format="arrow"), 1000)
    assert batch.matrix[1:, 0].tolist() == [float(number) for number in numbers]
