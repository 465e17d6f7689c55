"""The forms of MLflow's scoring server are predicted as the same rows by our own predict; no HTTP here."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from service.predict.decode.csv_table import CsvOptions
from service.predict.predictor import BodyFormat, PredictOptions, Predictor
from service.predict.row_errors import MalformedError, RowsError
from tests.support.http.inference_bodies import own
from tests.support.http.predict_bodies import GOOD, Row, as_csv
from tests.support.records.model_maker import mixed_tree

ROWS: list[Row] = [
    GOOD,
    {**GOOD, "size": None, "colour": None, "member": None, "zone": None},
    {**GOOD, "colour": "mauve", "zone": 99, "member": False},
]
NAMES = list(GOOD)


def in_forms(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """Return the rows in every form of MLflow's JSON."""
    arrays = [[row[name] for name in NAMES] for row in rows]
    whole = [[*row, "earth"] for row in arrays]  # with all columns of the model, in their order
    return {
        "split": {"dataframe_split": {"columns": NAMES, "index": [0, 1, 2], "data": arrays}},
        "split without columns": {"dataframe_split": {"data": whole}},
        "split in another order": {
            "dataframe_split": {"columns": NAMES[::-1], "data": [row[::-1] for row in arrays]}
        },
        "records": {"dataframe_records": rows},
        "instances of objects": {"instances": rows},
        "instances of arrays": {"instances": whole},
        "inputs by column": {"inputs": {name: [row[name] for row in rows] for name in NAMES}},
        "inputs of objects": {"inputs": rows},
        "inputs of arrays": {"inputs": whole},
    }


FORMS = in_forms(ROWS)
ARRAYS = FORMS["split"]["dataframe_split"]["data"]


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


def invoke(predictor: Predictor, body: Any, form: BodyFormat = "mlflow", max_rows: int = 1_000) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = predictor.predict(content, PredictOptions(form, "mlflow"), max_rows)
    document = json.loads(answer.content)
    assert list(document) == ["predictions"]
    return document["predictions"], answer.warnings


def refused(predictor: Predictor, body: Any, max_rows: int = 1_000) -> RowsError:
    with pytest.raises(RowsError) as caught:
        invoke(predictor, body, max_rows=max_rows)
    return caught.value


@pytest.mark.parametrize("form", FORMS)
def test_forms(predictor: Predictor, form: str) -> None:
    expected, warnings = own(predictor, ROWS)
    assert invoke(predictor, FORMS[form]) == (expected["predict"], warnings)


@pytest.mark.parametrize("form", FORMS)
def test_nan_is_missing(predictor: Predictor, form: str) -> None:
    """MLflow's client writes what is missing in a DataFrame as NaN, also in columns of text."""
    text = json.dumps(FORMS[form]).replace("null", "NaN")
    assert "NaN" in text
    assert invoke(predictor, text.encode()) == invoke(predictor, FORMS[form])


def test_methods(predictor: Predictor) -> None:
    expected, _ = own(predictor, ROWS)
    outputs = {"predict": "predict", "predict_proba": "predict_proba", "apply": "leaf_ids"}
    for method, name in outputs.items():
        body = {"dataframe_records": ROWS, "params": {"method": method}}
        assert invoke(predictor, body)[0] == expected[name]
    assert invoke(predictor, {"dataframe_records": ROWS, "params": {}})[0] == expected["predict"]
    assert invoke(predictor, {"dataframe_records": ROWS, "params": None})[0] == expected["predict"]


def test_csv(predictor: Predictor) -> None:
    assert invoke(predictor, as_csv(ROWS), "csv") == (
        own(predictor, ROWS)[0]["predict"],
        own(predictor, ROWS)[1],
    )


def test_one_row_of_scalars(predictor: Predictor) -> None:
    assert invoke(predictor, {"inputs": GOOD})[0] == own(predictor, [GOOD])[0]["predict"]


REFUSALS: list[tuple[Any, str, str, str]] = [
    ({}, "/body", "FORM", "exactly one of the fields dataframe_split, dataframe_records, instances, inputs"),
    ({"inputs": ROWS, "instances": ROWS}, "/body", "FORM", "exactly one"),
    ({"dataframe_record": ROWS}, "/body/dataframe_record", "UNKNOWN_FIELD", "`dataframe_records`?"),
    ([ROWS], "/body", "TYPE", "must be an object"),
    ({"dataframe_records": GOOD}, "/body/dataframe_records", "TYPE", "array of rows"),
    ({"dataframe_records": [GOOD, 3]}, "/body/dataframe_records/1", "TYPE", "an object"),
    ({"dataframe_records": []}, "/body/dataframe_records", "NO_ROWS", "at least one"),
    ({"dataframe_split": ARRAYS}, "/body/dataframe_split", "TYPE", "Expected an object"),
    ({"dataframe_split": {"columns": NAMES}}, "/body/dataframe_split/data", "MISSING", "`data` is missing"),
    ({"dataframe_split": {"columns": [1], "data": [[1]]}}, "/body/dataframe_split/columns", "TYPE", "names"),
    ({"dataframe_split": {"data": 1}}, "/body/dataframe_split/data", "TYPE", "array of rows"),
    ({"dataframe_split": {"data": [[1], 2]}}, "/body/dataframe_split/data/1", "TYPE", "an array"),
    (
        {"dataframe_split": {"columns": NAMES, "data": [[1]]}},
        "/body/dataframe_split/data/0",
        "LENGTH",
        "Expected 5 cells",
    ),
    ({"instances": ARRAYS}, "/body/instances/0", "LENGTH", "Expected 6 cells"),
    ({"instances": 3}, "/body/instances", "TYPE", "array of rows"),
    ({"instances": [1, 2]}, "/body/instances/0", "TYPE", "an object"),
    ({"inputs": {"size": [1], "age": [1, 2]}}, "/body/inputs/size", "LENGTH", "array of 2 cells"),
    ({"inputs": {"size": [1], "age": 2}}, "/body/inputs/age", "LENGTH", "array of 1 cells"),
    ({"inputs": {"size": [], "age": []}}, "/body/inputs", "NO_ROWS", "at least one"),
    ({"inputs": {"size": [1]}}, "/body/inputs", "ABSENT", "is absent"),
    (
        {"instances": [GOOD, {"age": 1}]},
        "/body/instances/1/size",
        "ABSENT",
        "Row 2: The column 'size' is absent",
    ),
    ({"dataframe_split": {"columns": ["age"], "data": [[1]]}}, "/body/dataframe_split/columns", "ABSENT", ""),
    (
        {"dataframe_split": {"columns": ["age", "age"], "data": [[1, 2]]}},
        "/body/dataframe_split/columns/0",
        "REPEATED",
        "",
    ),
    ({"inputs": ROWS, "params": 3}, "/body/params", "TYPE", "Expected an object"),
    ({"inputs": ROWS, "params": {"methd": "apply"}}, "/body/params/methd", "UNKNOWN_FIELD", "`method`?"),
    ({"inputs": ROWS, "params": {"method": "aply"}}, "/body/params/method", "UNKNOWN_METHOD", "`apply`?"),
    ({"inputs": ROWS, "params": {"method": 3}}, "/body/params/method", "UNKNOWN_METHOD", "The methods are"),
]


@pytest.mark.parametrize(("body", "place", "code", "text"), REFUSALS)
def test_refusals(predictor: Predictor, body: Any, place: str, code: str, text: str) -> None:
    error = refused(predictor, body)
    assert (error.errors[0].pointer, error.errors[0].code) == (place, code)
    assert text in error.errors[0].message
    assert not isinstance(error, MalformedError)


def find(body: Any, place: str) -> Any:
    """Return what a JSON pointer into a request refers to."""
    start, *parts = place.split("/")[1:]
    assert start == "body"
    for part in parts:
        body = body[int(part) if isinstance(body, list) else part]
    return body


@pytest.mark.parametrize("form", FORMS)
def test_errors_name_the_cell_in_the_body(predictor: Predictor, form: str) -> None:
    for row, name, cell, code in (
        *((1, "age", "old", "TYPE"), (2, "member", "maybe", "TYPE"), (0, "colour", 7, "TYPE")),
        *((2, "size", math.inf, "INFINITE"), (1, "age", 10**400, "TOO_LARGE")),
    ):
        rows = [dict(other) for other in ROWS]
        rows[row][name] = cell
        body = in_forms(rows)[form]
        (error,) = refused(predictor, body).errors
        assert find(body, error.pointer) == cell
        assert (error.code, error.row) == (code, row + 1)
        assert error.message.startswith(f"Row {row + 1}: {name}: ")


def test_errors_name_the_cell_of_a_single_row(predictor: Predictor) -> None:
    body = {"inputs": {**GOOD, "age": "old"}}
    assert [error.pointer for error in refused(predictor, body).errors] == ["/body/inputs/age"]


def test_errors_name_the_cell_of_a_csv(predictor: Predictor) -> None:
    body = as_csv([GOOD, {**GOOD, "age": "old"}])
    with pytest.raises(RowsError) as caught:
        invoke(predictor, body, "csv")
    assert [(error.pointer, error.row) for error in caught.value.errors] == [("/body/rows/1/age", 2)]


def test_ambiguous_numbers_of_a_csv_have_a_remedy_that_the_protocol_has(predictor: Predictor) -> None:
    """There is no query option to say what a comma means."""
    options = PredictOptions("csv", "mlflow", CsvOptions(in_query=False))
    with pytest.raises(RowsError, match="with a decimal point") as caught:
        predictor.predict(as_csv([{**GOOD, "size": "1,250"}], ";"), options, 1_000)
    assert caught.value.fixes == ()


def test_limits(predictor: Predictor) -> None:
    for body in FORMS.values():
        assert refused(predictor, body, max_rows=2).errors[0].code == "TOO_MANY_ROWS"
    assert isinstance(refused(predictor, b"{"), MalformedError)
    twice = b'{"dataframe_records": [{"age": 1, "age": 2}]}'
    assert refused(predictor, twice).errors[0].code == "REPEATED"
