"""Requests for sweeps that cannot be used: each error has its place, and the fixes work."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pytest

from service.http.remedies import merged
from tests.support.http.service_client import NO_DATASET, problem
from tests.support.records import jobs
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

PATH_SPACE = {"split_penalty": "path"}


def refusal(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """Return the problem, after a check that every fix is accepted or reveals other errors only."""
    told = problem(client.post("/v1/sweeps", json=body), 422, "invalid-request")
    places = {error["pointer"] for error in told["errors"]}
    for fix in told.get("fixes", ()):
        assert fix["part"] == "body"
        answer = client.post("/v1/sweeps?validate_only=true", json=merged(body, fix["options"]))
        if answer.status_code != 200:
            assert not places & {error["pointer"] for error in problem(answer, 422)["errors"]}
    return told


@pytest.mark.parametrize(
    ("fields", "place", "code", "has_fix"),
    [
        # What the schema refuses
        ({"strategy": "TPE"}, "strategy", "ENUM", True),
        ({"strategy": "grid"}, "strategy", "ENUM", True),
        ({"metric": "precision"}, "metric", "ENUM", True),
        ({"select": "best"}, "select", "ENUM", True),
        ({"space": {"max_dept": [2]}}, "space/max_dept", "EXTRA_FORBIDDEN", True),
        ({"space": {"max_depth": [0]}}, "space/max_depth/0", "GREATER_THAN_EQUAL", False),
        ({"space": {"max_depth": []}}, "space/max_depth", "TOO_SHORT", False),
        ({"space": {"max_depth": 2}}, "space/max_depth", "LIST_TYPE", False),
        (
            {"space": {"min_samples_leaf": []}, "strategy": "RANDOM"},
            "space/min_samples_leaf",
            "TOO_SHORT",
            False,
        ),
        ({"space": {"split_penalty": {"low": 2, "high": 1}}}, "space/split_penalty", "VALUE_ERROR", False),
        (
            {"space": {"split_penalty": {"low": 0, "high": 1, "log": True}}},
            "space/split_penalty",
            "VALUE_ERROR",
            False,
        ),
        ({"fixed": {"max_dept": 2}}, "fixed/max_dept", "EXTRA_FORBIDDEN", True),
        ({"fixed": {"max_depth": 1000}}, "fixed/max_depth", "LESS_THAN_EQUAL", True),
        ({"fixed": {"time_limit": 3}}, "fixed/time_limit", "EXTRA_FORBIDDEN", True),
        ({"limits": {"max_trials": 0}}, "limits/max_trials", "GREATER_THAN_EQUAL", True),
        ({"limits": {"max_trials": 1001}}, "limits/max_trials", "LESS_THAN_EQUAL", True),
        ({"validation": {"folds": 1}}, "validation/folds", "GREATER_THAN_EQUAL", True),
        ({"validation": {"folds": 51}}, "validation/folds", "LESS_THAN_EQUAL", True),
        ({"validation": {"folds": 2, "column": "z"}}, "validation/folds", "EXTRA_FORBIDDEN", True),
        ({"validation": 5}, "validation", "FORM", False),
        ({"test": {"fraction": 1}}, "test/fraction", "LESS_THAN", False),
        ({"changepoint_ratio": -1}, "changepoint_ratio", "GREATER_THAN_EQUAL", True),
        ({"seed": -1}, "seed", "GREATER_THAN_EQUAL", True),
        ({"constraints": [""]}, "constraints/0", "STRING_TOO_SHORT", False),
        # What the checks refuse
        ({"changepoint_ratio": 0.1234}, "changepoint_ratio", "DECIMAL_PLACES", True),
        (
            {"fixed": {"max_depth": 3}, "space": {"max_depth": [2]}},
            "fixed/max_depth",
            "ALSO_IN_SPACE",
            True,
        ),
        (
            {"fixed": {"split_penalty": 3}, "space": PATH_SPACE},
            "fixed/split_penalty",
            "ALSO_IN_SPACE",
            True,
        ),
        ({"fixed": {"changepoint_penalty": 3}}, "fixed/changepoint_penalty", "CHOSEN_BY_PATH", True),
        ({"space": {"changepoint_penalty": [3]}}, "space/changepoint_penalty", "CHOSEN_BY_PATH", True),
        ({"fixed": {"polish": True}}, "fixed/polish", "NOT_WITH_PATH", True),
        ({"fixed": {"candidates": "widening"}}, "fixed/candidates", "NOT_WITH_PATH", True),
        ({"space": {"candidates": ["all", "widening"]}}, "space/candidates", "NOT_WITH_PATH", True),
        (
            {"space": {"split_penalty": {"low": 1, "high": 2}}},
            "space/split_penalty",
            "NOTHING_TO_TRY",
            True,
        ),
        ({"constraints": ["max_depth > 9"]}, "constraints", "NOTHING_TO_TRY", True),
        ({"constraints": ["max_depth"]}, "constraints/0", "UNREADABLE", True),
        ({"constraints": ["max_depth < 4", "depth < 4"]}, "constraints/1", "UNREADABLE", True),
        ({"constraints": ["max_depth < deep"]}, "constraints/0", "UNREADABLE", True),
        ({"constraints": ["criterion < 3"]}, "constraints/0", "UNREADABLE", True),
        (
            {"validation": {"folds": 50, "repeats": 20}},
            "limits/max_trials",
            "TOO_MANY_JOBS",
            True,
        ),
        ({"test": {"fraction": 0.0001}}, "test/fraction", "TOO_SMALL", True),
        ({"validation": {"column": "zz"}}, "validation/column", "NOT_FOUND", True),
        ({"validation": {"column": "label"}}, "validation/column", "WRONG_ROLE", True),
        ({"validation": {"column": "x"}}, "validation/column", "NUMBER_OF_FOLDS", True),
        ({"fixed": {"class_weight": {"inn": 2.0}}}, "fixed/class_weight/inn", "NOT_A_CLASS", True),
        ({"trial_limits": {"memory_limit": 1000}}, "trial_limits/memory_limit", "TOO_SMALL", True),
        ({"fixed": {"n_threads": 0}}, "fixed/n_threads", "UNUSABLE", True),
    ],
)
def test_one_error(
    client: httpx.Client, dataset: Dataset, fields: dict[str, Any], place: str, code: str, has_fix: bool
) -> None:
    told = refusal(client, {"dataset_id": dataset.id, **fields})
    assert [(error["pointer"], error["code"]) for error in told["errors"]] == [(f"/body/{place}", code)]
    assert bool(told.get("fixes")) == has_fix, told
    assert told["errors"][0]["message"]


def test_tpe_is_not_offered(client: httpx.Client, dataset: Dataset) -> None:
    told = refusal(client, {"dataset_id": dataset.id, "strategy": "TPE"})
    assert "TPE is not offered" in told["detail"]
    assert [fix["options"] for fix in told["fixes"]] == [{"strategy": "GRID"}, {"strategy": "RANDOM"}]


def test_all_errors_are_told_at_once(client: httpx.Client) -> None:
    body = {
        "dataset_id": NO_DATASET,
        "changepoint_ratio": 0.1234,
        "fixed": {"polish": True, "max_depth": 3},
        "space": {"max_depth": [2]},
        "constraints": ["nonsense"],
    }
    told = refusal(client, body)
    assert [error["pointer"] for error in told["errors"]] == [
        "/body/fixed/max_depth",
        "/body/changepoint_ratio",
        "/body/fixed/polish",
        "/body/dataset_id",
        "/body/constraints/0",
    ]
    assert "fixes" not in told, "there is no fix for the dataset"


def test_one_fix_for_several_errors(client: httpx.Client, dataset: Dataset) -> None:
    body = {"dataset_id": dataset.id, "fixed": {"polish": True}, "metric": "log_loss", "constraints": ["x"]}
    (fix,) = refusal(client, body)["fixes"]
    assert fix["options"] == {"fixed": {"polish": False}, "constraints": []}
    assert client.post("/v1/sweeps", json=merged(body, fix["options"])).status_code == 202


def test_no_such_dataset(client: httpx.Client) -> None:
    (error,) = refusal(client, {"dataset_id": NO_DATASET})["errors"]
    assert error["code"] == "NOT_FOUND"
    assert problem(client.post("/v1/sweeps", json={}), 422)["errors"][0]["pointer"] == "/body/dataset_id"


class TestFoldsOfAColumn:
    def refuse(self, api: Stack, client: httpx.Client, **cells: Any) -> str:
        rows = len(next(iter(cells.values())))
        table = {"x": np.arange(rows, dtype=float), **cells}
        dataset = jobs.add_dataset(api.store, api.blobs, table, "w" if "w" in cells else None)
        body = {"dataset_id": dataset.id, "validation": {"column": "fold"}}
        (error,) = refusal(client, body)["errors"]
        assert error["pointer"] == "/body/validation/column"
        return str(error["code"])

    def test_a_class_that_occurs_in_one_fold_only(self, api: Stack, client: httpx.Client) -> None:
        fold, label = np.arange(12) % 3, np.array(["a", "b"])[np.arange(12) // 3 % 2].copy()
        label[fold == 2] = "c"
        assert self.refuse(api, client, fold=fold, label=label) == "UNTRAINED_CLASS"

    def test_one_class_is_left(self, api: Stack, client: httpx.Client) -> None:
        fold = np.array([0, 0, 1, 1])
        assert self.refuse(api, client, fold=fold, label=np.array(list("abaa"))) == "ONE_CLASS"

    def test_one_value(self, api: Stack, client: httpx.Client) -> None:
        label = np.array(list("abab"))
        assert self.refuse(api, client, fold=np.zeros(4), label=label) == "NUMBER_OF_FOLDS"
        only_one = np.array([1.0, 1.0, np.nan, np.nan])
        assert self.refuse(api, client, fold=only_one, label=label) == "NUMBER_OF_FOLDS"

    def test_51_values(self, api: Stack, client: httpx.Client) -> None:
        label = np.array(list("ab" * 51))
        assert self.refuse(api, client, fold=np.arange(102) // 2, label=label) == "NUMBER_OF_FOLDS"

    def test_rows_without_weight_do_not_count(self, api: Stack, client: httpx.Client) -> None:
        fold, label = np.array([0, 0, 1, 1]), np.array(list("abab"))
        assert self.refuse(api, client, fold=fold, label=label, w=np.array([1.0, 1, 1, 0])) == "ONE_CLASS"
        assert self.refuse(api, client, fold=fold, label=label, w=np.array([1.0, 1, 0, 0])) == "NO_ROWS"

    def test_the_only_feature(self, api: Stack, client: httpx.Client) -> None:
        table = {"fold": np.arange(8) % 2, "label": np.array(list("aabbaabb"))}
        dataset = jobs.add_dataset(api.store, api.blobs, table)
        body = {"dataset_id": dataset.id, "validation": {"column": "fold"}}
        assert refusal(client, body)["errors"][0]["code"] == "NO_FEATURES"

    @pytest.mark.parametrize("missing", [False, True])
    def test_values_are_counted(self, api: Stack, client: httpx.Client, missing: bool) -> None:
        fold = (np.arange(40) % 4).astype(float)
        if missing:
            fold[-8:] = np.nan
        table = {"x": np.arange(40.0), "fold": fold, "label": np.array(list("aabb" * 10))}
        table["label"] = np.array(["a", "b"])[np.arange(40) // 4 % 2]
        dataset = jobs.add_dataset(api.store, api.blobs, table)
        body = {"dataset_id": dataset.id, "validation": {"column": "fold"}}
        assert client.post("/v1/sweeps", json=body).json()["n_folds"] == 4


def test_more_folds_than_rows(api: Stack, client: httpx.Client) -> None:
    table = {"x": np.arange(7.0), "label": np.array(list("aaabbbc"))}
    dataset = jobs.add_dataset(api.store, api.blobs, table)
    told = refusal(client, {"dataset_id": dataset.id, "validation": {"folds": 7}})
    (error,) = told["errors"]
    assert (error["pointer"], error["code"]) == ("/body/validation/folds", "TOO_MANY")
    assert "6 rows" in error["message"], "a class with one row is never held out"
    assert told["fixes"][0]["options"] == {"validation": {"folds": 6}}
    halved = {"dataset_id": dataset.id, "validation": {"folds": 5}, "test": {"fraction": 0.5}}
    assert refusal(client, halved)["errors"][0]["code"] == "TOO_MANY"


def test_roc_auc_needs_two_classes(api: Stack, client: httpx.Client) -> None:
    three = jobs.add_dataset(api.store, api.blobs, jobs.noise(60))
    told = refusal(client, {"dataset_id": three.id, "metric": "roc_auc"})
    assert (told["errors"][0]["pointer"], told["errors"][0]["code"]) == ("/body/metric", "NOT_DEFINED")
    two = jobs.add_dataset(api.store, api.blobs, jobs.easy())
    assert client.post("/v1/sweeps", json={"dataset_id": two.id, "metric": "roc_auc"}).status_code == 202


def test_messages_hold_no_values(client: httpx.Client, dataset: Dataset) -> None:
    body = {
        "dataset_id": dataset.id,
        "constraints": ["secret < 3", "secret"],
        "space": {"probability_smoothing": {"low": 1, "high": 1e15}},
        "strategy": "RANDOM",
    }
    told = refusal(client, body)
    assert "secret" not in str(told)


def test_a_body_that_is_no_sweep(client: httpx.Client) -> None:
    problem(client.post("/v1/sweeps", content=b"{", headers={"Content-Type": "application/json"}), 400)
    problem(client.post("/v1/sweeps", content=b"{}", headers={"Content-Type": "text/plain"}), 415)
    problem(client.post("/v1/sweeps?validate=true", json={}), 422)


def test_an_area_under_the_curve_needs_both_classes_in_every_fold(api: Stack, client: httpx.Client) -> None:
    rng = np.random.default_rng(0)
    cells = {"x": rng.normal(size=100), "part": np.arange(100) // 50, "label": ["a"] * 97 + ["b"] * 3}
    dataset = jobs.add_dataset(api.store, api.blobs, cells)
    body = {"dataset_id": dataset.id, "metric": "roc_auc"}
    told = refusal(client, body)
    assert [error["code"] for error in told["errors"]] == ["NOT_DEFINED"]
    assert "both classes in every fold" in told["errors"][0]["message"]
    fewer = {**body, "validation": {"folds": 3}}
    assert client.post("/v1/sweeps?validate_only=true", json=fewer).status_code == 200
    for validation in ({"folds": 3, "stratified": False}, {"column": "part"}):
        assert refusal(client, {**body, "validation": validation})["errors"][0]["code"] == "NOT_DEFINED"
