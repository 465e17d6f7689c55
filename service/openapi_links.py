"""OpenAPI links: operations that take an id of a response."""

from __future__ import annotations

from typing import Any


def _link(operation: str, description: str, **parameters: str) -> dict[str, Any]:
    return {"operationId": operation, "description": description, "parameters": parameters}


_JOB = "$response.body#/id"
_OF_JOB = {
    "get_job": _link("get_job", "Get the job.", job_id=_JOB),
    "get_incumbent": _link("get_incumbent", "Get its best tree.", job_id=_JOB),
    "get_trace": _link("get_trace", "Get its bounds over time.", job_id=_JOB),
    "get_events": _link("get_events", "Follow its events.", job_id=_JOB),
    "update_job": _link("update_job", "Change its name, notes, tags, priority or limits.", job_id=_JOB),
    "pause_job": _link("pause_job", "Pause it.", job_id=_JOB),
    "resume_job": _link("resume_job", "Resume it.", job_id=_JOB),
    "finish_job": _link("finish_job", "Stop it and keep the best tree.", job_id=_JOB),
    "cancel_job": _link("cancel_job", "Stop it without a model.", job_id=_JOB),
    "predict_with_job": _link("predict_with_job", "Predict with its best tree.", job_id=_JOB),
    "score_job": _link("score_job", "Score its best tree on labelled rows.", job_id=_JOB),
    "delete_job": _link("delete_job", "Delete it.", job_id=_JOB),
}

_SWEEP = "$response.body#/id"
_OF_SWEEP = {
    "get_sweep": _link("get_sweep", "Get the sweep.", sweep_id=_SWEEP),
    "list_trials": _link("list_trials", "List its trials.", sweep_id=_SWEEP),
    "get_leaderboard": _link("get_leaderboard", "Get its best trials.", sweep_id=_SWEEP),
    "get_paths": _link("get_paths", "Get its scores by penalty.", sweep_id=_SWEEP),
    "get_sweep_events": _link("get_sweep_events", "Follow its events.", sweep_id=_SWEEP),
    "update_sweep": _link("update_sweep", "Change its name, notes, tags or priority.", sweep_id=_SWEEP),
    "pause_sweep": _link("pause_sweep", "Pause it.", sweep_id=_SWEEP),
    "resume_sweep": _link("resume_sweep", "Resume it.", sweep_id=_SWEEP),
    "finish_sweep": _link("finish_sweep", "Stop trying and choose.", sweep_id=_SWEEP),
    "cancel_sweep": _link("cancel_sweep", "Stop it without a model.", sweep_id=_SWEEP),
    "extend_sweep": _link("extend_sweep", "Continue it after its end.", sweep_id=_SWEEP),
    "delete_sweep": _link("delete_sweep", "Delete it.", sweep_id=_SWEEP),
}

_DATASET = "$response.body#/id"
_OF_DATASET = {
    "get_dataset": _link("get_dataset", "Get the dataset.", dataset_id=_DATASET),
    "preview_dataset": _link("preview_dataset", "Get its first rows.", dataset_id=_DATASET),
    "update_dataset": _link("update_dataset", "Change its name or notes.", dataset_id=_DATASET),
    "delete_dataset": _link("delete_dataset", "Delete it.", dataset_id=_DATASET),
    "create_job": {
        "operationId": "create_job",
        "description": "Start a job on it.",
        "requestBody": {"dataset_id": _DATASET},
    },
    "create_sweep": {
        "operationId": "create_sweep",
        "description": "Start a sweep on it.",
        "requestBody": {"dataset_id": _DATASET},
    },
}

_MODEL = "$response.body#/items/0/id"
_OF_MODEL = {
    "get_model": _link("get_model", "Get the newest model.", model=_MODEL),
    "read_model": _link("read_model", "Get its rules as text.", model=_MODEL),
    "export_model": _link("export_model", "Export it.", model=_MODEL),
    "draw_model": _link("draw_model", "Get its drawing.", model=_MODEL),
    "predict": _link("predict", "Predict with it.", model=_MODEL),
    "score": _link("score", "Score it on labelled rows.", model=_MODEL),
    "infer": _link("infer", "Predict with the Open Inference Protocol.", model=_MODEL),
    "get_inference_model": _link("get_inference_model", "Get its inputs and outputs.", model=_MODEL),
    "invoke_mlflow": _link("invoke_mlflow", "Predict with MLflow's scoring protocol.", model=_MODEL),
    "count_model_node_rows": _link("count_model_node_rows", "Count the rows in its nodes.", model=_MODEL),
    "update_model": _link("update_model", "Change its name, notes or tags.", model=_MODEL),
    "set_alias": {
        "operationId": "set_alias",
        "description": "Set an alias for it.",
        "requestBody": {"model_id": _MODEL},
    },
}

# By operation and status code.
LINKS: dict[str, dict[str, dict[str, Any]]] = {
    "create_dataset": {"200": _OF_DATASET, "201": _OF_DATASET},
    "create_job": {"202": _OF_JOB},
    "get_job": {"200": {name: _OF_JOB[name] for name in ("get_incumbent", "predict_with_job", "delete_job")}},
    "pause_job": {"202": {"resume_job": _OF_JOB["resume_job"]}},
    "cancel_job": {"202": {"delete_job": _OF_JOB["delete_job"]}},
    "create_sweep": {"202": _OF_SWEEP},
    "pause_sweep": {"202": {"resume_sweep": _OF_SWEEP["resume_sweep"]}},
    "cancel_sweep": {
        "202": {name: _OF_SWEEP[name] for name in ("extend_sweep", "delete_sweep")},
    },
    "list_models": {"200": _OF_MODEL},
    "read_model": {"200": {"delete_model": _link("delete_model", "Delete it.", model="$request.path.model")}},
}
