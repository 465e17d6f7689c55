"""Helpers for requests to the service."""

from __future__ import annotations

from typing import Any

import httpx

from worker.domain.datasets import Dataset

NOWHERE = "job_" + 32 * "f"
NO_DATASET = "ds_" + 32 * "f"


def submit(client: httpx.Client, dataset: Dataset, **fields: Any) -> dict[str, Any]:
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id, **fields})
    assert answer.status_code == 202, answer.text
    job: dict[str, Any] = answer.json()
    return job


def problem(answer: httpx.Response, status: int, kind: str | None = None) -> dict[str, Any]:
    """Check that the response is a problem (RFC 9457) of this status and kind, and return it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert body["instance"] == f"urn:literati:request:{answer.headers['x-request-id']}"
    if kind is not None:
        assert body["type"] == f"urn:literati:problem:{kind}"
    return body


def pointers(answer: httpx.Response) -> list[str]:
    return [error["pointer"] for error in problem(answer, 422)["errors"]]
