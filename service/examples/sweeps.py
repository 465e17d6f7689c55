"""Examples of sweep requests and responses for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from service.examples.jobs import TREE, answer, header
from service.schemas.parameters import EXAMPLE_JOB_ID, EXAMPLE_SWEEP_ID
from worker.domain.sweeps import Space, SweepLimits, TrialLimits
from worker.domain.validation import RandomFolds

__all__ = ["TREE", "answer", "header"]

SHORTEST_REQUEST: dict[str, Any] = {"dataset_id": "ds_6f1f0c52a0b1e0e4b7f6a1c1f2d3e4a5"}
SWEEP_REQUEST: dict[str, Any] = {
    **SHORTEST_REQUEST,
    "name": "flowers",
    "tags": {"team": "botany"},
    "space": {"max_depth": [2, 3], "max_changepoints": [1, 2], "split_penalty": "path"},
    "fixed": {"min_samples_leaf": 5},
    "validation": {"folds": 2, "repeats": 1, "stratified": True, "seed": 0},
    "metric": "balanced_accuracy",
    "limits": {"time_limit": 600},
    "trial_limits": {"time_limit": 30},
}

_URL = f"/v1/sweeps/{EXAMPLE_SWEEP_ID}"
_UNIT = {"max_depth": 2, "max_changepoints": 1}
TRIAL: dict[str, Any] = {
    "number": 1,
    "setting": 0,
    "parameters": _UNIT,
    "penalty_range": {"low": 2.0, "high": 8.0},
    "penalty": 4.0,
    "state": "SUCCEEDED",
    "fold_scores": [0.92, 0.96],
    "mean": 0.94,
    "std": 0.02,
    "standard_error": 0.02,
    "rank": 1,
    "train_mean": 0.97,
    "leaves": 3.0,
    "changepoints": 0.0,
    "proven_folds": 2,
    "gap_max": 0.0,
    "stop_reasons": {"PROVEN_OPTIMAL": 2},
    "job_ids": [EXAMPLE_JOB_ID, "job_9c1d2e3f405162738495a6b7c8d9eaf0"],
    "seconds": 0.8,
    "pruned_at_fold": None,
    "reason": None,
}
SWEEP_SUMMARY: dict[str, Any] = {
    "id": EXAMPLE_SWEEP_ID,
    "state": "RUNNING",
    "stop_reason": None,
    "revision": 9,
    "name": SWEEP_REQUEST["name"],
    "notes": None,
    "tags": SWEEP_REQUEST["tags"],
    "priority": 0,
    "dataset_id": SWEEP_REQUEST["dataset_id"],
    "space": {**Space().model_dump(mode="json"), **SWEEP_REQUEST["space"]},
    "fixed": SWEEP_REQUEST["fixed"],
    "strategy": "GRID",
    "metric": SWEEP_REQUEST["metric"],
    "select": "ONE_STANDARD_ERROR",
    "n_folds": 2,
    "progress": {"settings": 4, "jobs": 8, "done": 3, "running": 1, "queued": 4, "failed": 0},
    "choice": None,
    "refit_job_id": None,
    "model_id": None,
    "error": None,
    "seconds": 1.3,
    "created_at": "2026-01-05T09:30:00.120000Z",
    "started_at": "2026-01-05T09:30:00.131000Z",
    "finished_at": None,
    "links": {"self": _URL, "trials": f"{_URL}/trials", "finish": f"{_URL}/finish"},
}
SWEEP: dict[str, Any] = {
    **SWEEP_SUMMARY,
    "constraints": [],
    "changepoint_ratio": 0.5,
    "seed": 0,
    "validation": {**RandomFolds().model_dump(mode="json"), **SWEEP_REQUEST["validation"]},
    "test": None,
    "limits": {**SweepLimits().model_dump(mode="json"), **SWEEP_REQUEST["limits"]},
    "trial_limits": {**TrialLimits().model_dump(mode="json"), **SWEEP_REQUEST["trial_limits"]},
    "refit": True,
    "dataset_sha256": "d5b1b8b5a0f3b0a8d0a3f4d8f1c8e1e6a4f0c1b2d3e4f5061728394a5b6c7d8e",
    "engine_version": "0.2.0",
    "best": TRIAL,
    "transitions": [
        {"state": "QUEUED", "at": SWEEP_SUMMARY["created_at"], "reason": None},
        {"state": "RUNNING", "at": SWEEP_SUMMARY["started_at"], "reason": None},
    ],
}

TRIALS: dict[str, Any] = {
    "sweep_id": EXAMPLE_SWEEP_ID,
    "metric": SWEEP_REQUEST["metric"],
    "items": [TRIAL],
    "total": 1,
}
LEADERBOARD: dict[str, Any] = {
    "sweep_id": EXAMPLE_SWEEP_ID,
    "metric": SWEEP_REQUEST["metric"],
    "select": "ONE_STANDARD_ERROR",
    "final": False,
    "chosen": TRIAL,
    "explanation": "Of 3 candidates, depth 2 with 1 change point and a penalty of 4 scores 0.94 "
    "(balanced_accuracy) on held-out rows, with 3 leaves: the best mean over 2 folds.",
    "items": [TRIAL],
    "total": 1,
}
_POINT = ("number", "penalty_range", "penalty", "mean", "standard_error", "train_mean", "leaves", "rank")
PATHS: dict[str, Any] = {
    "sweep_id": EXAMPLE_SWEEP_ID,
    "metric": SWEEP_REQUEST["metric"],
    "settings": [
        {
            "setting": 0,
            "parameters": _UNIT,
            "trials": [{name: TRIAL[name] for name in _POINT}],
            "folds": [
                {
                    "fold": 0,
                    "job_id": EXAMPLE_JOB_ID,
                    "stop_reason": "PROVEN_OPTIMAL",
                    "seconds": 0.4,
                    "segments": [
                        {
                            "penalty_from": 2.0,
                            "penalty_to": 8.0,
                            "score": 0.92,
                            "train_score": 0.98,
                            "leaves": 3,
                            "changepoints": 0,
                            "proven": True,
                            "gap": 0.0,
                        }
                    ],
                }
            ],
        }
    ],
}

EVENT = {
    "id": "1767605400548-0",
    "type": "trial",
    "at": "2026-01-05T09:30:00.548000Z",
    "data": {"setting": 0, "fold": 0, "state": "SUCCEEDED", "job_id": EXAMPLE_JOB_ID},
}
EVENTS = {"items": [EVENT], "last_event_id": EVENT["id"], "resync": False, "ended": False}
EVENT_STREAM = (
    'event: trial\ndata: {"at":"2026-01-05T09:30:00.548000Z","setting":0,"fold":0,"state":"SUCCEEDED",'
    f'"job_id":"{EXAMPLE_JOB_ID}"}}\n'
    "id: 1767605400548-0\n\n"
)
HELD_OUT_CSV = (
    "row,fold,target,prediction,probability_setosa,probability_virginica\n"
    "0,3,setosa,setosa,0.98,0.02\n1,0,virginica,virginica,0.04,0.96\n"
)
