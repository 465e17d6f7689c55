"""Datasets over HTTP: all ways to upload one, list, preview and delete."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from tests.support.http.uploads import PLAIN, arrow, parquet
from tests.support.records import jobs
from tests.support.stack.stack import Stack, poll
from worker.domain.jobs import JobState

CSV = {"Content-Type": "text/csv"}
PARQUET = {"Content-Type": "application/vnd.apache.parquet"}
ARROW = {"Content-Type": "application/vnd.apache.arrow.stream"}
UTF16 = {"Content-Type": 'text/csv; charset="UTF-16"'}
TABLE = pa.table({"age": [30, 40, 50], "colour": ["red", None, "blue"], "label": ["no", "yes", "no"]})


def post(client: httpx.Client, data: Any, headers: dict[str, str] = CSV, **query: Any) -> httpx.Response:
    return client.post("/v1/datasets", params={"target": "label", **query}, content=data, headers=headers)


def stored(client: httpx.Client, data: Any = PLAIN, headers: dict[str, str] = CSV, **query: Any) -> Any:
    answer = post(client, data, headers, **query)
    assert answer.status_code == 201, answer.text
    return answer.json()


def files(stack: Stack) -> list[Path]:
    """Return all blobs and drafts."""
    return [path for path in stack.blobs.folder.rglob("*") if path.is_file()]


@pytest.fixture(autouse=True)
def no_draft_is_left(api: Stack) -> Iterator[None]:
    yield
    incoming = api.blobs.incoming
    assert not incoming.exists() or not list(incoming.iterdir())


def test_upload_a_csv(client: httpx.Client) -> None:
    answer = post(client, PLAIN, name="people")
    assert answer.status_code == 201
    body = answer.json()
    assert answer.headers["Location"] == f"/v1/datasets/{body['id']}" == body["links"]["self"]
    assert body["sha256"] == hashlib.sha256(PLAIN.encode()).hexdigest()
    assert (body["rows"], body["bytes"], body["name"]) == (4, len(PLAIN), "people")
    assert [column["type"] for column in body["columns"]] == ["number", "category", "category"]
    assert [column["role"] for column in body["columns"]] == ["feature", "feature", "target"]
    assert body["columns"][1]["missing"] == 1
    assert body["columns"][1]["categories"] == ["red", "blue"]
    assert body["classes"] == [{"label": "no", "count": 2}, {"label": "yes", "count": 2}]
    assert body["warnings"]
    assert "tenant" not in body
    assert "blob" not in body
    assert client.get(answer.headers["Location"]).json() == body


@pytest.mark.parametrize(
    ("data", "headers"),
    [
        (parquet(TABLE), PARQUET),
        (arrow(TABLE), ARROW),
        (b"age,colour,label\r\n30,red,no\r\n40,,yes\r\n50,blue,no\r\n", CSV),
        ("age;colour;label\n30;red;no\n40;;yes\n50;blue;no\n".encode("utf-16"), UTF16),
        (b"age\tcolour\tlabel\n30\tred\tno\n40\t\tyes\n50\tblue\tno\n", {"Content-Type": "TEXT/CSV"}),
    ],
)
def test_the_same_table_in_every_format(client: httpx.Client, data: bytes, headers: dict[str, str]) -> None:
    dataset = stored(client, data, headers)
    preview = client.get(dataset["links"]["preview"]).json()
    assert preview["records"] == [
        {"age": 30, "colour": "red", "label": "no"},
        {"age": 40, "colour": None, "label": "yes"},
        {"age": 50, "colour": "blue", "label": "no"},
    ]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PLAIN.encode(), "text/csv"),
        (PLAIN.encode(), "application/octet-stream"),
        (PLAIN.encode(), "application/vnd.ms-excel"),
        (PLAIN.encode("latin-1"), "text/csv; charset=iso-8859-1"),
        (parquet(TABLE), "application/vnd.apache.parquet"),
        (parquet(TABLE), "application/octet-stream"),
        (arrow(TABLE), "application/octet-stream"),
    ],
)
def test_a_form(client: httpx.Client, data: bytes, kind: str) -> None:
    """Browsers and `curl -F file=@table.csv` often send no useful media type."""
    answer = client.post(
        "/v1/datasets", params={"target": "label"}, files={"file": ("../../etc/passwd", data, kind)}
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["sha256"] == hashlib.sha256(data).hexdigest()


def _part(name: str, data: bytes) -> bytes:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode() + data + b"\r\n"


def test_a_large_form_and_a_form_in_small_pieces(client: httpx.Client) -> None:
    rows = "x,label\n" + "".join(f"{i},{i % 2}\n" for i in range(400_000))
    answer = client.post("/v1/datasets?target=label", files={"file": ("t.csv", rows.encode(), "text/csv")})
    assert answer.status_code == 201
    assert answer.json()["rows"] == 400_000
    body = _part("file", PLAIN.encode()) + b"--b--\r\n"
    answer = client.post(
        "/v1/datasets?target=label",
        content=(body[i : i + 1] for i in range(len(body))),
        headers={"Content-Type": "multipart/form-data; boundary=b"},
    )
    assert answer.status_code == 201
    assert answer.json()["sha256"] == hashlib.sha256(PLAIN.encode()).hexdigest()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, None),
        (b"--b\r\n", 400, None),
        (b"--b--\r\n", 422, "MISSING"),
        (b"nonsense", 400, None),
        (_part("file", b"x,label\n1,a"), 400, None),
        (_part("target", b"label") + b"--b--\r\n", 422, "UNKNOWN_PART"),
        (2 * _part("file", b"x") + b"--b--\r\n", 422, "REPEATED"),
        (b"--b\r\nX: " + b"y" * 100_000 + b"\r\n\r\nx\r\n--b--\r\n", 400, None),
    ],
)
def test_bad_forms(client: httpx.Client, body: bytes, status: int, code: str | None) -> None:
    answer = post(client, body, {"Content-Type": "multipart/form-data; boundary=b"})
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    if code is not None:
        assert answer.json()["errors"][0]["code"] == code


def test_a_form_without_a_boundary(client: httpx.Client) -> None:
    assert post(client, b"x", {"Content-Type": "multipart/form-data"}).status_code == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "application/json"},
        {"Content-Type": "application/problem+json"},
        {"Content-Type": "text/html"},
        {"Content-Type": "image/png"},
        {"Content-Type": "multipart/mixed"},
        {"Content-Type": "text/csv; charset=ebcdic"},
        {"Content-Type": "text/csv; charset=utf-7"},
        {"Content-Type": "text/csv; header=absent"},
    ],
)
def test_other_media_types(client: httpx.Client, headers: dict[str, str]) -> None:
    answer = post(client, PLAIN, headers)
    assert answer.status_code == 415
    if "csv" not in headers.get("Content-Type", ""):
        assert "text/csv" in answer.json()["detail"]
        assert "application/vnd.apache.parquet" in answer.headers["Accept-Post"]


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "compress"])
def test_other_codings(client: httpx.Client, coding: str) -> None:
    answer = post(client, gzip.compress(PLAIN.encode()), {**CSV, "Content-Encoding": coding})
    assert answer.status_code == 415
    assert "gzip or zstd" in answer.json()["detail"]
    assert answer.headers["Accept-Encoding"] == "gzip, x-gzip, zstd"
    assert post(client, PLAIN, {**CSV, "Content-Encoding": "identity"}).status_code == 201


@pytest.mark.parametrize(
    ("data", "headers", "word"),
    [
        (parquet(TABLE), CSV, "Parquet"),
        (arrow(TABLE), CSV, "Arrow stream"),
        (arrow(TABLE), PARQUET, "Arrow stream"),
        (b"PK\x03\x04...", CSV, "Excel"),
        (b"ARROW1\0\0...", ARROW, "cannot be read as an Arrow stream or file"),
        (b"FEA1...", ARROW, "Feather file of version 1; write it as version 2"),
        (PLAIN.encode(), PARQUET, "cannot be read as Parquet"),
        (PLAIN.encode(), ARROW, "cannot be read as an Arrow stream"),
        (b"", PARQUET, "cannot be read as Parquet"),
    ],
)
def test_a_body_in_another_format(
    client: httpx.Client, data: bytes, headers: dict[str, str], word: str
) -> None:
    answer = post(client, data, headers)
    assert answer.status_code == 422
    assert word in answer.json()["detail"]


# Mistakes of new users: each error says what to do


@pytest.mark.parametrize(
    ("data", "query", "words"),
    [
        (PLAIN, {"target": "lable"}, "Did you mean 'label'?"),
        (PLAIN, {"target": None}, "Name the column with the classes"),
        ("x,w,label\n1,1,a\n2,-1,b\n", {"weight": "w"}, "row 2 of 'w' is negative"),
        ("To whom it may concern\nhello\n", {}, "not a table"),
        ("", {}, "The file is empty"),
        ("x,label\n1,a\n", {}, "only one class"),
        ("when,label\n2024-01-05,a\n2024-01-06,b\n", {}, "there are only dates"),
        ("x,x,label\n1,2,a\n3,4,b\n", {}, "rename one"),
        ("1,2,a\n3,4,b\n", {}, "add a header line"),
        ("x,label\n1,a\n2,b,c\n", {}, "Row 2 has 3 cells"),
    ],
)
def test_mistakes_are_explained(client: httpx.Client, data: str, query: dict[str, Any], words: str) -> None:
    query = {name: value for name, value in {"target": "label", **query}.items() if value is not None}
    answer = client.post("/v1/datasets", params=query, content=data, headers=CSV)
    assert answer.status_code == 422
    problem = answer.json()
    assert words in problem["detail"]
    assert problem["errors"][0]["message"] == problem["detail"]
    assert problem["errors"][0]["pointer"].startswith(("/body", "/query"))


def test_a_pointer_has_row_and_column(client: httpx.Client) -> None:
    answer = post(client, "a/b,label\n1,x\ninf,y\n")
    assert answer.json()["errors"][0]["pointer"] == "/body/rows/1/a~1b"


def test_a_byte_order_mark_and_semicolons(client: httpx.Client) -> None:
    dataset = stored(client, "\ufeff" + PLAIN.replace(",", ";"))
    assert [column["name"] for column in dataset["columns"]] == ["age", "colour", "label"]


@pytest.mark.parametrize(
    "query",
    [{"target": ""}, {"name": "a\nb"}, {"name": "x" * 201}, {"delimiter": "0123456789"}, {"drop": ""}],
)
def test_invalid_options(client: httpx.Client, query: dict[str, Any]) -> None:
    answer = post(client, PLAIN, **query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/query/")


def test_options_may_be_repeated(client: httpx.Client) -> None:
    data = "a,b,c,d,label\n1,2,x,?,k\n2,3,y,-,l\n"
    answer = post(client, data, drop=["a", "b"], types=["c:category"], null_values=["?", "-"])
    assert answer.status_code == 201, answer.text
    assert answer.json()["dropped"] == ["a", "b"]
    assert answer.json()["columns"][1]["missing"] == 2


# The same upload again


def test_the_same_bytes_and_options_are_the_same_dataset(client: httpx.Client, api: Stack) -> None:
    first = post(client, PLAIN)
    again = post(client, PLAIN)
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert again.headers["Location"] == first.headers["Location"]
    assert client.get("/v1/datasets").json()["items"][0]["id"] == first.json()["id"]
    other = post(client, PLAIN, drop="age")
    assert other.status_code == 201
    assert other.json()["id"] != first.json()["id"]
    form = client.post("/v1/datasets?target=label", files={"file": ("x", PLAIN.encode(), "text/csv")})
    assert form.status_code == 200, "a form with the same file"
    assert len(client.get("/v1/datasets").json()["items"]) == 2


def test_the_same_upload_many_times_at_once(client: httpx.Client, api: Stack) -> None:
    before = set(files(api))
    rows = "x,label\n" + "".join(f"{i},{i % 3}\n" for i in range(50_000))
    start = threading.Barrier(6)

    def send(_: int) -> httpx.Response:
        start.wait(10)
        return post(client, rows)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(send, range(6)))
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(set(files(api)) - before) == 1, "the blobs of the equal uploads are deleted"


def test_two_datasets_of_one_file_do_not_share_a_blob(client: httpx.Client) -> None:
    one, two = stored(client, name="one"), stored(client, name="two")
    assert client.delete(one["links"]["self"]).status_code == 204
    assert client.get(two["links"]["preview"]).status_code == 200


# List, preview, delete


def test_list(client: httpx.Client) -> None:
    made = [stored(client, name=f"n{i}")["id"] for i in range(5)]
    first = client.get("/v1/datasets", params={"page_size": 3}).json()
    rest = client.get("/v1/datasets", params={"page_size": 3, "page_token": first["next_page_token"]}).json()
    assert [item["id"] for item in first["items"] + rest["items"]] == made[::-1]
    assert rest["next_page_token"] is None
    item = first["items"][0]
    assert (item["name"], item["rows"], item["n_columns"], item["n_classes"]) == ("n4", 4, 3, 2)
    assert "columns" not in item
    assert client.get("/v1/datasets", params={"page_token": "x"}).status_code == 422
    assert client.get("/v1/datasets", params={"page_size": 0}).status_code == 422


def test_preview(client: httpx.Client) -> None:
    rows = "x,flag,label\n" + "".join(f"{i / 2},{'true' if i % 2 else ''},{i % 2}\n" for i in range(200))
    dataset = stored(client, rows)
    preview = client.get(dataset["links"]["preview"]).json()
    assert preview["rows"] == 200
    assert preview["columns"] == ["x", "flag", "label"]
    assert len(preview["records"]) == 10
    assert preview["records"][:2] == [
        {"x": 0.0, "flag": None, "label": 0},
        {"x": 0.5, "flag": True, "label": 1},
    ]
    assert len(client.get(dataset["links"]["preview"], params={"rows": 100}).json()["records"]) == 100
    for rows_ in (0, 101, -1, "x"):
        assert client.get(dataset["links"]["preview"], params={"rows": rows_}).status_code == 422


@pytest.mark.parametrize("dataset_id", ["ds_" + "0" * 32, "ds_1", "job_" + "0" * 32, "%00", "x" * 500])
def test_unknown_datasets(client: httpx.Client, dataset_id: str) -> None:
    for method, path in (("GET", ""), ("GET", "/preview"), ("DELETE", "")):
        answer = client.request(method, f"/v1/datasets/{dataset_id}{path}")
        assert answer.status_code == 404
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_delete(client: httpx.Client, api: Stack) -> None:
    before = set(files(api))
    dataset = stored(client)
    assert len(set(files(api)) - before) == 1
    assert client.delete(dataset["links"]["self"]).status_code == 204
    assert client.get(dataset["links"]["self"]).status_code == 404
    assert client.delete(dataset["links"]["self"]).status_code == 404
    assert client.get("/v1/datasets").json()["items"] == []
    assert len(set(files(api)) - before) == 1, "the blob is kept, because the dataset can be restored"
    assert api.store.retention.expire("deleted", 0, 10) == 1
    poll(lambda: not set(files(api)) - before, what="the blob goes with the record")
    again = post(client, PLAIN)
    assert again.status_code == 201
    assert again.json()["id"] != dataset["id"]


def test_a_dataset_that_a_running_job_uses_cannot_be_deleted(client: httpx.Client, api: Stack) -> None:
    dataset = stored(client)
    record = api.store.datasets.get("default", dataset["id"])
    assert record is not None
    job = api.store.jobs.submit(jobs.spec(record)).job
    answer = client.delete(dataset["links"]["self"])
    assert answer.status_code == 409
    assert client.get(dataset["links"]["preview"]).status_code == 200
    assert api.store.jobs.control("default", job.spec.id, "cancel").job.state is JobState.CANCELLED
    assert client.delete(dataset["links"]["self"]).status_code == 204
