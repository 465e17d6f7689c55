"""The Open Inference Protocol and MLflow's scoring protocol over HTTP."""

from __future__ import annotations

import gzip
import json
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet
import pytest

import literati
from service.protocols.schemas import InferenceResponse, MlflowPredictions, ModelMetadata
from tests.support.http.inference_bodies import Body, as_binary, as_json, columns, read_outputs
from tests.support.http.predict_bodies import GOOD, as_csv, as_table
from tests.support.http.service_client import problem
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.stack import Stack

ALIAS = "loans.production"
JSON = {"Content-Type": "application/json"}
SIZE = "Inference-Header-Content-Length"
ROWS = [{**GOOD, "age": age, "member": age % 2 == 0} for age in range(0, 90, 7)]


@pytest.fixture
def model(api: Stack) -> str:
    found = add_model(api, mixed_tree())
    api.store.models.set_alias(TENANT, ALIAS, found)
    return found


def infer(client: httpx.Client, path: str, body: Body, **headers: str) -> httpx.Response:
    content, size = body
    if size is not None:
        headers[SIZE] = str(size)
    return client.post(f"/v2/models/{path}/infer", content=content, headers=headers)


def own(client: httpx.Client, rows: Any = ROWS) -> dict[str, Any]:
    answer = client.post(f"/v1/models/{ALIAS}/predict", json={"records": rows}).json()
    shares = [list(row.values()) for row in answer["probabilities"]]
    return {"predict": answer["predictions"], "predict_proba": shares, "leaf_ids": answer["leaf_ids"]}


def test_a_model_is_named_by_its_id_an_alias_and_a_version(client: httpx.Client, model: str) -> None:
    for name in (model, ALIAS):
        for path in (name, f"{name}/versions/{model}"):
            answer = infer(client, path, as_json(columns(ROWS), id="7"), **JSON)
            assert answer.headers["content-type"] == "application/json"
            assert "literati-warnings" not in answer.headers
            document = answer.json()
            InferenceResponse.model_validate(document, strict=True)
            assert {key: document[key] for key in ("model_name", "model_version", "id")} == {
                "model_name": name,
                "model_version": model,
                "id": "7",
            }
            assert read_outputs(answer.content, None) == own(client)
            assert client.get(f"/v2/models/{path}/ready").json() == {"name": name, "ready": True}
            metadata = client.get(f"/v2/models/{path}").json()
            ModelMetadata.model_validate(metadata, strict=True, extra="forbid")
            assert (metadata["name"], metadata["versions"]) == (name, [model])


def test_metadata(client: httpx.Client, model: str) -> None:
    found = client.get(f"/v2/models/{ALIAS}").json()
    inputs = {entry["name"]: entry["datatype"] for entry in found["inputs"]}
    assert inputs == {
        "size": "FP64",
        "age": "FP64",
        "colour": "BYTES",
        "member": "BOOL",
        "zone": "INT64",
        "planet": "BYTES",
    }
    required = {entry["name"] for entry in found["inputs"] if entry["parameters"]["required"]}
    tree = mixed_tree()
    used = {node.split.column for node in tree.nodes if node.split is not None}
    assert required == {tree.schema.columns[index].name for index in used}
    outputs = {entry["name"]: (entry["datatype"], entry["shape"]) for entry in found["outputs"]}
    assert outputs == {
        "predict": ("BYTES", [-1]),
        "predict_proba": ("FP64", [-1, 2]),
        "leaf_ids": ("INT32", [-1]),
    }
    assert found["outputs"][1]["parameters"]["classes"] == ["no", "yes"]


def test_the_server(client: httpx.Client) -> None:
    assert client.get("/v2").json() == {
        "name": "literati",
        "version": literati.__version__,
        "extensions": ["binary_tensor_data"],
    }
    assert client.get("/v2/health/live").json() == {"live": True}
    assert client.get("/v2/health/ready").json() == {"live": True, "ready": True}


@pytest.mark.parametrize("compressed", [False, True])
def test_bytes(client: httpx.Client, model: str, compressed: bool) -> None:
    content, size = as_binary(columns(ROWS), parameters={"binary_data_output": True})
    headers = {"Content-Type": "application/octet-stream"}
    if compressed:
        content, headers["Content-Encoding"] = gzip.compress(content), "gzip"
    answer = infer(client, ALIAS, (content, size), **headers)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert read_outputs(answer.content, int(answer.headers[SIZE])) == own(client)


def test_many_rows_are_read_in_the_sandbox(client: httpx.Client, model: str) -> None:
    rows = [{**row, "size": number / 1000} for row in ROWS for number in range(3000)]
    content, size = as_binary(columns(rows), parameters={"binary_data_output": True})
    assert len(content) > 1 << 20
    answer = infer(client, ALIAS, (content, size))
    assert read_outputs(answer.content, int(answer.headers[SIZE])) == own(client, rows)
    error = problem(infer(client, ALIAS, (content[:-1], size)), 422, "invalid-request")
    assert error["error"] == error["detail"]


def test_warnings_are_in_a_header(client: httpx.Client, model: str) -> None:
    rows = [{**GOOD, "colour": "mauve", "size": None}]
    answers = [
        infer(client, ALIAS, as_json(columns(rows))),
        client.post(f"/mlflow/{ALIAS}/invocations", json={"dataframe_records": rows}),
    ]
    for answer in answers:
        found = json.loads(answer.headers["literati-warnings"])
        assert [(entry["code"], entry["column"]) for entry in found] == [
            ("MISSING_VALUE", "size"),
            ("UNSEEN_CATEGORY", "colour"),
        ]


def test_errors_have_the_field_of_the_protocol(client: httpx.Client, model: str) -> None:
    body = as_json(columns(ROWS))
    refused = [
        (infer(client, "absent", body), 404, "not-found"),
        (infer(client, "Not A Name", body), 404, "not-found"),
        (infer(client, f"{ALIAS}/versions/1", body), 404, "not-found"),
        (client.get(f"/v2/models/{ALIAS}/versions/1/ready"), 404, "not-found"),
        (client.get("/v2/nothing"), 404, "not-found"),
        (client.get(f"/v2/models/{ALIAS}/infer"), 405, "method-not-allowed"),
        (infer(client, ALIAS, (b"{", None)), 400, "malformed-body"),
        (infer(client, ALIAS, as_json([])), 422, "invalid-request"),
        (infer(client, ALIAS, body, **{"Content-Type": "text/html"}), 415, "media-type"),
        (infer(client, ALIAS, body, **{"Content-Type": "text/csv"}), 415, "media-type"),
        (infer(client, ALIAS, body, **{SIZE: "many"}), 422, "invalid-request"),
    ]
    for answer, status, kind in refused:
        found = problem(answer, status, kind)
        assert found["error"] == found["detail"]
    assert "it has only mdl_" in refused[2][0].json()["error"]
    assert "error" not in client.get("/v1/models/absent").json()


def test_a_moved_alias_has_another_version(api: Stack, client: httpx.Client, model: str) -> None:
    other = add_model(api, mixed_tree(("a", "b")))
    api.store.models.set_alias(TENANT, ALIAS, other)
    assert infer(client, f"{ALIAS}/versions/{model}", as_json(columns(ROWS))).status_code == 404
    answer = infer(client, ALIAS, as_json(columns(ROWS)))
    assert answer.json()["model_version"] == other
    assert set(read_outputs(answer.content, None)["predict"]) == {"a", "b"}


def test_responses_are_not_compressed(client: httpx.Client, model: str) -> None:
    """Triton's asynchronous client sends Accept-Encoding, but does not decompress."""
    rows = ROWS * 20
    accept = {"Accept-Encoding": "gzip, zstd"}
    assert "content-encoding" not in infer(client, ALIAS, as_json(columns(rows)), **accept).headers
    plain = client.post(f"/v1/models/{ALIAS}/predict", json={"records": rows}, headers=accept)
    assert "content-encoding" in plain.headers


def test_limits(narrow: Stack, model: str) -> None:
    """Bodies have the limit of predictions, which is larger than that of other requests here."""
    with narrow.client() as client:
        assert infer(client, ALIAS, as_json(columns(ROWS * 30))).status_code == 200
        for answer in (
            infer(client, ALIAS, as_json(columns(ROWS * 300))),
            client.post(f"/mlflow/{ALIAS}/invocations", json={"dataframe_records": ROWS * 300}),
        ):
            problem(answer, 413, "body-too-large")


def test_mlflow(client: httpx.Client, model: str) -> None:
    def invoke(content: bytes, kind: str | None) -> Any:
        headers = {} if kind is None else {"Content-Type": kind}
        answer = client.post(f"/mlflow/{ALIAS}/invocations", content=content, headers=headers)
        assert answer.status_code == 200, answer.text
        MlflowPredictions.model_validate(answer.json(), strict=True, extra="forbid")
        return answer.json()["predictions"]

    split = {"columns": list(GOOD), "data": [list(row.values()) for row in ROWS]}
    body = json.dumps({"dataframe_split": split}).encode()
    out = pa.BufferOutputStream()
    pyarrow.parquet.write_table(as_table(ROWS), out)
    parquet = bytes(out.getvalue())
    labels = own(client)["predict"]
    assert invoke(body, "application/json") == labels
    assert invoke(body, "application/json; charset=utf-8") == labels
    assert invoke(body, None) == labels
    assert invoke(as_csv(ROWS), "text/csv") == labels
    assert invoke(as_csv(ROWS), None) == labels
    assert invoke(parquet, "application/vnd.apache.parquet") == labels
    assert invoke(parquet, "application/x-parquet") == labels
    assert invoke(parquet, None) == labels
    shares = json.dumps({"dataframe_split": split, "params": {"method": "predict_proba"}}).encode()
    assert invoke(shares, "application/json") == own(client)["predict_proba"]


def test_the_rest_of_mlflow(client: httpx.Client, model: str) -> None:
    for word in ("ping", "health"):
        assert client.get(f"/mlflow/{ALIAS}/{word}").status_code == 200
        problem(client.get(f"/mlflow/absent/{word}"), 404, "not-found")
    assert client.get(f"/mlflow/{ALIAS}/version").text == literati.__version__
    answer = client.post(f"/mlflow/{ALIAS}/invocations", json={"dataframe_records": [{"age": 1}]})
    assert "error" not in problem(answer, 422, "invalid-request")
    kind = {"Content-Type": "text/csv"}
    body = as_csv([{**GOOD, "size": "1,250"}], ";")
    answer = client.post(f"/mlflow/{ALIAS}/invocations", content=body, headers=kind)
    assert "fixes" not in problem(answer, 422, "invalid-request")  # a query option, which is refused here
    kind = {"Content-Type": "text/html"}
    problem(client.post(f"/mlflow/{ALIAS}/invocations", content=b"x", headers=kind), 415, "media-type")
