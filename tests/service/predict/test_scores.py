"""Scores of uploaded rows over HTTP, compared with those that scikit-learn computes."""

from __future__ import annotations

import gzip
import io
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn import metrics as sk

from literati import ShapeTree
from service.predict.schemas import JobScored, Scored
from service.schemas.metrics import Scores
from tests.support.http.predict_bodies import as_arrays, as_csv, as_records, as_table, stream
from tests.support.http.service_client import NOWHERE, pointers, problem, submit
from tests.support.records import jobs
from tests.support.records.model_maker import add_job, add_model, finish, mixed_tree, training_table
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.training import metrics

ROWS = 300
CSV = {"Content-Type": "text/csv"}
Row = dict[str, Any]


def labelled(rows: int = ROWS, seed: int = 5, labels: tuple[Any, ...] = ("no", "yes")) -> list[Row]:
    """Return rows that the model has not seen, with true classes that it often predicts, and weights."""
    rng = np.random.default_rng(seed)
    table = training_table(rows, seed)
    predicted = mixed_tree(labels).predict(table).tolist()
    wrong = rng.random(rows) < 0.2
    return [
        {
            **{name: cell for name, cell in row.items() if name != "planet"},
            "label": labels[int(rng.integers(len(labels)))] if other else label,
            "w": float(weight),
        }
        for row, label, other, weight in zip(
            table.to_pylist(), predicted, wrong, rng.integers(0, 5, rows) / 4, strict=True
        )
    ]


def features(tree: ShapeTree, rows: list[Row]) -> Any:
    table = as_table([{name: row[name] for name in tree.feature_names if name != "planet"} for row in rows])
    table = table.set_column(4, "zone", table.column("zone").dictionary_encode())
    return table.append_column("planet", pa.nulls(len(rows), pa.string()))


def score(client: httpx.Client, model: str, rows: list[Row], **query: Any) -> dict[str, Any]:
    answer = client.post(f"/v1/models/{model}/score", content=as_csv(rows), headers=CSV, params=query)
    assert answer.status_code == 200, answer.text
    Scored.model_validate(answer.json(), strict=True, extra="forbid")
    Scores.model_validate(answer.json()["scores"], extra="forbid")
    body: dict[str, Any] = answer.json()
    return body


def expected(tree: ShapeTree, rows: list[Row], weight: str | None = None) -> dict[str, float]:
    """Return the scores by scikit-learn; rows of unknown classes have no probability of their class."""
    X, y = features(tree, rows), [row["label"] for row in rows]
    weights = np.array([1.0 if weight is None else row[weight] for row in rows])
    predicted, probabilities = tree.predict(X), tree.predict_proba(X)
    occurring = sorted({*y, *predicted.tolist()})
    recalls = sk.recall_score(
        y, predicted, labels=sorted(set(y)), average=None, sample_weight=weights, zero_division=0
    )
    known = np.isin(y, tree.classes)
    some = np.array(y)[known]
    p, w = probabilities[known], weights[known]
    one_hot = some[:, None] == tree.classes
    return {
        "accuracy": sk.accuracy_score(y, predicted, sample_weight=weights),
        "balanced_accuracy": float(np.mean(recalls)),
        "macro_f1": sk.f1_score(
            y, predicted, labels=occurring, average="macro", sample_weight=weights, zero_division=0
        ),
        "log_loss": sk.log_loss(some, p, labels=tree.classes, sample_weight=w),
        "brier_score": float(np.average(((p - one_hot) ** 2).sum(axis=1), weights=w)),
        "roc_auc": sk.roc_auc_score(some == tree.classes[1], p[:, 1], sample_weight=w),
    }


def check(found: dict[str, Any], tree: ShapeTree, rows: list[Row], weight: str | None = None) -> None:
    scores, wanted = found["scores"], expected(tree, rows, weight)
    assert {name: scores[name] for name in wanted} == pytest.approx(wanted)
    assert scores["rows"] == len(rows)
    labels = scores["confusion_matrix"]["labels"]
    y, predicted = [row["label"] for row in rows], tree.predict(features(tree, rows))
    weights = np.array([1.0 if weight is None else row[weight] for row in rows])
    matrix = sk.confusion_matrix(y, predicted, labels=labels, sample_weight=weights)
    assert np.allclose(scores["confusion_matrix"]["counts"], matrix)
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert scores["accuracy_interval"] == pytest.approx(
        metrics.wilson_interval(wanted["accuracy"], effective)
    )
    known = np.isin(y, tree.classes)
    second = tree.predict_proba(features(tree, rows))[:, 1]
    for point in scores["operating_points"]:
        for name, label in (("positives", tree.classes[1]), ("negatives", tree.classes[0])):
            here = (second == point["probability"]) & (np.array(y) == label)
            assert point[name] == pytest.approx(weights[here].sum())
    counted = set(second[known & (weights > 0)].tolist())
    assert [point["probability"] for point in scores["operating_points"]] == sorted(counted, reverse=True)
    share = sum(entry["weight"] * entry["accuracy"] for entry in scores["calibration"]) / weights.sum()
    assert share == pytest.approx(wanted["accuracy"])


@pytest.fixture
def model(api: Stack) -> str:
    return add_model(api, mixed_tree())


def as_parquet(rows: list[Row]) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(_table(rows), out)
    return out.getvalue()


def _table(rows: list[Row]) -> Any:
    table = as_table([{name: cell for name, cell in row.items() if name != "w"} for row in rows])
    return table.append_column("w", pa.array([row["w"] for row in rows]))


BODIES: dict[str, Any] = {
    "records": ("application/json", as_records),
    "arrays": ("application/json", as_arrays),
    "csv": ("text/csv", as_csv),
    "gzip": ("text/csv", lambda rows: gzip.compress(as_csv(rows))),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
    "arrow": ("application/vnd.apache.arrow.stream", lambda rows: stream(_table(rows), rows=100)),
    "any": ("application/octet-stream", as_parquet),
}


@pytest.mark.parametrize("form", BODIES)
@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_of_every_format(client: httpx.Client, model: str, form: str, weight: str | None) -> None:
    rows, (kind, write) = labelled(), BODIES[form]
    query = {} if weight is None else {"weight": weight}
    answer = client.post(
        f"/v1/models/{model}/score", content=write(rows), headers={"Content-Type": kind}, params=query
    )
    assert answer.status_code == 200, answer.text
    found = answer.json()
    check(found, mixed_tree(), rows, weight)
    assert (found["model_id"], found["target"], found["weight"]) == (model, "label", weight)
    assert (found["rows"], found["rows_without_target"], found["rows_of_unknown_classes"]) == (ROWS, 0, 0)
    unknown = [w["column"] for w in found["warnings"] if w["code"] == "UNKNOWN_COLUMN"]
    assert unknown == ([] if weight else ["w"])
    assert not {"label", weight} & {warning["column"] for warning in found["warnings"]}


def test_a_hundred_thousand_rows_in_the_sandbox(client: httpx.Client, model: str) -> None:
    rows = labelled(100_000)
    check(score(client, model, rows, weight="w"), mixed_tree(), rows, "w")


@pytest.mark.parametrize("labels", [(0, 1), (True, False), (1.0, 2.0), ("001", "002")])
def test_labels_of_every_type(api: Stack, client: httpx.Client, labels: tuple[Any, ...]) -> None:
    model = add_model(api, mixed_tree(labels))
    rows = labelled(labels=labels)
    found = score(client, model, rows)
    tree = mixed_tree(labels)
    y = np.array([row["label"] for row in rows])
    assert found["scores"]["accuracy"] == pytest.approx(
        float((tree.predict(features(tree, rows)) == y).mean())
    )
    assert [entry["label"] for entry in found["scores"]["per_class"]] == tree.classes.tolist()
    assert found["rows_of_unknown_classes"] == 0


def test_rows_without_a_class_are_left_out(client: httpx.Client, model: str) -> None:
    rows = labelled()
    cut = [{**row, "label": None if place % 3 == 0 else row["label"]} for place, row in enumerate(rows)]
    found = score(client, model, cut)
    assert found["rows_without_target"] == 100
    check(found, mixed_tree(), [row for row in cut if row["label"] is not None])


def test_rows_of_unknown_classes_are_wrong_predictions(client: httpx.Client, model: str) -> None:
    rows = labelled()
    for place, row in enumerate(rows):
        row["label"] = "maybe" if place % 10 == 0 else "perhaps" if place % 25 == 1 else row["label"]
    found = score(client, model, rows, weight="w")
    check(found, mixed_tree(), rows, "w")
    assert found["rows_of_unknown_classes"] == 30 + 12
    assert found["unknown_classes"] == [
        {"label": label, "rows": n, "weight": sum(row["w"] for row in rows if row["label"] == label)}
        for label, n in (("maybe", 30), ("perhaps", 12))
    ]
    assert found["scores"]["confusion_matrix"]["labels"] == ["no", "yes", "maybe", "perhaps"]
    assert [entry["recall"] for entry in found["scores"]["per_class"][2:]] == [0.0, 0.0]


def test_another_target_and_a_column_of_the_model_as_weight(client: httpx.Client, model: str) -> None:
    rows = labelled()
    renamed = [{**row, "truth": row["label"], "label": "x"} for row in rows]
    found = score(client, model, renamed, target="truth", weight="age")
    check(found, mixed_tree(), rows, "age")
    assert (found["target"], found["weight"]) == ("truth", "age")


@pytest.mark.parametrize("cells", [jobs.noise(400, 3), jobs.easy()], ids=["three classes", "two classes"])
def test_the_scores_of_a_job_are_those_of_its_rows(stack: Stack, cells: dict[str, Any]) -> None:
    """The scores of the training rows are the metrics of a real job."""
    dataset = jobs.add_dataset(stack.store, stack.blobs, cells)
    rows = [
        dict(zip(cells, row, strict=True)) for row in zip(*(c.tolist() for c in cells.values()), strict=True)
    ]
    with stack.client() as client:
        job = submit(client, dataset, parameters={"max_depth": 2})
        while job["model_id"] is None:
            job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=5"}).json()
            assert job["state"] not in ("FAILED", "CANCELLED"), job
        found = score(client, job["model_id"], rows)
        assert found["target"] == "label"
        wanted = job["metrics"]["train"]
        for name in ("accuracy", "balanced_accuracy", "macro_f1", "log_loss", "brier_score", "roc_auc"):
            assert found["scores"][name] == pytest.approx(wanted[name]), name
        assert found["scores"]["confusion_matrix"] == wanted["confusion_matrix"]
        assert found["scores"]["operating_points"] == wanted["operating_points"]
        assert (wanted["operating_points"] is None) == (len(wanted["per_class"]) > 2)
        assert job["metrics"]["baselines"]["majority"]["train"]["operating_points"] is None
        (item,) = (item for item in client.get("/v1/jobs").json()["items"] if item["id"] == job["id"])
        assert item["metrics"]["train_log_loss"] == pytest.approx(wanted["log_loss"])
        assert all(isinstance(value, float | int | None) for value in item["metrics"].values())
        assert found["scores"]["accuracy_interval"] == pytest.approx(wanted["accuracy_interval"])
        assert [bin_["weight"] for bin_ in found["scores"]["calibration"]] == [
            bin_["weight"] for bin_ in wanted["calibration"]
        ]


def test_a_running_job_and_an_alias(api: Stack, client: httpx.Client) -> None:
    job = add_job(api, mixed_tree())
    body: dict[str, Any] = {"content": as_csv(labelled()), "headers": CSV}
    answer = client.post(f"/v1/jobs/{job.spec.id}/score", **body)
    JobScored.model_validate(answer.json(), strict=True, extra="forbid")
    assert (answer.json()["model_id"], answer.json()["job_id"], answer.json()["revision"]) == (
        None,
        job.spec.id,
        1,
    )
    assert client.post(f"/v1/jobs/{job.spec.id}/score?revision=1", **body).json() == answer.json()
    problem(client.post(f"/v1/jobs/{job.spec.id}/score?revision=2", **body), 404, "not-found")
    problem(client.post(f"/v1/jobs/{NOWHERE}/score", **body), 404, "not-found")
    model = finish(api, job)
    client.put("/v1/models/aliases/best", json={"model_id": model})
    found = client.post("/v1/models/best/score", **body).json()
    assert found["model_id"] == model
    assert found["scores"] == answer.json()["scores"]


def test_rows_without_the_target_say_what_to_do(client: httpx.Client, model: str) -> None:
    path = f"/v1/models/{model}/score"
    rows = [{name: cell for name, cell in row.items() if name != "label"} for row in labelled(20)]
    for kind, write in BODIES.values():
        if write in (as_parquet, BODIES["arrow"][1]):
            continue
        answer = client.post(path, content=write(rows), headers={"Content-Type": kind})
        detail = problem(answer, 422, "invalid-request")["detail"]
        assert "The column 'label' is absent, but scores need the true class of each row." in detail
        assert "Add this column to the rows, or name the column of the true classes with `target`." in detail
    near = [{**row, "Label": "no"} for row in rows]
    answer = client.post(path, content=as_csv(near), headers=CSV)
    (fix,) = problem(answer, 422)["fixes"]
    assert fix["options"] == {"target": "Label"}
    assert client.post(path, content=as_csv(near), headers=CSV, params=fix["options"]).status_code == 200
    answer = client.post(path, content=as_csv(labelled(20)), headers=CSV, params={"weight": "weights"})
    assert "leave out `weight`" in problem(answer, 422)["detail"]
    assert problem(answer, 422)["fixes"][-1]["options"] == {"weight": None}


@pytest.mark.parametrize(
    ("change", "query", "pointer", "code"),
    [
        ({"w": -1}, {"weight": "w"}, "/body/rows/1/w", "NEGATIVE_WEIGHT"),
        ({"w": None}, {"weight": "w"}, "/body/rows/1/w", "MISSING_WEIGHT"),
        ({"w": "inf"}, {"weight": "w"}, "/body/rows/1/w", "INFINITE"),
        ({"w": "heavy"}, {"weight": "w"}, "/body/rows/1/w", "TYPE"),
        ({"w": 1e300}, {"weight": "w"}, "/body/w", "BAD_WEIGHT"),
        ({}, {"target": "colour"}, "/query/target", "MODEL_COLUMN"),
        ({}, {"weight": "colour"}, "/query/weight", "BAD_WEIGHT"),
        ({}, {"weight": "label"}, "/query/weight", "BAD_WEIGHT"),
        ({}, {"target": ""}, "/query/target", "STRING_TOO_SHORT"),
        ({}, {"targt": "label"}, "/query/targt", "UNKNOWN_OPTION"),
        ({}, {"explain": "true"}, "/query/explain", "UNKNOWN_OPTION"),
        ({"age": "old"}, {}, "/body/rows/1/age", "TYPE"),
    ],
)
def test_rows_and_options_that_cannot_be_used(
    client: httpx.Client, model: str, change: Row, query: dict[str, str], pointer: str, code: str
) -> None:
    rows = labelled(5)
    rows[1] |= change
    answer = client.post(f"/v1/models/{model}/score", content=as_csv(rows), headers=CSV, params=query)
    assert pointers(answer) == [pointer]
    assert answer.json()["errors"][0]["code"] == code


@pytest.mark.parametrize(
    ("label", "weight", "code", "words"),
    [
        (None, 1.0, "NO_CLASSES", "No row has a class in the target 'label'"),
        ("other", 1.0, "UNKNOWN_CLASSES", "The model knows 'no', 'yes'."),
        ("yes", 0.0, "BAD_WEIGHT", "Every weight in 'w' is 0"),
    ],
)
def test_rows_that_all_cannot_be_scored(
    client: httpx.Client, model: str, label: str | None, weight: float, code: str, words: str
) -> None:
    rows = [{**row, "label": label, "w": weight} for row in labelled(5)]
    answer = client.post(
        f"/v1/models/{model}/score", content=as_csv(rows), headers=CSV, params={"weight": "w"}
    )
    assert problem(answer, 422)["errors"][0]["code"] == code
    assert words in answer.json()["detail"]


def test_an_identifier_as_the_target(client: httpx.Client, model: str) -> None:
    rows = [{**row, "id": f"person {place}"} for place, row in enumerate(labelled(2000))]
    answer = client.post(
        f"/v1/models/{model}/score", content=as_csv(rows), headers=CSV, params={"target": "id"}
    )
    assert problem(answer, 422)["errors"][0]["code"] == "TOO_MANY_CLASSES"


def test_other_requests(client: httpx.Client, model: str) -> None:
    path = f"/v1/models/{model}/score"
    problem(client.post(path, content=b"PK\x03\x04", headers={"Content-Type": "image/png"}), 415)
    problem(client.post(path, content=b"{", headers={"Content-Type": "application/json"}), 400)
    problem(client.post("/v1/models/nothing/score", json={"records": []}), 404, "not-found")
    answer = client.post(path, json={"records": labelled(3)}, params={"delimiter": ";"})
    assert pointers(answer) == ["/query/delimiter"]


def test_the_target_of_a_job_without_its_name(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    """Version 0.1.0 did not store the target in the job, so it is that of the dataset, if that exists."""
    rows: dict[str, Any] = {"content": as_csv(labelled(30)), "headers": CSV}
    first, second = (finish(api, add_job(api, mixed_tree(), dataset=dataset)) for _ in range(2))
    assert client.post(f"/v1/models/{first}/score", **rows).json()["target"] == "label"
    assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204
    answer = client.post(f"/v1/models/{second}/score", **rows)
    assert pointers(answer) == ["/query/target"]
    assert "send the name of the column" in answer.json()["detail"]
    assert client.post(f"/v1/models/{second}/score?target=label", **rows).status_code == 200


def test_a_deleted_dataset_leaves_its_model_able_to_score(api: Stack, client: httpx.Client) -> None:
    dataset = jobs.add_dataset(api.store, api.blobs, jobs.easy())
    model = finish(api, add_job(api, mixed_tree(), dataset=dataset, target="label"))
    assert client.delete(f"/v1/datasets/{dataset.id}").status_code == 204
    assert score(client, model, labelled(30))["target"] == "label"
