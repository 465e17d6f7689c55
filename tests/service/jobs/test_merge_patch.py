"""PATCH of a job: a merge patch of its name, notes, tags, priority and limits."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.support.http.service_client import NOWHERE, pointers, problem, submit
from tests.support.stack.acting_worker import ActingWorker
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


def patch(client: httpx.Client, job_id: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    return client.patch(f"/v1/jobs/{job_id}", json=body, headers={**MERGE_PATCH, **headers})


@pytest.fixture
def job(client: httpx.Client, dataset: Dataset) -> str:
    wanted = {"name": "first", "tags": {"a": "1", "b": "2"}, "priority": 3}
    return str(submit(client, dataset, **wanted, limits={"time_limit": 60, "patience": 5})["id"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"name": "second"}, {"name": "second"}),
        ({"name": None}, {"name": None}),
        ({"notes": "two\nlines"}, {"notes": "two\nlines"}),
        ({"tags": {"c": "3"}}, {"tags": {"a": "1", "b": "2", "c": "3"}}),
        ({"tags": {"a": None, "b": "x"}}, {"tags": {"b": "x"}}),
        ({"tags": None}, {"tags": {}}),
        ({"priority": -7}, {"priority": -7}),
        ({"priority": None}, {"priority": 0}),
        ({"limits": {"time_limit": 3600}}, {"time_limit": 3600.0, "patience": 5.0}),
        ({"limits": {"patience": None, "gap": 0.1}}, {"time_limit": 60.0, "patience": None, "gap": 0.1}),
        ({"limits": {"time_limit": None, "gap": None}}, {"time_limit": None, "gap": 0.0}),
        ({}, {}),
    ],
)
def test_what_is_named_changes_and_the_rest_stays(
    client: httpx.Client, job: str, body: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = client.get(f"/v1/jobs/{job}").json()
    answer = patch(client, job, body)
    assert answer.status_code == 200, answer.text
    now = answer.json()
    limits = {name: value for name, value in expected.items() if name in before["limits"]}
    other = {name: value for name, value in expected.items() if name not in limits}
    assert now == {
        **before,
        **other,
        "limits": {**before["limits"], **limits},
        "revision": before["revision"] + bool(body),
    }
    assert answer.headers["etag"] == f'W/"{now["revision"]}"'
    assert client.get(f"/v1/jobs/{job}").json() == now


def test_plain_json_is_read_too(client: httpx.Client, job: str) -> None:
    assert client.patch(f"/v1/jobs/{job}", json={"name": "x"}).json()["name"] == "x"
    problem(client.patch(f"/v1/jobs/{job}", content="{}", headers={"Content-Type": "text/csv"}), 415)
    problem(client.patch(f"/v1/jobs/{job}", content="{", headers=MERGE_PATCH), 400)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"state": "FAILED"}, "/body/state"),
        ({"parameters": {"max_depth": 2}}, "/body/parameters"),
        ({"name": 7}, "/body/name"),
        ({"name": "a\nb"}, "/body/name"),
        ({"name": ""}, "/body/name"),
        ({"name": "  "}, "/body/name"),
        ({"name": "a" * 201}, "/body/name"),
        ({"notes": "\0"}, "/body/notes"),
        ({"notes": 4001 * "x"}, "/body/notes"),
        ({"tags": {"a": 7}}, "/body/tags/a"),
        ({"tags": {str(k): "x" for k in range(31)}}, "/body/tags"),
        ({"priority": 101}, "/body/priority"),
        ({"limits": None}, "/body/limits"),
        ({"limits": {"time_limit": 0}}, "/body/limits/time_limit"),
        ({"limits": {"memory": 1}}, "/body/limits/memory"),
    ],
)
def test_what_cannot_be_is_refused_by_place(
    client: httpx.Client, job: str, body: dict[str, Any], place: str
) -> None:
    before = client.get(f"/v1/jobs/{job}").json()
    assert place in pointers(patch(client, job, body))
    assert client.get(f"/v1/jobs/{job}").json() == before


def test_no_limits_at_all_are_not_what_null_means(client: httpx.Client, job: str) -> None:
    told = problem(patch(client, job, {"name": "x", "limits": None}), 422)
    assert '{"time_limit": null} removes that limit; leave out `limits`' in told["detail"]


def test_the_servers_maximum_holds(narrow: Stack, dataset: Dataset) -> None:
    with narrow.client() as client:
        job = submit(client, dataset, limits={"time_limit": 50, "memory_limit": 10**6})["id"]
        for limits in ({"time_limit": 101}, {"time_limit": None}):
            assert pointers(patch(client, job, {"limits": limits})) == ["/body/limits/time_limit"]
        assert patch(client, job, {"limits": {"time_limit": 100}}).status_code == 200


def test_a_job_that_has_ended_keeps_its_limits(api: Stack, client: httpx.Client, job: str) -> None:
    worker = ActingWorker(api.store)
    worker.checkpoint(1, 0)
    worker.prove()
    told = problem(patch(client, job, {"limits": {"time_limit": 600}}), 409, "wrong-state")
    assert "SUCCEEDED" in told["detail"]
    changed = patch(client, job, {"name": "kept", "tags": {"a": None}, "priority": 1}).json()
    assert (changed["name"], changed["tags"], changed["priority"]) == ("kept", {"b": "2"}, 1)
    assert patch(client, job, {"notes": "why"}).json()["notes"] == "why"
    (item,) = client.get("/v1/jobs").json()["items"]
    assert (item["name"], item["notes"], item["tags"]) == ("kept", "why", {"b": "2"})
    assert patch(client, job, {"notes": None}).json() == {**changed, "revision": changed["revision"] + 2}


def test_if_match_guards_a_change(client: httpx.Client, job: str) -> None:
    tag = client.get(f"/v1/jobs/{job}").headers["etag"]
    first = patch(client, job, {"name": "one"}, **{"If-Match": f'"other", {tag}'})
    assert first.status_code == 200
    problem(patch(client, job, {"name": "two"}, **{"If-Match": tag}), 412, "precondition-failed")
    assert patch(client, job, {"name": "three"}, **{"If-Match": "*"}).json()["name"] == "three"
    problem(patch(client, NOWHERE, {"name": "x"}, **{"If-Match": "*"}), 404)


def test_a_key_remembers_its_job_after_a_change(client: httpx.Client, dataset: Dataset) -> None:
    body = {"dataset_id": dataset.id, "name": "as sent", "limits": {"time_limit": 5}}
    headers = {"Idempotency-Key": "k1"}
    first = client.post("/v1/jobs", json=body, headers=headers).json()
    patch(client, first["id"], {"name": "changed", "limits": {"time_limit": 500}})
    again = client.post("/v1/jobs", json=body, headers=headers)
    assert again.status_code == 202
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.json()["id"], again.json()["name"]) == (first["id"], "changed")
    other = {**body, "name": "changed"}
    assert pointers(client.post("/v1/jobs", json=other, headers=headers)) == ["/header/Idempotency-Key"]


def test_those_who_wait_are_told(api: Stack, client: httpx.Client, job: str) -> None:
    tag = client.get(f"/v1/jobs/{job}").headers["etag"]
    patch(client, job, {"name": "news"})
    answer = client.get(f"/v1/jobs/{job}", headers={"If-None-Match": tag, "Prefer": "wait=5"})
    assert answer.json()["name"] == "news"


def test_a_memory_limit_that_no_search_fits_in_is_refused(client: httpx.Client, dataset: Dataset) -> None:
    job = submit(client, dataset)
    answer = client.patch(f"/v1/jobs/{job['id']}", json={"limits": {"memory_limit": 1}})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/body/limits/memory_limit"
    fix = answer.json()["fixes"][0]
    assert client.patch(f"/v1/jobs/{job['id']}", json=fix["options"]).status_code == 200
