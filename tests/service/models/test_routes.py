"""Models over HTTP: list, look, draw, read, delete."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import httpx
import pytest

from literati import ShapeTree
from tests.support.http.service_client import pointers, problem
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import add_job, add_model, finish, mixed_tree
from tests.support.stack.stack import Stack

NO_MODEL = "mdl_" + 32 * "f"
FIELDS = {
    *("id", "name", "notes", "job_id", "incumbent_revision", "dataset_id", "dataset_sha256", "parameters"),
    *("objective", "upper_bound", "lower_bound", "gap_absolute", "gap_relative", "proven_optimal"),
    *("beyond_space", "proven_space", "stop_reason", "metrics", "engine_version", "created_at", "links"),
    *("explored", "space", "tags", "target"),
}


@pytest.fixture
def model(api: Stack) -> str:
    return add_model(api, mixed_tree())


def test_a_model_says_what_it_is(api: Stack, client: httpx.Client) -> None:
    tree = mixed_tree()
    job = add_job(api, tree)
    model = finish(api, job)
    answer = client.get(f"/v1/models/{model}")
    assert answer.status_code == 200
    found = answer.json()
    assert set(found) == {*FIELDS, "tree"}
    assert (found["id"], found["job_id"], found["incumbent_revision"]) == (model, job.spec.id, 1)
    assert (found["name"], found["stop_reason"]) == ("made", "TIME_LIMIT")
    assert found["objective"] == tree.objective
    assert found["gap_absolute"] == found["upper_bound"] - found["lower_bound"]
    assert found["metrics"] == {"train_accuracy": 0.9}
    assert ShapeTree.from_dict(found["tree"]).nodes[1:] == tree.nodes[1:]
    for link in ("self", "tree_svg", "rules", "job"):
        assert client.get(found["links"][link]).status_code == 200
    body = {"records": [{"size": 1, "age": 1, "colour": "red", "member": True, "zone": 1}]}
    assert client.post(found["links"]["predict"], json=body).status_code == 200


def test_models_are_listed_in_pages(api: Stack, client: httpx.Client) -> None:
    assert client.get("/v1/models").json() == {"items": [], "next_page_token": None}
    models = [add_model(api, mixed_tree()) for _ in range(5)]
    seen, token = [], None
    while True:
        query = {"page_size": 2} if token is None else {"page_size": 2, "page_token": token}
        page = client.get("/v1/models", params=query).json()
        assert all(set(item) == FIELDS for item in page["items"])
        seen += [item["id"] for item in page["items"]]
        token = page["next_page_token"]
        if token is None:
            break
    assert seen == models[::-1]
    assert pointers(client.get("/v1/models", params={"page_token": "x"})) == ["/query/page_token"]
    assert pointers(client.get("/v1/models", params={"page_size": 0})) == ["/query/page_size"]


def test_the_picture(client: httpx.Client, model: str) -> None:
    tags = set()
    for theme in ("auto", "light", "dark"):
        answer = client.get(f"/v1/models/{model}/tree.svg", params={"theme": theme})
        assert answer.headers["content-type"] == "image/svg+xml"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert ElementTree.fromstring(answer.text).tag.endswith("svg")
        tags.add(answer.headers["etag"])
    assert len(tags) == 3
    plain = client.get(f"/v1/models/{model}/tree.svg")
    assert plain.text == client.get(f"/v1/models/{model}/tree.svg", params={"theme": "auto"}).text
    assert pointers(client.get(f"/v1/models/{model}/tree.svg", params={"theme": "pink"})) == ["/query/theme"]


def test_the_rules(api: Stack, client: httpx.Client, model: str) -> None:
    answer = client.get(f"/v1/models/{model}/rules")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    stored = api.store.models.tree(TENANT, model)
    assert answer.text == ShapeTree.from_dict(stored).to_text()
    assert "night, sky" in answer.text


@pytest.mark.parametrize("view", ["", "/tree.svg", "/rules", "/export?format=python"])
def test_what_never_changes_is_sent_once(api: Stack, client: httpx.Client, model: str, view: str) -> None:
    api.store.models.set_alias(TENANT, "live", model)
    tag = client.get(f"/v1/models/{model}{view}").headers["etag"]
    for name in (model, "live"):
        again = client.get(f"/v1/models/{name}{view}", headers={"If-None-Match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other = add_model(api, mixed_tree())
    api.store.models.set_alias(TENANT, "live", other)
    moved = client.get(f"/v1/models/live{view}", headers={"If-None-Match": tag})
    assert moved.status_code == 200
    api.store.models.delete(TENANT, model)
    gone = client.get(f"/v1/models/{model}{view}", headers={"If-None-Match": tag})
    problem(gone, 404, "not-found")


@pytest.mark.parametrize("name", [NO_MODEL, "production", "NO", "x" * 100, "mdl_1"])
def test_models_that_are_not_there(client: httpx.Client, api: Stack, name: str) -> None:
    for view in ("", "/tree.svg", "/rules", "/export?format=python"):
        problem(client.get(f"/v1/models/{name}{view}"), 404, "not-found")
    problem(client.delete(f"/v1/models/{name}"), 404, "not-found")


def test_a_model_is_deleted_and_its_job_stays(api: Stack, client: httpx.Client) -> None:
    job = add_job(api, mixed_tree())
    model = finish(api, job)
    assert client.delete(f"/v1/models/{model}").status_code == 204
    problem(client.get(f"/v1/models/{model}"), 404)
    problem(client.delete(f"/v1/models/{model}"), 404)
    assert client.get("/v1/models").json()["items"] == []
    assert client.get(f"/v1/jobs/{job.spec.id}").status_code == 200


def test_a_model_outlives_its_job(api: Stack, client: httpx.Client) -> None:
    job = add_job(api, mixed_tree())
    model = finish(api, job)
    assert client.delete(f"/v1/jobs/{job.spec.id}").status_code == 204
    assert client.get(f"/v1/models/{model}").json()["job_id"] == job.spec.id


def test_a_model_that_an_alias_names_is_not_deleted(api: Stack, client: httpx.Client, model: str) -> None:
    client.put("/v1/models/aliases/production", json={"model_id": model})
    problem(client.delete(f"/v1/models/{model}"), 409, "model-in-use")
    problem(client.delete("/v1/models/production"), 404)
    assert client.delete("/v1/models/aliases/production").status_code == 204
    assert client.delete(f"/v1/models/{model}").status_code == 204


# Aliases


def test_an_alias_names_a_model_and_is_moved(api: Stack, client: httpx.Client, model: str) -> None:
    made = client.put("/v1/models/aliases/production", json={"model_id": model})
    assert made.status_code == 201
    assert made.headers["location"] == "/v1/models/aliases/production"
    assert made.json() == {
        "name": "production",
        "model_id": model,
        "links": {"self": "/v1/models/aliases/production", "model": "/v1/models/production"},
    }
    assert client.get("/v1/models/production").json()["id"] == model
    other = add_model(api, mixed_tree())
    moved = client.put("/v1/models/aliases/production", json={"model_id": other})
    assert moved.status_code == 200
    assert client.get("/v1/models/production").json()["id"] == other
    client.put("/v1/models/aliases/a.b-c_1", json={"model_id": model})
    items = client.get("/v1/models/aliases").json()["items"]
    assert [(item["name"], item["model_id"]) for item in items] == [("a.b-c_1", model), ("production", other)]
    assert client.get("/v1/models/aliases/production").json() == items[1]
    assert client.delete("/v1/models/aliases/production").status_code == 204
    problem(client.get("/v1/models/production"), 404)
    problem(client.get("/v1/models/aliases/production"), 404)
    problem(client.delete("/v1/models/aliases/production"), 404)


@pytest.mark.parametrize("name", ["Upper", "-a", "a b", "x" * 65, "mdl_1", NO_MODEL, "aliases", "ä"])
def test_names_that_cannot_be_aliases(client: httpx.Client, model: str, name: str) -> None:
    answer = client.put(f"/v1/models/aliases/{name}", json={"model_id": model})
    assert pointers(answer) == ["/path/alias"]
    assert answer.json()["errors"][0]["message"].startswith("An alias has up to 64 lower-case letters, ")
    assert client.get("/v1/models/aliases").json() == {"items": []}
    problem(client.get(f"/v1/models/aliases/{name}"), 404)
    problem(client.delete(f"/v1/models/aliases/{name}"), 404)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"model_id": NO_MODEL}, "/body/model_id"),
        ({"model_id": "production"}, "/body/model_id"),
        ({"model_id": 5}, "/body/model_id"),
        ({}, "/body/model_id"),
    ],
)
def test_an_alias_of_nothing(client: httpx.Client, api: Stack, body: object, place: str) -> None:
    assert pointers(client.put("/v1/models/aliases/production", json=body)) == [place]


def test_an_alias_s_body_is_strict(client: httpx.Client, model: str) -> None:
    path = "/v1/models/aliases/production"
    assert pointers(client.put(path, json={"model_id": model, "more": 1})) == ["/body/more"]
    problem(client.put(path, content=b"{", headers={"Content-Type": "application/json"}), 400)
    problem(client.put(path, content=json.dumps({"model_id": model})), 415, "media-type")
