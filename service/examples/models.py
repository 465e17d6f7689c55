"""Examples of models and predictions for the OpenAPI description."""

from __future__ import annotations

from typing import Any

from service.examples.jobs import BOUNDS, JOB, TREE
from service.examples.metrics import METRICS, in_lists
from service.schemas.parameters import EXAMPLE_MODEL_ID

_URL = f"/v1/models/{EXAMPLE_MODEL_ID}"
MODEL_SUMMARY: dict[str, Any] = {
    "id": EXAMPLE_MODEL_ID,
    "name": JOB["name"],
    "notes": None,
    "tags": JOB["tags"],
    "job_id": JOB["id"],
    "incumbent_revision": 2,
    "dataset_id": JOB["dataset_id"],
    "dataset_sha256": JOB["dataset_sha256"],
    "target": "species",
    "parameters": JOB["parameters"],
    **BOUNDS,
    "stop_reason": "PROVEN_OPTIMAL",
    "metrics": in_lists(METRICS),
    "engine_version": "0.2.0",
    "created_at": "2026-01-05T09:30:01.920000Z",
    "links": {
        "self": _URL,
        "tree_svg": f"{_URL}/tree.svg",
        "rules": f"{_URL}/rules",
        "export": f"{_URL}/export",
        "predict": f"{_URL}/predict",
        "job": f"/v1/jobs/{JOB['id']}",
    },
}
MODEL = {**MODEL_SUMMARY, "metrics": METRICS}
PAGE = {"items": [MODEL_SUMMARY], "next_page_token": None}
MODEL_WITH_TREE = {**MODEL, "tree": TREE}
ALIAS = {
    "name": "production",
    "model_id": EXAMPLE_MODEL_ID,
    "links": {"self": "/v1/models/aliases/production", "model": "/v1/models/production"},
}
RULES = """\
Shape tree of depth 1 with 2 leaves, learned from 100 rows
Proven optimal: no tree over every threshold of every feature costs less than 3.

if petal_length <= 2.45, or missing*:
    class setosa (94.34 % of 53 rows)
else:
    class versicolor (100 % of 47 rows)

* No training row here had the value missing: it goes where most rows went.
"""
RECORDS = {"records": [{"petal_length": 1.4}, {"petal_length": 4.7}]}
ARRAYS = {"columns": ["petal_length"], "data": [[1.4], [4.7]]}
CSV = "petal_length\n1.4\n4.7\n"
STEP = {
    "node": 0,
    "feature": "petal_length",
    "value": 1.4,
    "status": "known",
    "side": "left",
    "interval": {"above": None, "up_to": 2.45},
    "categories": None,
    "seen": True,
    "more_categories": 0,
    "text": "petal_length = 1.4 is <= 2.45: left",
}
PREDICTIONS: dict[str, Any] = {
    "predictions": ["setosa"],
    "probabilities": [{"setosa": 50 / 53, "versicolor": 3 / 53}],
    "leaf_ids": [1],
    "warnings": [],
    "explanations": [{"steps": [STEP], "text": f"{STEP['text']}\nclass 'setosa' (probability 0.943)"}],
    "model_id": EXAMPLE_MODEL_ID,
}
JOB_PREDICTIONS = {**PREDICTIONS, "model_id": None, "job_id": JOB["id"], "revision": 2}
PREDICTIONS_CSV = """\
"prediction","leaf_id","probability_setosa","probability_versicolor"
"setosa",1,0.9433962264150944,0.05660377358490566
"""
LABELLED_RECORDS = {
    "records": [{"petal_length": 1.4, "species": "setosa"}, {"petal_length": 4.7, "species": "versicolor"}]
}
LABELLED_ARRAYS = {"columns": ["petal_length", "species"], "data": [[1.4, "setosa"], [4.7, "versicolor"]]}
LABELLED_CSV = "petal_length,species\n1.4,setosa\n4.7,versicolor\n"
SCORED: dict[str, Any] = {
    "target": "species",
    "weight": None,
    "rows": 26,
    "rows_without_target": 1,
    "rows_of_unknown_classes": 0,
    "unknown_classes": [],
    "scores": METRICS["validation"],
    "warnings": [],
    "model_id": EXAMPLE_MODEL_ID,
}
JOB_SCORED = {**SCORED, "model_id": None, "job_id": JOB["id"], "revision": 2}
