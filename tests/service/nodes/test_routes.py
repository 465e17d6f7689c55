"""The rows in a node over HTTP, compared with rows that the library routes and plain Python counts."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from literati import LiteratiClassifier, ShapeTree
from service.nodes.schemas import JobNodeRows, ModelNodeRows
from tests.support.http.service_client import NOWHERE, pointers, problem, submit
from tests.support.records import jobs
from tests.support.records.model_maker import add_job, finish, training_table
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset
from worker.domain.jobs import SweepPlace
from worker.domain.validation import (
    ColumnFolds,
    RandomFolds,
    Validation,
    ValidationColumn,
    ValidationFraction,
)
from worker.training.folds import split_for_sweep
from worker.training.tables import DatasetRows, load, split

ROWS = 400
PARTS = ("train", "validation", "all")
VALIDATIONS: dict[str, Validation | None] = {
    "none": None,
    "fraction": ValidationFraction(fraction=0.3, seed=4),
    "column": ValidationColumn(column="fold", value=2),
}


def cells() -> dict[str, Any]:
    """Return columns of every kind with missing cells, weights that are sometimes 0, and text labels."""
    rng = np.random.default_rng(8)
    table = training_table(ROWS)
    found = {name: table.column(name) for name in ("size", "age", "colour", "member", "zone")}
    found["fold"] = pa.array(rng.integers(0, 4, ROWS))
    found["weight"] = rng.integers(0, 4, ROWS) / 2
    age, member = table["age"].to_numpy(), table["member"].to_numpy(zero_copy_only=False)
    red = np.array([word in ("red", "élan") for word in table["colour"].to_pylist()])
    zone = np.isin(np.array(table["zone"].to_pylist()), (2, 20))
    missing = np.isnan(table["size"].to_numpy())
    code = np.where(member, red * 2 + missing, (age > 40) * 2 + zone)
    found["label"] = np.array(["alpha", "beta", "gamma", "delta"])[code]
    return found


@pytest.fixture
def weighted(api: Stack) -> Dataset:
    return jobs.add_dataset(api.store, api.blobs, cells(), "weight")


def parts(api: Stack, dataset: Dataset, validation: Validation | None) -> dict[str, DatasetRows | None]:
    everything = load(api.blobs.path(dataset.blob), dataset)
    train, held_out = split(everything, validation)
    return {"train": train, "validation": held_out, "all": everything}


def learn(rows: DatasetRows) -> ShapeTree:
    classifier = LiteratiClassifier(max_depth=4, max_changepoints=2, max_expansions=300)
    return classifier.fit(rows.X, rows.y, sample_weight=rows.weights).tree_


def reaching(tree: ShapeTree, rows: DatasetRows, node: int) -> list[dict[str, Any]]:
    """Return the rows of positive weight that pass a node, by the library's decision path."""
    table = rows.X.select(list(tree.feature_names))
    passing = np.asarray(tree.decision_path(table)[:, [node]].todense()).ravel() > 0
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    return [
        {**row, "label": label, "w": weight}
        for row, label, weight, passes in zip(table.to_pylist(), rows.y, weights, passing, strict=True)
        if passes and weight > 0
    ]


def child_of(tree: ShapeTree, node: int, row: dict[str, Any]) -> int:
    """Return the node after this one on the row's path."""
    path = [step.node for step in tree.explain({name: row[name] for name in tree.feature_names}).steps]
    leaf = tree.explain({name: row[name] for name in tree.feature_names}).leaf
    path.append(leaf)
    return path[path.index(node) + 1]


def counts(tree: ShapeTree, rows: list[dict[str, Any]]) -> tuple[list[int], list[float]]:
    labels = [str(label) for label in tree.classes]
    chosen = Counter(row["label"] for row in rows)
    weights = [sum(row["w"] for row in rows if row["label"] == label) for label in labels]
    return [chosen[label] for label in labels], weights


def check(found: dict[str, Any], tree: ShapeTree, node: int, rows: list[dict[str, Any]]) -> None:
    by_class, weights = counts(tree, rows)
    assert (found["node"], found["rows"], found["weight"]) == (node, len(rows), sum(weights))
    assert [entry["label"] for entry in found["classes"]] == tree.classes.tolist()
    assert [entry["rows"] for entry in found["classes"]] == by_class
    assert [entry["weight"] for entry in found["classes"]] == weights
    split_ = tree.nodes[node].split
    if split_ is None:
        assert found["feature"] is found["histogram"] is None
        return
    name = tree.feature_names[split_.column]
    assert found["feature"] == name
    shown = found["histogram"]
    groups: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
        (shown["missing"], [row for row in rows if row[name] is None])
    ]
    if shown["kind"] == "number":
        edges = {edge for entry in shown["bins"] for edge in (entry["low"], entry["high"])}
        values = [row[name] for row in rows if row[name] is not None]
        assert not values or {t for t in split_.thresholds if min(values) <= t < max(values)} <= edges
        for place, entry in enumerate(shown["bins"]):
            low, high = entry["low"], entry["high"]
            inside = [
                row
                for row in rows
                if row[name] is not None and (low < row[name] <= high or (place == 0 and row[name] == low))
            ]
            groups.append((entry, inside))
    else:
        assert shown["other"] == []
        groups += [
            (entry, [row for row in rows if row[name] == entry["value"]]) for entry in shown["categories"]
        ]
    assert sum(len(inside) for _, inside in groups) == len(rows)
    for entry, inside in groups:
        assert (entry["rows"], entry["weights"]) == counts(tree, inside)
        assert {child_of(tree, node, row) for row in inside} <= {entry["child"]}


@pytest.mark.parametrize("name", VALIDATIONS)
def test_every_node_in_every_part(api: Stack, client: httpx.Client, weighted: Dataset, name: str) -> None:
    validation = VALIDATIONS[name]
    by_part = parts(api, weighted, validation)
    assert by_part["train"] is not None
    tree = learn(by_part["train"])
    job = add_job(api, tree, dataset=weighted, validation=validation)
    model = finish(api, job)
    kinds = set()
    for part, rows in by_part.items():
        for node, parent in enumerate(tree.nodes):
            answer = client.get(f"/v1/models/{model}/nodes/{node}/rows", params={"part": part})
            if rows is None:
                assert pointers(answer) == ["/query/part"]
                assert answer.json()["fixes"][0]["options"] == {"part": "train"}
                continue
            assert answer.status_code == 200, answer.text
            ModelNodeRows.model_validate(answer.json(), strict=True, extra="forbid")
            found = answer.json()
            assert (found["model_id"], found["dataset_id"], found["part"]) == (model, weighted.id, part)
            check(found, tree, node, reaching(tree, rows, node))
            kinds.add(found["histogram"] and found["histogram"]["kind"])
            if part == "train":
                assert found["rows"] == parent.rows
                assert [entry["weight"] for entry in found["classes"]] == list(parent.counts)
    assert kinds == {None, "number", "category"}


SWEEPS = {
    "fold": SweepPlace(sweep_id="swp", setting=0, fold=1, folds=RandomFolds(folds=3, seed=2)),
    "fold and test": SweepPlace(
        sweep_id="swp", setting=0, fold=4, folds=RandomFolds(folds=3), test=ValidationFraction(fraction=0.2)
    ),
    "column": SweepPlace(sweep_id="swp", setting=0, fold=2, folds=ColumnFolds(column="fold")),
    "last fit": SweepPlace(sweep_id="swp", folds=ColumnFolds(column="fold")),
    "last fit and test": SweepPlace(
        sweep_id="swp", folds=RandomFolds(folds=3), test=ValidationFraction(fraction=0.2)
    ),
}


@pytest.mark.parametrize("name", SWEEPS)
def test_a_job_of_a_sweep(api: Stack, client: httpx.Client, weighted: Dataset, name: str) -> None:
    train, held_out = split_for_sweep(load(api.blobs.path(weighted.blob), weighted), SWEEPS[name])
    tree = learn(train)
    model = finish(api, add_job(api, tree, dataset=weighted, sweep=SWEEPS[name]))
    for part, rows in (("train", train), ("validation", held_out)):
        answer = client.get(f"/v1/models/{model}/nodes/0/rows", params={"part": part})
        if rows is None:
            assert pointers(answer) == ["/query/part"]
        else:
            check(answer.json(), tree, 0, reaching(tree, rows, 0))


def test_a_job_that_runs(api: Stack, client: httpx.Client, weighted: Dataset) -> None:
    rows = load(api.blobs.path(weighted.blob), weighted)
    tree = learn(rows)
    job = add_job(api, tree, dataset=weighted)
    url = f"/v1/jobs/{job.spec.id}/incumbent/nodes/0/rows"
    answer = client.get(url)
    JobNodeRows.model_validate(answer.json(), strict=True, extra="forbid")
    assert (answer.json()["job_id"], answer.json()["revision"]) == (job.spec.id, 1)
    check(answer.json(), tree, 0, reaching(tree, rows, 0))
    assert client.get(url, params={"revision": 1}).json() == answer.json()
    problem(client.get(url, params={"revision": 2}), 404, "not-found")
    assert pointers(client.get(url, params={"revision": 0})) == ["/query/revision"]


def test_without_weights_and_with_numbers_as_labels(api: Stack, client: httpx.Client) -> None:
    table = cells()
    table["label"] = (table["label"] == "beta").astype(np.int64)
    del table["weight"]
    dataset = jobs.add_dataset(api.store, api.blobs, table)
    validation = ValidationFraction(fraction=0.2)
    train, held_out = split(load(api.blobs.path(dataset.blob), dataset), validation)
    model = finish(api, add_job(api, learn(train), dataset=dataset, validation=validation))
    found = client.get(f"/v1/models/{model}/nodes/0/rows").json()
    assert [(entry["label"], entry["rows"], entry["weight"]) for entry in found["classes"]] == [
        (label, int((train.y == label).sum()), float((train.y == label).sum())) for label in (0, 1)
    ]
    assert held_out is not None
    found = client.get(f"/v1/models/{model}/nodes/0/rows", params={"part": "validation"}).json()
    assert found["rows"] == held_out.n_rows


def test_classes_that_class_weight_leaves_out(api: Stack, client: httpx.Client, weighted: Dataset) -> None:
    rows = load(api.blobs.path(weighted.blob), weighted)
    weights = {"alpha": 1.0, "beta": 1.0, "gamma": 2.0, "delta": 0.0}
    classifier = LiteratiClassifier(max_depth=2, class_weight=weights, max_expansions=50)
    tree = classifier.fit(rows.X, rows.y, sample_weight=rows.weights).tree_
    model = finish(api, add_job(api, tree, dataset=weighted, parameters={"class_weight": weights}))
    found = client.get(f"/v1/models/{model}/nodes/0/rows").json()
    assert [entry["label"] for entry in found["classes"]] == ["alpha", "beta", "gamma"]
    assert found["rows"] == tree.nodes[0].rows
    by_class = [entry["weight"] * weights[entry["label"]] for entry in found["classes"]]
    assert by_class == list(tree.nodes[0].counts)


def test_a_tree_of_one_leaf(api: Stack, client: httpx.Client, weighted: Dataset) -> None:
    rows = load(api.blobs.path(weighted.blob), weighted)
    leaf = LiteratiClassifier(max_depth=1, split_penalty=1e6).fit(rows.X, rows.y, rows.weights).tree_
    assert len(leaf.nodes) == 1
    validation = ValidationFraction(fraction=0.5)
    model = finish(api, add_job(api, leaf, dataset=weighted, validation=validation))
    train, _ = split(rows, validation)
    assert train.weights is not None
    found = client.get(f"/v1/models/{model}/nodes/0/rows").json()
    assert found["histogram"] is None
    assert found["rows"] == int((train.weights > 0).sum())
    problem(client.get(f"/v1/models/{model}/nodes/1/rows"), 404, "not-found")


def test_entity_tags(api: Stack, client: httpx.Client, weighted: Dataset) -> None:
    tree = learn(load(api.blobs.path(weighted.blob), weighted))
    job = add_job(api, tree, dataset=weighted)
    model = finish(api, job)
    client.put("/v1/models/aliases/best", json={"model_id": model})
    urls = [
        *(f"/v1/models/{model}/nodes/{node}/rows{query}" for node in (0, 1) for query in ("", "?part=all")),
        f"/v1/jobs/{job.spec.id}/incumbent/nodes/0/rows",
    ]
    tags = [client.get(url).headers["etag"] for url in urls]
    assert len(set(tags)) == len(tags)
    for url, tag in zip(urls, tags, strict=True):
        answer = client.get(url, headers={"If-None-Match": tag})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
        assert client.get(url, headers={"If-None-Match": '"other"'}).status_code == 200
    alias = client.get("/v1/models/best/nodes/0/rows")
    assert alias.headers["etag"] == tags[0]
    assert alias.json()["model_id"] == model


def test_a_deleted_dataset_says_so_until_it_is_restored(
    api: Stack, client: httpx.Client, weighted: Dataset
) -> None:
    tree = learn(load(api.blobs.path(weighted.blob), weighted))
    job = add_job(api, tree, dataset=weighted)
    model = finish(api, job)
    urls = [f"/v1/models/{model}/nodes/0/rows", f"/v1/jobs/{job.spec.id}/incumbent/nodes/0/rows"]
    before = [client.get(url).json() for url in urls]
    assert client.delete(f"/v1/datasets/{weighted.id}").status_code == 204
    for url in urls:
        detail = problem(client.get(url), 409, "dataset-deleted")["detail"]
        assert detail.startswith("The dataset of this tree was deleted, so its rows cannot be counted. ")
        assert f"`POST /v1/datasets/{weighted.id}/restore` restores it" in detail
    assert client.post(f"/v1/datasets/{weighted.id}/restore").status_code == 200
    assert [client.get(url).json() for url in urls] == before
    api.store.datasets.delete(jobs.TENANT, weighted.id)
    for url in urls:
        detail = problem(client.get(url), 409, "dataset-deleted")["detail"]
        assert detail == "The dataset of this tree was deleted, so its rows cannot be counted."


def test_a_deleted_job_leaves_its_model_countable(
    api: Stack, client: httpx.Client, weighted: Dataset
) -> None:
    validation = ValidationFraction(fraction=0.25)
    train, _ = split(load(api.blobs.path(weighted.blob), weighted), validation)
    job = add_job(api, learn(train), dataset=weighted, validation=validation)
    model = finish(api, job)
    before = client.get(f"/v1/models/{model}/nodes/0/rows").json()
    assert client.delete(f"/v1/jobs/{job.spec.id}").status_code == 204
    assert client.get(f"/v1/models/{model}/nodes/0/rows").json() == before


def test_wrong_requests(api: Stack, client: httpx.Client, weighted: Dataset) -> None:
    tree = learn(load(api.blobs.path(weighted.blob), weighted))
    model = finish(api, add_job(api, tree, dataset=weighted))
    url = f"/v1/models/{model}/nodes/0/rows"
    detail = problem(client.get(f"/v1/models/{model}/nodes/{len(tree.nodes)}/rows"), 404)["detail"]
    assert f"0 to {len(tree.nodes) - 1}" in detail
    assert pointers(client.get(f"/v1/models/{model}/nodes/-1/rows")) == ["/path/node"]
    assert pointers(client.get(f"/v1/models/{model}/nodes/root/rows")) == ["/path/node"]
    assert pointers(client.get(url, params={"part": "test"})) == ["/query/part"]
    assert pointers(client.get(url, params={"parts": "train"})) == ["/query/parts"]
    assert pointers(client.get(url, params={"revision": 1})) == ["/query/revision"]
    problem(client.get("/v1/models/nothing/nodes/0/rows"), 404, "not-found")
    problem(client.get(f"/v1/jobs/{NOWHERE}/incumbent/nodes/0/rows"), 404, "not-found")
    queued = submit(client, weighted)
    problem(client.get(f"/v1/jobs/{queued['id']}/incumbent/nodes/0/rows"), 409, "no-tree-yet")


def test_the_split_is_that_of_the_worker(stack: Stack) -> None:
    """A real job learns from an upload with text labels, weights and a seed."""
    table = pa.table(cells()).drop_columns(["fold"])
    out = io.BytesIO()
    pa.parquet.write_table(table, out)
    with stack.client() as client:
        dataset = client.post(
            "/v1/datasets",
            params={"target": "label", "weight": "weight", "types": "zone:category"},
            content=out.getvalue(),
            headers={"Content-Type": "application/vnd.apache.parquet"},
        ).json()
        body = {
            "dataset_id": dataset["id"],
            "parameters": {"max_depth": 4},
            "limits": {"max_expansions": 200},
        }
        job = client.post("/v1/jobs", json={**body, "validation": {"fraction": 0.3, "seed": 9}}).json()
        while job["model_id"] is None:
            job = client.get(f"/v1/jobs/{job['id']}", headers={"Prefer": "wait=5"}).json()
            assert job["state"] not in ("FAILED", "CANCELLED"), job
        model = client.get(job["links"]["model"]).json()
        for node, entry in enumerate(model["tree"]["nodes"]):
            found = client.get(f"/v1/models/{model['id']}/nodes/{node}/rows").json()
            assert found["rows"] == entry["rows"]
            assert [part["weight"] for part in found["classes"]] == entry["counts"]
        supports = [part["support"] for part in model["metrics"]["validation"]["per_class"]]
        found = client.get(f"/v1/models/{model['id']}/nodes/0/rows", params={"part": "validation"}).json()
        assert [part["weight"] for part in found["classes"]] == supports
