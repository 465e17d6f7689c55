"""Predict over HTTP, with models and with jobs that still run."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pyarrow as pa
import pytest

from literati import ShapeTree
from service.predict.schemas import JobPredictions, Predictions
from tests.support.http.predict_bodies import GOOD, as_arrow, as_csv, as_records
from tests.support.http.service_client import NOWHERE, pointers, problem, submit
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import add_job, add_model, finish, mixed_tree
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

ARROW = "application/vnd.apache.arrow.stream"
NO_MODEL = "mdl_" + 32 * "f"
JSON = {"Content-Type": "application/json"}
ROWS = [{**GOOD, "age": age, "member": age % 2 == 0} for age in range(0, 90, 7)]


@pytest.fixture
def model(api: Stack) -> str:
    return add_model(api, mixed_tree())


def predict(client: httpx.Client, model: str, rows: Any = None, **query: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/models/{model}/predict", json={"records": rows or ROWS}, params=query)
    assert answer.status_code == 200, answer.text
    Predictions.model_validate(answer.json(), strict=True, extra="forbid")
    body: dict[str, Any] = answer.json()
    return body


def by_library(tree: ShapeTree, rows: list[dict[str, Any]]) -> list[int]:
    return [tree.explain({**row, "planet": None}).leaf for row in rows]


def test_a_model_predicts(client: httpx.Client, model: str) -> None:
    answer = predict(client, model)
    assert list(answer) == ["predictions", "probabilities", "leaf_ids", "warnings", "model_id"]
    assert answer["model_id"] == model
    assert answer["leaf_ids"] == by_library(mixed_tree(), ROWS)
    assert set(answer["predictions"]) == {"no", "yes"}
    assert answer["warnings"] == []


def test_a_query_string_changes_nothing_but_what_it_says(client: httpx.Client, model: str) -> None:
    """Without one the request goes past the framework."""
    plain = predict(client, model)
    assert predict(client, model, explain="false") == plain
    explained = predict(client, model, explain="true")
    assert len(explained.pop("explanations")) == len(ROWS)
    assert explained == plain


def test_why(client: httpx.Client, model: str) -> None:
    (explanation,) = predict(client, model, [GOOD], explain="true")["explanations"]
    expected = mixed_tree().explain({**GOOD, "planet": None})
    assert explanation["text"] == str(expected)
    assert [step["text"] for step in explanation["steps"]] == [str(step) for step in expected.steps]


@pytest.mark.parametrize("form", ["application/json", "text/csv", ARROW, "text/csv; charset=utf-8"])
def test_rows_may_come_in_every_format(client: httpx.Client, model: str, form: str) -> None:
    write = {"application/json": as_records, "text/csv": as_csv, ARROW: as_arrow}[form.partition(";")[0]]
    answer = client.post(f"/v1/models/{model}/predict", content=write(ROWS), headers={"Content-Type": form})
    assert answer.json() == predict(client, model)


@pytest.mark.parametrize(
    "accept",
    ["text/csv", "text/csv;q=0.9, application/json;q=0.1", "text/*", ARROW, "application/json, text/csv"],
)
def test_answers_may_go_in_every_format(client: httpx.Client, model: str, accept: str) -> None:
    rows = [{**GOOD, "size": None}, *ROWS]
    plain = predict(client, model, rows)
    answer = client.post(f"/v1/models/{model}/predict", json={"records": rows}, headers={"Accept": accept})
    assert answer.status_code == 200
    kind = answer.headers["content-type"]
    if kind == "application/json":
        assert answer.json() == plain
    elif kind == ARROW:
        table = pa.ipc.open_stream(answer.content).read_all()
        assert table.column("prediction").to_pylist() == plain["predictions"]
        assert table.column("leaf_id").to_pylist() == plain["leaf_ids"]
        assert json.loads(table.schema.metadata[b"warnings"]) == plain["warnings"]
        assert json.loads(table.schema.metadata[b"model_id"]) == model
    else:
        assert kind == "text/csv; charset=utf-8"
        found = list(csv.DictReader(io.StringIO(answer.text)))
        assert [row["prediction"] for row in found] == plain["predictions"]
        assert [float(row["probability_yes"]) for row in found] == [p["yes"] for p in plain["probabilities"]]
        assert json.loads(answer.headers["literati-warnings"]) == [
            {"code": "MISSING_VALUE", "column": "size", "count": 1}
        ]


@pytest.mark.parametrize("nulls", [["?", "none"], ["none,?"]])
def test_csv_options_come_as_parameters(client: httpx.Client, model: str, nulls: list[str]) -> None:
    plain = predict(client, model, [{**GOOD, "size": None}, {**GOOD, "age": 30.5}])
    body = as_csv([{**GOOD, "size": "?"}, {**GOOD, "size": "0,5", "age": "30,5"}], "\t")
    answer = client.post(
        f"/v1/models/{model}/predict",
        content=body,
        headers={"Content-Type": "text/csv"},
        params={"delimiter": "tab", "decimal": ",", "null_values": nulls},
    )
    assert answer.json() == plain


def test_parameters_that_make_no_sense(client: httpx.Client, model: str) -> None:
    path = f"/v1/models/{model}/predict"
    text: dict[str, Any] = {"content": as_csv([GOOD]), "headers": {"Content-Type": "text/csv"}}
    assert pointers(client.post(path, json={"records": [GOOD]}, params={"delimiter": ";"})) == [
        "/query/delimiter"
    ]
    assert pointers(client.post(path, **text, params={"delimiter": "abc"})) == ["/query/delimiter"]
    assert pointers(client.post(path, **text, params={"decimal": "x"})) == ["/query/decimal"]
    assert pointers(client.post(path, **text, params={"decimal": ",", "delimiter": ","})) == [
        "/query/decimal"
    ]
    assert pointers(client.post(path, json={"records": [GOOD]}, params={"explain": "perhaps"})) == [
        "/query/explain"
    ]
    assert pointers(
        client.post(
            path, json={"records": [GOOD]}, params={"explain": "true"}, headers={"Accept": "text/csv"}
        )
    ) == ["/query/explain"]
    many = {"records": [GOOD] * 1001}
    assert pointers(client.post(path, json=many, params={"explain": "true"})) == ["/query/explain"]


def test_rows_that_are_refused(client: httpx.Client, model: str) -> None:
    path = f"/v1/models/{model}/predict"
    answer = client.post(path, json={"records": [GOOD, {**GOOD, "age": "secret"}]})
    assert pointers(answer) == ["/body/records/1/age"]
    assert "secret" not in answer.text
    assert pointers(client.post(path, json={"records": [{"age": 1}]}))[0] == "/body/records/0/size"
    assert pointers(client.post(path, content=b'{"records": [{"age": 1e999}]}', headers=JSON))
    for body in (b"", b"{", b'{"records": [{"age": NaN}]}', b'"\xff"', b"[" * 100_000):
        problem(client.post(path, content=body, headers=JSON), 400, "malformed-body")


def test_media_types_that_are_not_spoken(client: httpx.Client, model: str) -> None:
    path = f"/v1/models/{model}/predict"
    body = as_records([GOOD])
    for kind in (
        "image/png",
        "application/xml",
        "text/html",
        "text/csv; charset=ebcdic",
        "application/json; charset=latin-1",
    ):
        problem(client.post(path, content=body, headers={"Content-Type": kind}), 415, "media-type")
    answer = client.post(path, content=body, headers={**JSON, "Accept": "image/png"})
    assert "text/csv" in problem(answer, 406, "not-acceptable")["detail"]
    charset = {"Content-Type": "application/json; charset=utf-8"}
    assert client.post(path, content=body, headers=charset).status_code == 200


def test_a_body_in_pieces(client: httpx.Client, model: str) -> None:
    def pieces() -> Iterator[bytes]:
        body = as_records(ROWS)
        for start in range(0, len(body), 100):
            yield body[start : start + 100]

    answer = client.post(f"/v1/models/{model}/predict", content=pieces(), headers=JSON)
    assert answer.json() == predict(client, model)


@pytest.mark.parametrize("name", [NO_MODEL, "production", "NO", "a%2fb", "x" * 200, "mdl_"])
def test_models_that_are_not_there(client: httpx.Client, api: Stack, name: str) -> None:
    problem(client.post(f"/v1/models/{name}/predict", json={"records": [GOOD]}), 404, "not-found")
    answer = client.post(f"/v1/models/{name}/predict?explain=true", json={"records": [GOOD]})
    problem(answer, 404, "not-found")


def test_an_alias_is_followed_with_every_request(api: Stack, client: httpx.Client, model: str) -> None:
    other = add_model(api, mixed_tree((1, 2)))
    api.store.models.set_alias(TENANT, "production", model)
    assert predict(client, "production")["model_id"] == model
    api.store.models.set_alias(TENANT, "production", other)
    moved = predict(client, "production")
    assert moved["model_id"] == other
    assert set(moved["predictions"]) == {1, 2}
    api.store.models.delete_alias(TENANT, "production")
    problem(client.post("/v1/models/production/predict", json={"records": [GOOD]}), 404)


def test_a_deleted_model_does_not_predict(api: Stack, client: httpx.Client, model: str) -> None:
    predict(client, model)  # now it is kept in the process
    api.store.models.delete(TENANT, model)
    problem(client.post(f"/v1/models/{model}/predict", json={"records": [GOOD]}), 404, "not-found")


# Jobs


def job_predict(client: httpx.Client, job_id: str, **query: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/jobs/{job_id}/predict", json={"records": ROWS}, params=query)
    assert answer.status_code == 200, answer.text
    JobPredictions.model_validate(answer.json(), strict=True, extra="forbid")
    body: dict[str, Any] = answer.json()
    return body


def test_a_job_predicts_while_it_runs(api: Stack, client: httpx.Client) -> None:
    first, best = mixed_tree(depth=1), mixed_tree()
    job = add_job(api, first)
    answer = job_predict(client, job.spec.id)
    assert (answer["job_id"], answer["revision"], answer["model_id"]) == (job.spec.id, 1, None)
    assert answer["leaf_ids"] == by_library(first, ROWS)
    finish(api, job, best)
    better = job_predict(client, job.spec.id, explain="true")
    assert better["revision"] == 2
    assert better["leaf_ids"] == by_library(best, ROWS)
    assert len(better["explanations"]) == len(ROWS)
    pinned = job_predict(client, job.spec.id, revision=1)
    assert pinned == answer


def test_trees_that_a_job_does_not_have(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    body = {"records": [GOOD]}
    waiting = submit(client, dataset)["id"]
    answer = client.post(f"/v1/jobs/{waiting}/predict", json=body)
    problem(answer, 409, "no-tree-yet")
    assert answer.headers["retry-after"] == "1"
    api.connection.flushall()
    job = add_job(api, mixed_tree())
    problem(client.post(f"/v1/jobs/{job.spec.id}/predict?revision=2", json=body), 404, "not-found")
    assert pointers(client.post(f"/v1/jobs/{job.spec.id}/predict?revision=0", json=body)) == [
        "/query/revision"
    ]
    for name in (NOWHERE, "job_1", "x"):
        problem(client.post(f"/v1/jobs/{name}/predict", json=body), 404, "not-found")


def test_a_deleted_job_does_not_predict(api: Stack, client: httpx.Client) -> None:
    job = add_job(api, mixed_tree())
    job_predict(client, job.spec.id)
    finish(api, job)
    api.store.jobs.delete(TENANT, job.spec.id)
    answer = client.post(f"/v1/jobs/{job.spec.id}/predict", json={"records": [GOOD]})
    problem(answer, 404, "not-found")
