"""Lists over HTTP: summaries, conditions, and the whole resource behind each item."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.service.sweeps.test_submission import start
from tests.support.http.service_client import pointers, problem, submit
from tests.support.records import jobs
from tests.support.stack.acting_worker import ActingWorker, costs, trees
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.progress import NewIncumbent

WIDE = 1000  # classes
REFUSED: list[dict[str, Any]] = [
    {"name": "a\nb"},
    {"name": ""},
    {"name": " "},
    {"notes": "\0"},
    {"notes": 4001 * "x"},
    {"rows": 1},
]


def big_metrics() -> dict[str, Any]:
    rows = {"confusion_matrix": {"labels": list(range(WIDE)), "counts": [[1] * 100] * WIDE}}
    return {"train_accuracy": 0.5, "validation_accuracy": None, "train": rows}


def test_a_job_with_many_classes_is_small_in_a_list(
    api: Stack, client: httpx.Client, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = {"fraction": 0.25, "seed": 7}
    job = submit(client, dataset, name="wide", parameters={"max_depth": 2}, validation=held_out)
    worker = ActingWorker(api.store)
    said = worker._word(10, 0)
    found = NewIncumbent(objective=costs()[0], tree=trees()[0], metrics=big_metrics())
    api.store.jobs.publish_progress(job["id"], worker.epoch, said.model_copy(update={"incumbent": found}))
    whole = client.get(f"/v1/jobs/{job['id']}")
    assert len(whole.content) > 100_000
    listed = client.get("/v1/jobs")
    assert len(listed.content) < 3000
    (item,) = listed.json()["items"]
    leaves = sum(node["split"] is None for node in trees()[0]["nodes"])
    told = {name: value for name, value in item["metrics"].items() if value is not None}
    assert told == {"train_accuracy": 0.5, "leaves": leaves, "changepoints": told["changepoints"]}
    same = set(item) - {"metrics"}
    assert {name: item[name] for name in same} == {name: whole.json()[name] for name in same}
    assert set(whole.json()) - set(item) == {
        *("limits", "dataset_sha256", "engine_version", "heartbeat_at", "transitions", "threads"),
    }
    assert (item["parameters"]["max_depth"], item["validation"]["seed"]) == (2, 7)
    worker.prove()
    (model,) = client.get("/v1/models").json()["items"]
    complete = client.get(f"/v1/models/{model['id']}").json()
    assert set(complete) - set(model) == {"tree"}
    assert model["parameters"] == item["parameters"]
    assert model["metrics"] == item["metrics"]
    assert {**complete, "metrics": None, "tree": None} == {**model, "metrics": None, "tree": None}


def test_a_long_error_is_cut_short(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job = submit(client, dataset)["id"]
    ActingWorker(api.store)
    api.store.jobs.control("default", job, "cancel")
    api.connection.hset(f"literati:job:{job}", "error", '{"code": "DATA", "message": "%s"}' % ("x" * 9999))
    (item,) = client.get("/v1/jobs").json()["items"]
    assert len(item["error"]["message"]) < 400
    assert len(client.get(f"/v1/jobs/{job}").json()["error"]["message"]) == 9999


def test_conditions(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    other = jobs.add_dataset(api.store, api.blobs, jobs.easy(seed=3))
    for number in range(6):
        tags = {"parity": str(number % 2), "number": str(number)}
        submit(client, (dataset, other)[number % 2], name=f"job {number // 2}", tags=tags)

    def found(**query: Any) -> list[str]:
        items: list[str] = []
        while True:
            page = client.get("/v1/jobs", params=query).json()
            items += [item["tags"]["number"] for item in page["items"]]
            if page["next_page_token"] is None:
                return items
            query["page_token"] = page["next_page_token"]

    assert found(dataset_id=dataset.id) == ["4", "2", "0"]
    assert found(name="job 1") == ["3", "2"]
    assert found(name="job") == []
    assert found(tag="parity:1", page_size=1) == ["5", "3", "1"]
    assert found(tag=["parity:1", "number"], name="job 0") == ["1"]
    assert found(tag="number", state="QUEUED", dataset_id=other.id) == ["5", "3", "1"]
    assert found(tag="number", state="FAILED") == []
    assert found(dataset_id="ds_" + 32 * "0") == []


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({"dataset_id": "x"}, "/query/dataset_id"),
        ({"name": "n" * 201}, "/query/name"),
        ({"tag": ""}, "/query/tag/0"),
        ({"tags": "a"}, "/query/tags"),
        ({"tag": ["t"] * 33}, "/query/tag"),
    ],
)
def test_conditions_that_cannot_be(client: httpx.Client, query: dict[str, Any], place: str) -> None:
    assert pointers(client.get("/v1/jobs", params=query)) == [place]


def test_models_and_sweeps_of_a_dataset(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    other = jobs.add_dataset(api.store, api.blobs, jobs.easy(seed=3))
    made: dict[str, list[str]] = {dataset.id: [], other.id: []}
    for each in (dataset, other, dataset, dataset):
        submit(client, each)
        worker = ActingWorker(api.store)
        worker.checkpoint(10, tree=0)
        worker.prove()
        newest = client.get("/v1/models").json()["items"][0]
        assert newest["target"] == client.get(f"/v1/models/{newest['id']}").json()["target"] == each.target
        made[each.id].insert(0, newest["id"])
    started = {each.id: [start(client, each)["id"]] for each in (dataset, other)}
    for path, expected in (("/v1/models", made), ("/v1/sweeps", started)):
        for each in (dataset, other):
            found: list[str] = []
            query: dict[str, Any] = {"dataset_id": each.id, "page_size": 2}
            while "page_token" not in query or query["page_token"]:
                page = client.get(path, params=query).json()
                found += [item["id"] for item in page["items"]]
                query["page_token"] = page["next_page_token"]
            assert found == expected[each.id]
        assert client.get(path, params={"dataset_id": "ds_" + 32 * "0"}).json()["items"] == []
        assert pointers(client.get(path, params={"dataset_id": "x"})) == ["/query/dataset_id"]
    query = {"dataset_id": dataset.id, "state": "SUCCEEDED"}
    assert client.get("/v1/sweeps", params=query).json()["items"] == []


def test_datasets_and_models_are_renamed_and_noted(
    api: Stack, client: httpx.Client, dataset: Dataset
) -> None:
    submit(client, dataset, name="job's name")
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.prove()
    (model,) = client.get("/v1/models").json()["items"]
    assert (model["name"], model["notes"]) == ("job's name", None)
    client.put("/v1/models/aliases/best", json={"model_id": model["id"]})
    for here, key in ((f"/v1/datasets/{dataset.id}", "datasets"), (f"/v1/models/{model['id']}", "models")):
        before = client.get(here).json()
        first = client.patch(here, json={"name": "Näme \U0001f333", "notes": "two\nlines"})
        assert first.status_code == 200, first.text
        now = client.get(here).json()
        assert now == {**before, "name": "Näme \U0001f333", "notes": "two\nlines"}
        assert {**first.json(), "tree": now.get("tree")} == {**now, "tree": now.get("tree")}
        (item,) = client.get(f"/v1/{key}").json()["items"]
        assert (item["name"], item["notes"]) == (now["name"], now["notes"])
        assert client.patch(here, json={"notes": None}).json()["notes"] is None
        assert client.get(here).json()["name"] == "Näme \U0001f333"
        assert client.patch(here, json={"name": None}).json()["name"] is None
        assert client.get(here).json() == {**before, "name": None}
        assert client.patch(here, json={}).status_code == 200
        for body in REFUSED:
            assert pointers(client.patch(here, json=body)) == [f"/body/{next(iter(body))}"]
        problem(client.patch(here[:-1] + ("0" if here[-1] != "0" else "1"), json={"name": "x"}), 404)
    assert client.patch("/v1/models/best", json={"notes": "by alias"}).json()["id"] == model["id"]


def test_a_model_starts_with_the_tags_of_its_job(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job = submit(client, dataset, tags={"team": "a", "for": "us"})["id"]
    client.patch(f"/v1/jobs/{job}", json={"tags": {"for": None, "né": "ja"}})
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.prove()
    (model,) = client.get("/v1/models").json()["items"]
    assert model["tags"] == {"team": "a", "né": "ja"}
    here = f"/v1/models/{model['id']}"
    before = client.get(here).json()
    changed = client.patch(here, json={"tags": {"team": "b", "né": None, "new": ""}, "notes": "x"})
    assert changed.status_code == 200, changed.text
    assert changed.json()["tags"] == {"team": "b", "new": ""}
    assert client.get(here).json() == {**before, "tags": {"team": "b", "new": ""}, "notes": "x"}
    assert client.get("/v1/models").json()["items"] == [
        {**model, "tags": {"team": "b", "new": ""}, "notes": "x"}
    ]
    assert client.get(f"/v1/jobs/{job}").json()["tags"] == {"team": "a", "né": "ja"}
    assert client.patch(here, json={"name": "y"}).json()["tags"] == {"team": "b", "new": ""}
    assert client.patch(here, json={"tags": None}).json()["tags"] == {}
    assert client.get(here).json()["tags"] == {}
    client.patch(f"/v1/jobs/{job}", json={"tags": {"late": "1"}})
    assert client.get(here).json()["tags"] == {}
    full = {str(number): "" for number in range(32)}
    assert client.patch(here, json={"tags": full}).json()["tags"] == full
    assert pointers(client.patch(here, json={"name": "z", "tags": {"33": ""}})) == ["/body/tags"]
    assert pointers(client.patch(here, json={"tags": {"a": 1}})) == ["/body/tags/a"]
    assert pointers(client.patch(here, json={"priority": 1})) == ["/body/priority"]
    assert client.get(here).json()["name"] == "y"


@pytest.mark.parametrize("change", [{"notes": "new"}, {"tags": {"new": ""}}])
def test_a_models_tag_changes_with_its_labels(
    api: Stack, client: httpx.Client, dataset: Dataset, change: dict[str, Any]
) -> None:
    submit(client, dataset)
    worker = ActingWorker(api.store)
    worker.checkpoint(10, tree=0)
    worker.prove()
    (model,) = client.get("/v1/models").json()["items"]
    here = f"/v1/models/{model['id']}"
    headers = {"If-None-Match": client.get(here).headers["etag"]}
    assert client.get(here, headers=headers).status_code == 304
    client.patch(here, json=change)
    (name,) = change
    assert client.get(here, headers=headers).json()[name] == change[name]


@pytest.mark.parametrize("name", ["", " ", "a\nb"])
def test_a_table_has_a_name_or_none(client: httpx.Client, name: str) -> None:
    query = {"target": "label", "name": name}
    body, headers = "x,label\n1,a\n2,b\n", {"Content-Type": "text/csv"}
    answer = client.post("/v1/datasets", params=query, content=body, headers=headers)
    assert pointers(answer) == ["/query/name"]


def test_the_same_table_keeps_its_new_name(client: httpx.Client) -> None:
    def upload() -> dict[str, Any]:
        headers = {"Content-Type": "text/csv"}
        body: dict[str, Any] = client.post(
            "/v1/datasets?target=label", content="x,label\n1,a\n2,b\n3,a\n", headers=headers
        ).json()
        return body

    first = upload()
    client.patch(f"/v1/datasets/{first['id']}", json={"name": "mine"})
    again = upload()
    assert (again["id"], again["name"]) == (first["id"], "mine")
