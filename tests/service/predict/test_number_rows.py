"""Models of numbers only have a reader of their own: what it reads must be what the other reader reads."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati import LiteratiClassifier
from service.predict.decode.number_rows import read_numbers
from service.predict.predictor import PredictOptions, Predictor
from service.predict.row_errors import RowsError

NAMES = ["a", "length (cm)", "ß", "constant"]


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    x = np.random.default_rng(0).normal(size=(200, 4))
    x[:, 3] = 5
    y = (np.abs(x[:, 0]) < 0.7) ^ (x[:, 1] > 0) ^ (x[:, 2] > 1)
    with pytest.warns(match="constant"):
        tree = LiteratiClassifier(max_depth=3, max_expansions=50).fit(pd.DataFrame(x, columns=NAMES), y).tree_
    return Predictor(tree, {"model_id": None})


def outcome(predictor: Predictor, body: bytes) -> Any:
    try:
        return json.loads(predictor.predict(body, PredictOptions(), 100).content)
    except RowsError as error:
        return type(error), error.detail, error.errors


def both(predictor: Predictor, body: bytes) -> Any:
    """What the quick reader makes of it; the other one must make the same of it."""
    other = Predictor(predictor.tree, predictor.source)
    other.layout.plain_names = None
    quick = outcome(predictor, body)
    assert outcome(other, body) == quick
    return quick


cells = st.none() | st.integers(-(10**20), 10**20) | st.floats(-1e300, 1e300)
extra = st.sampled_from([[], ["constant"], ["id"], ["constant", "id"]])


@settings(max_examples=150, deadline=None)
@given(st.data(), extra)
def test_both_readers_agree(predictor: Predictor, data: st.DataObject, more: list[str]) -> None:
    names = data.draw(st.permutations([*NAMES[:3], *more]))
    width = len(names)
    rows = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8))
    ascii_only = data.draw(st.booleans())
    indent = data.draw(st.sampled_from([None, 1]))
    records = {"records": [dict(zip(names, row, strict=True)) for row in rows]}
    arrays = {"columns": names, "data": rows}
    answers = [
        both(predictor, json.dumps(body, ensure_ascii=ascii_only, indent=indent).encode())
        for body in (records, arrays)
    ]
    for answer in answers:
        answer["warnings"].sort(key=str)
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    "body",
    [
        b'{"records": [{"a": 1, "length (cm)": 2, "\xc3\x9f": 1e999}]}',
        b'{"columns": ["a", "length (cm)", "\xc3\x9f"], "data": [[1, 2, 3], [1, -1e999, 3]]}',
        b'{"records": [{"a": 1, "a": 2, "length (cm)": 2, "\xc3\x9f": 3}]}',
        b'{"records": [{"a": "1", "length (cm)": 2, "\xc3\x9f": 3}]}',
        b'{"records": [{"a": true, "length (cm)": 2, "\xc3\x9f": 3}]}',
        b'{"columns": ["a", "length (cm)", "\xc3\x9f"], "data": [[true, 2, 3]]}',
        b'{"columns": ["a", "length (cm)", "\xc3\x9f"], "data": [["1", 2, 3]]}',
        b'{"data": [[true, 2, 3]], "columns": ["a", "length (cm)", "\xc3\x9f"]}',
        b'{"columns": ["a", "length (cm)", "\xc3\x9f"], "data": [[1, 2, 3], [1, 2]]}',
        b'{"columns": ["a", "length (cm)", "a"], "data": [[1, 2, 3]]}',
        b'{"columns": ["a", "length (cm)"], "data": [[1, 2]]}',
        b'{"columns": [["a"]], "data": [[1, 2]]}',
        b'{"records": [{"a": 1, "length (cm)": 2, "\xc3\x9f": 3}], "more": 1}',
        b'{"records": [{"a": 1, "length (cm)": 2, "\xc3\x9f": 3}]} {}',
        b'{"records": [{"a": 1, "length (cm)": 2, "\xc3\x9f": 3}]',
        b'{"records": [{"a": 1, "length (cm)": 2, "\xc3\x9f": 3},]}',
        b'{"records": [{"a": 1, "length (cm)": 2}]}',
        b'{"records": [{}]}',
        b'{"records": []}',
        b'{"records": [' + b'{"a": 1, "length (cm)": 2, "\xc3\x9f": 3},' * 100 + b'{"a": 1}]}',
    ],
)
def test_both_readers_refuse_the_same(predictor: Predictor, body: bytes) -> None:
    assert isinstance(both(predictor, body), tuple)


def test_plain_bodies_are_read_by_the_quick_one(predictor: Predictor) -> None:
    row = {"a": 1, "length (cm)": 2.5, "ß": None}
    bodies: list[dict[str, Any]] = [
        {"records": [row, row]},
        {"columns": list(row), "data": [list(row.values())] * 2},
        {"columns": [*list(row)[::-1], "id"], "data": [[*list(row.values())[::-1], 7]] * 2},
    ]
    for body in bodies:
        text = json.dumps(body, ensure_ascii=False).encode()
        assert read_numbers(text, predictor.layout, 2) is not None
        assert read_numbers(text, predictor.layout, 1) is None


def test_names_that_need_escapes_are_left_to_the_other() -> None:
    x = np.random.default_rng(0).normal(size=(50, 2))
    tree = LiteratiClassifier(max_depth=1).fit(pd.DataFrame(x, columns=['q"', "b"]), x[:, 0] > 0).tree_
    predictor = Predictor(tree, {"model_id": None})
    assert predictor.layout.plain_names is None
    assert both(predictor, json.dumps({"records": [{'q"': 1, "b": 2}]}).encode())["predictions"] == [True]
