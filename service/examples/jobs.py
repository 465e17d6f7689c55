"""Examples of job requests and responses for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from service.examples.metrics import EARLY_METRICS, in_lists
from service.schemas.parameters import EXAMPLE_JOB_ID
from worker.domain.parameters import Limits, Parameters

JOB_REQUEST: dict[str, Any] = {
    "dataset_id": "ds_6f1f0c52a0b1e0e4b7f6a1c1f2d3e4a5",
    "name": "flowers, depth 2",
    "tags": {"team": "botany"},
    "parameters": {"max_depth": 2, "max_changepoints": 2, "candidates": "all"},
    "limits": {"time_limit": 60},
    "validation": {"fraction": 0.2, "seed": 0},
}

_URL = f"/v1/jobs/{EXAMPLE_JOB_ID}"
JOB_SUMMARY: dict[str, Any] = {
    "id": EXAMPLE_JOB_ID,
    "state": "RUNNING",
    "stop_reason": None,
    "revision": 12,
    "name": JOB_REQUEST["name"],
    "notes": None,
    "tags": JOB_REQUEST["tags"],
    "priority": 0,
    "progress": {
        "objective": 3.0,
        "lower_bound": 2.0,
        "upper_bound": 3.0,
        "gap_absolute": 1.0,
        "gap_relative": 0.3333333333333333,
        "beyond_space": False,
        "explored": 0.62,
        "seconds_left": 0.3,
        "stage": 0,
        "space": "all",
        "expansions": 4211,
        "states_live": 1830,
        "incumbents": 2,
        "elapsed_seconds": 0.41,
        "memory_bytes": 1_310_720,
    },
    "proven_optimal": False,
    "proven_space": "all",
    "dataset_id": JOB_REQUEST["dataset_id"],
    "parameters": {**Parameters().model_dump(mode="json"), **JOB_REQUEST["parameters"]},
    "validation": JOB_REQUEST["validation"],
    "parent_job_id": None,
    "sweep_id": None,
    "model_id": None,
    "model_revision": None,
    "metrics": in_lists(EARLY_METRICS),
    "error": None,
    "created_at": "2026-01-05T09:30:00.120000Z",
    "queued_at": "2026-01-05T09:30:00.120000Z",
    "started_at": "2026-01-05T09:30:00.131000Z",
    "first_incumbent_at": "2026-01-05T09:30:00.148000Z",
    "finished_at": None,
    "links": {"self": _URL, "incumbent": f"{_URL}/incumbent", "finish": f"{_URL}/finish"},
}

JOB: dict[str, Any] = {
    **JOB_SUMMARY,
    "limits": {**Limits().model_dump(mode="json"), "time_limit": 60.0},
    "dataset_sha256": "d5b1b8b5a0f3b0a8d0a3f4d8f1c8e1e6a4f0c1b2d3e4f5061728394a5b6c7d8e",
    "engine_version": "0.2.0",
    "threads": 1,
    "metrics": EARLY_METRICS,
    "heartbeat_at": "2026-01-05T09:30:00.550000Z",
    "transitions": [
        {"state": "QUEUED", "at": JOB_SUMMARY["queued_at"], "reason": None},
        {"state": "STARTING", "at": JOB_SUMMARY["started_at"], "reason": None},
        {"state": "RUNNING", "at": JOB_SUMMARY["first_incumbent_at"], "reason": None},
    ],
}


def _node(counts: list[float], cost: float) -> dict[str, Any]:
    """Return a leaf; add a split with `|`."""
    return {
        "rows": int(sum(counts)),
        "counts": counts,
        "label": counts.index(max(counts)),
        "error": min(counts),
        "cost": cost,
        "bound": cost,
        "proven": True,
        "split": None,
    }


_PROOF = {
    "objective": 3.0,
    "upper_bound": 3.0,
    "lower_bound": 3.0,
    "beyond_space": False,
    "proven_optimal": True,
    "proven_space": "all",
}
BOUNDS = {**_PROOF, "gap_absolute": 0.0, "gap_relative": 0.0, "explored": 1.0, "space": "all"}
TREE: dict[str, Any] = {
    "format": "literati-tree",
    "version": 1,
    "engine_version": "0.2.0",
    "named_columns": True,
    "columns": [
        {"name": "petal_length", "kind": "number", "constant": False, "minimum": 1.0, "maximum": 6.9}
    ],
    "classes": {
        "dtype": "str",
        "labels": [{"type": "str", "value": "setosa"}, {"type": "str", "value": "versicolor"}],
    },
    "settings": {"max_depth": 1, "max_changepoints": 1, "split_penalty": 0.0, "changepoint_penalty": 0.0},
    "proof": {**_PROOF, "candidate_leaves": [17]},
    "summary": {
        "feature_importances": [
            {"column": 0, "feature": "petal_length", "errors_saved": 47.0, "importance": 1.0}
        ]
    },
    "nodes": [
        _node([50.0, 50.0], 3.0)
        | {
            "split": {
                "column": 0,
                "thresholds": [2.45],
                "right_categories": [],
                "changepoints": 1,
                "missing_right": False,
                "missing_seen": False,
                "unknown_right": False,
                "left": 1,
                "right": 2,
            }
        },
        _node([50.0, 3.0], 3.0),
        _node([0.0, 47.0], 0.0),
    ],
}

INCUMBENT: dict[str, Any] = {
    "job_id": JOB["id"],
    "revision": 2,
    **BOUNDS,
    "seconds_left": 0.0,
    "stage": 0,
    "tree": TREE,
    "metrics": EARLY_METRICS,
    "found_at": "2026-01-05T09:30:00.148000Z",
    "found_seconds": 0.021,
}

NO_INCUMBENT = {"job_id": JOB["id"], "state": "STARTING", "revision": 0}

TRACE: dict[str, Any] = {
    "job_id": JOB["id"],
    "points": [
        {"seconds": 0.01, "expansions": 1, "upper": 6.0, "lower": 0.0, "explored": 0.0, "stage": 0},
        {"seconds": 0.21, "expansions": 1890, "upper": 3.0, "lower": 2.0, "explored": 0.4, "stage": 0},
    ],
}

SCORES: dict[str, Any] = {
    "job_id": JOB["id"],
    "points": [
        {
            "revision": 1,
            "objective": 6.0,
            "found_seconds": 0.01,
            "leaves": 3,
            "train_accuracy": 0.95,
            "validation_accuracy": 0.9333333333333333,
            "train_balanced_accuracy": 0.95,
            "validation_balanced_accuracy": 0.9333333333333333,
            "train_log_loss": 0.21,
            "validation_log_loss": 0.26,
        }
    ],
}

EVENT = {
    "id": "1767605400148-0",
    "type": "incumbent",
    "at": "2026-01-05T09:30:00.148000Z",
    "data": {
        "revision": 1,
        "objective": 6.0,
        "upper_bound": 6.0,
        "lower_bound": 0.0,
        "explored": 0.0,
        "seconds_left": None,
        "stage": 0,
        "space": "all",
        "found_seconds": 0.021,
        "beyond_space": False,
    },
}

EVENTS = {"items": [EVENT], "last_event_id": EVENT["id"], "resync": False, "ended": False}

EVENT_STREAM = (
    'event: incumbent\ndata: {"at":"2026-01-05T09:30:00.148000Z","revision":1,"objective":6.0,'
    '"upper_bound":6.0,"lower_bound":0.0,"explored":0.0,"seconds_left":null,"stage":0,"space":"all",'
    '"found_seconds":0.021,"beyond_space":false}\n'
    "id: 1767605400148-0\n\n"
)


def answer(description: str, example: Any, **more: Any) -> dict[str, Any]:
    """Return an entry of a route's `responses` with a JSON example."""
    return {"description": description, "content": {"application/json": {"example": example}}, **more}


def header(description: str, kind: str = "string") -> dict[str, Any]:
    return {"description": description, "schema": {"type": kind}}
