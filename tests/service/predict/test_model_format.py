"""The service predicts as docs/model-format.md says; trees, metrics and examples fit their JSON Schemas."""

from __future__ import annotations

import copy
import json
from collections.abc import Container
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
from jsonschema_rs import validator_for

from literati import LiteratiClassifier, ShapeTree
from literati.data.columns import read_objects
from literati.data.schema import encode_column
from literati.tree.model_schema import tree_schema
from service.cli import write_openapi
from service.examples import jobs as examples
from service.examples import metrics as metric_examples
from service.examples import models as model_examples
from service.schemas.metrics import metrics_schema
from tests.support.http.predict_bodies import GOOD
from tests.support.http.service_client import submit
from tests.support.records.jobs import add_dataset, easy
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.solver.format_evaluator import Evaluator, probability_key
from tests.support.solver.format_problems import random_problem
from tests.support.stack.stack import Stack, poll

TREE = validator_for(tree_schema())
METRICS = validator_for(metrics_schema())
# Fields that the metrics of version 0.1.0 lack.
ADDED = {
    *("accuracy_interval", "macro_f1", "brier_score", "roc_auc", "operating_points", "calibration"),
    "warnings",
}
NUMBERS = ("coarse", "close", "narrow", "edges", "whole")


def read_as(word: str | None, words: Container[str]) -> str | None:
    """Return what the service takes a word for: without blanks it may be a category, or missing."""
    if word is None or word in words:
        return word
    bare = word.strip()
    return bare if bare in words else (word if bare else None)


def compare(answer: httpx.Response, evaluator: Evaluator, rows: list[dict[str, Any]]) -> None:
    assert answer.status_code == 200, answer.text
    given = answer.json()
    places = {column["name"]: place for place, column in enumerate(evaluator.columns)}
    words = evaluator.places[places["word"]]
    rows = [{**row, "word": read_as(row["word"], words)} for row in rows]
    expected = [evaluator.predict(row) for row in rows]
    assert given["leaf_ids"] == [prediction.leaf_id for prediction in expected]
    assert given["predictions"] == [prediction.label for prediction in expected]
    keys = [probability_key(label) for label in evaluator.classes]
    assert [list(entry) for entry in given["probabilities"]] == [keys] * len(rows)
    shares = [list(entry.values()) for entry in given["probabilities"]]
    np.testing.assert_allclose(shares, [prediction.probabilities for prediction in expected], rtol=1e-14)


# Every fifth problem has the labels 1 and "1", which no dataset of the service can have.
@pytest.mark.parametrize("seed", [seed for seed in range(14) if seed % 5 != 4])
def test_predict_agrees_with_an_evaluator_written_from_the_document(
    api: Stack, client: httpx.Client, seed: int
) -> None:
    problem = random_problem(seed)
    model = f"/v1/models/{add_model(api, problem.tree)}"
    evaluator = Evaluator(json.dumps(client.get(model).json()["tree"]))
    rows = problem.rows
    compare(client.post(f"{model}/predict", json={"records": rows}), evaluator, rows)
    arrays = {"columns": list(rows[0]), "data": [list(row.values()) for row in rows]}
    compare(client.post(f"{model}/predict", json=arrays), evaluator, rows)
    compare(post_arrow(client, model, rows), evaluator, rows)


def post_arrow(client: httpx.Client, model: str, rows: list[dict[str, Any]]) -> httpx.Response:
    """With NaN for the missing numbers of one column, and nulls elsewhere."""
    columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
    for name in NUMBERS:
        numbers = [None if cell is None else float(cell) for cell in columns[name]]
        columns[name] = pa.array(numbers, pa.float64())
    columns["coarse"] = columns["coarse"].fill_null(float("nan"))
    columns["flag"] = pa.array([None if cell is None else bool(cell) for cell in columns["flag"]])
    columns["zone"] = pa.array(columns["zone"], pa.int64())
    table = pa.table(columns)
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
    return client.post(f"{model}/predict", content=bytes(out.getvalue()), headers=kind)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_32_bits_and_integers_in_arrow_and_csv(
    api: Stack, client: httpx.Client, seed: int
) -> None:
    """Numbers only: the service's fast path for JSON, integers beyond 2^53, and the shortest decimals."""
    rng = np.random.default_rng(seed)
    table = pa.table(
        {
            "narrow": pa.array(rng.normal(size=300).astype(np.float32)),
            "whole": pa.array(rng.integers(-(1 << 62), 1 << 62, 300)),
        }
    )
    tree = LiteratiClassifier(max_depth=5, max_expansions=20).fit(table, rng.integers(0, 3, 300)).tree_
    model = f"/v1/models/{add_model(api, tree)}"
    evaluator = Evaluator(tree.to_json())
    cells = table.to_pylist()
    expected = [evaluator.predict(row).leaf_id for row in cells]
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    text = "narrow,whole\n" + "".join(f"{row['narrow']!r},{row['whole']}\n" for row in cells)
    bodies: dict[str, str | bytes] = {
        "application/json": json.dumps({"records": cells}),
        "text/csv": text,
        "application/vnd.apache.arrow.stream": bytes(out.getvalue()),
    }
    for kind, body in bodies.items():
        answer = client.post(f"{model}/predict", content=body, headers={"Content-Type": kind})
        assert answer.json()["leaf_ids"] == expected, kind


# Schemas


def test_the_files_are_current() -> None:
    for path, content in write_openapi.files().items():
        assert path.read_text(encoding="utf-8") == content, "run `make openapi`"


@pytest.mark.parametrize("validation", [None, {"fraction": 0.3}])
def test_what_a_real_job_answers_is_valid(stack: Stack, validation: dict[str, Any] | None) -> None:
    data = add_dataset(stack.store, stack.blobs, easy())
    with stack.client() as user:
        job = submit(user, data, parameters={"max_depth": 2}, validation=validation)
        poll(lambda: user.get(job["links"]["self"]).json()["state"] == "SUCCEEDED", what="the end")
        done = user.get(job["links"]["self"]).json()
        incumbent = user.get(done["links"]["incumbent"]).json()
        model = user.get(done["links"]["model"]).json()
    for shown in (incumbent, model):
        assert [str(error) for error in TREE.iter_errors(shown["tree"])] == []
    for shown in (done, incumbent, model):
        metrics = shown["metrics"]
        assert [str(error) for error in METRICS.iter_errors(metrics)] == []
        assert (metrics["validation"] is None) is (validation is None)
        for mutated in mutations(metrics):
            assert not METRICS.is_valid(mutated)


def mutations(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """Every field of every object lost, of a wrong type, and a field too many."""
    found = []

    def walk(path: tuple[Any, ...], at: Any) -> None:
        if path[-1:] == ("evidence",):  # any figures
            return
        inner = at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
        for key, value in inner:
            walk((*path, key), value)
        if isinstance(at, dict):
            for key in at:
                if key not in ADDED:
                    found.append(changed(path, key, remove=True))
                if key != "evidence":
                    found.append(changed(path, key, value={"odd": 1}))
            found.append(changed(path, "surprise", value=1))

    def changed(
        path: tuple[Any, ...], key: str, *, value: Any = None, remove: bool = False
    ) -> dict[str, Any]:
        copied = copy.deepcopy(entry)
        at: Any = copied
        for step in path:
            at = at[step]
        if remove:
            del at[key]
        else:
            at[key] = value
        return copied

    walk((), entry)
    assert len(found) > 50
    return found


def test_the_examples_are_true() -> None:
    """The example's tree opens, and its rules, predictions and metrics are its own."""
    tree = ShapeTree.from_dict(examples.TREE)
    assert tree.to_dict() == examples.TREE
    assert tree.to_text() == model_examples.RULES
    evaluator = Evaluator(json.dumps(examples.TREE))
    first = evaluator.predict(model_examples.RECORDS["records"][0])
    shown = model_examples.PREDICTIONS
    assert [first.label] == shown["predictions"]
    assert [dict(zip(evaluator.classes, first.probabilities, strict=True))] == shown["probabilities"]
    assert [first.leaf_id] == shown["leaf_ids"]
    assert metric_examples.METRICS["train"]["accuracy"] == 1 - tree.objective / tree.nodes[0].rows
    assert METRICS.is_valid(metric_examples.METRICS)


def test_answers_refer_to_the_schemas() -> None:
    schemas = json.loads(write_openapi.TARGET.read_text())["components"]["schemas"]
    for name in ("Incumbent", "ModelWithTree"):
        assert schemas[name]["properties"]["tree"]["$ref"] == "#/components/schemas/Tree"
        assert schemas[name]["properties"]["metrics"]["$ref"] == "#/components/schemas/Metrics"
    assert schemas["Job"]["properties"]["metrics"]["anyOf"][0] == {"$ref": "#/components/schemas/Metrics"}


# What is refused, as docs/model-format.md says it: of a cell, whether the library and the service take it.
TAKEN = {"library": True, "json": True, "csv": True}
NONE = {"library": False, "json": False, "csv": False}
BY_CSV = {**NONE, "csv": True}
BY_LIBRARY = {**NONE, "library": True}
CELLS: list[tuple[str, Any, dict[str, bool]]] = [
    ("size", 10**400, NONE),
    ("size", "many", NONE),
    ("size", "", BY_CSV),
    ("size", True, BY_LIBRARY),
    ("member", 2, NONE),
    ("member", 1, TAKEN),
    ("member", "perhaps", NONE),
    ("member", "", BY_CSV),
    ("colour", 5, BY_CSV),
    ("colour", True, BY_CSV),
    ("colour", "", TAKEN),
    ("zone", "20", TAKEN),
    ("zone", True, BY_LIBRARY),
    ("zone", "nowhere", BY_LIBRARY),
    ("zone", 7, TAKEN),
]


@pytest.mark.parametrize(("column", "cell", "taken"), CELLS, ids=lambda value: repr(value)[:20])
def test_what_is_refused_is_what_the_page_says(
    api: Stack, column: str, cell: Any, taken: dict[str, bool]
) -> None:
    tree = mixed_tree()
    address = f"/v1/models/{add_model(api, tree)}/predict"
    row = {**GOOD, column: cell}
    table = ",".join(row) + "\n" + ",".join(str(value) for value in row.values()) + "\n"
    rows = np.empty((1, len(tree.schema.columns)), dtype=object)
    rows[0] = [row.get(entry.name) for entry in tree.schema.columns]
    try:
        tree.predict(rows)
        found = {"library": True}
    except (TypeError, ValueError):
        found = {"library": False}
    with api.client() as client:
        for name, body, kind in (
            ("json", json.dumps({"records": [row]}), "application/json"),
            ("csv", table, "text/csv"),
        ):
            answer = client.post(address, content=body, headers={"Content-Type": kind})
            assert answer.status_code in (200, 422), answer.text
            found[name] = answer.status_code == 200
    assert found == taken


def test_empty_text_is_missing_to_the_service_and_a_category_to_the_library(api: Stack) -> None:
    tree = mixed_tree()
    with api.client() as client:
        body = {"records": [{**GOOD, "colour": ""}]}
        answer = client.post(f"/v1/models/{add_model(api, tree)}/predict", json=body).json()
    assert [warning["code"] for warning in answer["warnings"]] == ["MISSING_VALUE"]
    column = next(entry for entry in tree.schema.columns if entry.name == "colour")
    _, unknown = encode_column(column, read_objects([""], "colour"))
    assert unknown == ("",)
