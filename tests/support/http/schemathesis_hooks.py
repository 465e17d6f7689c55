"""Hooks of Schemathesis that make its stateful phase succeed.

Random text is not a table, so no dataset, job or model would be created. When Schemathesis follows links, the
upload is a table, jobs and sweeps are short, and rows have the columns of the table.
"""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis.generation.meta import TestPhase

TABLE = "x,colour,species\n" + "".join(
    f"{i % 7},{'red' if i % 3 else 'blue'},{'rose' if i % 5 < 2 else 'tulip'}\n" for i in range(60)
)
MAX_QUERY_LENGTH = 8000  # servers and proxies refuse longer addresses before the API sees them


@schemathesis.hook
def filter_query(context: schemathesis.HookContext, query: dict[str, Any] | None) -> bool:
    return len(str(query)) < MAX_QUERY_LENGTH


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: Any, kwargs: dict[str, Any]) -> None:
    if case.meta is None or case.meta.phase.name is not TestPhase.STATEFUL:
        return
    name = case.operation.definition.raw.get("operationId")
    positive = case.meta.generation.mode is schemathesis.GenerationMode.POSITIVE
    if name == "create_dataset" and positive:
        case.body, case.media_type, case.query = TABLE, "text/csv", {"target": "species"}
    elif name == "create_job" and isinstance(case.body, dict):
        kept = ("dataset_id", "priority", "parameters")
        case.body = {key: value for key, value in case.body.items() if key in kept}
        case.body["limits"] = {"time_limit": 1, "max_expansions": 50}
    elif name == "create_sweep" and isinstance(case.body, dict):
        case.body = {
            **{key: value for key, value in case.body.items() if key in ("dataset_id", "priority", "metric")},
            "space": {"max_depth": [1, 2], "max_changepoints": [1]},
            "validation": {"folds": 2},
            "trial_limits": {"time_limit": 1, "max_expansions": 50},
        }
    elif name in ("predict", "predict_with_job") and positive:
        case.body, case.media_type = {"records": [{"x": 3, "colour": "red"}]}, "application/json"
    elif name == "infer" and positive:
        cells = {"x": ("FP64", 3), "colour": ("BYTES", "red")}
        inputs = [
            {"name": column, "shape": [1], "datatype": datatype, "data": [cell]}
            for column, (datatype, cell) in cells.items()
        ]
        case.body, case.media_type = {"inputs": inputs}, "application/json"
        case.headers.pop("Inference-Header-Content-Length", None)
    elif name == "invoke_mlflow" and positive:
        case.body, case.media_type = {"dataframe_records": [{"x": 3, "colour": "red"}]}, "application/json"
    elif name in ("score", "score_job") and positive:
        row = {"x": 3, "colour": "red", "species": "rose"}
        case.body, case.media_type, case.query = {"records": [row]}, "application/json", {}
