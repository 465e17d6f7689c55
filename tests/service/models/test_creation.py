"""POST /v1/jobs/{id}/models: a model of any tree of a job."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from service.models.schemas import Model
from tests.support.http.service_client import NOWHERE, pointers, problem, submit
from tests.support.records import jobs, sweeps
from tests.support.records.jobs import TENANT
from tests.support.stack.acting_worker import ActingWorker, costs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import JobState, StopReason


@pytest.fixture
def job(client: httpx.Client, dataset: Dataset) -> str:
    return str(submit(client, dataset, name="mine", tags={"team": "a"})["links"]["self"])


def make(client: httpx.Client, job: str, revision: int, status: int) -> dict[str, Any]:
    answer = client.post(f"{job}/models", json={"revision": revision})
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    Model.model_validate(body, extra="forbid")
    assert answer.headers["location"] == body["links"]["self"] == f"/v1/models/{body['id']}"
    return body


@pytest.mark.parametrize("end", [None, JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED])
def test_a_model_of_any_tree(api: Stack, client: httpx.Client, job: str, end: JobState | None) -> None:
    worker = ActingWorker(api.store)
    for tree in range(3):
        worker.checkpoint(10, tree=tree)
    if end is not None:
        worker.finish(12, state=end, reason=StopReason.TIME_LIMIT)
    before = client.get(job).json()
    made = make(client, job, 2, 201)
    found = client.get(f"{job}/incumbent", params={"revision": 2}).json()
    assert (made["incumbent_revision"], made["objective"]) == (2, costs()[1])
    assert made["metrics"] == found["metrics"]
    assert (made["name"], made["tags"], made["stop_reason"]) == ("mine", {"team": "a"}, "USER_FINISH")
    assert (made["proven_optimal"], made["lower_bound"]) == (False, 12 if end else 10)
    assert make(client, job, 2, 200) == made
    whole = client.get(made["links"]["self"]).json()
    assert whole == {**made, "tree": whole["tree"]}
    assert client.get(job).json() == before
    row = {"columns": ["x0", "x1"], "data": [[0.1, 0.2]]}
    assert client.post(made["links"]["predict"], json=row).status_code == 200
    assert client.get("/v1/models").json()["items"][0]["id"] == made["id"]
    own = make(client, job, 3, 200 if end is JobState.SUCCEEDED else 201)
    assert (own["id"] == before["model_id"]) == (end is JobState.SUCCEEDED)
    assert client.delete(made["links"]["self"]).status_code == 204
    assert make(client, job, 2, 201)["id"] != made["id"]


def test_a_search_goes_on(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    first = make(client, job, 1, 201)
    worker.checkpoint(10, tree=1)
    worker.prove()
    ended = client.get(job).json()
    assert (ended["state"], ended["stop_reason"]) == ("SUCCEEDED", "PROVEN_OPTIMAL")
    assert client.get(ended["links"]["model"]).json()["incumbent_revision"] == 2
    assert make(client, job, 1, 200)["id"] == first["id"] != ended["model_id"]


def test_bodies_that_cannot_be(api: Stack, client: httpx.Client, job: str) -> None:
    assert pointers(client.post(f"{job}/models", json={"revision": 1})) == ["/body/revision"], "no tree yet"
    ActingWorker(api.store).checkpoint(10, tree=0)
    bodies: list[tuple[Any, str]] = [
        ({}, "/body/revision"),
        ({"revision": None}, "/body/revision"),
        ({"revision": 0}, "/body/revision"),
        ({"revision": "1"}, "/body/revision"),
        ({"revision": 2}, "/body/revision"),
        ({"revision": 1, "name": "x"}, "/body/name"),
    ]
    for body, place in bodies:
        assert pointers(client.post(f"{job}/models", json=body)) == [place]
    problem(client.post(f"{job}/models"), 415)
    text = client.post(f"{job}/models", content="1", headers={"Content-Type": "text/plain"})
    problem(text, 415)
    problem(client.get(f"{job}/models"), 405)
    assert client.get("/v1/models").json()["items"] == []


def test_jobs_that_are_not_there(api: Stack, client: httpx.Client, job: str) -> None:
    problem(client.post(f"/v1/jobs/{NOWHERE}/models", json={"revision": 1}), 404, "not-found")
    problem(client.post("/v1/jobs/x/models", json={"revision": 1}), 404, "not-found")
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.finish(12)
    assert client.delete(job).status_code == 204
    problem(client.post(f"{job}/models", json={"revision": 1}), 404, "not-found")
    client.post(f"{job}/restore")
    make(client, job, 1, 200)


def test_a_model_of_a_fold_counts_the_rows_of_its_fold(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    spec = sweeps.spec(
        dataset, space={"max_depth": [1], "max_changepoints": [1], "split_penalty": [1.0]}, refit=False
    )
    sweeps.submit(api.store, spec)
    sweeps.run_all(api.store, api.blobs)
    found = api.store.jobs.list(TENANT, sweep_id=spec.id).items
    assert [item.state for item in found] == 3 * [JobState.SUCCEEDED]
    for item in found:
        made = make(client, f"/v1/jobs/{item.spec.id}", item.progress.incumbents, 201)
        node = client.get(f"{made['links']['self']}/nodes/0/rows", params={"part": "validation"}).json()
        assert node["rows"] == made["metrics"]["validation"]["rows"]
        assert made["metrics"]["train"]["rows"] + node["rows"] == dataset.rows
    assert len(jobs.easy()["x"]) == dataset.rows
