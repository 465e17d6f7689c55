"""Examples of other protocols for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from service.schemas.parameters import EXAMPLE_MODEL_ID

NAME = "flowers.production"
COLUMNS: dict[str, Any] = {
    "id": "42",
    "inputs": [{"name": "petal_length", "shape": [2], "datatype": "FP64", "data": [1.4, None]}],
    "outputs": [{"name": "predict"}],
}
MATRIX: dict[str, Any] = {
    "inputs": [{"name": "rows", "shape": [2, 1], "datatype": "FP64", "data": [[1.4], [4.7]]}]
}
_SHARES = [50 / 53, 3 / 53]
INFERENCE: dict[str, Any] = {
    "model_name": NAME,
    "model_version": EXAMPLE_MODEL_ID,
    "id": "42",
    "outputs": [
        {
            "name": "predict",
            "datatype": "BYTES",
            "shape": [1],
            "parameters": {"content_type": "str"},
            "data": ["setosa"],
        },
        {
            "name": "predict_proba",
            "datatype": "FP64",
            "shape": [1, 2],
            "parameters": {"content_type": "np"},
            "data": _SHARES,
        },
        {
            "name": "leaf_ids",
            "datatype": "INT32",
            "shape": [1],
            "parameters": {"content_type": "np"},
            "data": [1],
        },
    ],
}
METADATA: dict[str, Any] = {
    "name": NAME,
    "versions": [EXAMPLE_MODEL_ID],
    "platform": "literati",
    "inputs": [
        {
            "name": "petal_length",
            "datatype": "FP64",
            "shape": [-1],
            "parameters": {"content_type": "np", "required": True},
        }
    ],
    "outputs": [
        {"name": "predict", "datatype": "BYTES", "shape": [-1], "parameters": {"content_type": "str"}},
        {
            "name": "predict_proba",
            "datatype": "FP64",
            "shape": [-1, 2],
            "parameters": {"content_type": "np", "classes": ["setosa", "versicolor"]},
        },
        {"name": "leaf_ids", "datatype": "INT32", "shape": [-1], "parameters": {"content_type": "np"}},
    ],
}
MODEL_READY = {"name": NAME, "ready": True}
SERVER = {"name": "literati", "version": "0.2.0", "extensions": ["binary_tensor_data"]}
MLFLOW_REQUESTS: dict[str, Any] = {
    "dataframe_split": {"dataframe_split": {"columns": ["petal_length"], "data": [[1.4], [4.7]]}},
    "dataframe_records": {"dataframe_records": [{"petal_length": 1.4}], "params": {"method": "predict"}},
    "instances": {"instances": [[1.4], [4.7]]},
    "inputs": {"inputs": {"petal_length": [1.4, 4.7]}},
}
MLFLOW_PREDICTIONS = {"predictions": ["setosa", "versicolor"]}
