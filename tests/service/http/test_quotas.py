"""Quotas of a tenant: the problem names the limit, and deleting records makes room."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.http.service_client import problem, submit
from tests.support.records.jobs import add_dataset, easy
from tests.support.records.model_maker import add_job, add_model, finish, mixed_tree
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

LIMITS = {
    "LITERATI_MAX_DATASETS": "3",
    "LITERATI_MAX_DATASET_BYTES": "20000",
    "LITERATI_MAX_ALIASES": "2",
    "LITERATI_MAX_MODELS": "4",
    "LITERATI_MAX_JOBS": "3",
    "LITERATI_MAX_QUEUE": "2",
    "LITERATI_DEFAULT_TIME_LIMIT": "20",
    "LITERATI_MAX_MEMORY_LIMIT": "1000000",
}


@pytest.fixture(scope="module")
def tight_stack(tmp_path_factory: pytest.TempPathFactory, api_stack: Stack) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("tight"), server=api_stack.server, **LIMITS) as stack:
        yield stack


@pytest.fixture
def tight(tight_stack: Stack, api: Stack) -> Stack:
    return tight_stack


@pytest.fixture
def client(tight: Stack) -> Iterator[httpx.Client]:
    with tight.client() as client:
        yield client


def upload(client: httpx.Client, text: str) -> httpx.Response:
    headers = {"Content-Type": "text/csv"}
    return client.post("/v1/datasets?target=label", content=text, headers=headers)


def told(answer: httpx.Response, status: int, kind: str, setting: str) -> None:
    detail = problem(answer, status, kind)["detail"]
    assert f"LITERATI_{setting}" in detail
    assert f"{int(LIMITS[f'LITERATI_{setting}']):,}" in detail


def table(number: int, rows: int = 4) -> str:
    return "x,label\n" + "".join(f"{number + row},{'ab'[row % 2]}\n" for row in range(rows))


def test_datasets(client: httpx.Client, tight: Stack) -> None:
    made = [upload(client, table(number)).json()["id"] for number in range(3)]
    told(upload(client, table(9)), 409, "limit-reached", "MAX_DATASETS")
    assert upload(client, table(1)).json()["id"] == made[1]  # it is there already
    assert client.delete(f"/v1/datasets/{made[0]}").status_code == 204
    assert upload(client, table(9)).status_code == 201
    assert not list(tight.blobs.incoming.iterdir())


def test_bytes_of_datasets(client: httpx.Client, tight: Stack) -> None:
    large = upload(client, table(0, rows=1000))
    assert large.status_code == 201
    before = len(list(tight.blobs.folder.glob("??/*")))
    told(upload(client, table(7, rows=1000)), 409, "limit-reached", "MAX_DATASET_BYTES")
    assert len(list(tight.blobs.folder.glob("??/*"))) == before
    client.delete(large.headers["location"])
    assert upload(client, table(7, rows=1000)).status_code == 201


def test_jobs(client: httpx.Client, tight: Stack) -> None:
    dataset = add_dataset(tight.store, tight.blobs, easy())
    jobs = []
    for _ in range(3):
        jobs.append(submit(client, dataset)["id"])
        client.post(f"/v1/jobs/{jobs[-1]}/cancel")
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id})
    told(answer, 409, "limit-reached", "MAX_JOBS")
    client.delete(f"/v1/jobs/{jobs[0]}")
    submit(client, dataset)


def test_the_queue(client: httpx.Client, tight: Stack) -> None:
    dataset = add_dataset(tight.store, tight.blobs, easy())
    job = submit(client, dataset)["id"]
    submit(client, dataset)
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id})
    told(answer, 503, "queue-full", "MAX_QUEUE")
    assert int(answer.headers["retry-after"]) > 0
    client.post(f"/v1/jobs/{job}/cancel")
    submit(client, dataset)


def test_models(client: httpx.Client, tight: Stack) -> None:
    """Models that live jobs may make count, so that a finished job can always store its model."""
    dataset = add_dataset(tight.store, tight.blobs, easy())
    for _ in range(3):
        finish(tight, add_job(tight, mixed_tree(), dataset=dataset))
    for job in tight.store.jobs.list("default").items:
        tight.store.jobs.delete("default", job.spec.id)
    submit(client, dataset)
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id})
    told(answer, 409, "limit-reached", "MAX_MODELS")


def test_models_of_a_jobs_trees(client: httpx.Client, tight: Stack) -> None:
    dataset = add_dataset(tight.store, tight.blobs, easy())
    job = add_job(tight, mixed_tree(), dataset=dataset).spec.id  # which counts, too
    ended = [finish(tight, add_job(tight, mixed_tree(), dataset=dataset)) for _ in range(3)]
    answer = client.post(f"/v1/jobs/{job}/models", json={"revision": 1})
    told(answer, 409, "limit-reached", "MAX_MODELS")
    client.delete(f"/v1/models/{ended[0]}")
    assert client.post(f"/v1/jobs/{job}/models", json={"revision": 1}).status_code == 201


def test_aliases(client: httpx.Client, tight: Stack) -> None:
    body = {"model_id": add_model(tight, mixed_tree())}
    for name in ("one", "two", "one"):
        assert client.put(f"/v1/models/aliases/{name}", json=body).is_success
    told(client.put("/v1/models/aliases/three", json=body), 409, "limit-reached", "MAX_ALIASES")
    client.delete("/v1/models/aliases/one")
    assert client.put("/v1/models/aliases/three", json=body).status_code == 201


class TestLimitsOfAJob:
    def test_default_limits_of_jobs(self, client: httpx.Client, tight: Stack) -> None:
        dataset = add_dataset(tight.store, tight.blobs, easy())
        limits = self.limits(client, dataset)
        assert limits["time_limit"] == 20.0
        assert limits["memory_limit"] == 1_000_000
        assert self.limits(client, dataset, time_limit=None)["time_limit"] is None
        assert self.limits(client, dataset, memory_limit=900_000)["memory_limit"] == 900_000

    def test_maximum_limits_of_jobs(self, client: httpx.Client, tight: Stack) -> None:
        dataset = add_dataset(tight.store, tight.blobs, easy())
        for value in (None, 1_000_001):
            body = {"dataset_id": dataset.id, "limits": {"memory_limit": value}}
            (error,) = problem(client.post("/v1/jobs", json=body), 422)["errors"]
            assert error["pointer"] == "/body/limits/memory_limit"
            assert "LITERATI_MAX_MEMORY_LIMIT" in error["message"]

    def limits(self, client: httpx.Client, dataset: Dataset, **given: object) -> dict[str, object]:
        body = {"dataset_id": dataset.id, "limits": given} if given else {"dataset_id": dataset.id}
        found: dict[str, object] = client.post("/v1/jobs?validate_only=true", json=body).json()["limits"]
        return found
