"""Every call gives the same answer before and after a job is archived, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from literati.tree.export.formats import FORMATS
from tests.support.http.service_client import problem, submit
from tests.support.records.jobs import add_dataset, easy
from tests.support.stack.acting_worker import ActingWorker, trees
from tests.support.stack.stack import Stack, poll
from worker.domain.datasets import Dataset

Answers = dict[str, tuple[int, bytes, str | None]]
ROWS = {"records": [{"x": 0.3, "z": 2}, {"x": -1.5, "z": 3}]}
LABELLED: dict[str, Any] = {
    "content": "x,z,label\n0.3,2,in\n-1.5,3,out\n",
    "headers": {"Content-Type": "text/csv"},
}


def answers(client: httpx.Client, job: dict[str, Any]) -> Answers:
    """Return what all calls that read say about a job and its model."""
    here, model = f"/v1/jobs/{job['id']}", f"/v1/models/{job['model_id']}"
    revisions = range(1, job["progress"]["incumbents"] + 2)
    events = client.get(f"{here}/events?page_size=1000").json()["items"]
    paths = [
        *("/v1/jobs", f"/v1/jobs?state=SUCCEEDED&dataset_id={job['dataset_id']}", "/v1/jobs?tag=a&name=n"),
        *(here, f"{here}/trace", f"{here}/scores", f"{here}/incumbent", f"{here}/incumbent/nodes/0/rows"),
        *(f"{here}/incumbent?revision={revision}" for revision in revisions),
        *(f"{here}/incumbent/nodes/0/rows?revision={revision}" for revision in revisions),
        *(f"{here}/events?after={event['id']}" for event in events),
        *("/v1/models", f"/v1/models?dataset_id={job['dataset_id']}", model, f"{model}/tree.svg"),
        *(f"{model}/rules", f"{model}/nodes/0/rows", f"/v2/models/{job['model_id']}"),
        *(f"{model}/export?format={name}" for name in FORMATS),
    ]
    found = {path: client.get(path) for path in paths}
    stream = {"Accept": "text/event-stream"}
    found["stream"] = client.get(f"{here}/events", headers=stream)
    for event in (events[0], events[-1]):
        headers = {**stream, "Last-Event-ID": event["id"]}
        found[f"stream after {event['type']}"] = client.get(f"{here}/events", headers=headers)
    found["tag"] = client.get(here, headers={"If-None-Match": found[here].headers["etag"]})
    for owner in (here, model):
        found[f"{owner}/predict"] = client.post(f"{owner}/predict", json=ROWS)
        found[f"{owner}/score"] = client.post(f"{owner}/score", **LABELLED)
        for part in ("predict", "score"):
            assert found[f"{owner}/{part}"].status_code == 200, found[f"{owner}/{part}"].text
    return {
        path: (answer.status_code, answer.content, answer.headers.get("etag"))
        for path, answer in found.items()
        if answer.headers.get("content-type") != "application/problem+json"
    }


@pytest.fixture
def easy_data(stack: Stack) -> Dataset:
    return add_dataset(stack.store, stack.blobs, easy())


@pytest.fixture
def later(stack: Stack, tmp_path: Path) -> Iterator[httpx.Client]:
    """Provide a client of an API server that has read nothing before, on the store of `stack`."""
    state = str(stack.folder / "state")
    with (
        Stack.with_api(tmp_path, server=stack.server, LITERATI_STATE_DIR=state) as other,
        other.client() as client,
    ):
        yield client


@pytest.mark.stack
def test_nothing_changes_for_clients(stack: Stack, later: httpx.Client, easy_data: Dataset) -> None:
    parameters = {"max_depth": 3, "max_changepoints": 2}
    body = {"parameters": parameters, "name": "n", "tags": {"a": "b"}, "validation": {"fraction": 0.2}}
    with stack.client() as client:
        job_id = submit(client, easy_data, **body)["id"]

        def ended() -> dict[str, Any] | None:
            job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
            return job if job["finished_at"] else None

        job = poll(ended, seconds=120.0, what="the end of the job")
        before = answers(client, job)
    assert sum(status == 200 for status, *_ in before.values()) > 30
    for record in (job_id, job["model_id"]):
        assert stack.store.archiver.archive_record(stack.blobs, record)
    assert not list(stack.connection.scan_iter(f"literati:job:{job_id}:*"))
    after = answers(later, job)
    assert after.keys() == before.keys()
    assert [path for path in before if after[path] != before[path]] == []
    child = submit(later, easy_data, parent_job_id=job_id, parameters={"max_depth": 2})

    def log() -> list[str]:
        events = later.get(f"/v1/jobs/{child['id']}/events").json()["items"]
        return [event["data"]["message"] for event in events if event["type"] == "log"]

    assert "parent's tree" in poll(log, seconds=120.0, what="the first message")[0]


def test_writes_to_an_archived_job(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job_id = submit(client, dataset)["id"]
    worker = ActingWorker(api.store)
    for tree in range(len(trees())):
        worker.checkpoint(1.0, tree=tree)
    worker.prove()
    here = f"/v1/jobs/{job_id}"
    api.store.archiver.archive(api.blobs, 0.0, max_seconds=60.0)
    problem(client.post(f"{here}/cancel"), 409, "wrong-state")
    problem(client.patch(here, json={"limits": {"time_limit": 5}}), 409, "wrong-state")
    assert client.patch(here, json={"name": "new"}).json()["name"] == "new"
    api.store.archiver.archive(api.blobs, 0.0, max_seconds=60.0)
    made = client.post(f"{here}/models", json={"revision": 2})
    assert (made.status_code, made.json()["incumbent_revision"]) == (201, 2)
    assert client.post(f"{here}/models", json={"revision": 2}).status_code == 200
    api.store.archiver.archive(api.blobs, 0.0, max_seconds=60.0)
    before = client.get(here).content
    assert client.delete(here).status_code == 204
    assert "restore" in problem(client.get(here), 404)["detail"]
    assert client.post(f"{here}/restore").status_code == 200
    assert client.get(here).content == before


def test_a_lost_blob_is_told(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job_id = submit(client, dataset)["id"]
    worker = ActingWorker(api.store)
    worker.checkpoint(1.0, tree=0)
    worker.prove()
    model = client.get(f"/v1/jobs/{job_id}").json()["model_id"]
    api.store.archiver.archive(api.blobs, 0.0, max_seconds=60.0)
    for key in (f"literati:job:{job_id}", f"literati:model:{model}"):
        name = api.connection.hget(key, "archive")
        assert isinstance(name, bytes)
        api.blobs.delete(name.hex())
    for path in (
        *(f"/v1/jobs/{job_id}{part}" for part in ("", "/incumbent", "/trace", "/events", "/scores")),
        *(f"/v1/models/{model}", f"/v1/models/{model}/rules"),
    ):
        assert "backup" in problem(client.get(path), 503, "archive-missing")["detail"], path
    assert len(client.get("/v1/jobs").json()["items"]) == len(client.get("/v1/models").json()["items"]) == 1
    assert client.delete(f"/v1/jobs/{job_id}").status_code == 204
