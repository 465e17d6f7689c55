"""Clients of other servers predict with ours: Triton's and MLServer's, and MLflow's."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from literati import LiteratiClassifier
from tests.support.http.predict_bodies import GOOD, Row
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.stack import Stack

ALIAS = "loans.production"
NUMBERS = [f"number_{place}" for place in range(20)]
ROWS: list[Row] = [
    *(
        {**GOOD, "age": age, "member": age % 2 == 0, "colour": colour}
        for age in (3, 38, 80)
        for colour in ("red", "blue")
    ),
    {**GOOD, "colour": "mauve", "zone": 99},
    {**GOOD, "size": float("nan")},
]
MLSERVER = Path(__file__).with_name("mlserver_client.py")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with Stack.with_api(tmp_path_factory.mktemp("protocols")) as stack:
        stack.store.models.set_alias(TENANT, ALIAS, add_model(stack, mixed_tree()))
        x = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 20)), columns=NUMBERS)
        y = (x["number_0"].abs() < 0.7) ^ (x["number_1"] > 0)
        tree = LiteratiClassifier(max_depth=2, max_expansions=50).fit(x, y).tree_
        stack.store.models.set_alias(TENANT, "numbers", add_model(stack, tree))
        yield stack


@pytest.fixture
def client(stack: Stack) -> Iterator[triton.InferenceServerClient]:
    with triton.InferenceServerClient(stack.url.removeprefix("http://")) as client:
        yield client


def own(stack: Stack, model: str, rows: list[Row]) -> dict[str, Any]:
    """Return what our own predict says. JSON has no NaN."""
    rows = [{name: None if cell != cell else cell for name, cell in row.items()} for row in rows]
    with stack.client() as http:
        answer = http.post(f"/v1/models/{model}/predict", json={"records": rows}).raise_for_status().json()
    shares = [list(row.values()) for row in answer["probabilities"]]
    return {"predict": answer["predictions"], "predict_proba": shares, "leaf_ids": answer["leaf_ids"]}


def inputs(columns: dict[str, Any], binary: bool) -> list[triton.InferInput]:
    found = []
    for name, cells in columns.items():
        array = np.asarray(cells, dtype=object if isinstance(cells[0], str | None) else None)
        entry = triton.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
        entry.set_data_from_numpy(array, binary_data=binary)
        found.append(entry)
    return found


def columns(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def outputs(
    result: triton.InferResult, names: Any = ("predict", "predict_proba", "leaf_ids")
) -> dict[str, Any]:
    found = {}
    for name in names:
        cells = result.as_numpy(name).tolist()
        found[name] = [cell.decode() if isinstance(cell, bytes) else cell for cell in cells]
    return found


@pytest.mark.parametrize("binary", [True, False])
def test_triton(stack: Stack, client: triton.InferenceServerClient, binary: bool) -> None:
    expected = own(stack, ALIAS, ROWS)
    result = client.infer(ALIAS, inputs(columns(ROWS), binary), request_id="42", priority=1)
    assert outputs(result) == expected
    assert result.get_response()["id"] == "42"
    asked = [triton.InferRequestedOutput(name, binary_data=binary) for name in ("leaf_ids", "predict")]
    version = result.get_response()["model_version"]
    result = client.infer(ALIAS, inputs(columns(ROWS), binary), model_version=version, outputs=asked)
    assert outputs(result, ("leaf_ids", "predict")) == {
        name: expected[name] for name in ("leaf_ids", "predict")
    }
    assert result.as_numpy("predict_proba") is None


@pytest.mark.parametrize("missing", [None, "", float("nan"), pd.NA])
def test_triton_sends_missing_categories(
    stack: Stack, client: triton.InferenceServerClient, missing: Any
) -> None:
    """The client turns every object into text."""
    rows = [{**GOOD, "colour": missing}]
    for binary in (True, False):
        array = np.array([missing], dtype=object)
        entry = triton.InferInput("colour", [1], "BYTES")
        entry.set_data_from_numpy(array, binary_data=binary)
        others = inputs(columns([{name: cell for name, cell in GOOD.items() if name != "colour"}]), binary)
        result = client.infer(ALIAS, [entry, *others])
        assert outputs(result) == own(stack, ALIAS, [{**rows[0], "colour": None}])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("binary", [True, False])
def test_triton_sends_a_matrix(
    stack: Stack, client: triton.InferenceServerClient, dtype: str, binary: bool
) -> None:
    x = np.random.default_rng(1).normal(size=(50, 20)).astype(dtype)
    x[::7, 0] = np.nan
    rows = [dict(zip(NUMBERS, row, strict=True)) for row in x.astype(float).tolist()]
    result = client.infer("numbers", inputs({"x": x}, binary))
    assert outputs(result) == own(stack, "numbers", rows)


@pytest.mark.parametrize("algorithm", ["gzip", None])
def test_triton_compresses(stack: Stack, client: triton.InferenceServerClient, algorithm: str | None) -> None:
    result = client.infer(
        ALIAS,
        inputs(columns(ROWS), True),
        request_compression_algorithm=algorithm,
        response_compression_algorithm=algorithm,
    )
    assert outputs(result) == own(stack, ALIAS, ROWS)


def test_triton_asks_about_the_server(stack: Stack, client: triton.InferenceServerClient) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready(ALIAS)
    assert not client.is_model_ready("absent")
    assert not client.is_model_ready(ALIAS, "1")
    assert client.get_server_metadata()["extensions"] == ["binary_tensor_data"]
    metadata = client.get_model_metadata(ALIAS)
    assert [entry["name"] for entry in metadata["inputs"]][:5] == list(GOOD)
    assert client.get_model_metadata(ALIAS, metadata["versions"][0]) == metadata


def test_triton_shows_our_errors(client: triton.InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match=r"\[404\] There is no such model"):
        client.infer("absent", inputs(columns([GOOD]), True))
    renamed = {("agee" if name == "age" else name): [cell] for name, cell in GOOD.items()}
    with pytest.raises(InferenceServerException, match=r"'age' is absent.*Is it 'agee'"):
        client.infer(ALIAS, inputs(renamed, True))
    with pytest.raises(InferenceServerException, match=r"There is no such output\. Did you mean `predict`\?"):
        client.infer(ALIAS, inputs(columns([GOOD]), True), outputs=[triton.InferRequestedOutput("predicts")])


def test_tritons_asynchronous_client(stack: Stack) -> None:
    """It accepts compressed responses, but decompresses only those of `infer`."""

    async def run() -> tuple[Any, Any]:
        client = triton_aio.InferenceServerClient(stack.url.removeprefix("http://"))
        try:
            x = np.random.default_rng(1).normal(size=(200, 20))
            asked = [triton.InferRequestedOutput("predict_proba", binary_data=False)]
            result = await client.infer("numbers", inputs({"x": x}, False), outputs=asked)
            return await client.get_model_metadata("numbers"), result.as_numpy("predict_proba")
        finally:
            await client.close()

    metadata, shares = asyncio.run(run())
    assert [entry["name"] for entry in metadata["inputs"]] == NUMBERS
    assert len(json.dumps(metadata)) > 1400
    assert shares.shape == (200, 2)


def mlserver(*words: str, text: str | None = None) -> str:
    python = os.environ["LITERATI_MLSERVER"]  # set by `make test-interop`
    command = [python, "-W", "ignore", *words]
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout


@pytest.mark.parametrize("codec", ["pd", "inputs"])
def test_mlservers_codecs(stack: Stack, codec: str) -> None:
    rows = [row for row in ROWS if row["size"] == row["size"]]
    url = f"{stack.url}/v2/models/{ALIAS}"
    found = json.loads(mlserver(str(MLSERVER), url, codec, text=json.dumps(columns(rows))))
    assert found["outputs"] == own(stack, ALIAS, rows)
    assert found["inputs"][:5] == list(GOOD)


def test_mlservers_codecs_for_missing_numbers(stack: Stack) -> None:
    """They write NaN as null in a matrix and in a column."""
    x = np.random.default_rng(1).normal(size=(5, 20)).tolist()
    x[2][0] = None
    rows = [dict(zip(NUMBERS, row, strict=True)) for row in x]
    for codec in ("np", "pd"):
        url = f"{stack.url}/v2/models/numbers"
        found = json.loads(mlserver(str(MLSERVER), url, codec, text=json.dumps(columns(rows))))
        assert found["outputs"] == own(stack, "numbers", rows)


@pytest.mark.parametrize("binary", [True, False])
def test_mlserver_infer(stack: Stack, tmp_path: Path, binary: bool) -> None:
    """Its command line reads a request from each line of a file, and joins several to one."""
    datatypes = {"size": "FP64", "age": "FP64", "colour": "BYTES", "member": "BOOL", "zone": "INT64"}
    rows = [row for row in ROWS if row["size"] == row["size"]]
    lines = [
        json.dumps(
            {
                "inputs": [
                    {"name": name, "shape": [1, 1], "datatype": datatypes[name], "data": [cell]}
                    for name, cell in row.items()
                ]
            }
        )
        for row in rows
    ]
    given, written = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(f"{line}\n" for line in lines))
    address = stack.url.removeprefix("http://")
    words = ["-u", address, "-m", ALIAS, "-i", str(given), "-o", str(written), "-s", "3", "-w", "1"]
    mlserver("-m", "mlserver.cli.main", "infer", *words, *(["-b"] if binary else []))
    answers = [json.loads(line) for line in written.read_text().splitlines()]
    answers.sort(key=lambda answer: answer["parameters"]["batch_index"])
    found = [{entry["name"]: entry["data"] for entry in answer["outputs"]} for answer in answers]
    expected = own(stack, ALIAS, rows)
    assert [entry["predict"] for entry in found] == [[label] for label in expected["predict"]]
    assert [entry["predict_proba"] for entry in found] == expected["predict_proba"]
    assert [entry["leaf_ids"] for entry in found] == [[leaf] for leaf in expected["leaf_ids"]]


@pytest.mark.filterwarnings("ignore:.*AnyType:UserWarning")  # of MLflow's own classes, when it is imported
def test_mlflow(stack: Stack) -> None:
    from mlflow.pyfunc.scoring_server.client import ScoringServerClient

    client: Any = ScoringServerClient("127.0.0.1", 0)
    client.url_prefix = f"{stack.url}/mlflow/{ALIAS}"
    client.wait_server_ready(timeout=5)
    assert client.get_version()
    missing: Row = {**GOOD, "size": None, "colour": None}
    rows = [*ROWS, missing]
    expected = own(stack, ALIAS, rows)
    frame = pd.DataFrame(rows)
    assert client.invoke(frame).get_predictions()[0].tolist() == expected["predict"]
    shares = client.invoke(frame, params={"method": "predict_proba"}).get_predictions()
    assert shares.to_numpy().tolist() == expected["predict_proba"]
    with pytest.raises(Exception, match=r"error code 422.*'age' is absent"):
        client.invoke(frame.drop(columns="age"))
    x = np.random.default_rng(1).normal(size=(5, 20))
    numbers = [dict(zip(NUMBERS, row, strict=True)) for row in x.tolist()]
    client.url_prefix = f"{stack.url}/mlflow/numbers"
    assert client.invoke(x).get_predictions()[0].tolist() == own(stack, "numbers", numbers)["predict"]
