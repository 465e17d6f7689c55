"""Examples of the rows in a node for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from service.examples.jobs import JOB
from service.schemas.parameters import EXAMPLE_MODEL_ID

_ROWS: dict[str, Any] = {
    "node": 0,
    "part": "train",
    "dataset_id": JOB["dataset_id"],
    "rows": 100,
    "weight": 100.0,
    "classes": [
        {"label": "setosa", "rows": 50, "weight": 50.0},
        {"label": "versicolor", "rows": 50, "weight": 50.0},
    ],
    "feature": "petal_length",
    "histogram": {
        "kind": "number",
        "bins": [
            {"side": "left", "child": 1, "rows": [50, 3], "weights": [50.0, 3.0], "low": 1.0, "high": 2.45},
            {"side": "right", "child": 2, "rows": [0, 47], "weights": [0.0, 47.0], "low": 2.45, "high": 5.1},
        ],
        "missing": {"side": "left", "child": 1, "rows": [0, 0], "weights": [0.0, 0.0]},
    },
}
MODEL_NODE_ROWS = {**_ROWS, "model_id": EXAMPLE_MODEL_ID}
JOB_NODE_ROWS = {**_ROWS, "job_id": JOB["id"], "revision": 2}
