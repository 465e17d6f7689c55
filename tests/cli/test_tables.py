"""Tables in files are read as a server reads uploads, and what cannot be read is told with its place."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati.cli.errors import InputError, NotInstalledError
from literati.cli.tables import csv_cells
from literati.cli.tables.sources import open_source
from literati.cli.tables.training import TrainingFile, read_training
from literati.data.columns import RawColumn
from literati.data.table import build
from tests.support.http.uploads import parsed


def read(path: Path, target: str = "y", **options: Any) -> TrainingFile:
    reading = {name: options.pop(name) for name in ("delimiter", "decimal", "null_values") if name in options}
    roles = {"weight": None, "drop": (), "types": {}, **options}
    return read_training(open_source(str(path), **reading), target, **roles)


def written(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def cells(column: RawColumn) -> list[Any]:
    if column.values is not None:
        return [None if np.isnan(value) else value for value in column.values.tolist()]
    assert column.codes is not None
    return [None if code < 0 else column.labels[code] for code in column.codes.tolist()]


def test_types(tmp_path: Path) -> None:
    text = (
        "whole,part,flag,code,word,none,y\n1,1.5,true,007,a,,1\n2,NA,False,010, b ,,0\n,-.5e1,,999,N/A,,1\n"
    )
    table = read(written(tmp_path, text))
    found = {name: (column.kind, cells(column)) for name, column in table.X.columns.items()}
    assert found == {
        "whole": ("number", [1.0, 2.0, None]),
        "part": ("number", [1.5, None, -5.0]),
        "flag": ("boolean", [1.0, 0.0, None]),
        "code": ("category", ["007", "010", "999"]),
        "word": ("category", ["a", "b", None]),
        "none": ("number", [None, None, None]),
    }
    assert table.y.tolist() == [1, 0, 1]


WORDS = (
    "1",
    "2.5",
    "-3",
    "1e3",
    "0",
    "007",
    "NA",
    "",
    "true",
    "FALSE",
    "a",
    " a",
    "b c",
    "2024-01-02",
    "é",
    "1_0",
)
column = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)


@pytest.mark.filterwarnings("ignore::literati.DataWarning")
@settings(deadline=None, max_examples=100)
@given(
    st.lists(column, min_size=1, max_size=3),
    st.sampled_from([("x", "z"), ("1", "0"), ("true", "false"), ("1.0", "2.0"), ("01", "2")]),
)
def test_the_same_table_as_on_a_server(columns: list[list[str]], labels: tuple[str, str]) -> None:
    """Every cell of a column is one of a few words, so that most kinds of columns occur."""
    names = [f"c{number}" for number in range(len(columns))]
    rows = [[words[row % len(words)] for words in columns] for row in range(6)]
    lines = [",".join([*names, "more", "y"])]
    lines += [",".join([*row, str(number), labels[number % 2]]) for number, row in enumerate(rows)]
    text = "\n".join(lines)
    with tempfile.TemporaryDirectory() as folder:
        server = parsed(Path(folder), text, target="y").table("")
        here = read(written(Path(folder), text))
    expected = build(server.drop_columns("y"), server["y"])
    found = build(here.X, here.y)
    assert [repr(column) for column in found.schema.columns] == [repr(c) for c in expected.schema.columns]
    assert found.fingerprint == expected.fingerprint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a;y\n1,5;u\n2,25;v\n3;u\n", [1.5, 2.25, 3.0]),
        ("a;b;y\n1.234;0,5;u\n2.500;0,25;v\n3;1;u\n", [1234.0, 2500.0, 3.0]),
        ('a,y\n"1,234.5",u\n"2,000.0",v\n3,u\n', [1234.5, 2000.0, 3.0]),
        ("a,y\n1 234,u\n2 500,v\n3,u\n", [1234.0, 2500.0, 3.0]),
        ("a\ty\n1'234,5\tu\n2'000\tv\n3\tu\n", [1234.5, 2000.0, 3.0]),
    ],
)
def test_other_ways_to_write_numbers(tmp_path: Path, text: str, expected: list[float]) -> None:
    assert cells(read(written(tmp_path, text)).X.columns["a"]) == expected


def test_commas_that_may_mean_two_things(tmp_path: Path) -> None:
    path = written(tmp_path, "a;y\n1,500;u\n2,250;v\n")
    with pytest.raises(
        InputError, match=r"'a' may be decimal signs or thousands separators. Pass --decimal ,"
    ):
        read(path)
    assert cells(read(path, decimal=",").X.columns["a"]) == [1.5, 2.25]
    assert cells(read(path, decimal=".").X.columns["a"]) == [1500.0, 2250.0]
    assert cells(read(path, types={"a": "category"}).X.columns["a"]) == ["1,500", "2,250"]


def test_given_types_and_null_words(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,c,w,y\n1,yes,?,2,NA\n2,no,3,0,b\n1,1,4,1,NA\n")
    kinds: dict[str, Any] = {"a": "category", "b": "boolean", "c": "number"}
    table = read(path, types=kinds, null_values=["?"], weight="w")
    assert {name: cells(column) for name, column in table.X.columns.items()} == {
        "a": [1, 2, 1],
        "b": [1.0, 0.0, 1.0],
        "c": [None, 3.0, 4.0],
    }
    assert table.y.tolist() == ["NA", "b", "NA"]
    assert table.weights is not None
    assert table.weights.tolist() == [2.0, 0.0, 1.0]


def test_dates_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "a,day,y\n1,2024-01-01,u\n2,2024-01-02,v\n")
    assert list(read(path).X.columns) == ["a"]
    assert "Column 'day' holds dates or times and was left out." in capsys.readouterr().err
    assert cells(read(path, types={"day": "category"}).X.columns["day"])[0] == "2024-01-01"


def test_more_rows_than_one_chunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_cells, "CHUNK_ROWS", 2)
    lines = [f'{number},"w\n{number % 3}",{number % 2}\n' for number in range(7)]
    table = read(written(tmp_path, "a,b,y\n" + "\n".join(lines) + "x,,1\n"))
    assert cells(table.X.columns["a"]) == [*map(str, range(7)), "x"]
    assert cells(table.X.columns["b"]) == ["w\n0", "w\n1", "w\n2"] * 2 + ["w\n0", None]


def test_encodings_and_compression(tmp_path: Path) -> None:
    text = "größe,y\n1,ä\n2,b\n"
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert read(path).y.tolist() == ["ä", "b"]
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        assert list(read(path).X.columns) == ["größe"]
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read(path)
    path.write_bytes(gzip.compress(text.encode() * 100)[:-20])
    with pytest.raises(InputError, match="not a complete gzip file"):
        read(path)


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "is empty"),
        ("a,y\n", {}, "a header but no rows"),
        ("a\0b,y\n1,2\n", {}, "not text"),
        ("1,2\n3,4\n", {}, "first row looks like data"),
        ("a,a,y\n1,2,3\n", {}, "two columns are called 'a'"),
        ("a,b,y\n1,2,3\n1,2\n", {}, "row 2 has 2 cells and the header 3"),
        ('a,y\n"1,2\n3,4\n', {}, "line 3: .*check the quotation marks"),
        ('{"a": 1}\n', {}, "looks like JSON"),
        ("a,repaid\n1,u\n2,v\n", {"target": "Repayed"}, "no column 'Repayed'. Did you mean 'repaid'?"),
        ("a,y\n1,u\n2,v\n", {"drop": ("b",)}, "--drop: there is no column 'b'"),
        ("a,y\n1,u\n2,v\n", {"drop": ("y",)}, "given as --target and as --drop"),
        ("a,y\n1,u\n2,v\n", {"weight": "y"}, "both --target and --weight"),
        ("a,y\n1,u\n2,v\n", {"drop": ("a",)}, "No column besides the target"),
        ("a,y\n1,u\n2,u\n", {}, "only one class, 'u'; at least two"),
        ("a,y\n1,u\n2,\n3,v\n4,NA\n", {}, "Row 2 has no class in the target 'y', and 1 more rows"),
        ("a,y\n1,0.5\n2,1.5\n", {}, "holds fractions, as in regression"),
        ("a,y\n" + "".join(f"1,w{number}\n" for number in range(1025)), {}, "has 1,025 classes"),
        ("a,y\ninf,u\n2,v\n", {}, "infinite in row 1"),
        ("a,y\n1,u\nx,v\n", {"types": {"a": "number"}}, "not a number in row 2: 'x'"),
        ("a,y\n1,u\nx,v\n", {"types": {"a": "boolean"}}, "neither true nor false in row 2: 'x'"),
        ("a,w,y\n1,1,u\n2,,v\n", {"weight": "w"}, "weight in row 2 of 'w' is missing"),
        ("a,w,y\n1,-1,u\n2,1,v\n", {"weight": "w"}, "weight in row 1 of 'w' is negative"),
        ("a,y\n1,u\n2,v\n", {"delimiter": "ab"}, "--delimiter: expected one sign"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, text: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(written(tmp_path, text), **options)


def test_an_id_is_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read(written(tmp_path, "id,y\n" + "".join(f"n{i},{i % 2}\n" for i in range(20))))
    assert "'id' has another value in every row. If it is an id, leave it out" in capsys.readouterr().err


FRAME: dict[str, Any] = {
    "number": [1, 2, None],
    "flag": [True, False, None],
    "word": ["a", None, "b"],
    "day": np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[D]"),
    "y": ["u", "v", "u"],
}


@pytest.mark.parametrize("form", ["parquet", "file", "stream"])
@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_columnar_files(
    tmp_path: Path,
    form: str,
    library: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, table = tmp_path / "table", pa.table(FRAME)
    if form == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
        with new(str(path), table.schema) as writer:
            writer.write_table(table)
    if library == "polars":
        monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    found = read(path, types={"number": "category"})
    assert {name: cells(column) for name, column in found.X.columns.items()} == {
        "number": [1, 2, None],
        "flag": [1.0, 0.0, None],
        "word": ["a", None, "b"],
    }
    assert "'day' holds dates" in capsys.readouterr().err
    assert cells(read(path, types={"day": "category"}).X.columns["day"])[0] == "2024-01-01"
    assert found.y.tolist() == ["u", "v", "u"]


def test_columnar_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table"
    path.write_bytes(b"PAR1 and then something else")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read(path)
    path.write_bytes(b"PK\3\4")
    with pytest.raises(InputError, match="an Excel workbook or a zip archive; save the table as CSV"):
        read(path)
    pl.DataFrame({"a": [[1], [2]], "y": ["u", "v"]}).write_parquet(path)
    with pytest.raises(InputError, match=r"Column 'a' has type .* leave it out with --drop 'a'"):
        read(path)
    pl.DataFrame({"a": [1.0, 2.0], "y": [0.5, 1.0]}).write_parquet(path)
    with pytest.raises(InputError, match="holds fractions"):
        read(path)
    pl.DataFrame({"a": [1, 2], "y": FRAME["day"][:2]}).write_parquet(path)
    with pytest.raises(InputError, match="values of the type date; pass --type 'y':category"):
        read(path)
    assert read(path, types={"y": "category"}).y.tolist() == ["2024-01-01", "2024-01-02"]
    pyarrow.parquet.write_table(pa.table([[1], [2], ["u"]], names=["a", "a", "y"]), path)
    with pytest.raises(InputError, match="two columns have the same name"):
        read(path)
    pl.DataFrame({"a": [], "y": []}).write_parquet(path)
    with pytest.raises(InputError, match="has no rows"):
        read(path)
    for name in ("pyarrow", "polars"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(NotInstalledError, match="pip install pyarrow"):
        read(path)
