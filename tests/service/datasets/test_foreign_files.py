"""Uploads and predictions with files that polars, DuckDB, pandas and pyarrow write."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import httpx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from literati import LiteratiClassifier, ShapeTree
from tests.support.records import model_maker
from tests.support.stack.stack import Stack

ROWS = 3000
NUMBERS = np.arange(ROWS)
PANDAS = pd.DataFrame(
    {
        "x": NUMBERS / 4,
        "n": NUMBERS % 50,
        "word": [f"w{i % 7}" if i % 11 else None for i in range(ROWS)],
        "text": [f"a text that is longer than a view holds inline {i % 900}" for i in range(ROWS)],
        "label": np.where(NUMBERS % 7 < 3, "yes", "no"),
    }
)
POLARS = pl.from_pandas(PANDAS).with_columns(
    pl.col("word").cast(pl.Categorical).alias("coded"),
    pl.col("word").cast(pl.Enum([f"w{i}" for i in range(7)])).alias("enumerated"),
)
ARROW = pa.Table.from_pandas(PANDAS, preserve_index=False)
Writer = Callable[[Path], object]


def by_duckdb(path: Path, options: str) -> None:
    frame = PANDAS  # DuckDB finds it by its name
    assert frame is not None
    duckdb.execute(f"copy (select * from frame) to '{path}' ({options})")


def by_pyarrow(path: Path, **options: Any) -> None:
    pyarrow.parquet.write_table(ARROW, path, **options)


def arrow_file(path: Path, table: Any = ARROW, **options: Any) -> None:
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=1000)


def packed_pandas(path: Path, compression: str) -> None:
    if compression == "gzip":
        PANDAS.to_csv(path, index=False, compression="gzip")
    else:
        path.write_bytes(pa.compress(PANDAS.to_csv(index=False).encode(), "zstd", asbytes=True))


DELTA = {"word": "DELTA_BYTE_ARRAY", "text": "DELTA_BYTE_ARRAY", "label": "DELTA_LENGTH_BYTE_ARRAY"}
WRITERS: dict[str, Writer] = {
    "duckdb.parquet": lambda path: by_duckdb(path, "format parquet"),
    "duckdb-v2.parquet": lambda path: by_duckdb(path, "format parquet, parquet_version v2"),
    "duckdb-zstd.parquet": lambda path: by_duckdb(path, "format parquet, parquet_version v2, codec zstd"),
    "duckdb.csv.gz": lambda path: by_duckdb(path, "format csv, header, compression gzip"),
    "duckdb.csv.zst": lambda path: by_duckdb(path, "format csv, header, compression zstd"),
    "duckdb.tsv": lambda path: by_duckdb(path, "format csv, header, delimiter '\t'"),
    "polars.parquet": POLARS.write_parquet,
    "polars.arrow": POLARS.write_ipc,
    "polars-zstd.arrow": lambda path: POLARS.write_ipc(path, compression="zstd"),
    "polars-lz4.arrow": lambda path: POLARS.write_ipc(path, compression="lz4"),
    "polars-old.arrow": lambda path: POLARS.write_ipc(path, compat_level=pl.CompatLevel.oldest()),
    "polars.arrows": POLARS.write_ipc_stream,
    "polars-zstd.arrows": lambda path: POLARS.write_ipc_stream(path, compression="zstd"),
    "polars.csv": lambda path: POLARS.drop("coded", "enumerated").write_csv(path),
    "polars.tsv": lambda path: POLARS.write_csv(path, separator="\t"),
    "pandas.csv": lambda path: PANDAS.to_csv(path, index=False),
    "pandas.csv.gz": lambda path: packed_pandas(path, "gzip"),
    "pandas.csv.zst": lambda path: packed_pandas(path, "zstd"),
    "pandas.parquet": PANDAS.to_parquet,
    "pandas.feather": PANDAS.to_feather,
    "pyarrow.feather": lambda path: pyarrow.feather.write_feather(ARROW, path),
    "pyarrow.parquet": by_pyarrow,
    "pyarrow-delta.parquet": lambda path: by_pyarrow(path, use_dictionary=False, column_encoding=DELTA),
    "pyarrow-groups.parquet": lambda path: by_pyarrow(
        path, use_dictionary=False, column_encoding=DELTA, row_group_size=700
    ),
    "pyarrow.arrow": arrow_file,
    "pyarrow-zstd.arrow": lambda path: arrow_file(path, compression="zstd"),
    "pyarrow-coded.arrow": lambda path: arrow_file(
        path, ARROW.set_column(2, "word", ARROW["word"].dictionary_encode())
    ),
}
OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("files")
    for name, write in WRITERS.items():
        write(folder / name)
    return {name: (folder / name).read_bytes() for name in WRITERS}


def upload(client: httpx.Client, body: bytes, **headers: str) -> Any:
    answer = client.post("/v1/datasets?target=label", content=body, headers={**OCTETS, **headers})
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.mark.parametrize("name", WRITERS)
def test_uploads(client: httpx.Client, files: dict[str, bytes], name: str) -> None:
    dataset = upload(client, files[name])
    assert dataset["rows"] == ROWS
    columns = {column["name"]: column for column in dataset["columns"]}
    assert {n: columns[n]["type"] for n in PANDAS.columns} == {
        "x": "number",
        "n": "number",
        "word": "category",
        "text": "category",
        "label": "category",
    }
    for word in {"word", "coded", "enumerated"} & set(columns):
        assert (columns[word]["distinct"], columns[word]["missing"]) == (7, len(range(0, ROWS, 11)))
    assert columns["text"]["distinct"] == 900
    first = client.get(dataset["links"]["preview"], params={"rows": 2}).json()["records"]
    assert [row["word"] for row in first] == [None, "w1"]
    assert first[1]["text"] == PANDAS["text"][1]


@pytest.fixture(scope="module")
def tree() -> ShapeTree:
    frame = PANDAS[["n", "word"]].assign(coded=PANDAS["word"], enumerated=PANDAS["word"])
    return LiteratiClassifier(max_depth=2, max_expansions=50).fit(frame, PANDAS["label"]).tree_


@pytest.mark.parametrize("name", WRITERS)
def test_predictions(api: Stack, files: dict[str, bytes], tree: ShapeTree, name: str) -> None:
    model = model_maker.add_model(api, tree)
    with api.client() as client:
        answer = client.post(f"/v1/models/{model}/predict", content=files[name], headers=OCTETS)
    assert answer.status_code == 200, answer.text
    frame = PANDAS[["n", "word"]].assign(coded=PANDAS["word"], enumerated=PANDAS["word"])
    assert answer.json()["predictions"] == tree.predict(frame).tolist()


# Media types and compression


def small(rows: int = 40) -> pd.DataFrame:
    return PANDAS.head(rows)


def written(write: Callable[[Any], object]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/vnd.ms-excel",
        "application/x-parquet",
        "",
    ],
)
def test_media_types_that_name_no_table_format(client: httpx.Client, kind: str) -> None:
    for body in (written(small().to_parquet), small().to_csv(index=False).encode()):
        answer = client.post("/v1/datasets?target=label", content=body, headers={"Content-Type": kind})
        assert answer.status_code in (200, 201), answer.text
        assert answer.json()["rows"] == 40
    answer = client.post("/v1/datasets?target=label", content=small(41).to_csv(index=False).encode())
    assert answer.json()["rows"] == 41, "without any type"


def test_tabs_by_media_type(client: httpx.Client) -> None:
    body = "a,b\tlabel\n1\tx\n2\ty\n"
    kind = {"Content-Type": "text/tab-separated-values"}
    answer = client.post("/v1/datasets?target=label", content=body, headers=kind)
    assert [column["name"] for column in answer.json()["columns"]] == ["a,b", "label"]
    assert not any("tabs" in warning for warning in answer.json()["warnings"])


def test_feather_version_1_is_rejected_with_advice(client: httpx.Client) -> None:
    with pytest.warns(DeprecationWarning, match="Feather V1"):
        body = written(lambda out: pyarrow.feather.write_feather(ARROW, out, version=1))
    answer = client.post("/v1/datasets?target=label", content=body, headers=OCTETS)
    assert answer.status_code == 422
    assert "Feather file of version 1; write it as version 2" in answer.json()["detail"]


def packed(data: bytes, coding: str) -> bytes:
    return gzip.compress(data) if coding == "gzip" else pa.compress(data, "zstd", asbytes=True)


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("kind", ["text/csv", "application/octet-stream"])
def test_compressed_bodies(client: httpx.Client, coding: str, kind: str) -> None:
    data = small().to_csv(index=False).encode()
    once, twice = packed(data, coding), packed(packed(data, coding), coding)
    for body, headers in (
        (once, {"Content-Encoding": coding}),
        (once, {}),
        (twice, {"Content-Encoding": coding.upper()}),
        (once + packed(b"", coding), {}),
    ):
        answer = client.post(
            "/v1/datasets?target=label", content=body, headers={"Content-Type": kind, **headers}
        )
        assert answer.status_code in (200, 201), answer.text
        assert answer.json()["rows"] == 40
        assert answer.json()["bytes"] == len(body)
    form = {"file": ("table.csv.gz", once, kind)}
    assert client.post("/v1/datasets?target=label&name=form", files=form).json()["rows"] == 40


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_damaged_compressed_bodies(client: httpx.Client, coding: str) -> None:
    good = packed(small().to_csv(index=False).encode(), coding)
    for body in (good[:-9], good[:20] + b"nonsense" + good[28:], b"x,label\n1,a\n2,b\n", good[:4]):
        headers = {"Content-Type": "text/csv", "Content-Encoding": coding}
        answer = client.post("/v1/datasets?target=label", content=body, headers=headers)
        assert answer.status_code == 422, answer.text
        assert f"decompressed with {coding}" in answer.json()["detail"]
    deep = packed(packed(good, coding), coding)
    answer = client.post("/v1/datasets?target=label", content=deep, headers=OCTETS)
    assert "more than twice" in answer.json()["detail"]


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_limits_apply_to_the_decompressed_body(narrow: Stack, tree: ShapeTree, coding: str) -> None:
    """The limits of this stack are 50,000 bytes for an upload and 30,000 for rows to predict."""
    model = model_maker.add_model(narrow, tree)
    bomb = packed(b"n,word,label\n" + b"1,w1,yes\n2,w2,no\n" * 4000, coding)
    assert len(bomb) < 1000
    with narrow.client() as client:
        for address, named in (
            ("/v1/datasets?target=label", "LITERATI_MAX_UPLOAD_BYTES"),
            (f"/v1/models/{model}/predict", "LITERATI_MAX_PREDICT_BYTES"),
        ):
            for headers in (OCTETS, {"Content-Type": "text/csv", "Content-Encoding": coding}):
                answer = client.post(address, content=bomb, headers=headers)
                assert answer.status_code == 413, answer.text
                assert named in answer.json()["detail"]
                assert answer.json()["type"] == "urn:literati:problem:body-too-large"
    assert not list(narrow.blobs.incoming.iterdir())


def test_compressed_rows_to_predict(api: Stack, tree: ShapeTree) -> None:
    address = f"/v1/models/{model_maker.add_model(api, tree)}/predict"
    rows = PANDAS[["n", "word"]].assign(coded="w1", enumerated="w1").head(20)
    bodies = {
        "application/json": b'{"records": %s}' % rows.to_json(orient="records").encode(),
        "text/csv": rows.to_csv(index=False).encode(),
        "text/tab-separated-values": rows.to_csv(index=False, sep="\t").encode(),
        "application/vnd.apache.parquet": written(rows.to_parquet),
        "application/vnd.apache.arrow.file": written(rows.to_feather),
    }
    with api.client() as client:
        wanted = client.post(
            address, content=bodies["application/json"], headers={"Content-Type": "application/json"}
        ).json()
        for kind, body in bodies.items():
            for coding in ("gzip", "zstd"):
                headers = {"Content-Type": kind, "Content-Encoding": coding}
                assert client.post(address, content=packed(body, coding), headers=headers).json() == wanted
                assert client.post(address, content=packed(body, coding), headers=OCTETS).json() == wanted
            assert client.post(address, content=body, headers={"Content-Type": kind}).json() == wanted
            assert client.post(address, content=body, headers=OCTETS).json() == wanted
        headers = {"Content-Type": "text/csv", "Content-Encoding": "gzip"}
        answer = client.post(address, content=gzip.compress(b"n,word\n")[:-9], headers=headers)
        assert answer.status_code == 400
        assert "decompressed with gzip" in answer.json()["detail"]
        answer = client.post(f"{address}?decimal=,", content=bodies["application/json"], headers=OCTETS)
        assert answer.json()["errors"][0]["code"] == "CSV_ONLY"
