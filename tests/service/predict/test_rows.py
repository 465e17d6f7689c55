"""Rows in every format against the library's own reading of the same rows; no HTTP here."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati import LiteratiClassifier, ShapeTree
from service.predict.explanations import MAX_CATEGORIES
from service.predict.predictor import PredictOptions, Predictor
from tests.support.http.predict_bodies import GOOD, WRITERS, Row, as_records, as_table, ask
from tests.support.records.model_maker import COLOURS, ZONES, mixed_tree

numbers = st.none() | st.integers(-200, 200) | st.floats(-1e9, 1e9)
rows = st.fixed_dictionaries(
    {
        "size": numbers,
        "age": numbers,
        "colour": st.none() | st.sampled_from([*COLOURS, "pink", "=1+1", "a:b", "line\nbreak", "RED"]),
        "member": st.none() | st.booleans(),
        "zone": st.none() | st.sampled_from([*ZONES, 4, -7, 10**15]),
    }
)


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


def expected_leaves(tree: ShapeTree, rows: list[Row]) -> list[int]:
    """By the library: its reading of an Arrow table, and the check of its kernel in plain NumPy."""
    table = as_table([{**row, "planet": "earth"} for row in rows])
    coded = table.column("zone").dictionary_encode()
    leaves: list[int] = tree.apply(table.set_column(table.column_names.index("zone"), "zone", coded)).tolist()
    return leaves


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(rows, min_size=1, max_size=20), order=st.randoms(use_true_random=False))
def test_every_format_says_what_the_library_says(
    predictor: Predictor, rows: list[Row], order: random.Random
) -> None:
    names = list(rows[0])
    order.shuffle(names)
    rows = [{name: row[name] for name in names} for row in rows]
    leaves = expected_leaves(predictor.tree, rows)
    labels = [str(predictor.tree.classes[predictor.tree.nodes[leaf].label]) for leaf in leaves]
    first: dict[str, Any] | None = None
    for write, form in WRITERS.values():
        answer = ask(predictor, write(rows), form)
        assert answer["leaf_ids"] == leaves
        assert answer["predictions"] == labels
        first = first or answer
        assert answer == first  # warnings too


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(rows, min_size=1, max_size=5))
def test_explanations_are_the_library_s(predictor: Predictor, rows: list[Row]) -> None:
    tree = predictor.tree
    for write, form in WRITERS.values():
        answer = ask(predictor, write(rows), form, explain=True)
        for row, leaf, found in zip(rows, answer["leaf_ids"], answer["explanations"], strict=True):
            expected = tree.explain({**row, "planet": None})
            assert expected.leaf == leaf
            assert [(s["node"], s["feature"], s["side"], s["status"], s["seen"]) for s in found["steps"]] == [
                (s.node, s.feature, s.side, s.status, s.seen) for s in expected.steps
            ]
            for step, wanted in zip(found["steps"], expected.steps, strict=True):
                assert step["value"] == wanted.value
                assert step["categories"] == (wanted.categories and list(wanted.categories))
                interval = step["interval"] and (step["interval"]["above"], step["interval"]["up_to"])
                assert interval == wanted.interval
                assert step["text"].endswith(f": {wanted.side}")
            assert found["text"].splitlines()[-1] == str(expected).splitlines()[-1]


def test_a_number_without_fraction_is_explained_as_people_write_it(predictor: Predictor) -> None:
    ages = [
        step["value"]
        for row in ({**GOOD, "member": False, "age": 41.0}, {**GOOD, "member": False, "age": 1e300})
        for step in ask(predictor, as_records([row]), explain=True)["explanations"][0]["steps"]
        if step["feature"] == "age"
    ]
    assert 41 in ages
    assert not any(isinstance(age, int) and age > 2**53 for age in ages)


def test_an_explanation_names_few_of_many_categories() -> None:
    rng = np.random.default_rng(1)
    words = np.array([f"w{i}" for i in range(300)])
    chosen = rng.integers(0, 300, 3000)
    table = pa.table({"word": words[chosen], "x": rng.normal(size=3000)})
    tree = LiteratiClassifier(max_depth=1, max_changepoints=1).fit(table, chosen < 150).tree_
    predictor = Predictor(tree, {"model_id": None})
    for word in words:
        body = json.dumps({"records": [{"word": word, "x": 0}]}).encode()
        (step,) = ask(predictor, body, explain=True)["explanations"][0]["steps"]
        assert len(step["categories"]) == MAX_CATEGORIES
        assert step["categories"].count(word) == 1
        assert step["more_categories"] == 150 - MAX_CATEGORIES
        assert step["text"].endswith(f"and {150 - MAX_CATEGORIES} more: {step['side']}")


def test_probabilities_are_the_library_s(predictor: Predictor) -> None:
    rows = [{**GOOD, "age": age, "member": age % 2 == 0} for age in range(20)]
    answer = ask(predictor, as_records(rows))
    table = as_table([{**row, "planet": ""} for row in rows])
    expected = predictor.tree.predict_proba(
        table.set_column(4, "zone", table.column("zone").dictionary_encode())
    )
    for found, shares in zip(answer["probabilities"], expected.tolist(), strict=True):
        assert found == dict(zip(["no", "yes"], shares, strict=True))


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        ((1, 2), ["1", "2"]),
        ((False, True), ["false", "true"]),
        ((10.0, 20.0), ["10.0", "20.0"]),
        (("=no", "ja, gut"), ["=no", "ja, gut"]),
    ],
)
def test_labels_come_back_as_they_were(labels: tuple[Any, ...], keys: list[str]) -> None:
    predictor = Predictor(mixed_tree(labels), {"model_id": None})
    rows = [{**GOOD, "age": age, "member": age % 2 == 0} for age in range(0, 90, 3)]
    answer = ask(predictor, as_records(rows))
    assert {(type(label), label) for label in answer["predictions"]} == {(type(v), v) for v in labels}
    assert list(answer["probabilities"][0]) == keys
    tables = predictor.predict(as_records(rows), PredictOptions(response_format="arrow"), 1000).content
    table = pa.ipc.open_stream(tables).read_all()
    assert table.column("prediction").to_pylist() == answer["predictions"]
    assert table.column("leaf_id").to_pylist() == answer["leaf_ids"]
    for key in keys:
        assert table.column(f"probability_{key}").to_pylist() == [p[key] for p in answer["probabilities"]]
    assert json.loads(table.schema.metadata[b"warnings"]) == answer["warnings"]


def test_written_csv_holds_no_formulas() -> None:
    predictor = Predictor(mixed_tree(("=cmd()", "-2")), {"model_id": None})
    rows = [{**GOOD, "age": age, "member": age % 2 == 0} for age in range(0, 90, 3)]
    text = predictor.predict(as_records(rows), PredictOptions(response_format="csv"), 1000).content.decode()
    found = list(csv.DictReader(io.StringIO(text)))
    assert {row["prediction"] for row in found} == {"'=cmd()", "'-2"}
    assert [int(row["leaf_id"]) for row in found] == ask(predictor, as_records(rows))["leaf_ids"]
    numbers = Predictor(mixed_tree((-1, 1)), {"model_id": None})
    text = numbers.predict(as_records(rows), PredictOptions(response_format="csv"), 1000).content.decode()
    assert {row["prediction"] for row in csv.DictReader(io.StringIO(text))} == {"-1", "1"}
