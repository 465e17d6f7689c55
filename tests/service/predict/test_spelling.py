"""Rows to predict, written as people write them: "20" for 20, blanks around words, commas in numbers."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from service.predict.decode.csv_table import CsvOptions
from service.predict.predictor import Predictor
from tests.support.http.predict_bodies import (
    GOOD,
    WRITERS,
    Row,
    as_arrow,
    as_csv,
    as_records,
    as_table,
    ask,
    refused,
    stream,
)
from tests.support.records import model_maker
from tests.support.records.model_maker import mixed_tree
from tests.support.stack.stack import Stack


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


@pytest.mark.parametrize("spelt", ["20", " 20", "20.0", "+20", "2e1"])
def test_text_that_spells_a_category_that_is_a_number(predictor: Predictor, spelt: str) -> None:
    plain = ask(predictor, as_records([{**GOOD, "zone": 20}]))
    assert plain["warnings"] == []
    for form in ("records", "arrays", "csv"):
        write, media = WRITERS[form]
        assert ask(predictor, write([{**GOOD, "zone": spelt}]), media) == plain
    table = as_table([GOOD])
    table = table.set_column(table.column_names.index("zone"), "zone", pa.array([spelt]))
    assert ask(predictor, stream(table), "arrow") == plain


def test_among_other_spellings(predictor: Predictor) -> None:
    rows: list[Row] = [{**GOOD, "zone": zone} for zone in (20, "20", 3, None, "99")]
    answer = ask(predictor, as_records(rows))
    assert answer["leaf_ids"][0] == answer["leaf_ids"][1]
    assert [(w["code"], w["count"], w["examples"]) for w in answer["warnings"]] == [
        ("MISSING_VALUE", 1, []),
        ("UNSEEN_CATEGORY", 1, ["99"]),
    ]
    refused(predictor, as_records([*rows, {**GOOD, "zone": "east"}]), pointers=["/body/records/5/zone"])


@pytest.mark.parametrize("form", WRITERS)
def test_blanks_around_words(predictor: Predictor, form: str) -> None:
    write, media = WRITERS[form]
    plain = ask(predictor, as_records([{**GOOD, "colour": "blue"}]))
    for spelt in (" blue", "blue  ", "\tblue"):
        assert ask(predictor, write([{**GOOD, "colour": spelt}]), media) == plain
    (warning,) = ask(predictor, write([{**GOOD, "colour": " pink "}]), media)["warnings"]
    assert warning["code"] == "UNSEEN_CATEGORY"
    missing = ask(predictor, as_records([{**GOOD, "colour": None}]))
    assert ask(predictor, write([{**GOOD, "colour": "  "}]), media) == missing


def without_warnings(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "warnings"}


@pytest.mark.parametrize(
    ("spelt", "number"),
    [
        ("0,5", 0.5),
        ("-0,25", -0.25),
        ("1.234,5", 1234.5),
        ("1'234.5", 1234.5),
        ("1 234,5", 1234.5),
        (",5", 0.5),
    ],
)
def test_numbers_in_csv_are_read_as_they_are_written(predictor: Predictor, spelt: str, number: float) -> None:
    plain = ask(predictor, as_csv([{**GOOD, "size": number}], ";"), "csv")
    answer = ask(predictor, as_csv([{**GOOD, "size": spelt}], ";"), "csv")
    assert without_warnings(answer) == without_warnings(plain)
    (told,) = [warning for warning in answer["warnings"] if warning["code"] == "READ_AS"]
    assert told["column"] == "size"
    assert "was read as numbers with" in told["message"]


def test_a_file_with_decimal_commas_has_points_between_thousands(predictor: Predictor) -> None:
    rows: list[Row] = [{**GOOD, "size": "0,5", "age": "1.234"}, {**GOOD, "size": "NA", "age": " 30"}]
    answer = ask(predictor, as_csv(rows, ";"), "csv")
    (told,) = [warning for warning in answer["warnings"] if warning["code"] == "OUT_OF_RANGE"]
    assert (told["column"], told["examples"]) == ("age", [1234.0])


def test_cells_that_are_no_numbers_are_named_beside_those_that_are(predictor: Predictor) -> None:
    rows: list[Row] = [{**GOOD, "size": "0,5"}, {**GOOD, "size": "1,5", "age": "old"}]
    refused(predictor, as_csv(rows, ";"), "csv", pointers=["/body/rows/1/age"])
    refused(predictor, as_csv([{**GOOD, "size": "0,5", "member": "maybe"}], ";"), "csv", pointers=[
        "/body/rows/0/member"
    ])  # fmt: skip


def test_commas_of_two_meanings_have_two_remedies(api: Stack) -> None:
    address = f"/v1/models/{model_maker.add_model(api, mixed_tree())}/predict"
    body = as_csv([{**GOOD, "size": "1,250"}], ";")
    error = refused(Predictor(mixed_tree(), {"model_id": "x"}), body, "csv", pointers=["/body/size"])
    assert error.errors[0].code == "AMBIGUOUS_NUMBERS"
    for form in (body, body + b"0.5;30;red;True;3\n" * 70_000):  # the longer one is read by a process apart
        with api.client() as client:
            answer = client.post(address, content=form, headers={"Content-Type": "text/csv"})
            if form is not body:
                assert answer.status_code == 200, "other rows have a decimal point"
                continue
            assert answer.status_code == 422
            found = []
            for fix in answer.json()["fixes"]:
                changed = client.post(
                    address, params=fix["options"], content=form, headers={"Content-Type": "text/csv"}
                )
                found.append((fix["label"], [w["code"] for w in changed.json()["warnings"]]))
    assert found == [
        ("Read with a decimal comma", []),
        ("Read with a decimal point; commas separate thousands", ["READ_AS", "OUT_OF_RANGE"]),
    ]


def test_a_decimal_that_is_given_is_kept_to(predictor: Predictor) -> None:
    body = as_csv([{**GOOD, "size": "0.5"}], ";")
    refused(predictor, body, "csv", pointers=["/body/rows/0/size"], csv=CsvOptions(decimal=","))
    assert json.loads(json.dumps(ask(predictor, body, "csv")))["warnings"] == []


def test_arrow_writes_numbers_in_one_way(predictor: Predictor) -> None:
    assert ask(predictor, as_arrow([GOOD]), "arrow")["warnings"] == []
