"""Rows for the model of `model_maker` as requests of the Open Inference Protocol, and its responses."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from service.predict.predictor import EncodedPredictions, PredictOptions, Predictor
from tests.support.http.predict_bodies import Row

DATATYPES = {"size": "FP64", "age": "FP64", "colour": "BYTES", "member": "BOOL", "zone": "INT64"}
DTYPES = {
    "BOOL": "?",
    **{f"INT{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)},
    **{f"UINT{8 * size}": f"<u{size}" for size in (1, 2, 4, 8)},
    **{f"FP{8 * size}": f"<f{size}" for size in (2, 4, 8)},
}
Body = tuple[bytes, int | None]  # and the size of its JSON if bytes follow it


def tensor(name: str, datatype: str, data: list[Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": [len(data)], "data": data, **more}


def columns(rows: list[Row]) -> list[dict[str, Any]]:
    """Return a tensor for each column of the rows."""
    return [tensor(name, DATATYPES[name], [row[name] for row in rows]) for name in rows[0]]


def as_json(inputs: list[dict[str, Any]], **more: Any) -> Body:
    return json.dumps({"inputs": inputs, **more}).encode(), None


def as_binary(inputs: list[dict[str, Any]], **more: Any) -> Body:
    """Move the cells behind the JSON."""
    moved, parts = [], []
    for entry in inputs:
        entry = dict(entry)
        part = to_bytes(entry["datatype"], entry.pop("data"))
        moved.append({**entry, "parameters": {**entry.get("parameters", {}), "binary_data_size": len(part)}})
        parts.append(part)
    head = json.dumps({"inputs": moved, **more}).encode()
    return head + b"".join(parts), len(head)


def to_bytes(datatype: str, cells: list[Any]) -> bytes:
    if datatype != "BYTES":
        return np.array(cells, DTYPES[datatype]).tobytes()
    texts = [("" if cell is None else str(cell)).encode() for cell in cells]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def infer(predictor: Predictor, body: Body, max_rows: int = 1_000) -> EncodedPredictions:
    content, head_bytes = body
    options = PredictOptions("inference", "inference", model_name="tree", head_bytes=head_bytes)
    return predictor.predict(content, options, max_rows)


def outputs(answer: EncodedPredictions) -> dict[str, list[Any]]:
    """Return the cells of each output, as lists."""
    return read_outputs(answer.content, answer.head_bytes)


def read_outputs(content: bytes, head_bytes: int | None) -> dict[str, list[Any]]:
    document = json.loads(content[:head_bytes])
    start = head_bytes or 0
    found: dict[str, list[Any]] = {}
    for entry in document["outputs"]:
        size = entry["parameters"].get("binary_data_size")
        if size is None:
            cells = entry["data"]
        else:
            cells = from_bytes(entry["datatype"], content[start : start + size])
            start += size
        found[entry["name"]] = np.array(cells, dtype=object).reshape(entry["shape"]).tolist()
    assert head_bytes is None or start == len(content)
    return found


def from_bytes(datatype: str, data: bytes) -> list[Any]:
    if datatype != "BYTES":
        cells: list[Any] = np.frombuffer(data, DTYPES[datatype]).tolist()
        return cells
    texts: list[Any] = []
    while data:
        (size,) = struct.unpack_from("<I", data)
        texts.append(data[4 : 4 + size].decode())
        data = data[4 + size :]
    return texts


def own(predictor: Predictor, rows: list[Row]) -> tuple[dict[str, list[Any]], list[Any]]:
    """Return what our own predict says, as outputs, and its warnings."""
    answer = json.loads(
        predictor.predict(json.dumps({"records": rows}).encode(), PredictOptions(), 1_000).content
    )
    shares = [list(row.values()) for row in answer["probabilities"]]
    found = {"predict": answer["predictions"], "predict_proba": shares, "leaf_ids": answer["leaf_ids"]}
    return found, answer["warnings"]
