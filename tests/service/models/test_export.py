"""Exports over HTTP are those of the library."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile

import httpx
import pytest

from literati import ShapeTree
from literati.tree.export.formats import FORMATS, FormatName
from tests.support.http.service_client import pointers, problem
from tests.support.paths import ROOT
from tests.support.records.jobs import TENANT
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.solver.format_problems import random_problem
from tests.support.stack.stack import Stack

MIXED = 4  # the seed of a tree with classes of several types


@pytest.fixture
def model(api: Stack) -> str:
    return add_model(api, mixed_tree())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_that_of_the_library(
    api: Stack, client: httpx.Client, model: str, name: FormatName
) -> None:
    answer = client.get(f"/v1/models/{model}/export", params={"format": name})
    assert answer.status_code == 200, answer.text
    stored = api.store.models.tree(TENANT, model)
    assert stored is not None
    tree = ShapeTree.from_dict(stored)
    assert answer.content == FORMATS[name].content(tree, model)
    assert answer.headers["content-disposition"] == f'attachment; filename="{FORMATS[name].file_name}"'
    assert answer.headers["content-type"].partition(";")[0] == FORMATS[name].media_type
    text = answer.content.decode(errors="replace")
    if name == "mlflow":
        files = zipfile.ZipFile(io.BytesIO(answer.content))
        text = files.read("MLmodel").decode()
        assert {entry.external_attr >> 16 for entry in files.infolist()} == {0o644}
    for fact in (model, hashlib.sha256(tree.to_json().encode()).hexdigest(), tree.proof.statement()[:40]):
        assert fact in text


def test_the_page_offers_every_format() -> None:
    source = (ROOT / "service" / "web" / "src" / "use" / "exports.tsx").read_text()
    assert set(re.findall(r'exported\("([^"]+)"\)', source)) == set(FORMATS)


def test_a_format_that_does_not_exist(client: httpx.Client, model: str) -> None:
    found = problem(client.get(f"/v1/models/{model}/export?format=sql-postgres"), 422, "invalid-request")
    assert [error["pointer"] for error in found["errors"]] == ["/query/format"]
    assert "Did you mean 'sql-postgresql'?" in found["detail"]
    assert found["fixes"][0]["options"] == {"format": "sql-postgresql"}
    assert pointers(client.get(f"/v1/models/{model}/export")) == ["/query/format"]


def test_a_format_that_cannot_express_the_tree(api: Stack, client: httpx.Client) -> None:
    model = add_model(api, random_problem(MIXED, zones=(0, 1, 2)).tree)
    found = problem(client.get(f"/v1/models/{model}/export?format=pmml"), 422, "invalid-request")
    assert [(error["pointer"], error["code"]) for error in found["errors"]] == [
        ("/query/format", "NOT_EXACT")
    ]
    assert "the classes have several" in found["detail"]
    (fix,) = found["fixes"]
    answer = client.get(f"/v1/models/{model}/export", params=fix["options"])
    assert answer.status_code == 200
    assert "def predict(row)" in answer.text
