"""Rows that lack columns: those that the tree uses are needed, the others are not."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from literati import LiteratiClassifier, ShapeTree
from service.predict.predictor import Predictor
from tests.support.http.predict_bodies import WRITERS, Row, as_records, ask, refused, stream
from tests.support.records import model_maker
from tests.support.stack.stack import Stack

USED = {"size": 0.5, "colour": "red"}
UNUSED = {"age": 0.1, "shade": "dark", "tall": True}


def tree_of(frame: pd.DataFrame, y: Any) -> ShapeTree:
    return LiteratiClassifier(max_depth=2, max_changepoints=1, candidates="all").fit(frame, y).tree_


@pytest.fixture(scope="module")
def tree() -> ShapeTree:
    """A tree over five columns that splits on two of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=200),
            "size": rng.normal(size=200),
            "shade": rng.choice(["dark", "light"], 200),
            "tall": rng.choice([True, False], 200),
            "colour": rng.choice(["red", "blue"], 200),
        }
    )
    tree = tree_of(frame, (frame["size"] > 0) & (frame["colour"] == "red"))
    used = {node.split.column for node in tree.nodes if node.split is not None}
    assert {tree.schema.columns[place].name for place in used} == {"size", "colour"}
    return tree


@pytest.fixture(scope="module")
def predictor(tree: ShapeTree) -> Predictor:
    return Predictor(tree, {"model_id": "mdl_test"})


@pytest.mark.parametrize("form", WRITERS)
def test_columns_that_the_tree_does_not_use_may_be_absent(predictor: Predictor, form: str) -> None:
    write, media = WRITERS[form]
    rows = [USED, {**USED, "size": -0.5}, {**USED, "colour": "blue"}]
    whole = ask(predictor, write([{**UNUSED, **row} for row in rows]), media)
    assert whole["warnings"] == []
    part = ask(predictor, write(rows), media)
    for name in ("predictions", "probabilities", "leaf_ids"):
        assert part[name] == whole[name]
    (warning,) = part["warnings"]
    assert (warning["code"], warning["column"], warning["count"]) == ("ABSENT_COLUMN", None, 3)
    assert warning["examples"] == ["age", "shade", "tall"]
    assert "3 columns are absent: 'age', 'shade', 'tall'." in warning["message"]
    (warning,) = ask(predictor, write([{"shade": "dark", "tall": True, **row} for row in rows]), media)[
        "warnings"
    ]
    assert (warning["code"], warning["column"]) == ("ABSENT_COLUMN", "age")


@pytest.mark.parametrize("form", WRITERS)
def test_columns_that_the_tree_uses_are_needed(predictor: Predictor, form: str) -> None:
    write, media = WRITERS[form]
    places = {"records": "/body/records/0/size", "arrays": "/body/columns", "csv": "/body/header"}
    error = refused(predictor, write([{"colour": "red"}]), media, pointers=[places.get(form, "/body")])
    assert "'size'" in error.detail


def test_what_is_present_is_still_looked_at(predictor: Predictor) -> None:
    codes = [w["code"] for w in ask(predictor, as_records([{**USED, "size": 99.0}]))["warnings"]]
    assert codes == ["ABSENT_COLUMN", "OUT_OF_RANGE"]
    refused(predictor, as_records([{**USED, "size": "x"}]), pointers=["/body/records/0/size"])


def as_odd_arrow(rows: list[dict[str, Any]]) -> bytes:
    """A column with cells of several types is text."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    mixed = {name for name, cells in columns.items() if len(set(map(type, cells))) > 1}
    return stream(
        pa.table({n: list(map(str, cells)) if n in mixed else cells for n, cells in columns.items()})
    )


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(("column", "cell"), [("age", "old"), ("age", math.inf), ("tall", "maybe")])
def test_cells_that_cannot_be_read_in_a_column_that_the_tree_does_not_use(
    predictor: Predictor, form: str, column: str, cell: Any
) -> None:
    """They are no reason not to predict: the column might as well be absent."""
    write, media = WRITERS[form] if form != "arrow" else (as_odd_arrow, "arrow")
    rows = [{**UNUSED, **USED, **more} for more in ({}, {"size": -0.5}, {}, {"colour": "blue"})]
    whole = ask(predictor, write(rows), media)
    assert whole["warnings"] == []
    bad = [*rows[:2], *({**row, column: cell} for row in rows[2:])]
    answer = ask(predictor, write(bad).replace(b"Infinity", b"1e999"), media)
    for name in ("predictions", "probabilities", "leaf_ids"):
        assert answer[name] == whole[name]
    (warning,) = answer["warnings"]
    assert (warning["code"], warning["column"], warning["count"]) == ("UNREADABLE_COLUMN", column, 4)
    by_type = form == "arrow" and isinstance(cell, str)
    assert ("row 3 cannot be read" in warning["message"]) == (not by_type)


@pytest.mark.parametrize("form", ["records", "arrays", "csv"])
def test_of_unreadable_cells_only_those_that_matter_are_errors(predictor: Predictor, form: str) -> None:
    write, media = WRITERS[form]
    row = {**UNUSED, **USED}
    places = {"records": "records/1/size", "arrays": "data/1/3", "csv": "rows/1/size"}
    rows = [{**row, "age": "old"}, {**row, "size": "large", "tall": "maybe"}]
    refused(predictor, write(rows), media, pointers=[f"/body/{places[form]}"])


def test_a_quick_reader_says_so_too() -> None:
    """Numbers only: the reader for those must not call a column absent that is there."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x0", "x1", "x2"])
    predictor = Predictor(tree_of(frame, frame["x1"] > 0), {"model_id": "mdl_test"})
    for write in ("records", "arrays"):
        rows: list[Row] = [{"x0": 0.0, "x1": 0.5, "x2": 0.0}, {"x0": "old", "x1": 0.5, "x2": 0.0}]
        answer = ask(predictor, WRITERS[write][0](rows))
        assert [(w["code"], w["column"]) for w in answer["warnings"]] == [("UNREADABLE_COLUMN", "x0")]


def test_a_column_that_only_some_records_have_is_absent(predictor: Predictor) -> None:
    body = as_records([{**UNUSED, **USED}, USED, {**UNUSED, **USED}])
    (warning,) = ask(predictor, body)["warnings"]
    assert warning["examples"] == ["age", "shade", "tall"]


def test_explanations_need_no_more(predictor: Predictor) -> None:
    answer = ask(predictor, as_records([USED]), explain=True)
    assert answer["explanations"][0]["steps"][0]["feature"] in USED


@pytest.mark.parametrize("wide", [3, 3000])
def test_numbers_alone(wide: int) -> None:
    """Both readers of JSON: the quick one for plain numbers, and the other."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, wide)), columns=[f"x{i}" for i in range(wide)])
    predictor = Predictor(tree_of(frame, frame["x1"] > 0), {"model_id": "mdl_test"})
    for write in ("records", "arrays"):
        for row in ({"x1": 0.5}, {"x1": 0.5, "other": 1}):
            answer = ask(predictor, WRITERS[write][0]([row]))
            assert answer["predictions"] == [True]
            absent = next(w for w in answer["warnings"] if w["code"] == "ABSENT_COLUMN")
            assert f"{wide - 1:,} columns are absent" in absent["message"]


def test_a_tree_of_one_leaf_needs_no_column() -> None:
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    leaf = LiteratiClassifier(max_depth=1, split_penalty=9).fit(frame, [0, 1, 1]).tree_
    assert len(leaf.nodes) == 1
    predictor = Predictor(leaf, {"model_id": "mdl_test"})
    assert ask(predictor, b'{"records": [{}, {"x": 1}]}')["predictions"] == [1, 1]
    assert ask(predictor, b"y\n1\n2\n", "csv")["predictions"] == [1, 1]


def test_over_http_with_a_model_and_with_a_job(api: Stack, tree: ShapeTree) -> None:
    model = model_maker.add_model(api, tree)
    job = model_maker.add_job(api, tree)
    body = json.dumps({"records": [USED]})
    with api.client() as client:
        for address in (f"/v1/models/{model}/predict", f"/v1/jobs/{job.spec.id}/predict"):
            headers = {"Content-Type": "application/json"}
            answer = client.post(address, content=body, headers=headers)
            assert answer.status_code == 200, answer.text
            assert [w["code"] for w in answer.json()["warnings"]] == ["ABSENT_COLUMN"]
            headers = {"Content-Type": "text/csv", "Accept": "text/csv"}
            answer = client.post(address, content="size,colour\n1,red\n", headers=headers)
            (told,) = json.loads(answer.headers["Literati-Warnings"])
            assert told == {"code": "ABSENT_COLUMN", "column": None, "count": 1}
