"""Uploads of frames and files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from literati.client import Client, Dataset, NotFoundError, tables
from tests.support.paths import ROOT
from tests.support.stack.stack import Stack

LOANS = ROOT / "examples" / "loans.csv"


def mixed() -> pd.DataFrame:
    """Return numbers, integers, booleans, text and categories, with missing values."""
    rng = np.random.default_rng(3)
    rows = 200
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=rows).round(3),
            "count": rng.integers(0, 9, rows),
            "flag": rng.random(rows) < 0.4,
            "word": rng.choice(["a", "b", "NA", "1"], rows),
            "kind": pd.Categorical(rng.choice(["x", "y"], rows)),
        }
    )
    frame.loc[::7, "number"] = np.nan
    frame.loc[3:5, "word"] = None
    frame["label"] = np.where(frame["count"] > 4, "high", "low")
    frame.index = frame.index[::-1]  # which is not a column
    return frame


def contents(dataset: Dataset) -> dict[str, Any]:
    """Return what a dataset contains, whatever the upload looked like."""
    return {name: dataset[name] for name in ("rows", "target", "columns", "classes", "dropped", "n_columns")}


@pytest.fixture
def expected(client: Client) -> dict[str, Any]:
    return contents(client.datasets.upload(mixed(), target="label"))


def test_the_columns_have_the_types_of_the_frame(expected: dict[str, Any]) -> None:
    kinds = {column["name"]: (column["type"], column["missing"]) for column in expected["columns"]}
    assert kinds == {
        "number": ("number", 29),
        "count": ("number", 0),
        "flag": ("boolean", 0),
        "word": ("category", 3),
        "kind": ("category", 0),
        "label": ("category", 0),
    }


@pytest.mark.parametrize("form", ["polars", "lazy", "arrow", "batch", "mapping"])
def test_frames_of_all_libraries_are_equal(client: Client, expected: dict[str, Any], form: str) -> None:
    table = pa.Table.from_pandas(mixed(), preserve_index=False)
    frames: dict[str, Any] = {
        "polars": pl.from_arrow(table),
        "lazy": pl.LazyFrame(pl.from_arrow(table)),
        "arrow": table,
        "batch": table.to_batches()[0],
        "mapping": {name: table.column(name).to_pylist() for name in table.column_names},
    }
    assert contents(client.datasets.upload(frames[form], target="label")) == expected


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_frames_without_pyarrow(
    client: Client, expected: dict[str, Any], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "has_pyarrow", lambda: False)
    frame = mixed() if form == "pandas" else pl.from_pandas(mixed())
    assert contents(client.datasets.upload(frame, target="label")) == expected


def test_files(client: Client, tmp_path: Path) -> None:
    frame = mixed().astype({"kind": str})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv.gz", index=False)
    frame.to_csv(tmp_path / "a.tsv", index=False, sep="\t")
    options: dict[str, Any] = {"types": {"word": "category"}, "null_values": ["nothing"]}
    found = [
        client.datasets.upload(tmp_path / "a.parquet", "label"),
        client.datasets.upload(str(tmp_path / "a.csv.gz"), "label", **options),
        client.datasets.upload(tmp_path / "a.tsv", "label", **options),
    ]
    assert contents(found[0]) == contents(found[1]) == contents(found[2])


def test_options(client: Client) -> None:
    text = b"a;b;w;y\n1,5;x;1;u\n2,5;-;2;v\n3,5;x;1;u\n"
    dataset = client.datasets.upload(
        text, "y", weight="w", drop=["a"], delimiter=";", decimal=",", null_values=["-"], name="small"
    )
    assert (dataset.name, dataset["dropped"], dataset["weight"]) == ("small", ["a"], "w")
    assert [column["missing"] for column in dataset["columns"]] == [1, 0, 0]


def test_the_same_upload_is_the_same_dataset(client: Client) -> None:
    first, second = (client.datasets.upload(LOANS, target="repaid") for _ in range(2))
    assert first.id == second.id
    assert repr(first) == f"<dataset {first.id}: {first.rows:,} rows, target 'repaid'>"
    assert first._repr_html_().startswith(f"<div><strong>Dataset {first.id}")


def test_a_dataset_from_its_upload_to_its_end(client: Client) -> None:
    dataset = client.datasets.upload(LOANS, target="repaid", name="<mine>")
    assert "&lt;mine&gt;" in dataset._repr_html_()
    assert dataset.update(notes="for a test")["notes"] == "for a test"
    assert len(dataset.preview(3)) == 3
    assert dataset.id in [found.id for found in client.datasets.list(page_size=1)]
    dataset.delete()
    with pytest.raises(NotFoundError, match="restore"):
        client.datasets.get(dataset.id)
    dataset.restore()
    assert client.datasets.get(dataset.id)["notes"] == "for a test"
    client.datasets.delete(dataset.id)


UPLOAD = """
import resource, sys
from pathlib import Path
from literati.client import Client

with Client(sys.argv[1]) as client:
    small = client.datasets.upload(b"a,y\\n1,x\\n2,z\\n", target="y")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    dataset = client.datasets.upload(Path(sys.argv[2]), target="y")
    print(dataset.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.fixture
def big_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "big.csv"
    row = "0.1234567890123456,0.9876543210987654,x\n0.2,0.3,z\n"
    with path.open("w") as file:
        file.write("a,b,y\n")
        for _ in range(1000):
            file.write(row * 2000)
    yield path
    path.unlink()


@pytest.mark.slow
def test_a_big_file_is_not_read_into_memory(stack: Stack, big_file: Path) -> None:
    assert big_file.stat().st_size > 90_000_000
    words = [sys.executable, "-c", UPLOAD, stack.url, str(big_file)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    rows, kilobytes = map(int, done.stdout.split())
    assert rows == 4_000_000
    assert kilobytes < 20_000


def test_a_frame_is_encoded_in_parts() -> None:
    table = pa.table({"a": np.zeros(1_000_000), "y": np.zeros(1_000_000)})
    body = tables.table_body(table)
    sizes = [len(part) for part in body.parts()]
    assert sum(sizes) > 16_000_000
    assert max(sizes) < 1_100_000
    assert pa.ipc.open_stream(b"".join(body.parts())).read_all() == table
