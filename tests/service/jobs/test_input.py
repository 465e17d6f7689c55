"""Bad bodies for POST /v1/jobs: each is a 4xx that says where, and nothing of what was sent comes back."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.support.http.service_client import NO_DATASET, NOWHERE, pointers, problem
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

SECRET = "hunter2"


def post(client: httpx.Client, content: bytes, kind: str = "application/json") -> httpx.Response:
    return client.post("/v1/jobs", content=content, headers={"Content-Type": kind})


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"dataset_id": None}, "/body/dataset_id"),
        ({"dataset_id": 5}, "/body/dataset_id"),
        ({"dataset_id": "ds_../../etc"}, "/body/dataset_id"),
        ({"dataset_id": NO_DATASET}, "/body/dataset_id"),
        ({"name": "x" * 201}, "/body/name"),
        ({"name": "a\u0000b"}, "/body/name"),
        ({"name": ""}, "/body/name"),
        ({"name": "  "}, "/body/name"),
        ({"tags": {"a": 1}}, "/body/tags/a"),
        ({"tags": {str(i): "" for i in range(33)}}, "/body/tags"),
        ({"priority": 1.5}, "/body/priority"),
        ({"priority": 101}, "/body/priority"),
        ({"priority": "1"}, "/body/priority"),
        ({"parent_job_id": NOWHERE}, "/body/parent_job_id"),
        ({"parent_job_id": "job_x"}, "/body/parent_job_id"),
        ({"surprise": 1}, "/body/surprise"),
        ({"parameters": None}, "/body/parameters"),
        ({"parameters": {"max_depth": 0}}, "/body/parameters/max_depth"),
        ({"parameters": {"max_depth": 13}}, "/body/parameters/max_depth"),
        ({"parameters": {"max_depth": "4"}}, "/body/parameters/max_depth"),
        ({"parameters": {"max_depth": True}}, "/body/parameters/max_depth"),
        ({"parameters": {"max_deepth": 4}}, "/body/parameters/max_deepth"),
        ({"parameters": {"split_penalty": -1}}, "/body/parameters/split_penalty"),
        ({"parameters": {"candidates": "some"}}, "/body/parameters/candidates"),
        ({"parameters": {"candidate_leaves": []}}, "/body/parameters/candidate_leaves"),
        ({"parameters": {"candidate_leaves": 1}}, "/body/parameters/candidate_leaves"),
        (
            {"parameters": {"candidates": "quantile", "candidate_leaves": [3, 4]}},
            "/body/parameters/candidate_leaves",
        ),
        ({"parameters": {"class_weight": {"in": -1}}}, "/body/parameters/class_weight/in"),
        ({"parameters": {"class_weight": {"neither": 1}}}, "/body/parameters/class_weight/neither"),
        ({"parameters": {"class_weight": "heavy"}}, "/body/parameters/class_weight"),
        ({"limits": {"time_limit": 0}}, "/body/limits/time_limit"),
        ({"limits": {"time_limit": 1e12}}, "/body/limits/time_limit"),
        ({"limits": {"gap": 1}}, "/body/limits/gap"),
        ({"limits": {"max_expansions": 0}}, "/body/limits/max_expansions"),
        ({"validation": {"fraction": 1}}, "/body/validation/fraction"),
        ({"validation": {"fraction": 0.0001}}, "/body/validation/fraction"),
        ({"validation": {"column": "fold"}}, "/body/validation/column"),
        ({"validation": {"column": "label"}}, "/body/validation/column"),
        ({"validation": {}}, "/body/validation"),
        ({"validation": 3}, "/body/validation"),
    ],
)
def test_what_is_wrong_is_pointed_at(
    client: httpx.Client, dataset: Dataset, change: dict[str, Any], where: str
) -> None:
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id, **change})
    assert where in pointers(answer)
    assert client.get("/v1/jobs").json()["items"] == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"validation": {"fraction": 1}}, "/body/validation/fraction: Input should be less than 1."),
        ({"validation": {"column": ""}}, "/body/validation/column: String should have at least 1 character."),
        ({"dataset_id": NO_DATASET}, "/body/dataset_id: There is no such dataset."),
        (
            {"max_depth": 3},
            "/body/max_depth: There is no such field. Did you mean `parameters.max_depth`? "
            "See /docs for the known fields.",
        ),
        ({"zzz": 3}, "/body/zzz: There is no such field; see /docs for the known fields."),
        (
            {"priority": 101, "parameters": {"max_depth": 0}, "limits": {"gap": 1}},
            "/body/priority: Input should be less than or equal to 100. See `errors` for 2 more.",
        ),
    ],
)
def test_the_detail_says_what_and_where(
    client: httpx.Client, dataset: Dataset, change: dict[str, Any], told: str
) -> None:
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id, **change})
    assert problem(answer, 422, "invalid-request")["detail"] == told


def test_everything_wrong_is_told_at_once(client: httpx.Client) -> None:
    body = {"dataset_id": NO_DATASET, "parent_job_id": NOWHERE, "parameters": {"candidate_leaves": 1}}
    assert pointers(client.post("/v1/jobs", json=body)) == [
        "/body/parameters/candidate_leaves",
        "/body/parent_job_id",
        "/body/dataset_id",
    ]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_numbers_that_json_does_not_have(client: httpx.Client, dataset: Dataset, number: str) -> None:
    body = f'{{"dataset_id": "{dataset.id}", "parameters": {{"split_penalty": {number}}}}}'
    assert pointers(post(client, body.encode())) == ["/body/parameters/split_penalty"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe{}",
        b'{"name": "\xff"}',
        b"[" * 100_000,
        b'{"tags":' * 30_000,
        b'{"dataset_id": "ds_"} trailing',
        b"nul",
        b'{"name": "\\ud800"}',
    ],
    ids=lambda content: repr(content[:12]),
)
def test_bodies_that_cannot_be_read(client: httpx.Client, content: bytes) -> None:
    problem(post(client, content), 400, "malformed-body")


@pytest.mark.parametrize("content", [b"[]", b"null", b"3", b'"text"', b"NaN"])
def test_json_that_is_no_object(client: httpx.Client, content: bytes) -> None:
    assert pointers(post(client, content)) == ["/body"]


@pytest.mark.parametrize("kind", ["text/plain", "text/csv", "application/x-www-form-urlencoded", "nonsense"])
def test_other_media_types_are_refused(client: httpx.Client, kind: str) -> None:
    problem(post(client, b"{}", kind), 415, "media-type")


def test_the_charset_may_be_said(client: httpx.Client, dataset: Dataset) -> None:
    body = json.dumps({"dataset_id": dataset.id}).encode()
    assert post(client, body, "application/json; charset=utf-8").status_code == 202


def test_no_value_comes_back(client: httpx.Client, dataset: Dataset) -> None:
    bodies: list[dict[str, Any]] = [
        {"dataset_id": SECRET},
        {"dataset_id": dataset.id, "name": [SECRET]},
        {"dataset_id": dataset.id, "parameters": {"candidates": SECRET, "class_weight": SECRET}},
        {"dataset_id": dataset.id, "validation": {"column": SECRET}},
        {"dataset_id": dataset.id, "parent_job_id": SECRET},
    ]
    for body in bodies:
        answer = client.post("/v1/jobs", json=body)
        assert answer.status_code == 422
        assert SECRET not in answer.text


def test_limits_of_the_server(narrow: Stack, dataset: Dataset) -> None:
    with narrow.client() as client:
        for time_limit in (101, None):
            body = {"dataset_id": dataset.id, "limits": {"time_limit": time_limit, "memory_limit": None}}
            assert pointers(client.post("/v1/jobs", json=body)) == [
                "/body/limits/time_limit",
                "/body/limits/memory_limit",
            ]
        body = {"dataset_id": dataset.id, "limits": {"time_limit": 100, "memory_limit": 1_000_000}}
        assert client.post("/v1/jobs", json=body).status_code == 202
