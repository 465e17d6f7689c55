"""Places of errors: the intended member of a union, and the same row numbers in every format."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.support.http.predict_bodies import GOOD, Row, as_arrays, as_csv, as_records, as_table, stream
from tests.support.http.service_client import problem
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
EITHER = "Expected an object with either `fraction` or `column`"
RECORDS = '{"records": [{...}, ...]}'
ARRAYS = '{"columns": [...], "data": [[...], ...]}'


def errors(answer: httpx.Response, status: int = 422) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = problem(answer, status)["errors"]
    return found


# Unions


@pytest.mark.parametrize(
    ("validation", "where", "code", "message"),
    [
        ({"fraction": 2}, "/fraction", "LESS_THAN", "Input should be less than 1"),
        ({"fraction": "half"}, "/fraction", "FLOAT_TYPE", "Input should be a valid number"),
        ({"fraction": None}, "/fraction", "FLOAT_TYPE", "Input should be a valid number"),
        ({"seed": 3}, "/fraction", "MISSING", "Field required"),
        ({"fraction": 0.2, "odd": 1}, "/odd", "EXTRA_FORBIDDEN", "There is no such field"),
        ({"column": 3}, "/column", "STRING_TYPE", "Input should be a valid string"),
        ({"column": "x", "odd": 1}, "/odd", "EXTRA_FORBIDDEN", "There is no such field"),
        ({"fraction": 0.2, "column": "x"}, "", "FORM", EITHER),
        ({}, "", "FORM", EITHER),
        ({"odd": 1}, "", "FORM", EITHER),
        (0.2, "", "FORM", EITHER),
        ("fold", "", "FORM", EITHER),
    ],
)
def test_validation(
    client: httpx.Client, dataset: Dataset, validation: Any, where: str, code: str, message: str
) -> None:
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id, "validation": validation})
    [found] = errors(answer)
    assert (found["pointer"], found["code"]) == (f"/body/validation{where}", code)
    assert found["message"].startswith(message)


@pytest.mark.parametrize(
    ("name", "value", "where", "message"),
    [
        ("candidate_leaves", 0, "", "Input should be greater than or equal to 1"),
        ("candidate_leaves", [17, 0], "/1", "Input should be greater than or equal to 1"),
        ("candidate_leaves", [17, "a"], "/1", "Input should be a valid integer"),
        ("candidate_leaves", [], "", "List should have at least 1 item after validation, not 0"),
        ("candidate_leaves", "many", "", "Expected an integer or an array"),
        ("candidate_leaves", {"a": 1}, "", "Expected an integer or an array"),
        ("class_weight", {"in": -1}, "/in", "Input should be greater than or equal to 0"),
        ("class_weight", {"in": "a"}, "/in", "Input should be a valid number"),
        ("class_weight", "heavy", "", "Expected 'balanced' or an object"),
        ("class_weight", [1], "", "Expected 'balanced' or an object"),
    ],
)
def test_parameters(
    client: httpx.Client, dataset: Dataset, name: str, value: Any, where: str, message: str
) -> None:
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id, "parameters": {name: value}})
    [found] = errors(answer)
    assert (found["pointer"], found["message"]) == (f"/body/parameters/{name}{where}", message)


def test_several_unions_at_once(client: httpx.Client, dataset: Dataset) -> None:
    body = {
        "dataset_id": dataset.id,
        "parameters": {"candidate_leaves": [0], "class_weight": 1},
        "validation": {"fraction": 2},
    }
    assert [found["pointer"] for found in errors(client.post("/v1/jobs", json=body))] == [
        "/body/parameters/candidate_leaves/0",
        "/body/parameters/class_weight",
        "/body/validation/fraction",
    ]


@pytest.mark.parametrize(
    ("body", "told", "expected"),
    [
        ({"records": [GOOD], "odd": 1}, {"/body/odd": "UNKNOWN_FIELD"}, RECORDS),
        ({"columns": list(GOOD)}, {"/body/data": "MISSING"}, ARRAYS),
        ({"data": [[1]]}, {"/body/columns": "MISSING"}, ARRAYS),
        (
            {"data": [[1]], "colums": ["x"]},
            {"/body/colums": "UNKNOWN_FIELD", "/body/columns": "MISSING"},
            ARRAYS,
        ),
        ({"rows": [GOOD]}, {"/body/rows": "UNKNOWN_FIELD"}, f"{RECORDS} or {ARRAYS}"),
        ({"records": [GOOD], "data": [[1]]}, {"/body": "FORM"}, f"{RECORDS} or {ARRAYS}"),
        ({}, {"/body": "FORM"}, f"{RECORDS} or {ARRAYS}"),
    ],
)
def test_bodies_of_predict(
    api: Stack, client: httpx.Client, body: Any, told: dict[str, str], expected: str
) -> None:
    answer = client.post(f"/v1/models/{add_model(api, mixed_tree())}/predict", json=body)
    found = errors(answer)
    assert {error["pointer"]: error["code"] for error in found} == told
    assert all(error["message"].endswith(f"expected {expected}.") for error in found)
    assert answer.json()["detail"].endswith(f"expected {expected}.")


# Rows

THIRD: list[Row] = [GOOD, GOOD, {**GOOD, "age": float("inf")}, GOOD]


@pytest.mark.parametrize("many", [1, 40_000], ids=["here", "by a process apart"])
@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("records", "/body/records/{row}/age"),
        ("arrays", "/body/data/{row}/1"),
        ("text/csv", "/body/rows/{row}/age"),
        (ARROW, "/body/rows/{row}/age"),
    ],
)
def test_the_row_of_a_cell_in_predict(
    api: Stack, client: httpx.Client, kind: str, where: str, many: int
) -> None:
    rows = [*[GOOD] * (many - 1), *THIRD]
    body = {
        "records": lambda: as_records(rows).replace(b"Infinity", b"1e999"),
        "arrays": lambda: as_arrays(rows).replace(b"Infinity", b"1e999"),
        "text/csv": lambda: as_csv(rows),
        ARROW: lambda: stream(as_table(rows), rows=1 << 20),
    }[kind]()
    media = kind if "/" in kind else "application/json"
    model = add_model(api, mixed_tree())
    answer = client.post(f"/v1/models/{model}/predict", content=body, headers={"Content-Type": media})
    [found] = errors(answer)
    assert (found["pointer"], found["row"]) == (where.format(row=many + 1), many + 2)
    assert found["message"] == f"Row {many + 2:,}: age: expected a finite number."
    assert answer.json()["detail"] == found["message"]


@pytest.mark.parametrize(
    ("body", "where", "code", "message"),
    [
        (
            {"records": [GOOD, {**GOOD, "size": "a"}]},
            "/records/1/size",
            "TYPE",
            "Row 2: size: expected a number",
        ),
        ({"records": [GOOD, 5]}, "/records/1", "TYPE", "Row 2: Expected a row that is an object."),
        (
            {"records": [GOOD, {**GOOD, "age": 10**400}]},
            "/records/1/age",
            "TOO_LARGE",
            "Row 2: age: the integer",
        ),
        (
            {"columns": list(GOOD), "data": [[*GOOD.values()], [1]]},
            "/data/1",
            "LENGTH",
            "Row 2: Expected 5 cells",
        ),
        (
            {"columns": list(GOOD), "data": [[*GOOD.values()], 5]},
            "/data/1",
            "TYPE",
            "Row 2: Expected a row that is an array.",
        ),
    ],
)
def test_other_errors_of_json_rows(
    api: Stack, client: httpx.Client, body: Any, where: str, code: str, message: str
) -> None:
    answer = client.post(f"/v1/models/{add_model(api, mixed_tree())}/predict", json=body)
    [found] = errors(answer)
    assert (found["pointer"], found["code"], found["row"]) == (f"/body{where}", code, 2)
    assert found["message"].startswith(message)


def test_a_column_that_a_record_lacks(api: Stack, client: httpx.Client) -> None:
    lacking = {name: cell for name, cell in GOOD.items() if name != "age"}
    body = {"records": [GOOD, GOOD, lacking]}
    [found] = errors(client.post(f"/v1/models/{add_model(api, mixed_tree())}/predict", json=body))
    assert (found["pointer"], found["row"]) == ("/body/records/2/age", 3)
    assert found["message"].startswith("Row 3: The column 'age' is absent")


@pytest.mark.parametrize("blank", ["", "\n\n"], ids=["plain", "blank lines"])
@pytest.mark.parametrize("many", [1, 60_000], ids=["short", "long"])
def test_rows_of_another_length_in_csv(api: Stack, client: httpx.Client, blank: str, many: int) -> None:
    """Upload and predict number rows alike, without blank lines and the header."""
    good = ",".join(str(cell) for cell in GOOD.values())
    text = ",".join(GOOD) + "\n" + blank + f"{good}\n" * many + f"{blank}{good},1\n"
    csv = {"Content-Type": "text/csv"}
    model = add_model(api, mixed_tree())
    answer = client.post(f"/v1/models/{model}/predict", content=text, headers=csv)
    [said] = errors(answer, 400)
    uploaded = client.post("/v1/datasets", params={"target": "zone"}, content=text, headers=csv)
    [found] = errors(uploaded)
    for error in (said, found):
        assert (error["pointer"], error["row"], error["code"]) == (
            f"/body/rows/{many}",
            many + 1,
            "RAGGED_ROW",
        )
        assert error["message"].startswith(f"Row {many + 1:,} has 6 cells, but the header has 5.")


def test_blank_lines_before_the_header_are_no_rows(client: httpx.Client) -> None:
    text = "\n\n\nx,label\n1,a\n2,b\n3,a,1\n"
    answer = client.post(
        "/v1/datasets", params={"target": "label"}, content=text, headers={"Content-Type": "text/csv"}
    )
    [found] = errors(answer)
    assert (found["pointer"], found["row"]) == ("/body/rows/2", 3)
    assert found["message"].startswith("Row 3 has 3 cells")


def as_parquet(table: Any) -> bytes:
    out = io.BytesIO()
    pyarrow.parquet.write_table(table, out)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["text/csv", PARQUET, ARROW])
def test_the_row_of_a_cell_in_an_upload(client: httpx.Client, kind: str) -> None:
    table = pa.table({"x": [1.0, 2.0, float("inf"), 4.0], "label": ["a", "b", "a", "b"]})
    bodies: dict[str, Callable[[], bytes]] = {
        "text/csv": lambda: b"x,label\n1.0,a\n2.0,b\ninf,a\n4.0,b\n",
        PARQUET: lambda: as_parquet(table),
        ARROW: lambda: stream(table),
    }
    answer = client.post(
        "/v1/datasets", params={"target": "label"}, content=bodies[kind](), headers={"Content-Type": kind}
    )
    [found] = errors(answer)
    assert (found["pointer"], found["row"], found["code"]) == ("/body/rows/2/x", 3, "INFINITE")
    assert "in row 3" in found["message"]


def test_errors_that_are_about_no_row_have_no_row(client: httpx.Client, dataset: Dataset) -> None:
    answer = client.post("/v1/jobs", json={"dataset_id": dataset.id, "priority": 101})
    assert all("row" not in error for error in errors(answer))


def test_the_description_says_how_rows_are_counted(client: httpx.Client) -> None:
    document = json.loads(client.get("/openapi.json").text)
    assert "messages count from 1, the first row of data" in " ".join(document["info"]["description"].split())
    fields = document["components"]["schemas"]["FieldProblem"]["properties"]
    assert "from 0" in fields["pointer"]["description"]
    assert "counted from 1" in fields["row"]["description"]


def test_the_line_that_cannot_be_decoded(client: httpx.Client) -> None:
    answer = client.post(
        "/v1/datasets",
        params={"target": "label"},
        content="x,label\n1,a\n2,\xe4\n".encode("latin-1"),
        headers={"Content-Type": "text/csv"},
    )
    [found] = errors(answer)
    assert found["pointer"] == "/body/lines/2", "a pointer counts from 0"
    assert found["message"].startswith("Line 3 is not UTF-8"), "people count from 1"
