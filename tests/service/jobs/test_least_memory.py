"""A memory limit that is accepted is enough for the job to begin and to find a tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest

from service.http.remedies import merged
from tests.support.http.uploads import parquet
from tests.support.stack.stack import Stack

WHERE = "/body/limits/memory_limit"


def upload(client: httpx.Client, rows: int, features: int, classes: int, weighted: bool = False) -> str:
    """Numbers, fewer of them different, and categories; cells are missing here and there."""
    rng = np.random.default_rng(rows)
    columns: dict[str, Any] = {
        f"x{i}": rng.random(rows) if i % 3 == 0 else rng.integers(0, 30, rows) for i in range(features)
    }
    columns |= {f"c{i}": [f"w{n}" for n in rng.integers(0, 12, rows)] for i in range(2)}
    columns["same"] = [1] * rows
    columns["sparse"] = pa.array([None if n % 7 else 1.0 for n in range(rows)], pa.float64())
    columns["fold"] = np.arange(rows) // 2 % 4
    columns["w"] = np.where(np.arange(rows) % 3, 1.5, 0.0)
    columns["label"] = np.arange(rows) % classes
    query = {"target": "label", **({"weight": "w"} if weighted else {"drop": "w"})}
    body = parquet(pa.table(columns))
    headers = {"Content-Type": "application/vnd.apache.parquet"}
    answer = client.post("/v1/datasets", params=query, content=body, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def least_of(answer: httpx.Response) -> int:
    """The least memory as the fixes of a refusal have it."""
    assert answer.status_code == 422, answer.text
    assert [error["pointer"] for error in answer.json()["errors"]] == [WHERE]
    (least,) = [
        fix["options"]["limits"]["memory_limit"]
        for fix in answer.json()["fixes"]
        if fix["label"].startswith("Use ")
    ]
    assert f"{least:,} bytes" in answer.json()["errors"][0]["message"]
    return int(least)


JOBS: list[dict[str, Any]] = [
    {},
    {"parameters": {"candidates": "shape", "max_changepoints": 4, "max_depth": 6}},
    {"parameters": {"candidates": "all", "max_depth": 2}, "validation": {"fraction": 0.6}},
    {"parameters": {"candidates": "quantile", "candidate_leaves": 9, "max_depth": 9, "polish": False}},
    {"parameters": {"categories": "one_hot"}, "validation": {"column": "fold", "value": 2}},
    {"parameters": {"class_weight": "balanced", "candidate_leaves": [40, 3]}},
    {"parameters": {"class_weight": {"0": 0.0}}},
]
SHAPES = [(40, 1, 2, False), (3000, 9, 3, False), (3000, 2, 150, False), (3000, 5, 4, True)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_job_with_the_least_memory_has_a_tree(stack: Stack, shape: tuple[int, int, int, bool]) -> None:
    """By a real worker, for a table of rows, features and classes, with weights or without."""
    with stack.client() as client:
        dataset = upload(client, *shape)
        accepted = []
        for change in JOBS:
            classes = change.get("parameters", {}).get("class_weight")
            if isinstance(classes, dict) and shape[2] < 3:
                continue  # one class would be left
            body = {"dataset_id": dataset, **change, "limits": {"memory_limit": 1, "max_expansions": 5}}
            least = least_of(client.post("/v1/jobs", json=body, params={"validate_only": "true"}))
            body["limits"]["memory_limit"] = least - 1
            assert least_of(client.post("/v1/jobs", json=body)) == least
            body["limits"]["memory_limit"] = least
            answer = client.post("/v1/jobs", json=body)
            assert answer.status_code == 202, answer.text
            accepted.append(answer.json()["id"])
        for job_id in accepted:
            for _ in range(12):
                job = client.get(f"/v1/jobs/{job_id}", headers={"Prefer": "wait=5"}).json()
                if job["state"] in ("SUCCEEDED", "FAILED"):
                    break
            assert job["state"] == "SUCCEEDED", job
            assert job["progress"]["incumbents"] >= 1


def test_a_change_of_the_limit_is_checked_alike(client: httpx.Client) -> None:
    dataset = upload(client, 500, 4, 3)
    job = client.post("/v1/jobs", json={"dataset_id": dataset}).json()["id"]
    address = f"/v1/jobs/{job}"
    least = least_of(client.patch(address, json={"limits": {"memory_limit": 1}}))
    body = {"dataset_id": dataset, "limits": {"memory_limit": 1}}
    assert least == least_of(client.post("/v1/jobs", json=body))
    refused = client.patch(address, json={"limits": {"memory_limit": least - 1}})
    assert least_of(refused) == least
    assert client.patch(address, json={"limits": {"memory_limit": least}}).status_code == 200


@pytest.fixture
def stingy(tmp_path: Path, api: Stack) -> Iterator[Stack]:
    limits = {"LITERATI_DEFAULT_MEMORY_LIMIT": "1000", "LITERATI_MAX_MEMORY_LIMIT": "50000000"}
    with Stack.with_api(tmp_path, server=api.server, **limits) as stack:
        yield stack


def test_the_servers_default_is_checked_alike(stingy: Stack) -> None:
    with stingy.client() as client:
        body = {"dataset_id": upload(client, 500, 4, 3)}
        for only in (True, False):
            refused = client.post("/v1/jobs", json=body, params={"validate_only": only})
            least_of(refused)
            assert "LITERATI_DEFAULT_MEMORY_LIMIT" in refused.json()["errors"][0]["message"]
            (fix,) = refused.json()["fixes"]  # without a limit of its own it would get the default
            again = client.post("/v1/jobs", json=merged(body, fix["options"]), params={"validate_only": only})
            assert again.status_code == (200 if only else 202), again.text
        job = again.json()["id"]
        change = {"limits": {"memory_limit": 10}}
        fixes = client.patch(f"/v1/jobs/{job}", json=change).json()["fixes"]
        assert len(fixes) == 2
        for fix in fixes:
            answer = client.patch(f"/v1/jobs/{job}", json=merged(change, fix["options"]))
            assert answer.status_code == 200, answer.text
