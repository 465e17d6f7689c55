"""Ingest small files in tests of datasets."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet

from service.ingest.errors import IngestError, Issue
from service.ingest.file_format import FileFormat
from service.ingest.options import Options, TableLimits
from service.ingest.parse_table import SourceFile, TypedTable, parse_table
from service.ingest.pipeline import ParseTask, Upload, make_dataset
from worker.domain.datasets import ColumnInfo, Dataset

PLAIN = "age,colour,label\n30,red,no\n40,blue,yes\n50,red,no\n61,,yes\n"


def parsed(folder: Path, data: bytes | str, form: FileFormat = "csv", **given: Any) -> TypedTable:
    """Parse a file, without describing and storing it."""
    charset = given.pop("charset", "utf-8")
    limits = TableLimits(**given.pop("limits", {}))
    path = _saved(folder, data)
    with ThreadPoolExecutor(2) as pool:
        return parse_table(SourceFile(path, form, charset, limits, pool), _options(given))


def made(folder: Path, data: bytes | str, form: FileFormat = "csv", **given: Any) -> Dataset:
    """Make a dataset of a file; its blob is in `folder`."""
    charset = given.pop("charset", "utf-8")
    limits = TableLimits(**given.pop("limits", {}))
    path = _saved(folder, data)
    upload = Upload(path, form, charset, "0" * 64, path.stat().st_size)
    task = ParseTask(upload, _options(given), limits, folder / "blobs", "ds_1", "default", 60.0, 0)
    return make_dataset(task)


def issue(folder: Path, data: bytes | str, form: FileFormat = "csv", **given: Any) -> Issue:
    """Return the only issue of a file."""
    issues = all_issues(folder, data, form, **given)
    assert len(issues) == 1, issues
    return issues[0]


def all_issues(folder: Path, data: bytes | str, form: FileFormat = "csv", **given: Any) -> tuple[Issue, ...]:
    before = set((folder / "blobs").rglob("*"))
    try:
        made(folder, data, form, **given)
    except IngestError as error:
        left = set((folder / "blobs").rglob("*")) - before - {folder / "blobs" / "incoming"}
        assert not left, "a rejected upload left files behind"
        return error.issues
    raise AssertionError("the upload was accepted")


def cells(result: TypedTable, name: str) -> list[Any]:
    column = next(column for column in result.columns if column.name == name)
    values: list[Any] = column.array.to_pylist()
    return values


def kind(result: TypedTable, name: str) -> str:
    return next(column.kind for column in result.columns if column.name == name)


def info(dataset: Dataset, name: str) -> ColumnInfo:
    return next(column for column in dataset.columns if column.name == name)


def parquet(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, **options)
    return sink.getvalue()


def arrow(table: Any, *, batch: int | None = None, **options: Any) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=batch)
    return sink.getvalue()


def _options(given: dict[str, Any]) -> Options:
    for name in ("drop", "types", "null_values"):
        if isinstance(given.get(name), str):
            given[name] = (given[name],)
    return Options(**{"target": "label", **given})


def _saved(folder: Path, data: bytes | str) -> Path:
    path = folder / "upload"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def with_options(query: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the query with the options of a fix."""
    changed = {**query, **options}
    return {name: value for name, value in changed.items() if value is not None}


def upload(client: httpx.Client, body: bytes | str, kind: str, query: dict[str, Any]) -> httpx.Response:
    return client.post("/v1/datasets", params=query, content=body, headers={"Content-Type": kind})
