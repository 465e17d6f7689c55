"""What is said of rows that are predicted, and the spellings that are understood; no HTTP here."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from literati import LiteratiClassifier
from service.predict.decode.csv_table import CsvOptions
from service.predict.predictor import Predictor
from tests.support.http.predict_bodies import (
    GOOD,
    WRITERS,
    as_csv,
    as_records,
    as_table,
    ask,
    refused,
    stream,
)
from tests.support.records.model_maker import COLOURS, mixed_tree


@pytest.fixture(scope="module")
def predictor() -> Predictor:
    return Predictor(mixed_tree(), {"model_id": "mdl_test"})


def test_what_the_model_does_not_know_is_reported(predictor: Predictor) -> None:
    rows = [
        {**GOOD, "colour": "pink", "shoe": "1", "size": None},
        {**GOOD, "colour": "pink", "shoe": "2", "size": -1e6},
        {**GOOD, "colour": "grey", "shoe": "3", "zone": 99},
    ]
    for write, form in WRITERS.values():
        found = {(w["code"], w["column"]): w for w in ask(predictor, write(rows), form)["warnings"]}
        assert set(found) == {
            ("UNKNOWN_COLUMN", "shoe"),
            ("UNSEEN_CATEGORY", "colour"),
            ("UNSEEN_CATEGORY", "zone"),
            ("MISSING_VALUE", "size"),
            ("OUT_OF_RANGE", "size"),
        }
        assert (found["UNSEEN_CATEGORY", "colour"]["count"], found["MISSING_VALUE", "size"]["count"]) == (
            3,
            1,
        )
        assert found["UNSEEN_CATEGORY", "colour"]["examples"] == ["pink", "grey"]
        assert found["UNSEEN_CATEGORY", "zone"]["examples"] == [99]
        assert found["OUT_OF_RANGE", "size"]["examples"] == [-1e6]
        assert all(w["message"] for w in found.values())


def test_nothing_is_reported_of_usual_rows(predictor: Predictor) -> None:
    assert ask(predictor, as_records([GOOD]))["warnings"] == []


def test_warnings_stay_short(predictor: Predictor) -> None:
    row = {**GOOD, **{f"extra{i}": 0 for i in range(1000)}, "colour": "x" * 10_000}
    answer = ask(predictor, as_records([row, {**row, "colour": "y" * 10_000}]))
    assert len(answer["warnings"]) == 101
    assert answer["warnings"][-1]["code"] == "MORE"
    rows = [{**GOOD, "colour": str(i) + "x" * 10_000} for i in range(50)]
    (warning,) = ask(predictor, as_records(rows))["warnings"]
    assert warning["count"] == 50
    assert len(json.dumps(warning)) < 1000


def test_integers_keep_their_digits_as_categories(predictor: Predictor) -> None:
    near = 2**53 + 1
    (warning,) = ask(predictor, as_records([{**GOOD, "zone": near}]))["warnings"]
    assert warning["examples"] == [near]


def test_a_constant_column_may_be_absent_and_hold_anything(predictor: Predictor) -> None:
    plain = ask(predictor, as_records([GOOD]))
    assert ask(predictor, as_records([{**GOOD, "planet": 5}])) == plain
    assert ask(predictor, as_csv([{**GOOD, "planet": "mars"}]), "csv") == plain


def test_equal_numbers_are_the_same_category(predictor: Predictor) -> None:
    plain = ask(predictor, as_records([GOOD]))
    assert ask(predictor, as_records([{**GOOD, "zone": 3.0}])) == plain
    for text in ("3.0", " 3", "+3", "3e0"):
        assert ask(predictor, as_csv([{**GOOD, "zone": text}]), "csv") == plain


def test_booleans_have_several_spellings(predictor: Predictor) -> None:
    yes, no = (ask(predictor, as_records([{**GOOD, "member": value}])) for value in (True, False))
    assert yes["leaf_ids"] != no["leaf_ids"]
    for value in (1, 1.0):
        assert ask(predictor, as_records([{**GOOD, "member": value}])) == yes
    for text in ("true", "TRUE", "True", "1", "yes"):
        assert ask(predictor, as_csv([{**GOOD, "member": text}]), "csv") == yes
    for text in ("false", "FALSE", "0"):
        assert ask(predictor, as_csv([{**GOOD, "member": text}]), "csv") == no


def test_an_empty_text_is_missing_in_a_category_column_only(predictor: Predictor) -> None:
    assert ask(predictor, as_records([{**GOOD, "colour": ""}])) == ask(
        predictor, as_records([{**GOOD, "colour": None}])
    )
    refused(predictor, as_records([{**GOOD, "size": ""}]), pointers=["/body/records/0/size"])


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(10, 2), pa.decimal256(50, 2)]
)
def test_arrow_numbers_of_every_width(predictor: Predictor, kind: Any) -> None:
    table = as_table([{**GOOD, "age": 30}])
    column = table.column("age").cast(kind) if kind != pa.float16() else pa.array([np.float16(30)], kind)
    changed = table.set_column(table.column_names.index("age"), "age", column)
    assert ask(predictor, stream(changed), "arrow") == ask(predictor, as_records([GOOD]))


def test_arrow_dictionaries_and_compression(predictor: Predictor) -> None:
    rows = [{**GOOD, "colour": colour} for colour in (*COLOURS, None, "pink") * 3]
    plain = ask(predictor, as_records(rows))
    table = as_table(rows)
    for name in ("colour", "zone"):
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).dictionary_encode())
    assert ask(predictor, stream(table), "arrow") == plain
    for codec in ("lz4", "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=codec)
        assert ask(predictor, stream(table, options=options), "arrow") == plain


def test_a_byte_order_mark_is_no_part_of_the_text(predictor: Predictor) -> None:
    plain = ask(predictor, as_records([GOOD]))
    assert ask(predictor, b"\xef\xbb\xbf" + as_records([GOOD])) == plain
    assert ask(predictor, b"\xef\xbb\xbf" + as_csv([GOOD]), "csv") == plain


def test_csv_options(predictor: Predictor) -> None:
    plain = ask(predictor, as_records([GOOD]))
    for delimiter in (",", ";", "\t", "|"):
        assert ask(predictor, as_csv([GOOD], delimiter), "csv") == plain
    assert ask(predictor, as_csv([GOOD], "^"), "csv", csv=CsvOptions("^")) == plain
    comma = as_csv([{**GOOD, "size": "0,5"}], ";")
    assert ask(predictor, comma, "csv", csv=CsvOptions(decimal=",")) == plain
    refused(predictor, comma, "csv", pointers=["/body/rows/0/size"], csv=CsvOptions(decimal="."))
    missing = ask(predictor, as_records([{**GOOD, "size": None, "colour": None}]))
    for word in ("NA", "NaN", "null", ""):
        assert ask(predictor, as_csv([{**GOOD, "size": word, "colour": word}]), "csv") == missing
    odd = as_csv([{**GOOD, "size": "-999", "colour": "-999"}])
    assert ask(predictor, odd, "csv", csv=CsvOptions(null_words=frozenset({"", "-999"}))) == missing


def test_names_in_a_header_are_stripped(predictor: Predictor) -> None:
    body = as_csv([GOOD]).replace(b"age", b" age ", 1)
    assert ask(predictor, body, "csv") == ask(predictor, as_records([GOOD]))


def test_long_words_are_cut_in_explanations() -> None:
    """Or else an explanation of a thousand rows could take more room than there is."""
    words = np.array([f"{i}{'x' * 10_000}" for i in range(6)])
    table = pa.table({"word": words[np.arange(60) % 6], "x": np.arange(60.0)})
    tree = LiteratiClassifier(max_depth=1).fit(table, np.arange(60) % 6 < 3).tree_
    predictor = Predictor(tree, {"model_id": None})
    body = as_records([{"word": words[1], "x": 0}, {"word": "y" * 10_000, "x": 0}])
    known, unknown = ask(predictor, body, explain=True)["explanations"]
    assert known["steps"][0]["value"].startswith("1xxx")
    assert known["steps"][0]["value"] in known["steps"][0]["categories"]
    assert max(len(json.dumps(known)), len(json.dumps(unknown))) < 3_000
