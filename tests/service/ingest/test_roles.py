"""Target and weight: allowed columns, the types of labels, and columns that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.support.http.uploads import PLAIN, all_issues, arrow, cells, issue, kind, made, parsed


def csv(labels: list[Any], extra: str = "") -> str:
    return "x,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)) + extra


@pytest.mark.parametrize(
    ("written", "label", "of_kind"),
    [
        (["1", "2"], [1, 2], "number"),
        (["-1", "1"], [-1, 1], "number"),
        (["1.0", "2.0"], [1.0, 2.0], "number"),
        (["007", "7"], ["007", "7"], "category"),
        (["01", "10"], ["01", "10"], "category"),
        (["+1", "-1"], ["+1", "-1"], "category"),
        (["1e0", "2e0"], ["1e0", "2e0"], "category"),
        (["true", "false"], [True, False], "boolean"),
        (["True", "False"], [True, False], "boolean"),
        (["true", "False"], ["true", "False"], "category"),
        (["yes", "no"], ["yes", "no"], "category"),
        (["1", "x"], ["1", "x"], "category"),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"], "category"),
    ],
)
def test_labels_keep_their_spelling(
    tmp_path: Path, written: list[str], label: list[Any], of_kind: str
) -> None:
    result = parsed(tmp_path, csv(written))
    assert cells(result, "label") == label
    assert [type(cell) for cell in cells(result, "label")] == [type(cell) for cell in label]
    assert kind(result, "label") == of_kind


def test_classes_in_order_with_their_rows(tmp_path: Path) -> None:
    dataset = made(tmp_path, csv(["b", "a", "b", "c", "b"]))
    assert [(entry.label, entry.count) for entry in dataset.classes] == [("a", 1), ("b", 3), ("c", 1)]


def test_no_target_lists_the_columns(tmp_path: Path) -> None:
    found = issue(tmp_path, PLAIN, target=None)
    assert found.code == "TARGET_REQUIRED"
    assert found.location == ("query", "target")
    assert "?target=label" in found.message
    assert "'age', 'colour', 'label'" in found.message


@pytest.mark.parametrize(("given", "meant"), [("Label", "label"), ("colours", "colour"), ("lable", "label")])
def test_an_unknown_target_names_similar_columns(tmp_path: Path, given: str, meant: str) -> None:
    found = issue(tmp_path, PLAIN, target=given)
    assert found.code == "UNKNOWN_COLUMN"
    assert f"Did you mean '{meant}'" in found.message


def test_all_wrong_options_are_reported(tmp_path: Path) -> None:
    found = all_issues(tmp_path, PLAIN, target="q", weight="r", drop="s,age", types="t:number")
    assert [f.location[1] for f in found] == ["target", "weight", "drop", "types"]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"weight": "label"}, "COLUMN_USED_TWICE"),
        ({"drop": "label"}, "COLUMN_USED_TWICE"),
        ({"weight": "age", "drop": "age"}, "COLUMN_USED_TWICE"),
        ({"types": "age:number,age:category"}, "COLUMN_USED_TWICE"),
        ({"drop": "age,colour"}, "NO_FEATURES"),
        ({"weight": "age", "drop": "colour"}, "NO_FEATURES"),
    ],
)
def test_contradictory_options(tmp_path: Path, given: dict[str, Any], code: str) -> None:
    assert issue(tmp_path, PLAIN, **given).code == code


def test_a_missing_label_is_reported(tmp_path: Path) -> None:
    found = issue(tmp_path, csv(["a", "b", "", "a", "NA"]))
    assert found.code == "MISSING_LABEL"
    assert found.location == ("body", "rows", 3, "label")
    assert "1 more row" in found.message
    assert "null_values" in found.message


@pytest.mark.parametrize("labels", [["a"] * 5, ["1"] * 5, ["true"] * 5])
def test_one_class(tmp_path: Path, labels: list[str]) -> None:
    assert issue(tmp_path, csv(labels)).code == "ONE_CLASS"


@pytest.mark.parametrize("labels", [["1.5", "2", "3.25"], [str(i / 7) for i in range(2000)]])
def test_fractions_are_a_regression_target(tmp_path: Path, labels: list[str]) -> None:
    found = issue(tmp_path, csv(labels))
    assert found.code == "CONTINUOUS_TARGET"
    assert "regression" in found.message
    assert "types=label:category" in found.message
    table = pa.table({"x": list(range(len(labels))), "label": [float(label) for label in labels]})
    assert issue(tmp_path, arrow(table), "arrow").code == "CONTINUOUS_TARGET"


def test_fractions_as_classes(tmp_path: Path) -> None:
    result = parsed(tmp_path, csv(["1.5", "2.0", "1.5"]), types="label:category")
    assert cells(result, "label") == ["1.5", "2.0", "1.5"]


@pytest.mark.parametrize("form", ["csv", "arrow"])
def test_too_many_classes(tmp_path: Path, form: Any) -> None:
    for labels in (list(range(1025)), [f"w{i}" for i in range(1025)]):
        table = pa.table({"x": list(range(1025)), "label": labels})
        data = csv(labels) if form == "csv" else arrow(table)
        assert issue(tmp_path, data, form).code == "TOO_MANY_CLASSES"
    assert len(made(tmp_path, csv(list(range(1024)))).classes) == 1024


def test_weights(tmp_path: Path) -> None:
    dataset = made(tmp_path, "x,w,label\n1,1,a\n2,0.5,b\n3,0,c\n", weight="w")
    assert dataset.weight == "w"
    assert [column.role for column in dataset.columns] == ["feature", "weight", "target"]


@pytest.mark.parametrize(
    ("weights", "code", "row"),
    [
        (["1", "2", "-0.5"], "NEGATIVE_WEIGHT", 3),
        (["1", "", "1"], "MISSING_WEIGHT", 2),
        (["1", "inf", "1"], "INFINITE", 2),
        (["0", "0", "0"], "BAD_WEIGHT", None),
        (["1", "x", "1"], "NOT_A_NUMBER", 2),
        (["true", "true", "false"], "BAD_WEIGHT", None),
        (["1e300", "1e300", "1"], "BAD_WEIGHT", None),
        ([str(2**53 + 1), "1", "1"], "BAD_WEIGHT", None),
        (["1", "0", "1"], "ONE_CLASS", None),
    ],
)
def test_invalid_weights(tmp_path: Path, weights: list[str], code: str, row: int | None) -> None:
    rows = "".join(f"{i},{w},{'b' if i == 1 else 'a'}\n" for i, w in enumerate(weights))
    found = issue(tmp_path, f"x,w,label\n{rows}", weight="w")
    assert found.code == code
    if row is not None:
        assert found.location == ("body", "rows", row, "w")


def test_two_rows_are_accepted_with_a_warning(tmp_path: Path) -> None:
    dataset = made(tmp_path, csv(["a", "b"]))
    assert dataset.rows == 2
    assert any("only 2 rows" in warning for warning in dataset.warnings)
    assert issue(tmp_path, csv(["a"])).code == "ONE_CLASS"
