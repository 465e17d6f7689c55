"""Start a sweep over HTTP: defaults, validation without a start, idempotency, quotas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.http.service_client import problem
from tests.support.records import jobs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

FIELDS = {
    *("id", "state", "stop_reason", "revision", "name", "tags", "priority", "dataset_id", "metric", "select"),
    *("n_folds", "progress", "choice", "refit_job_id", "model_id", "error", "seconds", "created_at"),
    *("started_at", "finished_at", "links", "space", "constraints", "fixed", "changepoint_ratio", "strategy"),
    *("seed", "validation", "test", "limits", "trial_limits", "refit", "dataset_sha256", "engine_version"),
    *("best", "transitions", "notes"),
}
NIL_ID = "swp_" + 32 * "0"


def start(client: httpx.Client, dataset: Dataset, **fields: Any) -> dict[str, Any]:
    answer = client.post("/v1/sweeps", json={"dataset_id": dataset.id, **fields})
    assert answer.status_code == 202, answer.text
    sweep: dict[str, Any] = answer.json()
    return sweep


def preview(client: httpx.Client, dataset: Dataset, **fields: Any) -> dict[str, Any]:
    answer = client.post("/v1/sweeps?validate_only=true", json={"dataset_id": dataset.id, **fields})
    assert answer.status_code == 200, answer.text
    sweep: dict[str, Any] = answer.json()
    return sweep


def test_a_dataset_alone_is_enough(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    answer = client.post("/v1/sweeps", json={"dataset_id": dataset.id})
    assert answer.status_code == 202
    sweep = answer.json()
    assert set(sweep) == FIELDS
    assert answer.headers["location"] == sweep["links"]["self"] == f"/v1/sweeps/{sweep['id']}"
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["etag"] == f'W/"{sweep["revision"]}"'
    tried = {name: values for name, values in sweep["space"].items() if values is not None}
    assert tried == {"max_depth": [2, 3, 4, 5], "max_changepoints": [1, 2, 3], "split_penalty": "path"}
    assert sweep["validation"] == {"folds": 5, "repeats": 1, "stratified": True, "seed": 0}
    assert sweep["progress"] == {
        "settings": 12,
        "jobs": 60,
        "queued": 60,
        **dict.fromkeys(("done", "running", "failed"), 0),
    }
    assert (sweep["state"], sweep["metric"], sweep["select"]) == ("QUEUED", "accuracy", "ONE_STANDARD_ERROR")
    assert (sweep["refit"], sweep["test"], sweep["changepoint_ratio"]) == (True, None, 0.5)
    assert sweep["limits"] == {
        "max_trials": 200,
        "time_limit": 3600.0,
        "max_failed_trials": 10,
        "patience_trials": None,
    }
    assert sweep["trial_limits"] == {"time_limit": 60.0, "max_expansions": None, "memory_limit": None}
    assert sweep["dataset_sha256"] == dataset.sha256
    assert [step["state"] for step in sweep["transitions"]] == ["QUEUED"]
    assert client.get(sweep["links"]["self"]).json() == sweep
    assert api.connection.llen("literati") == 32, "a worker is woken for each job that is queued"


def test_everything_can_be_said(client: httpx.Client, dataset: Dataset) -> None:
    said = {
        "name": "café",
        "tags": {"team": "a"},
        "priority": 3,
        "constraints": ["changepoint_penalty <= split_penalty", "max_depth < 3"],
        "fixed": {"min_samples_leaf": 5, "class_weight": {"in": 2.0}},
        "strategy": "RANDOM",
        "seed": 7,
        "validation": {"folds": 3, "repeats": 2, "stratified": False, "seed": 4},
        "test": {"fraction": 0.25, "seed": 1},
        "metric": "log_loss",
        "select": "BEST",
        "limits": {"max_trials": 9, "time_limit": None, "max_failed_trials": 2, "patience_trials": 4},
        "trial_limits": {"time_limit": 5.5, "max_expansions": 100, "memory_limit": None},
        "refit": False,
    }
    space = {
        "max_depth": [2, 3],
        "max_changepoints": [1],
        "split_penalty": {"low": 1.0, "high": 64.0, "log": True},
        "changepoint_penalty": [0.0, 2.0],
    }
    sweep = start(client, dataset, **said, space=space)
    assert {name: sweep[name] for name in said} == said
    assert {name: values for name, values in sweep["space"].items() if values is not None} == space
    assert sweep["n_folds"] == 6
    assert (sweep["progress"]["settings"], sweep["progress"]["jobs"]) == (9, 54)
    trials = client.get(sweep["links"]["trials"]).json()["items"]
    assert len({str(trial["parameters"]) for trial in trials}) == 9
    for trial in trials:
        assert trial["parameters"]["max_depth"] == 2
        assert trial["parameters"]["changepoint_penalty"] <= trial["parameters"]["split_penalty"]


def test_validation_starts_nothing(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    sweep = preview(client, dataset, name="only checked")
    assert (sweep["id"], sweep["state"], sweep["name"]) == (NIL_ID, "QUEUED", "only checked")
    assert sweep["progress"]["jobs"] == sweep["progress"]["queued"] == 60
    assert set(sweep) == FIELDS
    assert client.get("/v1/sweeps").json()["items"] == []
    assert api.connection.llen("literati") == 0
    assert client.get(f"/v1/sweeps/{NIL_ID}").status_code == 404


def test_what_is_fixed_is_not_tried(client: httpx.Client, dataset: Dataset) -> None:
    sweep = preview(client, dataset, fixed={"max_depth": 3, "split_penalty": 2.0})
    assert sweep["fixed"] == {"max_depth": 3, "split_penalty": 2.0}
    assert sweep["space"]["max_depth"] is None
    assert sweep["space"]["split_penalty"] is None
    assert sweep["progress"]["settings"] == 3


def test_folds_of_a_column(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    sweep = preview(client, dataset, validation={"column": "z"})
    assert (sweep["validation"], sweep["n_folds"]) == ({"column": "z"}, 5)


class TestIdempotency:
    def send(self, client: httpx.Client, key: str, body: dict[str, Any]) -> httpx.Response:
        return client.post("/v1/sweeps", json=body, headers={"Idempotency-Key": key})

    def test_the_same_key_and_body(self, client: httpx.Client, dataset: Dataset) -> None:
        body = {"dataset_id": dataset.id, "refit": False}
        first, again = (self.send(client, "a", body) for _ in range(2))
        assert first.status_code == again.status_code == 202
        assert again.json()["id"] == first.json()["id"]
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
        written_otherwise = self.send(client, "a", {**body, "seed": 0, "metric": "accuracy"})
        assert written_otherwise.json()["id"] == first.json()["id"]
        assert self.send(client, "b", body).json()["id"] != first.json()["id"]
        assert len(client.get("/v1/sweeps").json()["items"]) == 2

    def test_another_body(self, client: httpx.Client, dataset: Dataset) -> None:
        self.send(client, "a", {"dataset_id": dataset.id})
        others: list[dict[str, Any]] = [{"metric": "log_loss"}, {"fixed": {"max_depth": 5}}]
        for other in others:
            answer = self.send(client, "a", {"dataset_id": dataset.id, **other})
            (error,) = problem(answer, 422)["errors"]
            assert (error["pointer"], error["code"]) == ("/header/Idempotency-Key", "KEY_REUSED")

    def test_the_dataset_may_be_deleted_since(self, client: httpx.Client, dataset: Dataset) -> None:
        body = {"dataset_id": dataset.id}
        first = self.send(client, "a", body).json()
        client.post(f"/v1/sweeps/{first['id']}/cancel")
        assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204
        assert self.send(client, "a", body).json()["id"] == first["id"]

    def test_jobs_have_keys_of_their_own(self, client: httpx.Client, dataset: Dataset) -> None:
        body, headers = {"dataset_id": dataset.id}, {"Idempotency-Key": "a"}
        sweep = self.send(client, "a", body).json()
        job = client.post("/v1/jobs", json=body, headers=headers)
        assert job.status_code == 202
        assert job.json()["id"] != sweep["id"]


LIMITS = {
    "LITERATI_MAX_SWEEPS": "2",
    "LITERATI_MAX_LIVE_JOBS": "2",
    "LITERATI_MAX_MODELS": "4",
    "LITERATI_MAX_TIME_LIMIT": "30",
    "LITERATI_MAX_MEMORY_LIMIT": "100000000",
}


@pytest.fixture(scope="module")
def tight_stack(tmp_path_factory: pytest.TempPathFactory, api_stack: Stack) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("tight"), server=api_stack.server, **LIMITS) as stack:
        yield stack


@pytest.fixture
def tight(tight_stack: Stack, api: Stack) -> Iterator[httpx.Client]:
    with tight_stack.client() as client:
        yield client


@pytest.fixture
def tight_dataset(tight_stack: Stack, api: Stack) -> Dataset:
    return jobs.add_dataset(tight_stack.store, tight_stack.blobs, jobs.easy())


class TestLimitsOfTheServer:
    def test_sweeps(self, tight: httpx.Client, tight_dataset: Dataset) -> None:
        body = {"dataset_id": tight_dataset.id}
        made = []
        for _ in range(2):
            made.append(start(tight, tight_dataset)["id"])
            tight.post(f"/v1/sweeps/{made[-1]}/cancel")
        told = problem(tight.post("/v1/sweeps", json=body), 409, "limit-reached")["detail"]
        assert "LITERATI_MAX_SWEEPS" in told
        assert tight.delete(f"/v1/sweeps/{made[0]}").status_code == 204
        start(tight, tight_dataset)
        told = problem(tight.post(f"/v1/sweeps/{made[0]}/restore"), 409, "limit-reached")["detail"]
        assert "LITERATI_MAX_SWEEPS" in told

    def test_a_sweep_counts_as_one_job(self, tight: httpx.Client, tight_dataset: Dataset) -> None:
        body = {"dataset_id": tight_dataset.id}
        start(tight, tight_dataset)
        assert tight.post("/v1/jobs", json=body).status_code == 202
        for path in ("/v1/jobs", "/v1/sweeps"):
            answer = tight.post(path, json=body)
            assert "LITERATI_MAX_LIVE_JOBS" in problem(answer, 429, "too-many-jobs")["detail"]
            assert int(answer.headers["retry-after"]) > 0

    def test_limits_of_trials(self, tight: httpx.Client, tight_dataset: Dataset) -> None:
        assert preview(tight, tight_dataset)["trial_limits"] == {
            "time_limit": 30.0,
            "max_expansions": None,
            "memory_limit": 100_000_000,
        }
        given: dict[str, Any] = {"time_limit": 31.0, "memory_limit": None}
        body = {"dataset_id": tight_dataset.id, "trial_limits": given}
        told = problem(tight.post("/v1/sweeps", json=body), 422)
        assert [error["pointer"] for error in told["errors"]] == [
            "/body/trial_limits/time_limit",
            "/body/trial_limits/memory_limit",
        ]
        assert told["fixes"][0]["options"] == {
            "trial_limits": {"time_limit": 30.0, "memory_limit": 100_000_000}
        }
