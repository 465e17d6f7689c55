"""Number styles and text in a CSV: decimal commas, thousands separators, leading zeros, spaces."""

from __future__ import annotations

import io
import random
import re
from csv import QUOTE_ALL
from csv import writer as csv_writer
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from literati._predict._leading_zeros import mark_leading_zeros
from service.ingest.csv_reader import BLOCK_BYTES, BLOCKS
from tests.support.http.uploads import arrow, cells, info, issue, kind, made, parquet, parsed


def csv(words: list[str], other: list[str] | None = None, delimiter: str = ";") -> str:
    """Return a table with these words in the column `x`, and others or a constant in `y`."""
    quoted = [f'"{word}"' if delimiter in word else word for word in words]
    rows = zip(quoted, other or ["k"] * len(words), strict=True)
    lines = [delimiter.join([x, y, "ab"[i % 2]]) for i, (x, y) in enumerate(rows)]
    return "\n".join([delimiter.join(["x", "y", "label"]), *lines]) + "\n"


@pytest.mark.parametrize(
    ("words", "numbers", "said"),
    [
        (["1,5", "2,25", "3"], [1.5, 2.25, 3], "a decimal comma"),
        (["-1,5", "+2,5", ",5"], [-1.5, 2.5, 0.5], "a decimal comma"),
        (["0,125", "1,250", "2,500"], [0.125, 1.25, 2.5], "a decimal comma"),
        (
            ["1.234,5", "12", "1.234.567,25"],
            [1234.5, 12, 1234567.25],
            "a decimal comma and points as thousands",
        ),
        (["1.234.567", "12.345.678", "9"], [1234567, 12345678, 9], "a decimal comma and points as thousands"),
        (["1,234.5", "999", "12,345,678"], [1234.5, 999, 12345678], "commas as thousands separators"),
        (["1,234,567", "12", "9,999,999"], [1234567, 12, 9999999], "commas as thousands separators"),
        (["1 234,5", "12", "1 234 567"], [1234.5, 12, 1234567], "a decimal comma and spaces as thousands"),
        (
            ["1\u00a0234,5", "12,0", "7"],
            [1234.5, 12, 7],
            "a decimal comma and spaces as thousands separators",
        ),
        (
            ["1'234.5", "12", "1\u2019234\u2019567"],
            [1234.5, 12, 1234567],
            "apostrophes as thousands separators",
        ),
        (["1,5e3", "2,5E-1", "NA"], [1500, 0.25, None], "a decimal comma"),
        ([" 1,5 ", "2,5", " "], [1.5, 2.5, None], "a decimal comma"),
    ],
)
@pytest.mark.parametrize("delimiter", [";", ","])
def test_number_styles_are_detected(
    tmp_path: Path, words: list[str], numbers: list[Any], said: str, delimiter: str
) -> None:
    dataset = made(tmp_path, csv(words, delimiter=delimiter))
    assert info(dataset, "x").type == "number"
    assert any(f"'x' was read as numbers with {said}" in warning for warning in dataset.warnings)
    assert cells(parsed(tmp_path, csv(words, delimiter=delimiter)), "x") == numbers
    assert cells(parsed(tmp_path, csv(words, delimiter=delimiter), types="x:number"), "x") == numbers
    assert kind(parsed(tmp_path, csv(words, delimiter=delimiter), types="x:category"), "x") == "category"


@pytest.mark.parametrize(
    "words",
    [
        ["1,5", "2,5", "many"],
        ["1,23,456", "2,34,567", "1"],
        ["1.2.3", "1.2.4", "2.0.0"],
        ["a,b", "c,d", "e"],
        ["1,5", "1.5", "2"],
        ["12 34", "56 78", "1"],
    ],
)
def test_words_that_are_not_numbers_stay_text(tmp_path: Path, words: list[str]) -> None:
    assert cells(parsed(tmp_path, csv(words)), "x") == words


AMBIGUOUS = ["12,500", "1,250", "999"]


def test_ambiguous_commas(tmp_path: Path) -> None:
    """Other columns, the delimiter or the options decide if each comma is followed by three digits."""
    dataset = made(tmp_path, csv(AMBIGUOUS))
    assert info(dataset, "x").type == "category"
    assert any("decimal=, or decimal=." in warning for warning in dataset.warnings)
    for sign, numbers in ((",", [12.5, 1.25, 999]), (".", [12500, 1250, 999])):
        assert cells(parsed(tmp_path, csv(AMBIGUOUS), decimal=sign), "x") == numbers
    assert cells(parsed(tmp_path, csv(AMBIGUOUS, ["0,5", "1,5", "2"])), "x") == [12.5, 1.25, 999]
    assert cells(parsed(tmp_path, csv(AMBIGUOUS, ["0.5", "1.5", "2"])), "x") == [12500, 1250, 999]
    assert cells(parsed(tmp_path, csv(AMBIGUOUS, delimiter=",")), "x") == [12500, 1250, 999]
    found = issue(tmp_path, csv(AMBIGUOUS), types="x:number")
    assert found.code == "AMBIGUOUS_NUMBERS"
    assert next(fix.label for fix in found.fixes) == "Read with a decimal comma"


def test_points_between_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    """1.234 is a decimal number, but more than a thousand in a file with decimal commas."""
    points = ["1.234", "12.500", "999"]
    assert cells(parsed(tmp_path, csv(points)), "x") == [1.234, 12.5, 999], "with a warning"
    result = parsed(tmp_path, csv(points, ["0,5", "1,75", "2"]))
    assert cells(result, "x") == [1234, 12500, 999]
    assert cells(result, "y") == [0.5, 1.75, 2]
    result = parsed(tmp_path, csv(["1.5", "12.25", "999"], ["0,5", "1,75", "2"]))
    assert cells(result, "x") == [1.5, 12.25, 999], "these are no thousands"


def test_a_decimal_comma_in_several_segments(tmp_path: Path) -> None:
    rng = random.Random(0)
    rows = [f"{rng.randrange(10**6)},{rng.randrange(10):d};{'z' * 60};{'ab'[i % 2]}" for i in range(250_000)]
    data = "x;rest;label\n" + "\n".join(rows) + "\n"
    assert len(data) > 2 * BLOCKS * BLOCK_BYTES
    result = parsed(tmp_path, data)
    assert kind(result, "x") == "number"
    assert cells(result, "x")[-1] == float(rows[-1].split(";")[0].replace(",", "."))


def test_text_in_formats_with_types_stays_text(tmp_path: Path) -> None:
    table = pa.table({"x": ["1,5", "2,5", "3,5"], "z": ["007", "1", "2"], "label": ["a", "b", "a"]})
    for data, form in ((parquet(table), "parquet"), (arrow(table), "arrow")):
        result = parsed(tmp_path, data, form)  # type: ignore[arg-type]
        assert cells(result, "x") == ["1,5", "2,5", "3,5"]
        result = parsed(tmp_path, data, form, types=("x:number", "z:number"))  # type: ignore[arg-type]
        assert cells(result, "x") == [1.5, 2.5, 3.5]
        assert cells(result, "z") == [7, 1, 2]


# Leading zeros


@pytest.mark.parametrize("words", [["00123", "45", "6"], ["1", "2", "007"], ["00", "1", "2"]])
@pytest.mark.parametrize("quote", ["", '"'])
def test_leading_zeros_are_text(tmp_path: Path, words: list[str], quote: str) -> None:
    data = csv([f"{quote}{word}{quote}" for word in words])
    dataset = made(tmp_path, data)
    assert info(dataset, "x").type == "category"
    assert any("'x' has whole numbers with leading zeros" in warning for warning in dataset.warnings)
    assert cells(parsed(tmp_path, data), "x") == words
    assert cells(parsed(tmp_path, data, types="x:number"), "x") == [int(word) for word in words]


@pytest.mark.parametrize("words", [["0", "10", "20"], ["0.5", "00.5", "1"], ["-1", "0", "100"]])
def test_other_zeros_are_numbers(tmp_path: Path, words: list[str]) -> None:
    assert cells(parsed(tmp_path, csv(words)), "x") == [float(word) for word in words]


def test_a_leading_zero_in_the_last_of_many_rows(tmp_path: Path) -> None:
    filler = "".join(f"{i};{i % 1000};{'ab'[i % 2]};{'z' * 180}\n" for i in range(100_000))
    data = f"x;y;label;rest\n{filler}7;08;a;z\n"
    assert len(data) > 2 * BLOCKS * BLOCK_BYTES
    result = parsed(tmp_path, data)
    assert kind(result, "x") == "number"
    assert cells(result, "y")[-2:] == ["999", "08"]


def test_leading_zeros_elsewhere_are_ignored(tmp_path: Path) -> None:
    """They may be in text, dates, names and quoted cells with line breaks."""
    data = 'x;01;label;"note\n02"\n5;2024-01-05;a;"see\n01"\n6;2024-01-06;b;"01 and 02"\n'
    result = parsed(tmp_path, data)
    assert cells(result, "x") == [5, 6]
    assert result.plan.dropped == ("01",)


cell = st.text(alphabet='01x." \n', max_size=6)


@settings(deadline=None)
@given(st.lists(st.lists(cell, min_size=3, max_size=3), min_size=1, max_size=8), st.sampled_from(",;\t"))
def test_leading_zeros_are_found_as_by_a_csv_reader(rows: list[list[str]], sign: str) -> None:
    text = io.StringIO(newline="")
    csv_writer(text, delimiter=sign, quoting=QUOTE_ALL).writerows(rows)
    found = np.zeros(3, dtype=np.uint8)
    mark_leading_zeros(text.getvalue().encode(), ord(sign), found)
    expected = [any(re.match(" *0[0-9]", row[place]) for row in rows) for place in range(3)]
    assert found.tolist() == expected


def test_weights_may_have_leading_zeros(tmp_path: Path) -> None:
    dataset = made(tmp_path, "x;w;label\n1;01;a\n2;02;b\n", weight="w")
    assert info(dataset, "w").maximum == 2


# Spaces


def test_text_is_stripped_with_a_warning(tmp_path: Path) -> None:
    data = "x;colour;label\n1; red;yes \n2;red ;no\n3;blue; no\n4; NA ;yes\n5;  ;no\n"
    dataset = made(tmp_path, data)
    result = parsed(tmp_path, data)
    assert cells(result, "colour") == ["red", "red", "blue", None, None]
    assert cells(result, "label") == ["yes", "no", "no", "yes", "no"]
    assert [(entry.label, entry.count) for entry in dataset.classes] == [("no", 3), ("yes", 2)]
    assert "Column 'colour': spaces around 4 of its values were removed." in dataset.warnings
    assert "Column 'label': spaces around 2 of its values were removed." in dataset.warnings


def test_spaces_around_booleans_are_reported(tmp_path: Path) -> None:
    dataset = made(tmp_path, "x,label\n yes,a\nno,b\n yes,a\n", types="x:boolean")
    assert info(dataset, "x").type == "boolean"
    assert "Column 'x': spaces around 1 of its values were removed." in dataset.warnings


def test_numbers_between_spaces_are_numbers(tmp_path: Path) -> None:
    assert cells(parsed(tmp_path, csv([" 1", "2 ", " NA"])), "x") == [1, 2, None]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_fixed_width_text_of_databases(tmp_path: Path, form: Any) -> None:
    table = pa.table({"x": ["red   ", "blue  ", "red"], "n": [1, 2, 3], "label": ["a  ", "b  ", "a  "]})
    data = parquet(table) if form == "parquet" else arrow(table)
    result = parsed(tmp_path, data, form)
    assert cells(result, "x") == ["red", "blue", "red"]
    assert cells(result, "label") == ["a", "b", "a"]


def test_lost_digits_give_a_warning(tmp_path: Path) -> None:
    ids = [str(10**18 + i) for i in range(3)]
    dataset = made(tmp_path, csv(ids, ["p", "q", "r"]))
    assert any("1 of its 3 different values can be distinguished" in warning for warning in dataset.warnings)
    assert cells(parsed(tmp_path, csv(ids), types="x:category"), "x") == [int(word) for word in ids]
    dataset = made(tmp_path, csv([str(10**20 + i) for i in range(3)], ["p", "q", "r"]))
    assert any("beyond 2^63, stored as floating-point numbers" in warning for warning in dataset.warnings)
    dataset = made(tmp_path, csv([str(2**60), str(2**61), "5"]))
    assert not any("beyond" in warning for warning in dataset.warnings), "nothing is lost"


@pytest.mark.parametrize("words", [["1,5", "2,5", "x", "3,5"], ["1.5", "2.5", "x", "3.5"]])
def test_a_row_that_is_not_a_number_is_named_in_every_number_style(tmp_path: Path, words: list[str]) -> None:
    found = issue(tmp_path, csv(words), types="x:number")
    assert (found.code, found.location) == ("NOT_A_NUMBER", ("body", "rows", 3, "x"))


POINTS = "'x' was read with decimal points, but they may be thousands separators"


@pytest.mark.parametrize("words", [["1.234", "12.500", "999.000"], ["1.234", "12.500", "999"]])
def test_points_that_may_separate_thousands_give_a_warning_with_fixes(
    tmp_path: Path, words: list[str]
) -> None:
    dataset = made(tmp_path, csv(words))
    assert any(POINTS in warning for warning in dataset.warnings)
    assert [(fix.label, fix.options) for fix in dataset.fixes] == [
        ("Read with a decimal comma; points separate thousands", {"decimal": ","}),
        ("Keep the decimal point", {"decimal": "."}),
    ]
    numbers = [1234, 12500, int(words[2].replace(".", ""))]
    assert cells(parsed(tmp_path, csv(words), decimal=","), "x") == numbers
    for sign in (".", ","):
        assert not any(POINTS in warning for warning in made(tmp_path, csv(words), decimal=sign).warnings)


@pytest.mark.parametrize(
    ("words", "other", "delimiter"),
    [
        (["0.125", "1.234", "12.500"], None, ";"),  # a thousand does not begin with 0
        (["1.5", "1.234", "12.500"], None, ";"),
        (["1.234", "12.500", "1500"], None, ";"),
        (["1.234", "12.500", "999"], ["0.5", "1.5", "2.5"], ";"),  # the file has decimal points
        (["1.234", "12.500", "999"], ["0,5", "1,5", "2,5"], ";"),  # decided: decimal commas
        (["1.234", "12.500", "999"], None, ","),
        (["1", "2", "3"], None, ";"),
    ],
)
def test_clear_points_give_no_warning(
    tmp_path: Path, words: list[str], other: list[str] | None, delimiter: str
) -> None:
    assert not any(POINTS in warning for warning in made(tmp_path, csv(words, other, delimiter)).warnings)


def test_points_that_are_clear_only_after_many_rows(tmp_path: Path) -> None:
    filler = "".join(f"{i % 999 + 1}.{i % 1000:03d};{'ab'[i % 2]};{'z' * 180}\n" for i in range(50_000))
    assert len(filler) > BLOCKS * BLOCK_BYTES
    for last, doubtful in (("1.250", True), ("1.25", False)):
        dataset = made(tmp_path, f"x;label;rest\n{filler}{last};a;z\n")
        assert any(POINTS in warning for warning in dataset.warnings) == doubtful


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (["1,5", "2,5", "3,5", "4,25", "5"], " (other cells are, with a decimal comma)"),
        (
            ["1.234,5", "2,5", "3,5", "4,25", "5"],
            " (other cells are, with a decimal comma and points as thousands",
        ),
        (["1.5", "2.5", "3.5", "4.25", "5"], "."),
    ],
)
def test_a_word_among_numbers_is_named_with_fixes(tmp_path: Path, numbers: list[str], said: str) -> None:
    data = csv([*numbers[:3], "many", *numbers[3:]])
    dataset = made(tmp_path, data)
    (found,) = [warning for warning in dataset.warnings if warning.startswith("Column 'x' was read as text")]
    assert found.startswith(f"Column 'x' was read as text, because 'many' in row 4 is not a number{said}")
    assert "If 'many' means missing, add it to null_values" in found
    assert "types=x:category" in found
    missing, category = dataset.fixes
    assert missing.label == "Read 'many' as missing"
    assert {"NA", "many"} < set(missing.options["null_values"])
    assert info(made(tmp_path, data, null_values=tuple(missing.options["null_values"])), "x").type == "number"
    assert category.options == {"types": ["x:category"]}
    fixed = made(tmp_path, data, types=tuple(category.options["types"]))
    assert not any("was read as text" in warning for warning in fixed.warnings)
    assert fixed.fixes == []


def test_an_error_does_not_quote_the_word(tmp_path: Path) -> None:
    words = ["1,5", "2,5", "3,5", "4,5", "secret", "6,5"]
    found = issue(tmp_path, csv(words), limits={"max_categories": 5})
    assert found.code == "TOO_MANY_CATEGORIES"
    assert "the cell in row 5 is not a number" in found.message
    assert "secret" not in str(found)


def test_a_word_in_a_late_row_is_named(tmp_path: Path) -> None:
    words = [f"{i},5" for i in range(3000)]
    words[2500] = "many"
    assert any("'many' in row 2,501" in warning for warning in made(tmp_path, csv(words)).warnings)


def test_a_row_that_is_not_a_number_among_thousands(tmp_path: Path) -> None:
    found = issue(tmp_path, csv(["1.234,5", "2.345,5", "x", "3,5"]), types="x:number")
    assert found.location == ("body", "rows", 3, "x")
