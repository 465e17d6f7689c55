"""Fixes of problems and warnings: the rejected upload works when one of them is applied."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pyarrow as pa
import pytest

from service.ingest.fixes import Fix, as_options, combined, leave_out, read_column_as
from tests.support.http.uploads import PLAIN, arrow, parquet, upload, with_options
from tests.support.stack.stack import Stack

CSV = "text/csv"
TSV = "text/tab-separated-values"
PARQUET = "application/vnd.apache.parquet"
TWELVE = "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(12))


ODD = pa.table({"x": [1, 2, 3], "picture": [b"x"] * 3, "tags": [[1], [2], []], "label": ["a", "b", "a"]})
DATED = pa.table({"x": [1, 2, 3], "d": pa.array([0, 1, 2], pa.date32()), "label": ["a", "b", "a"]})
THOUSANDS = "x;y;label\n12,500;1;a\n1,250;2;b\n999;3;a\n"
UPLOADS: dict[str, tuple[bytes | str, str, dict[str, Any], set[str]]] = {
    "unsupported types": (
        parquet(ODD),
        PARQUET,
        {"target": "label"},
        {"Leave out 'picture', 'tags'"},
    ),
    "one of them": (
        parquet(ODD),
        PARQUET,
        {"target": "label", "drop": ["tags"]},
        {"Leave out 'picture'"},
    ),
    "dates as numbers": (
        parquet(DATED),
        PARQUET,
        {"target": "label", "types": ["x:number,d:number"]},
        {"Leave out 'd'", "Read 'd' as categories"},
    ),
    "dates as weights": (
        parquet(DATED),
        PARQUET,
        {"target": "label", "weight": "d"},
        {"Train without the weights in 'd'"},
    ),
    "dates alone": (
        "d,label\n2024-01-05,a\n2024-01-06,b\n",
        CSV,
        {"target": "label"},
        {"Read the dates as categories"},
    ),
    "ambiguous commas": (
        THOUSANDS,
        CSV,
        {"target": "label", "types": ["x:number"]},
        {"Read with a decimal comma", "Read with a decimal point; commas separate thousands"},
    ),
    "no target": (PLAIN, CSV, {}, {"Use 'label' as the target"}),
    "an unknown target": (PLAIN, CSV, {"target": "Lable"}, {"Use 'label' as the target"}),
    "an unknown column in drop": (
        PLAIN,
        CSV,
        {"target": "label", "drop": ["colours"]},
        {"Leave out 'colour'"},
    ),
    "a dropped target": (
        PLAIN,
        CSV,
        {"target": "label", "drop": ["age,label"]},
        {"Keep 'label'"},
    ),
    "everything dropped": (
        PLAIN,
        CSV,
        {"target": "label", "drop": ["age", "colour"]},
        {"Keep all columns"},
    ),
    "a word among numbers": (
        "x,y,label\n1,1,a\nmany,2,b\n3,3,a\n",
        CSV,
        {"target": "label", "types": ["x:number"]},
        {"Read 'x' as categories", "Leave out 'x'"},
    ),
    "a word among the only numbers": (
        "x,label\n1,a\nmany,b\n3,a\n",
        CSV,
        {"target": "label", "types": ["x:number"]},
        {"Read 'x' as categories"},
    ),
    "no boolean": (
        "x,label\n1,a\n2,b\n",
        CSV,
        {"target": "label", "types": ["x:boolean"]},
        {"Read 'x' as categories"},
    ),
    "infinity": ("x,y,label\n1,1,a\ninf,2,b\n", CSV, {"target": "label"}, {"Leave out 'x'"}),
    "fractions as classes": (
        "x,label\n1,1.5\n2,2.5\n3,1.5\n",
        CSV,
        {"target": "label"},
        {"Read 'label' as categories"},
    ),
    "weights of zero": (
        "x,w,label\n1,0,a\n2,0,b\n",
        CSV,
        {"target": "label", "weight": "w"},
        {"Train without the weights in 'w'"},
    ),
    "weights that are tiny": (
        "x,w,label\n1,1e-300,a\n2,1e-300,b\n",
        CSV,
        {"target": "label", "weight": "w"},
        {"Train without the weights in 'w'"},
    ),
    "a weight that is negative": (
        "x,w,label\n1,-1,a\n2,1,b\n",
        CSV,
        {"target": "label", "weight": "w"},
        {"Train without the weights in 'w'"},
    ),
    "a wrong delimiter": (
        PLAIN,
        CSV,
        {"target": "label", "delimiter": "|"},
        {"Read cells separated by commas"},
    ),
    "no delimiter": (
        PLAIN,
        CSV,
        {"target": "label", "delimiter": "ab"},
        {"Read cells separated by commas"},
    ),
    "commas sent as tabs": (PLAIN, TSV, {"target": "label"}, {"Read cells separated by commas"}),
    "semicolons sent as tabs, with another delimiter": (
        PLAIN.replace(",", ";"),
        TSV,
        {"target": "label", "delimiter": "|"},
        {"Read cells separated by semicolons"},
    ),
    "tabs sent as tabs, with another delimiter": (
        PLAIN.replace(",", "\t"),
        TSV,
        {"target": "label", "delimiter": "ab"},
        {"Read cells separated by tabs"},
    ),
    "weights with ambiguous commas": (
        "x;w;label\n1;1,250;a\n2;12,500;b\n3;999;a\n",
        CSV,
        {"target": "label", "weight": "w"},
        {"Read with a decimal comma", "Read with a decimal point; commas separate thousands"},
    ),
    "a weight that is a word": (
        "x,w,label\n1,2,a\n2,much,b\n",
        CSV,
        {"target": "label", "weight": "w"},
        {"Train without the weights in 'w'"},
    ),
    "a misspelt weight": (
        "x,width,weight,label\n1,2,1,a\n2,3,2,b\n",
        CSV,
        {"target": "label", "weight": "Weigth"},
        {"Use 'weight' as the weight", "Train without weights"},
    ),
    "an unknown weight without a similar name": (
        PLAIN,
        CSV,
        {"target": "label", "weight": "q"},
        {"Train without weights"},
    ),
    "a misspelt type": (
        PLAIN,
        CSV,
        {"target": "label", "types": ["age:categroy"]},
        {"Read 'age' as categories", "Remove 'age' from `types`"},
    ),
    "a type by another name": (
        PLAIN,
        CSV,
        {"target": "label", "types": ["age:float,colour:category"]},
        {"Read 'age' as numbers"},
    ),
    "a type of a misspelt column": (
        PLAIN,
        CSV,
        {"target": "label", "types": ["Agee:category"]},
        {"Read 'age' as categories", "Remove 'Agee' from `types`"},
    ),
    "two types": (
        PLAIN,
        CSV,
        {"target": "label", "types": ["age:category", "age:number"]},
        {"Read 'age' as categories", "Read 'age' as numbers"},
    ),
    "an unknown column in drop without a similar name": (
        PLAIN,
        CSV,
        {"target": "label", "drop": ["q"]},
        {"Remove 'q' from `drop`"},
    ),
    "an unknown target without a similar name": (PLAIN, CSV, {"target": "q"}, {"Use 'label' as the target"}),
    "no target, and a number last": (
        "label,x\n" + "".join(f"{'ab'[i % 2]},{i}.5\n" for i in range(9)),
        CSV,
        {},
        {"Use 'label' as the target"},
    ),
    "a decimal sign that is the delimiter": (
        PLAIN,
        CSV,
        {"target": "label", "decimal": ","},
        {"Detect the decimal sign"},
    ),
    "options of CSV": (
        arrow(pa.table({"x": [1, 2], "label": ["a", "b"]})),
        "application/vnd.apache.arrow.stream",
        {"target": "label", "decimal": ",", "delimiter": ";"},
        {"Remove `delimiter`; Remove `decimal`"},
    ),
}


@pytest.mark.parametrize("name", UPLOADS)
def test_uploads(client: httpx.Client, name: str) -> None:
    body, kind, query, labels = UPLOADS[name]
    rejected = upload(client, body, kind, query)
    assert rejected.status_code == 422, rejected.text
    fixes = rejected.json()["fixes"]
    assert {fix["label"] for fix in fixes} >= labels
    for fix in fixes:
        assert fix["part"] == "query"
        answer = upload(client, body, kind, with_options(query, fix["options"]))
        assert answer.status_code in (200, 201), (fix, answer.text)


def test_a_fix_that_leads_to_another_fix_is_offered_if_there_is_no_better_one(client: httpx.Client) -> None:
    body = "x,y,label\n1,1,a\ninf,2,b\n3,3,a\n"
    rejected = upload(client, body, CSV, {"target": "labels"}).json()
    assert [fix["options"] for fix in rejected["fixes"]] == [{"target": "label"}]
    (fix,) = upload(client, body, CSV, {"target": "label"}).json()["fixes"]
    query = {"target": "label", **fix["options"]}
    assert upload(client, body, CSV, query).status_code == 201


def test_a_fix_that_leads_to_an_error_without_a_fix_is_not_offered(client: httpx.Client) -> None:
    rejected = upload(client, "x,label\n1,a\n2,a\n", CSV, {"target": "labels"}).json()
    assert rejected["errors"][0]["code"] == "UNKNOWN_COLUMN"
    assert "fixes" not in rejected


def test_errors_without_a_fix(client: httpx.Client) -> None:
    for body in ("x,label\n1,a\n2,a\n", "", "x,label\n1\n"):
        assert "fixes" not in upload(client, body, CSV, {"target": "label"}).json()


def test_predict_options(api: Stack) -> None:
    from tests.support.http.predict_bodies import GOOD
    from tests.support.records import model_maker

    address = f"/v1/models/{model_maker.add_model(api, model_maker.mixed_tree())}/predict"
    body = json.dumps({"records": [GOOD]})
    for query, headers in (
        ({"decimal": ",", "delimiter": ";"}, {"Content-Type": "application/json"}),
        ({"explain": "true"}, {"Content-Type": "application/json", "Accept": "text/csv"}),
    ):
        with api.client() as client:
            rejected = client.post(address, params=query, content=body, headers=headers)
            assert rejected.status_code == 422
            (fix,) = rejected.json()["fixes"]
            changed = with_options(query, fix["options"])
            assert client.post(address, params=changed, content=body, headers=headers).status_code == 200


# Combined fixes


def test_fixes_of_several_issues_are_combined() -> None:
    (both,) = combined([[leave_out("a")], [leave_out("b"), read_column_as("b", "category")]])
    assert (both.label, both.drop) == ("Leave out 'a', 'b'", ("a", "b"))
    (mixed,) = combined([[leave_out("a")], [read_column_as("b", "category")]])
    assert mixed.label == "Leave out 'a'; Read 'b' as categories"
    assert combined([[leave_out("a")], []]) == (), "every issue needs a fix"
    assert combined([[Fix("x", options={"decimal": ","})], [Fix("y", options={"decimal": "."})]]) == ()


def test_options_have_complete_new_values() -> None:
    fix = Fix("", drop=("d",), keep=("b",), types={"e": "category"})
    assert as_options(fix, ["a,b", "c"], ["e:number,f:number", "d:number"]) == {
        "drop": ["a", "c", "d"],
        "types": ["f:number", "e:category"],
    }
    assert as_options(Fix("", keep=("a,b",)), ["a,b"], []) == {"drop": None}
    assert as_options(leave_out("x"), [], ["x:number"]) == {"drop": ["x"], "types": None}


AMBIGUOUS = {
    "leading zeros": ("x,y,label\n007,1,a\n08,2,b\n9,3,a\n", "'x' has whole numbers with leading zeros", 2),
    "commas": (THOUSANDS, "its commas may be decimal signs", 2),
    "points": ("x;label\n1.234;a\n12.500;b\n999;a\n", "may be thousands separators", 2),
    "a word": ("x;y;label\n1,5;1;a\n2,5;2;b\n3,5;3;a\n4,5;4;b\n?;5;a\n", "'?' in row 5 is not a number", 2),
}


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_fixes_of_warnings_remove_them(api: Stack, case: str) -> None:
    """The `fixes` of a dataset read its ambiguous columns in another way."""
    body, warning, count = AMBIGUOUS[case]
    query = {"target": "label"}
    with api.client() as client:
        dataset = upload(client, body, CSV, query).raise_for_status().json()
        assert any(warning in text for text in dataset["warnings"])
        assert len(dataset["fixes"]) == count
        assert client.get(dataset["links"]["self"]).json()["fixes"] == dataset["fixes"]
        for fix in dataset["fixes"]:
            assert fix["part"] == "query"
            other = upload(client, body, CSV, with_options(query, fix["options"])).raise_for_status().json()
            assert other["id"] != dataset["id"]
            assert not any(warning in text for text in other["warnings"])
            assert other["fixes"] == []
