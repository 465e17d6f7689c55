"""Restoring deleted records over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.auth import key_file
from service.auth.key_file import Scope
from tests.support.http.service_client import problem
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import add_job, finish, mixed_tree
from tests.support.stack.stack import Stack

ROW = {"records": [{"size": 0.5, "age": 30, "colour": "red", "member": True, "zone": 1}]}


@pytest.fixture
def job(api: Stack, client: httpx.Client) -> dict[str, Any]:
    """Add an ended job with a model."""
    made = add_job(api, mixed_tree())
    finish(api, made)
    found: dict[str, Any] = client.get(f"/v1/jobs/{made.spec.id}").json()
    return found


def restored(client: httpx.Client, path: str) -> dict[str, Any]:
    answer = client.post(f"{path}/restore")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_job(client: httpx.Client, job: dict[str, Any]) -> None:
    here = job["links"]["self"]
    assert client.delete(here).status_code == 204
    for path in ("", "/incumbent", "/trace", "/events"):
        problem(client.get(f"{here}{path}"), 404, "not-found")
    for verb in ("finish", "cancel", "pause", "resume"):
        problem(client.post(f"{here}/{verb}"), 404, "not-found")
    problem(client.patch(here, json={"name": "x"}), 404, "not-found")
    problem(client.post(f"{here}/predict", json=ROW), 404, "not-found")
    problem(client.delete(here), 404, "not-found")
    assert client.get(job["links"]["model"]).status_code == 200
    assert restored(client, here) == job == client.get(here).json()
    assert restored(client, here) == job
    assert client.get(f"{here}/incumbent").status_code == 200


def test_a_dataset(client: httpx.Client, job: dict[str, Any]) -> None:
    here = job["links"]["dataset"]
    before = client.get(here).json()
    preview = client.get(f"{here}/preview").json()
    assert client.delete(here).status_code == 204
    for path in ("", "/preview"):
        problem(client.get(f"{here}{path}"), 404, "not-found")
    problem(client.delete(here), 404, "not-found")
    problem(client.post("/v1/jobs", json={"dataset_id": before["id"]}), 422)
    assert restored(client, here) == before == client.get(here).json()
    assert client.get(f"{here}/preview").json() == preview, "the table is still there"
    assert client.post("/v1/jobs", json={"dataset_id": before["id"]}).status_code == 202


def test_a_model(client: httpx.Client, job: dict[str, Any]) -> None:
    here = job["links"]["model"]
    before = client.get(here).json()
    client.put("/v1/models/aliases/production", json={"model_id": before["id"]})
    problem(client.delete(here), 409, "model-in-use")
    problem(client.post("/v1/models/production/restore"), 404)
    client.delete("/v1/models/aliases/production")
    assert client.post(f"{here}/predict", json=ROW).status_code == 200
    assert client.delete(here).status_code == 204
    for path in ("", "/tree.svg", "/rules"):
        problem(client.get(f"{here}{path}"), 404, "not-found")
    problem(client.post(f"{here}/predict", json=ROW), 404, "not-found")
    named = client.put("/v1/models/aliases/production", json={"model_id": before["id"]})
    assert problem(named, 422)["errors"][0]["code"] == "NOT_FOUND"
    assert {**restored(client, here), "tree": before["tree"]} == before
    assert client.post(f"{here}/predict", json=ROW).status_code == 200


@pytest.mark.parametrize("name", ["self", "dataset", "model"])
def test_a_404_says_how_to_restore(client: httpx.Client, job: dict[str, Any], name: str) -> None:
    here = job["links"][name]
    before = datetime.now(UTC).replace(microsecond=0)
    assert client.delete(here).status_code == 204
    asked = [client.get(here), client.delete(here)]
    asked += [client.post(f"{here}/predict", json=ROW)] if name != "dataset" else []
    for answer in asked:
        told = problem(answer, 404, "not-found")
        found = re.search(r"deleted at (\S+); `POST (\S+)` restores it until (\S+)\.$", told["detail"])
        assert found is not None, told
        until = datetime.fromisoformat(found[3])
        assert before + timedelta(hours=24) <= until <= datetime.now(UTC) + timedelta(hours=24)
        assert found[2] == f"{here}/restore"
        assert told["deleted"] == {"at": found[1], "restore": found[2], "until": found[3]}
    assert client.post(f"{here}/restore").status_code == 200
    assert client.get(here).status_code == 200


def test_other_tenants_do_not_see_deleted_records(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key, _ = key_file.add(path, "other", "other", frozenset({Scope.READ, Scope.TRAIN}))
    with Stack(tmp_path / "stack", LITERATI_API_KEYS_FILE=str(path)) as stack:
        made = add_job(stack, mixed_tree())
        finish(stack, made)
        stack.store.jobs.delete(TENANT, made.spec.id, keep=True)
        stack.start_api()
        with stack.client(headers={"Authorization": f"Bearer {key}"}) as client:
            told = problem(client.get(f"/v1/jobs/{made.spec.id}"), 404, "not-found")
    assert told["detail"] == "There is no such job."
    assert "deleted" not in told


@pytest.mark.parametrize("path", ["/v1/jobs/job_", "/v1/datasets/ds_", "/v1/models/mdl_"])
def test_unknown_records_cannot_be_restored(client: httpx.Client, path: str) -> None:
    problem(client.post(f"{path}{32 * '0'}/restore"), 404, "not-found")
    problem(client.post(f"{path}x/restore"), 404, "not-found")


def test_restoring_respects_quotas(
    tmp_path_factory: pytest.TempPathFactory, api: Stack, job: dict[str, Any]
) -> None:
    other = add_job(api, mixed_tree())
    finish(api, other)
    api.store.jobs.delete(TENANT, other.spec.id, keep=True)
    settings = {"LITERATI_MAX_JOBS": "1"}
    with Stack(tmp_path_factory.mktemp("full"), server=api.server, **settings) as stack:
        stack.start_api()
        with stack.client() as client:
            told = problem(client.post(f"/v1/jobs/{other.spec.id}/restore"), 409, "limit-reached")
            assert "LITERATI_MAX_JOBS" in told["detail"]
            assert client.delete(job["links"]["self"]).status_code == 204
            assert restored(client, f"/v1/jobs/{other.spec.id}")["id"] == other.spec.id


@pytest.fixture(scope="module")
def keeps_nothing(tmp_path_factory: pytest.TempPathFactory, api_stack: Stack) -> Iterator[Stack]:
    settings = {"LITERATI_KEEP_DELETED_HOURS": "0"}
    with Stack(tmp_path_factory.mktemp("nothing"), server=api_stack.server, **settings) as stack:
        stack.start_api()
        yield stack


def test_a_server_without_retention(keeps_nothing: Stack, job: dict[str, Any]) -> None:
    with keeps_nothing.client() as client:
        for name in ("model", "self", "dataset"):
            here = job["links"][name]
            assert client.delete(here).status_code == 204
            problem(client.post(f"{here}/restore"), 404, "not-found")
    assert not keeps_nothing.store.retention.count("deleted", 0)
