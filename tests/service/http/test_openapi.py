"""openapi/openapi.json is current and complete, and the server serves it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from jsonschema_rs import validator_for

from service import openapi
from service.auth.authentication import is_public
from service.cli import write_openapi

DOCUMENT: dict[str, Any] = json.loads(write_openapi.TARGET.read_text())
OPERATIONS = [
    pytest.param(path, operation, id=operation["operationId"])
    for path, _, operation in openapi.operations(DOCUMENT)
]


def test_the_file_is_current() -> None:
    assert write_openapi.TARGET.read_text() == write_openapi.text(), "run `make openapi`"


def test_the_server_serves_the_document(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json() == DOCUMENT


def test_operation_ids_differ() -> None:
    ids = [operation["operationId"] for _, _, operation in openapi.operations(DOCUMENT)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_every_operation_is_described(path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    assert operation["tags"]
    assert all(parameter.get("description") for parameter in operation.get("parameters", []))
    for response in operation["responses"].values():
        assert response["description"]
        assert response["description"] != "Successful Response"


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_every_operation_lists_its_problems(path: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    expected = {"500"} | (set() if is_public(path) else {"401", "403", "503"})
    if "{" in path and operation["operationId"] != "set_alias":  # which makes what it names
        expected |= {"404"}
    if "requestBody" in operation:
        expected |= {"400", "408", "413"}
    assert expected <= set(responses)
    for status, response in responses.items():
        if status >= "400":
            assert list(response["content"]) == ["application/problem+json"]


def _contents() -> list[Any]:
    found = []
    for _, _, operation in openapi.operations(DOCUMENT):
        parts = {"request": operation["requestBody"]} if "requestBody" in operation else {}
        for name, part in {**parts, **operation["responses"]}.items():
            for kind, media in part.get("content", {}).items():
                found.append(pytest.param(kind, media, id=f"{operation['operationId']}-{name}-{kind}"))
    return found


@pytest.mark.parametrize(("kind", "media"), _contents())
def test_every_body_has_a_schema_and_an_example_of_it(kind: str, media: dict[str, Any]) -> None:
    """Every example fits its schema."""
    examples = [entry["value"] for entry in media.get("examples", {}).values()]
    examples += [media["example"]] if "example" in media else []
    assert media["schema"]
    assert examples or kind.endswith(("parquet", "stream", ".file", "multipart/form-data", "plain", "zip"))
    if kind.endswith("json"):
        validator = validator_for({**media["schema"], "components": DOCUMENT["components"]})
        for example in examples:
            assert [str(error) for error in validator.iter_errors(example)] == []


def test_links_name_existing_operations() -> None:
    ids = {operation["operationId"] for _, _, operation in openapi.operations(DOCUMENT)}
    links = [
        link
        for _, _, operation in openapi.operations(DOCUMENT)
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert len(links) >= 15
    assert {link["operationId"] for link in links} <= ids
