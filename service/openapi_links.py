"""Where an answer leads: the ids in it that other operations take."""

from __future__ import annotations

from typing import Any


def _link(operation: str, description: str, **parameters: str) -> dict[str, Any]:
    return {"operationId": operation, "description": description, "parameters": parameters}


_JOB = "$response.body#/id"
_OF_JOB = {
    "get_job": _link("get_job", "Look at the job.", job_id=_JOB),
    "get_incumbent": _link("get_incumbent", "Its best tree.", job_id=_JOB),
    "get_trace": _link("get_trace", "Its bounds over time.", job_id=_JOB),
    "get_events": _link("get_events", "What happens to it.", job_id=_JOB),
    "pause_job": _link("pause_job", "Stop for now.", job_id=_JOB),
    "resume_job": _link("resume_job", "Go on.", job_id=_JOB),
    "finish_job": _link("finish_job", "Stop and keep the best tree.", job_id=_JOB),
    "cancel_job": _link("cancel_job", "Stop and keep nothing.", job_id=_JOB),
    "delete_job": _link("delete_job", "Delete it.", job_id=_JOB),
}

_DATASET = "$response.body#/id"
_OF_DATASET = {
    "get_dataset": _link("get_dataset", "Look at the dataset.", dataset_id=_DATASET),
    "preview_dataset": _link("preview_dataset", "Its first rows.", dataset_id=_DATASET),
    "delete_dataset": _link("delete_dataset", "Delete it.", dataset_id=_DATASET),
    "create_job": {
        "operationId": "create_job",
        "description": "Learn from it.",
        "requestBody": {"dataset_id": _DATASET},
    },
}

# By operation and status.
LINKS: dict[str, dict[str, dict[str, Any]]] = {
    "create_dataset": {"200": _OF_DATASET, "201": _OF_DATASET},
    "create_job": {"202": _OF_JOB},
    "get_job": {"200": {name: _OF_JOB[name] for name in ("get_incumbent", "cancel_job", "delete_job")}},
    "pause_job": {"202": {"resume_job": _OF_JOB["resume_job"]}},
    "cancel_job": {"202": {"delete_job": _OF_JOB["delete_job"]}},
}
