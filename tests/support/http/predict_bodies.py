"""Rows for the model of `model_maker` in every format of predict."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from service.predict.predictor import Format, PredictOptions, Predictor
from service.predict.row_errors import MalformedError, RowsError

Row = dict[str, Any]
GOOD: Row = {"size": 0.5, "age": 30, "colour": "red", "member": True, "zone": 3}
TYPES = {
    "size": pa.float64(),
    "age": pa.float64(),
    "colour": pa.string(),
    "member": pa.bool_(),
    "tall": pa.bool_(),
    "zone": pa.int64(),
}


def as_records(rows: list[Row]) -> bytes:
    return json.dumps({"records": rows}).encode()


def as_arrays(rows: list[Row]) -> bytes:
    names = list(rows[0])
    return json.dumps({"columns": names, "data": [[row[name] for name in names] for row in rows]}).encode()


def as_csv(rows: list[Row], delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_table(rows: list[Row]) -> Any:
    types = {name: TYPES.get(name, pa.string()) for name in rows[0]}
    return pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in rows[0]})


def as_arrow(rows: list[Row]) -> bytes:
    return stream(as_table(rows), rows=3 + len(rows) // 3)


def stream(table: Any, *, rows: int = 3, **options: Any) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema, **options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return bytes(out.getvalue())


WRITERS: dict[str, tuple[Callable[[list[Row]], bytes], Format]] = {
    "records": (as_records, "json"),
    "arrays": (as_arrays, "json"),
    "csv": (as_csv, "csv"),
    "arrow": (as_arrow, "arrow"),
}


def ask(predictor: Predictor, body: bytes, form: Format = "json", **wanted: Any) -> dict[str, Any]:
    content = predictor.predict(body, PredictOptions(body_format=form, **wanted), 1_000_000).content
    answer: dict[str, Any] = json.loads(content)
    return answer


def refused(
    predictor: Predictor, body: bytes, form: Format = "json", *, pointers: list[str], **wanted: Any
) -> RowsError:
    with pytest.raises(RowsError) as caught:
        predictor.predict(body, PredictOptions(body_format=form, **wanted), 1_000)
    assert not isinstance(caught.value, MalformedError)
    assert [error.pointer for error in caught.value.errors] == pointers
    return caught.value
