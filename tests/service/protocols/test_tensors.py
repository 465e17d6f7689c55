"""Tensors of the Open Inference Protocol are predicted as the same rows by our own predict; no HTTP here."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati import LiteratiClassifier
from service.predict.predictor import BodyFormat, PredictOptions, Predictor
from service.predict.row_errors import RowsError
from tests.support.http.inference_bodies import (
    DTYPES,
    as_binary,
    as_json,
    columns,
    infer,
    outputs,
    own,
    tensor,
)
from tests.support.http.predict_bodies import GOOD, Row
from tests.support.records.model_maker import COLOURS, ZONES, mixed_tree
from tests.support.solver.format_problems import random_problem
from worker.domain.datasets import CsvStyle, DecimalSign, label_text

NUMBERS = ["a", "b", "c", "d"]
ROWS: list[Row] = [
    GOOD,
    {**GOOD, "size": None, "age": None, "colour": None, "member": None, "zone": None},
    {**GOOD, "colour": "mauve", "zone": 99, "member": False},
    {**GOOD, "size": -7.25, "age": 1000, "colour": "night, sky"},
]
numbers = st.none() | st.integers(-200, 200) | st.floats(-1e9, 1e9)
rows = st.fixed_dictionaries(
    {
        "size": numbers,
        "age": numbers,
        "colour": st.none() | st.sampled_from([*COLOURS, "pink", "a:b", "line\nbreak", "RED"]),
        "member": st.none() | st.booleans(),
        "zone": st.none() | st.sampled_from([*ZONES, 4, -7, 10**15]),
    }
)


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


@cache
def number_predictor() -> Predictor:
    x = np.random.default_rng(0).integers(0, 100, size=(200, 4)).astype(float)
    y = (np.abs(x[:, 0] - 40) < 17) ^ (x[:, 1] > 50) ^ (x[:, 2] > 70)
    frame = pd.DataFrame(x, columns=NUMBERS)
    tree = LiteratiClassifier(max_depth=3, max_expansions=50).fit(frame, y.astype(int)).tree_
    return Predictor(tree, {"model_id": "mdl_numbers"})


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(rows, min_size=1, max_size=20))
def test_columns_are_predicted_as_records(predictor: Predictor, rows: list[Row]) -> None:
    expected, warnings = own(predictor, rows)
    answer = infer(predictor, as_json(columns(rows)))
    assert outputs(answer) == expected
    assert answer.warnings == warnings


def test_the_response(predictor: Predictor) -> None:
    answer = infer(predictor, as_json(columns(ROWS), id='a "b"'))
    document = json.loads(answer.content)
    assert {name: document[name] for name in ("model_name", "model_version", "id")} == {
        "model_name": "tree",
        "model_version": "mdl_test",
        "id": 'a "b"',
    }
    assert [(entry["name"], entry["datatype"], entry["shape"]) for entry in document["outputs"]] == [
        ("predict", "BYTES", [4]),
        ("predict_proba", "FP64", [4, 2]),
        ("leaf_ids", "INT32", [4]),
    ]
    assert "id" not in json.loads(infer(predictor, as_json(columns(ROWS))).content)


@pytest.mark.parametrize("missing", [math.nan, None], ids=["NaN", "null"])
def test_nan_and_null_are_missing(predictor: Predictor, missing: Any) -> None:
    rows = [{**GOOD, name: None} for name in GOOD]
    inputs = columns(rows)
    for entry in inputs:
        entry["data"] = [missing if cell is None else cell for cell in entry["data"]]
    assert outputs(infer(predictor, as_json(inputs))) == own(predictor, rows)[0]


def test_text_is_read_like_a_csv(predictor: Predictor) -> None:
    """Triton's client sends every object as text: None, nan and True too."""
    rows = [*ROWS, {**GOOD, "size": None, "colour": None}]
    for missing in ("None", "nan", "", "<NA>", "NULL"):
        inputs = [
            tensor(name, "BYTES", [missing if row[name] is None else str(row[name]) for row in rows])
            for name in GOOD
        ]
        for body in (as_json(inputs), as_binary(inputs)):
            answer = infer(predictor, body)
            assert outputs(answer) == own(predictor, rows)[0]
            assert answer.warnings == own(predictor, rows)[1]


def read_texts(predictor: Predictor, columns: dict[str, list[str]], form: BodyFormat) -> Any:
    """Return the numbers of columns of text and how they were read, or the codes and rows of the errors."""
    if form == "csv":
        lines = [columns, *zip(*columns.values(), strict=True)]
        body = "".join(f"{';'.join(line)}\n" for line in lines).encode()
    else:
        body, _ = as_json([tensor(name, "BYTES", cells) for name, cells in columns.items()])
    try:
        batch = predictor.decode(body, PredictOptions(form), 1_000)
    except RowsError as error:
        return [(entry.pointer, entry.code, entry.row) for entry in error.errors]
    return batch.matrix.tolist(), batch.read_as, batch.unreadable


TEXTS = (
    *("1_000", "12.500", "12,500", "1.234,5", "1'234.5", "1 234,5", "0,5", ",5", "+7", " 5 ", "1e2", "007"),
    *("\u0661\u0662", "inf", "0x10", "1.2.3", "12,34,5", "many", "NA", " NA "),
)


@pytest.mark.parametrize("decimal", [None, ".", ","])
@pytest.mark.parametrize("other", ["30", "0,5", "0.5", "few"])
def test_numbers_as_text_are_read_as_in_a_csv(decimal: DecimalSign | None, other: str) -> None:
    """The decimal sign is that of the training data, unless the cells show another one."""
    tree = number_predictor().tree
    predictor = Predictor(tree, {"model_id": "mdl_test"}, CsvStyle(decimal=decimal))
    for text in TEXTS:
        columns = {"a": ["1", text], "b": [other, "7"], "c": ["1", "2"], "d": ["3", "4"]}
        found = read_texts(predictor, columns, "inference")
        assert str(found) == str(read_texts(predictor, columns, "csv")), text  # NaN equals NaN as text


def test_numbers_as_python_writes_them_are_refused(predictor: Predictor) -> None:
    for text in ("1_0", "\u0661\u0662", "2_0"):
        for name in ("age", "zone"):
            inputs = [entry for entry in columns([GOOD]) if entry["name"] != name]
            with pytest.raises(RowsError) as caught:
                infer(predictor, as_json([*inputs, tensor(name, "BYTES", [text])]))
            assert [(e.pointer, e.code) for e in caught.value.errors] == [(f"/body/rows/0/{name}", "TYPE")]
        with pytest.raises(RowsError, match="zone: expected a number"):
            own(predictor, [{**GOOD, "zone": text}])


def test_ambiguous_numbers_have_a_remedy_that_the_protocol_has() -> None:
    tree = number_predictor().tree
    predictor = Predictor(tree, {"model_id": "mdl_test"})
    inputs = [tensor(name, "BYTES", ["1,250"]) for name in NUMBERS]
    with pytest.raises(RowsError, match="with a decimal point") as caught:
        infer(predictor, as_json(inputs))
    assert caught.value.fixes == ()


def test_the_words_for_missing_cells_are_those_of_the_training_data() -> None:
    inputs = columns([{**GOOD, "colour": "?"}])
    predictor = Predictor(mixed_tree(), {"model_id": "mdl_test"}, CsvStyle(null_words=["?"]))
    assert [warning["code"] for warning in infer(predictor, as_json(inputs)).warnings] == ["MISSING_VALUE"]
    other = Predictor(mixed_tree(), {"model_id": "mdl_test"})
    assert [warning["code"] for warning in infer(other, as_json(inputs)).warnings] == ["UNSEEN_CATEGORY"]


def test_bytes_behind_the_json(predictor: Predictor) -> None:
    rows = [row for row in ROWS if None not in row.values()]
    rows += [{**row, "size": math.nan} for row in rows]
    expected = own(
        predictor, [{**row, "size": None if row["size"] != row["size"] else row["size"]} for row in rows]
    )
    answer = infer(predictor, as_binary(columns(rows)))
    assert (outputs(answer), answer.warnings) == expected
    answer = infer(predictor, as_binary(columns(rows), parameters={"binary_data_output": True}))
    assert answer.head_bytes is not None
    assert outputs(answer) == expected[0]


def test_some_tensors_may_be_bytes(predictor: Predictor) -> None:
    inputs = columns([GOOD])
    (head, size), body = as_binary(inputs[:1]), json.loads(as_json(inputs[1:])[0])
    assert size is not None
    document = json.loads(head[:size])
    document["inputs"] += body["inputs"]
    text = json.dumps(document).encode()
    assert outputs(infer(predictor, (text + head[size:], len(text)))) == own(predictor, [GOOD])[0]


@pytest.mark.parametrize("datatype", [*DTYPES, "BYTES"])
def test_datatypes(datatype: str) -> None:
    predictor = number_predictor()
    x = np.random.default_rng(1).integers(0, 100, size=(30, 4))
    rows = [dict(zip(NUMBERS, row, strict=True)) for row in x.tolist()]
    cells = [str(cell) if datatype == "BYTES" else cell for cell in x.ravel().tolist()]
    flat = {"name": "x", "datatype": datatype, "shape": [30, 4], "data": cells}
    nested = {**flat, "data": [cells[start : start + 4] for start in range(0, 120, 4)]}
    by_column = [tensor(name, datatype, cells[i::4], shape=[30, 1]) for i, name in enumerate(NUMBERS)]
    if datatype == "BOOL":
        with pytest.raises(ValueError, match="Row 1: the datatype BOOL demands true or false"):
            infer(predictor, as_json([flat]))
        return
    for inputs in ([flat], [nested], by_column, by_column[::-1]):
        assert outputs(infer(predictor, as_json(inputs))) == own(predictor, rows)[0]
    for inputs in ([flat], by_column):
        assert outputs(infer(predictor, as_binary(inputs))) == own(predictor, rows)[0]


@pytest.mark.parametrize("datatype", ["FP64", "FP32", "FP16", "INT8", "BYTES"])
def test_null_has_every_datatype(datatype: str) -> None:
    predictor = number_predictor()
    inputs = [tensor(name, datatype, [None]) for name in NUMBERS]
    assert outputs(infer(predictor, as_json(inputs))) == own(predictor, [dict.fromkeys(NUMBERS)])[0]


def test_a_matrix_of_text_may_have_every_kind_of_column(predictor: Predictor) -> None:
    names = [column.name for column in predictor.tree.schema.columns]
    rows = [{**row, "planet": "earth"} for row in ROWS]
    cells = [None if row[name] is None else str(row[name]) for row in rows for name in names]
    matrix = {"name": "rows", "datatype": "BYTES", "shape": [len(rows), len(names)], "data": cells}
    assert outputs(infer(predictor, as_json([matrix]))) == own(predictor, rows)[0]
    assert outputs(infer(predictor, as_binary([matrix]))) == own(predictor, rows)[0]


def test_numbers_are_rounded_to_their_datatype() -> None:
    """A client with 32-bit numbers gets the same prediction whether it sends them as JSON or as bytes."""
    x = np.array([0.1, 0.1, 0.3, 0.3]).repeat(5)
    tree = LiteratiClassifier(max_depth=1).fit(pd.DataFrame({"x": x}), x > 0.2).tree_
    predictor = Predictor(tree, {"model_id": "mdl_test"})
    for datatype in ("FP32", "FP16", "FP64"):
        inputs = [tensor("x", datatype, [0.3])]
        seen = [infer(predictor, body).warnings for body in (as_json(inputs), as_binary(inputs))]
        assert seen[0] == seen[1]
        rounded = float(np.array([0.3], DTYPES[datatype])[0])
        assert [warning["examples"] for warning in seen[0]] == ([[rounded]] if rounded > 0.3 else [])


LABELS: list[tuple[tuple[Any, ...], str]] = [
    (("no", "yes"), "BYTES"),
    ((False, True), "BOOL"),
    ((3, 4), "INT64"),
    ((-3, 2**40), "INT64"),
    ((2.0, 7.0), "FP64"),
]


@pytest.mark.parametrize(("labels", "datatype"), LABELS, ids=str)
def test_labels_of_every_type(labels: tuple[Any, ...], datatype: str) -> None:
    predictor = Predictor(mixed_tree(labels), {"model_id": "mdl_test"})
    expected, _ = own(predictor, ROWS)
    for wish in ({}, {"parameters": {"binary_data_output": True}}):
        answer = infer(predictor, as_json(columns(ROWS), **wish))
        assert outputs(answer) == expected
        assert json.loads(answer.content[: answer.head_bytes])["outputs"][0]["datatype"] == datatype


def test_labels_of_several_types_are_text() -> None:
    problem = random_problem(4)
    predictor = Predictor(problem.tree, {"model_id": "mdl_test"})
    assert len({type(label) for label in predictor.encoder.classes}) > 1
    rows = [dict.fromkeys(predictor.layout.by_name)]
    inputs = [tensor(name, "BYTES", [None]) for name in rows[0]]
    expected = [label_text(label) for label in own(predictor, rows)[0]["predict"]]
    for wish in ({}, {"parameters": {"binary_data_output": True}}):
        assert outputs(infer(predictor, as_json(inputs, **wish)))["predict"] == expected


def test_outputs_are_those_that_were_asked_for(predictor: Predictor) -> None:
    def asked(*wanted: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = infer(predictor, as_json(columns(ROWS), outputs=list(wanted), **more))
        assert outputs(answer) == {entry["name"]: own(predictor, ROWS)[0][entry["name"]] for entry in wanted}
        found = json.loads(answer.content[: answer.head_bytes])["outputs"]
        return {entry["name"]: "data" not in entry for entry in found}

    leaves, labels = {"name": "leaf_ids"}, {"name": "predict"}
    assert asked(leaves) == {"leaf_ids": False}
    assert asked(labels, leaves) == {"predict": False, "leaf_ids": False}
    binary = {"parameters": {"binary_data": True}}
    assert asked({**leaves, **binary}, labels) == {"leaf_ids": True, "predict": False}
    as_array = {"parameters": {"binary_data": False}}
    everything = {"parameters": {"binary_data_output": True}}
    assert asked({**leaves, **as_array}, labels, **everything) == {"leaf_ids": False, "predict": True}


def in_base64(text: str | None) -> str | None:
    return None if text is None else base64.b64encode(text.encode()).decode()


CONTENT_TYPES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("str", "np", "pd"), lambda text: text),
    **dict.fromkeys(("json", "pd_json"), json.dumps),
    "base64": in_base64,
}


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
def test_content_types(predictor: Predictor, content_type: str) -> None:
    cells = [CONTENT_TYPES[content_type](row["colour"]) for row in ROWS]
    inputs = columns(ROWS)
    inputs[2] = tensor("colour", "BYTES", cells, parameters={"content_type": content_type, "headers": None})
    more = {"id": None, "outputs": None, "parameters": {"content_type": "pd"}}
    assert outputs(infer(predictor, as_json(inputs, **more))) == own(predictor, ROWS)[0]


def test_columns_that_the_tree_does_not_use_can_be_left_out() -> None:
    predictor = Predictor(mixed_tree(depth=1), {"model_id": "mdl_test"})
    (used,) = {predictor.layout.by_index[index].name for index in predictor.layout.used}
    inputs = [entry for entry in columns(ROWS) if entry["name"] == used]
    answer = infer(predictor, as_json([*inputs, tensor("moon", "BYTES", ["full"] * len(ROWS))]))
    assert outputs(answer) == own(predictor, ROWS)[0]
    assert {warning["code"] for warning in answer.warnings} >= {"ABSENT_COLUMN", "UNKNOWN_COLUMN"}
