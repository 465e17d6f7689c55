"""Requests that differ only in their numbers are read by a template, with the same result; no HTTP here."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from literati import LiteratiClassifier, ShapeTree
from service.predict.decode import tensor_rows
from service.predict.decode.tensor_templates import MAX_BODY_BYTES, MAX_TEMPLATES
from service.predict.predictor import Predictor
from service.predict.row_errors import RowsError
from tests.support.http.inference_bodies import Body, as_json, infer, tensor

NAMES = ["a", "b", "c"]


@pytest.fixture(scope="module")
def tree() -> ShapeTree:
    x = np.random.default_rng(0).integers(0, 100, size=(200, 3)).astype(float)
    y = (np.abs(x[:, 0] - 40) < 17) ^ (x[:, 1] > 50)
    return LiteratiClassifier(max_depth=2).fit(pd.DataFrame(x, columns=NAMES), y.astype(int)).tree_


@pytest.fixture
def predictor(tree: ShapeTree) -> Predictor:
    return Predictor(tree, {"model_id": "mdl_test"})


def by_column(rows: list[list[Any]], names: list[str]) -> list[dict[str, Any]]:
    return [tensor(name, "FP64", [row[NAMES.index(name)] for row in rows]) for name in names]


def in_form(form: str, rows: list[list[Any]]) -> Body:
    matrix = {"name": "x", "datatype": "FP64", "shape": [len(rows), 3]}
    if form == "flat":
        return as_json([{**matrix, "data": [cell for row in rows for cell in row]}])
    if form == "nested":
        return as_json([{**matrix, "data": rows}])
    if form == "unknown column":
        return as_json([*by_column(rows, NAMES), tensor("moon", "FP64", [1.0] * len(rows))])
    if form == "some outputs":
        return as_json(by_column(rows, NAMES), outputs=[{"name": "leaf_ids"}, {"name": "predict"}])
    return as_json(by_column(rows, {"columns": ["a", "b", "c"], "another order": ["c", "a", "b"]}[form]))


FORMS = ["columns", "another order", "flat", "nested", "unknown column", "some outputs"]
CELLS = [
    *(0, 1.5, -0.0, 37, 1e-300, 123456789.123456789, 2**63, 10**30, 1e999, 10**400, -math.inf, math.nan),
    *(None, True, "7", "]", [1], {"data": [1]}),
]


def result(predictor: Predictor, body: Body, **options: int) -> Any:
    try:
        answer = infer(predictor, body, **options)
    except RowsError as error:
        return error.detail, error.errors
    return answer.content, answer.warnings


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_rows", [1, 2])
def test_results_are_those_of_the_parser(
    tree: ShapeTree, predictor: Predictor, form: str, n_rows: int
) -> None:
    first = in_form(form, [[30, 60, 5.25]] * n_rows)
    infer(predictor, first)
    for cell in CELLS:
        body = in_form(form, [*[[30.5, 6, 1]] * (n_rows - 1), [1, cell, 99]])
        assert result(predictor, body) == result(Predictor(tree, {"model_id": "mdl_test"}), body), cell
    for change in ((b"1]", b"1, 2]"), (b"]}", b"]]}"), (b"99", b"099"), (b"99", b"99 99"), (b"99", b"")):
        spoilt = body[0].replace(*change), None
        assert result(predictor, spoilt) == result(Predictor(tree, {"model_id": "mdl_test"}), spoilt), change


@pytest.mark.parametrize("form", FORMS)
def test_the_parser_is_not_needed_again(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    infer(predictor, in_form(form, [[1, 2, 3], [4, 5, 6]]))
    other = in_form(form, [[30, 60, 5], [None, 2.5, 90]])
    expected = result(Predictor(predictor.tree, predictor.source), other)

    def parse_request(*arguments: Any) -> Any:
        raise AssertionError("the template was not used")

    monkeypatch.setattr(tensor_rows, "parse_request", parse_request)
    assert result(predictor, other) == expected


def test_the_limit_of_rows(predictor: Predictor) -> None:
    body = in_form("columns", [[1, 2, 3], [4, 5, 6]])
    infer(predictor, body)
    with pytest.raises(RowsError, match="too many rows"):
        infer(predictor, body, max_rows=1)


def test_a_field_with_escapes_is_no_template(predictor: Predictor) -> None:
    """Else the array of the parameters would be read in place of the one whose name has an escape."""
    text = json.dumps({"inputs": by_column([[1, 2, 3]], NAMES), "parameters": {"data": [1]}})
    text = text.replace('"data": [1]', '"\\u0064ata": [1]', 1)
    body, changed = (text.encode(), None), (text.replace('ata": [1]', 'ata": [40]', 1).encode(), None)
    last = (text.replace('"data": [1]', '"data": [40]').encode(), None)
    expected = [result(Predictor(predictor.tree, predictor.source), other) for other in (body, changed, last)]
    assert expected[0] == expected[2] != expected[1]
    for _ in range(2):
        assert [result(predictor, other) for other in (body, changed, last)] == expected


def test_a_zero_byte_is_no_array(predictor: Predictor) -> None:
    """The text around arrays is kept with a zero byte in the place of each array."""
    body = in_form("columns", [[1, 2, 3]])[0]
    infer(predictor, (body, None))
    spoilt = body.replace(b'"data": [1]', b"\0", 1).replace(b"[2]", b"[2], [3]", 1)
    assert spoilt.count(b"\0") == 1
    with pytest.raises(RowsError, match="JSON"):
        infer(predictor, (spoilt, None))


def test_few_short_templates_are_kept(predictor: Predictor) -> None:
    for n_rows in range(1, 3 * MAX_TEMPLATES):
        infer(predictor, in_form("columns", [[1, 2, 3]] * n_rows))
        assert len(predictor.templates) <= MAX_TEMPLATES
    kept = len(predictor.templates)
    long = " " * MAX_BODY_BYTES
    body, _ = in_form("flat", [[1, 2, 3]])
    infer(predictor, (body + long.encode(), None))
    assert len(predictor.templates) == kept
