"""`fixes` of problems about jobs: each is applied to the request that was refused, which works then."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from service.http.remedies import merged
from service.jobs.schemas import JobRequest
from service.jobs.submission import digest
from tests.support.http.uploads import upload, with_options
from tests.support.stack.stack import Stack

CSV = "text/csv"
TWELVE = "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(12))


@pytest.fixture
def folds(client: httpx.Client) -> str:
    rows = [
        f"{i},{i % 5},{'train' if i % 4 else 'test'},{'yx'[i % 2]},{i / 7},{int(i < 5)},{'abc'[i % 3]}"
        for i in range(60)
    ]
    data = "n,fold,part,half,share,mark,label\n" + "\n".join(rows) + "\n"
    answer = upload(client, data, CSV, {"target": "label"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


JOBS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "class weights of zero": (
        {"parameters": {"class_weight": {"a": 0, "b": 0, "c": 0}}},
        "/body/parameters/class_weight",
        "USELESS_WEIGHTS",
        "Train without class weights",
    ),
    "one class weight above zero": (
        {"parameters": {"class_weight": {"a": 0, "b": 0}}},
        "/body/parameters/class_weight",
        "USELESS_WEIGHTS",
        "Train without class weights",
    ),
    "class weights that are tiny": (
        {"parameters": {"class_weight": {"a": 1e-300, "b": 1e-300, "c": 1e-300}}},
        "/body/parameters/class_weight",
        "USELESS_WEIGHTS",
        "Train without class weights",
    ),
    "class weights that are huge": (
        {"parameters": {"class_weight": {"a": 1e15, "b": 1e15}}},
        "/body/parameters/class_weight",
        "USELESS_WEIGHTS",
        "Train without class weights",
    ),
    "a class without weight that is scored": (
        {"parameters": {"class_weight": {"a": 0}}, "validation": {"fraction": 0.3}},
        "/body/parameters/class_weight",
        "UNTRAINED_CLASS",
        "Train without class weights",
    ),
    "not a class": (
        {"parameters": {"class_weight": {"z": 2, "a": 3}}},
        "/body/parameters/class_weight/z",
        "NOT_A_CLASS",
        "Remove this weight",
    ),
    "a byte of memory": (
        {"limits": {"memory_limit": 1}},
        "/body/limits/memory_limit",
        "TOO_SMALL",
        "Remove the memory limit",
    ),
    "a validation column that is not there": (
        {"validation": {"column": "folds", "value": 3}},
        "/body/validation/column",
        "NOT_FOUND",
        "Split by 'fold'",
    ),
    "the target as validation column": (
        {"validation": {"column": "label"}},
        "/body/validation/column",
        "WRONG_ROLE",
        "Train on all rows",
    ),
    "words that mark nothing": (
        {"validation": {"column": "half"}},
        "/body/validation/column",
        "NO_ROWS",
        "Validate on the rows with half = x",
    ),
    "measurements": (
        {"validation": {"column": "share"}},
        "/body/validation/column",
        "NOT_A_MARK",
        "Train on all rows",
    ),
    "a counter": (
        {"validation": {"column": "n"}},
        "/body/validation/column",
        "NOT_A_MARK",
        "Train on all rows",
    ),
    "a value that does not occur": (
        {"validation": {"column": "fold", "value": 7}},
        "/body/validation/value",
        "NO_ROWS",
        "Validate on the rows with fold = 3",
    ),
    "too small a fraction": (
        {"validation": {"fraction": 0.001}},
        "/body/validation/fraction",
        "TOO_SMALL",
        "Train on all rows",
    ),
    "two things at once": (
        {"limits": {"memory_limit": 1}, "validation": {"column": "half"}},
        "/body/limits/memory_limit",
        "TOO_SMALL",
        "Validate on the rows with half = x; Remove the memory limit",
    ),
    "a memory limit and the target as validation column": (
        {"limits": {"memory_limit": 1}, "validation": {"column": "label"}},
        "/body/limits/memory_limit",
        "TOO_SMALL",
        "Train on all rows; Remove the memory limit",
    ),
    "folds without a value": (
        {"validation": {"column": "fold"}},
        "/body/validation/column",
        "NOT_A_MARK",
        "Validate on the rows with fold = 2",
    ),
    "a misspelt column that needs a value": (
        {"validation": {"column": "folds"}},
        "/body/validation/column",
        "NOT_FOUND",
        "Validate on the rows with fold = 2",
    ),
    "a misspelt column that marks rows": (
        {"validation": {"column": "Part"}},
        "/body/validation/column",
        "NOT_FOUND",
        "Split by 'part'",
    ),
    "a misspelt class": (
        {"parameters": {"class_weight": {"A": 5}}},
        "/body/parameters/class_weight/A",
        "NOT_A_CLASS",
        "Use the weight for 'a'",
    ),
    "a class that is not there, and others of weight zero": (
        {"parameters": {"class_weight": {"neither": 5, "a": 0, "b": 0}}},
        "/body/parameters/class_weight/neither",
        "NOT_A_CLASS",
        "Train without class weights",
    ),
    "parameters that do not go together": (
        {"parameters": {"candidates": "quantile", "candidate_leaves": [3, 4]}},
        "/body/parameters/candidate_leaves",
        "UNUSABLE",
        "Use the default of `candidate_leaves`",
    ),
    "leaves of more than half of the rows": (
        {"parameters": {"min_samples_leaf": 1000}},
        "/body/parameters/min_samples_leaf",
        "TOO_LARGE",
        "Use the default of `min_samples_leaf`",
    ),
    "a parent that is not there": (
        {"parent_job_id": "job_" + 32 * "1"},
        "/body/parent_job_id",
        "NOT_FOUND",
        "Start without another job's tree",
    ),
}


@pytest.mark.parametrize("only", [True, False])
@pytest.mark.parametrize("name", JOBS)
def test_jobs(client: httpx.Client, folds: str, name: str, only: bool) -> None:
    change, where, code, label = JOBS[name]
    body = {"dataset_id": folds, **change}
    query = {"validate_only": "true"} if only else {}
    refused = client.post("/v1/jobs", json=body, params=query)
    assert refused.status_code == 422, refused.text
    assert (where, code) in [(error["pointer"], error["code"]) for error in refused.json()["errors"]]
    fixes = refused.json()["fixes"]
    assert label in [fix["label"] for fix in fixes]
    for fix in fixes:
        assert fix["part"] == "body"
        answer = client.post("/v1/jobs", json=merged(body, fix["options"]), params=query)
        assert answer.status_code == (200 if only else 202), (fix, answer.text)


FIELDS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "a misspelt parameter": (
        {"parameters": {"max_deepth": 3}},
        "/body/parameters/max_deepth",
        "Did you mean `max_depth`?",
        "Call it `max_depth`",
    ),
    "a misspelt part of the body": (
        {"limit": {"time_limit": 3}},
        "/body/limit",
        "Did you mean `limits`?",
        "Call it `limits`",
    ),
    "a parameter beside the others": (
        {"max_depth": 3},
        "/body/max_depth",
        "Did you mean `parameters.max_depth`?",
        "Call it `parameters.max_depth`",
    ),
    "a limit among the parameters": (
        {"parameters": {"time_limit": 3, "max_depth": 2}},
        "/body/parameters/time_limit",
        "Did you mean `limits.time_limit`?",
        "Call it `limits.time_limit`",
    ),
    "a field that is like nothing": (
        {"surprise": 3},
        "/body/surprise",
        "see /docs",
        "Leave out `surprise`",
    ),
    "two misspelt fields": (
        {"nmae": "x", "limits": {"patence": 3}},
        "/body/limits/patence",
        "Did you mean `patience`?",
        "Call it `patience`; Call it `name`",
    ),
    "a misspelt field whose right name is taken": (
        {"parameters": {"max_deepth": 3, "max_depth": 2}},
        "/body/parameters/max_deepth",
        "see /docs",
        "Leave out `max_deepth`",
    ),
    "a misspelt field of a validation column": (
        {"validation": {"column": "fold", "valeu": 2}},
        "/body/validation/valeu",
        "Did you mean `value`?",
        "Call it `value`",
    ),
    "a misspelt word": (
        {"parameters": {"candidates": "adaptve"}},
        "/body/parameters/candidates",
        "Did you mean 'adaptive'?",
        "Use `adaptive`",
    ),
    "a word that is like none": (
        {"parameters": {"criterion": "mse"}},
        "/body/parameters/criterion",
        "'gini' or 'entropy'",
        "Use `entropy`",
    ),
    "a misspelt word where an object may stand": (
        {"parameters": {"class_weight": "Balance"}},
        "/body/parameters/class_weight",
        "Did you mean 'balanced'?",
        "Use `balanced`",
    ),
    "null where there is a default": (
        {"parameters": None},
        "/body/parameters",
        "object",
        "Leave out `parameters`",
    ),
    "too large a number": (
        {"parameters": {"max_depth": 30}},
        "/body/parameters/max_depth",
        "less than or equal to 12",
        "Use 12",
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_fields_of_a_job(client: httpx.Client, folds: str, name: str) -> None:
    change, where, message, label = FIELDS[name]
    body = {"dataset_id": folds, **change}
    refused = client.post("/v1/jobs", json=body)
    assert refused.status_code == 422, refused.text
    told = {error["pointer"]: error["message"] for error in refused.json()["errors"]}
    assert message in told[where]
    assert label in [fix["label"] for fix in refused.json()["fixes"]]
    for fix in refused.json()["fixes"]:
        answer = client.post("/v1/jobs", json=merged(body, fix["options"]))
        assert told.keys().isdisjoint(error["pointer"] for error in answer.json().get("errors", [])), fix
        assert answer.status_code == 202 or fix["label"] == "Leave out `valeu`", answer.text


def test_a_field_without_a_remedy(client: httpx.Client, folds: str) -> None:
    for change in ({"name": 7}, {"surprise": 1, "name": 7}, {"dataset_id": None}):
        refused = client.post("/v1/jobs", json={"dataset_id": folds, **change})
        assert refused.status_code == 422
        assert "fixes" not in refused.json()


@pytest.mark.parametrize(
    ("body", "label"),
    [
        ({"nmae": "x"}, "Call it `name`"),
        ({"time_limit": 5}, "Call it `limits.time_limit`"),
        ({"limits": {"memory_limit": 1}}, "Do not change `memory_limit`"),
        ({"priority": 1000}, "Use 100"),
        ({"limits": None}, "Leave out `limits`"),
    ],
)
def test_changes_of_a_job(client: httpx.Client, folds: str, body: dict[str, Any], label: str) -> None:
    job = client.post("/v1/jobs", json={"dataset_id": folds}).json()["id"]
    refused = client.patch(f"/v1/jobs/{job}", json=body)
    assert refused.status_code == 422
    fixes = refused.json()["fixes"]
    assert label in [fix["label"] for fix in fixes]
    for fix in fixes:
        assert client.patch(f"/v1/jobs/{job}", json=merged(body, fix["options"])).status_code == 200


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ({"sate": "QUEUED"}, "Call it `state`"),
        ({"sate": ["QUEUED", "RUNNING"], "pagesize": "3"}, "Call it `state`; Call it `page_size`"),
        ({"state": "QUEUED", "States": "RUNNING"}, "Leave out `States`"),
        ({"nothing": "QUEUED"}, "Leave out `nothing`"),
        ({"page_size": ["3", "4"]}, "Use the last `page_size`"),
        ({"state": "RUNING"}, "Use `RUNNING`"),
        ({"state": ["QUEUED", "succeeded"]}, "Use `SUCCEEDED`"),
    ],
)
def test_options_of_a_list(client: httpx.Client, query: dict[str, Any], label: str) -> None:
    refused = client.get("/v1/jobs", params=query)
    assert refused.status_code == 422, refused.text
    fixes = refused.json()["fixes"]
    assert label in [fix["label"] for fix in fixes]
    for fix in fixes:
        assert fix["part"] == "query"
        answer = client.get("/v1/jobs", params=with_options(query, fix["options"]))
        assert answer.status_code == 200, (fix, answer.text)


def test_limits_above_the_servers(narrow: Stack) -> None:
    with narrow.client() as client:
        dataset = upload(client, f"x,y,label\n{TWELVE}", CSV, {"target": "label"}).json()["id"]
        body = {"dataset_id": dataset, "limits": {"time_limit": 1e6, "memory_limit": 10**9}}
        refused = client.post("/v1/jobs", json=body)
        (fix,) = refused.json()["fixes"]
        assert fix["label"] == "Use 100 seconds; Use 1e+06 bytes"
        assert client.post("/v1/jobs", json=merged(body, fix["options"])).status_code == 202


@pytest.mark.parametrize(
    ("validation", "rows"),
    [
        ({"column": "fold", "value": 3}, 12),
        ({"column": "fold", "value": "3"}, 12),
        ({"column": "part", "value": "train"}, 45),
        ({"column": "part"}, 15),
        ({"column": "mark"}, 5),
        ({"column": "mark", "value": 0}, 55),
    ],
)
def test_a_value_of_a_column_is_kept_for_validation(
    stack: Stack, validation: dict[str, Any], rows: int
) -> None:
    """By a real worker."""
    with stack.client() as client:
        data = "n,fold,part,mark,label\n" + "".join(
            f"{i},{i % 5},{'test' if i % 4 == 0 else 'train'},{1 if i < 5 else 0},{'abc'[i % 3]}\n"
            for i in range(60)
        )
        dataset = upload(client, data, CSV, {"target": "label"}).json()["id"]
        body = {"dataset_id": dataset, "validation": validation, "parameters": {"max_depth": 1}}
        job = client.post("/v1/jobs", json=body).json()
        for _ in range(30):
            job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=5"}).json()
            if job["state"] in ("SUCCEEDED", "FAILED"):
                break
        assert job["state"] == "SUCCEEDED", job
        assert job["metrics"]["validation"]["rows"] == rows
        assert job["validation"] == {"value": None, **validation}


def test_an_idempotency_key_of_version_0_1_0_is_known_still() -> None:
    """The digest of a body with a validation column, before a value could be named."""
    given = {"dataset_id": "ds_" + "0" * 32, "validation": {"column": "fold"}}
    before = "186035c018ee9f09487b73c7210faa47212c078affcb05bb073494e4e8cd0249"
    assert digest(JobRequest.model_validate(given)) == before
    named = {**given, "validation": {"column": "fold", "value": 3}}
    assert digest(JobRequest.model_validate(named)) != before
