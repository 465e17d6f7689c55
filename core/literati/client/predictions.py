"""The response of a prediction, from JSON or from an Arrow stream."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from literati.client.tables import ARROW, JSON, has_pyarrow
from literati.data.labels import object_array


@dataclass(frozen=True)
class Predictions:
    """One prediction for each row, in the order of the rows."""

    labels: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64]  # rows by classes, in the order of `classes`
    classes: tuple[str, ...]  # as text
    leaf_ids: npt.NDArray[np.int32]  # indices into the nodes of the tree
    warnings: tuple[dict[str, Any], ...]  # about rows that differ from the training data
    explanations: tuple[dict[str, Any], ...] = ()  # one for each row, if they were asked for


def accepted(explain: bool) -> str:
    """Return the media type to ask for: Arrow is smaller and faster, and explanations are JSON only."""
    return JSON if explain or not has_pyarrow() else ARROW


def read_predictions(content_type: str, content: bytes) -> Predictions:
    """Read the body of a response."""
    return _from_arrow(content) if content_type.startswith(ARROW) else _from_json(content)


def _from_json(content: bytes) -> Predictions:
    data = json.loads(content)
    classes = tuple(data["probabilities"][0]) if data["probabilities"] else ()
    shares = [[row[name] for name in classes] for row in data["probabilities"]]
    return Predictions(
        _label_array(data["predictions"]),
        np.array(shares, dtype=np.float64).reshape(len(shares), len(classes)),
        classes,
        np.array(data["leaf_ids"], dtype=np.int32),
        tuple(data["warnings"]),
        tuple(data.get("explanations") or ()),
    )


def _label_array(found: list[Any]) -> npt.NDArray[Any]:
    return object_array(found) if any(isinstance(label, str) for label in found) else np.array(found)


def _from_arrow(content: bytes) -> Predictions:
    import pyarrow as pa

    table = pa.ipc.open_stream(content).read_all()
    prefix = "probability_"
    names = table.column_names[2:]  # after `prediction` and `leaf_id`
    shares = [table.column(place + 2).to_numpy() for place in range(len(names))]
    return Predictions(
        _label_array(table.column(0).to_pylist()),
        np.stack(shares, axis=1).astype(np.float64) if shares else np.empty((table.num_rows, 0)),
        tuple(name.removeprefix(prefix) for name in names),
        table.column(1).to_numpy().astype(np.int32),
        tuple(json.loads(table.schema.metadata[b"warnings"])),
    )
