"""PATCH of a sweep: a merge patch of its name, notes, tags and priority."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.service.sweeps.test_submission import start
from tests.support.http.service_client import pointers, problem
from tests.support.records import sweep_results as acting
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}


def patch(client: httpx.Client, sweep: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    return client.patch(sweep, json=body, headers={**MERGE_PATCH, **headers})


@pytest.fixture
def sweep(client: httpx.Client, dataset: Dataset) -> str:
    space = {"max_depth": [2, 3], "max_changepoints": [1]}
    wanted: dict[str, Any] = {"name": "first", "tags": {"a": "1", "b": "2"}, "priority": 3, "space": space}
    made = start(client, dataset, **wanted, validation={"folds": 2}, select="BEST")
    return str(made["links"]["self"])


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
        ({}, {}),
    ],
)
def test_what_is_named_changes_and_the_rest_stays(
    client: httpx.Client, sweep: str, body: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = client.get(sweep).json()
    answer = patch(client, sweep, body)
    assert answer.status_code == 200, answer.text
    now = answer.json()
    assert now == {**before, **expected, "revision": before["revision"] + bool(body)}
    assert answer.headers["etag"] == f'W/"{now["revision"]}"'
    assert client.get(sweep).json() == now
    (item,) = client.get("/v1/sweeps").json()["items"]
    assert item == {name: now[name] for name in item}
    assert {"name", "notes", "tags", "priority"} <= set(item)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"state": "FAILED"}, "/body/state"),
        ({"space": {"max_depth": [2]}}, "/body/space"),
        ({"limits": {"time_limit": 5}}, "/body/limits"),
        ({"name": " "}, "/body/name"),
        ({"notes": 4001 * "x"}, "/body/notes"),
        ({"tags": {"a": 7}}, "/body/tags/a"),
        ({"tags": {str(k): "x" for k in range(31)}}, "/body/tags"),
        ({"priority": 101}, "/body/priority"),
    ],
)
def test_what_cannot_be_is_refused_by_place(
    client: httpx.Client, sweep: str, body: dict[str, Any], place: str
) -> None:
    before = client.get(sweep).json()
    assert pointers(patch(client, sweep, body)) == [place]
    assert client.get(sweep).json() == before


def test_media_types(client: httpx.Client, sweep: str) -> None:
    assert client.patch(sweep, json={"name": "x"}).json()["name"] == "x"
    problem(client.patch(sweep, content="{}", headers={"Content-Type": "text/csv"}), 415)


def test_if_match_guards_a_change(client: httpx.Client, sweep: str) -> None:
    tag = client.get(sweep).headers["etag"]
    assert patch(client, sweep, {"name": "one"}, **{"If-Match": tag}).status_code == 200
    problem(patch(client, sweep, {"name": "two"}, **{"If-Match": tag}), 412, "precondition-failed")
    assert patch(client, sweep, {"name": "three"}, **{"If-Match": "*"}).json()["name"] == "three"
    problem(patch(client, "/v1/sweeps/swp_" + 32 * "0", {"name": "x"}), 404)


def test_the_model_has_the_new_name_and_tags(api: Stack, client: httpx.Client, sweep: str) -> None:
    acting.run_scores(api.store, [0.5, 0.5])
    patch(client, sweep, {"name": "new", "tags": {"a": None}, "notes": "of the sweep"})
    acting.run_scores(api.store, [0.5, 0.5])
    acting.end_with_tree(api.store, acting.claim(api.store))
    ended = client.get(sweep).json()
    assert (ended["state"], ended["name"], ended["notes"]) == ("SUCCEEDED", "new", "of the sweep")
    model = client.get(ended["links"]["model"]).json()
    assert (model["name"], model["tags"], model["notes"]) == ("new", {"b": "2"}, None)
    late = patch(client, sweep, {"name": "newer", "priority": 9})
    assert (late.json()["name"], late.json()["state"]) == ("newer", "SUCCEEDED")
    client.delete(sweep)
    problem(patch(client, sweep, {"name": "x"}), 404)


def test_jobs_show_the_priority_of_their_sweep(api: Stack, client: httpx.Client, sweep: str) -> None:
    running = acting.claim(api.store)
    before = client.get(f"/v1/jobs/{running.spec.id}").json()
    assert before["priority"] == 3
    patch(client, sweep, {"priority": 8})
    listed = client.get("/v1/jobs", params={"sweep_id": sweep.rpartition("/")[2]}).json()["items"]
    assert [item["priority"] for item in listed] == 4 * [8]
    now = client.get(f"/v1/jobs/{running.spec.id}").json()
    assert now == {**before, "priority": 8, "revision": before["revision"] + 1}
