"""Compressed responses and their entity tags."""

from __future__ import annotations

import gzip
import json

import httpx
import pyarrow as pa
import pytest

from service.http.compression import accepted
from tests.support.http.event_client import listen
from tests.support.http.service_client import problem, submit
from tests.support.http.wire import talk
from tests.support.records.model_maker import add_model, mixed_tree
from tests.support.stack.acting_worker import ActingWorker
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset

ROW = {"size": 0.5, "age": 30, "colour": "red", "member": True, "zone": 1}


@pytest.mark.parametrize(
    ("header", "codings"),
    [
        ("", ()),
        ("gzip", ("gzip",)),
        ("GZIP;q=0.5", ("gzip",)),
        ("gzip;q=0", ()),
        ("gzip; q=0.000", ()),
        ("identity", ()),
        ("br, deflate", ()),
        ("gzip, deflate, br, zstd", ("zstd", "gzip")),
        ("gzip;q=1, zstd;q=0.9", ("gzip", "zstd")),
        ("*", ("zstd", "gzip")),
        ("zstd;q=0, *;q=0.1", ("gzip",)),
        ("gzip;q=x", ()),
        ("xgzip", ()),
    ],
)
def test_accepted_codings(header: str, codings: tuple[str, ...]) -> None:
    assert accepted(header) == codings


def raw(
    stack: Stack, path: str, accept: str | None, method: str = "GET", more: str = ""
) -> tuple[str, bytes]:
    """Return head and body without decompression, which a client library would do."""
    coding = "" if accept is None else f"Accept-Encoding: {accept}\r\n"
    request = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{coding}{more}\r\n"
    head, _, body = talk(stack, request.encode()).partition(b"\r\n\r\n")
    return head.decode().lower(), body


def unpacked(coding: str, body: bytes) -> bytes:
    if coding == "gzip":
        return gzip.decompress(body)
    with pa.CompressedInputStream(pa.BufferReader(body), "zstd") as stream:
        data: bytes = stream.read()
    return data


def header(head: str, name: str) -> str | None:
    found = [line.partition(": ")[2] for line in head.splitlines() if line.startswith(f"{name}: ")]
    return ", ".join(found) if found else None


@pytest.fixture
def model(api: Stack) -> str:
    return f"/v1/models/{add_model(api, mixed_tree())}"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("path", ["", "/tree.svg"])
def test_a_large_response_in_every_coding(api: Stack, model: str, coding: str, path: str) -> None:
    plain_head, plain = raw(api, model + path, None)
    assert "content-encoding" not in plain_head
    assert header(plain_head, "vary") == "accept-encoding"
    head, body = raw(api, model + path, coding)
    assert header(head, "content-encoding") == coding
    assert header(head, "vary") == "accept-encoding"
    assert header(head, "content-length") == str(len(body))
    assert unpacked(coding, body) == plain
    assert len(body) < 0.6 * len(plain)
    tag = header(plain_head, "etag")
    assert tag is not None
    assert header(head, "etag") == f'{tag[:-1]}-{coding}"', "a strong tag is of these bytes"
    only_head, nothing = raw(api, model + path, coding, "HEAD")
    assert (header(only_head, "content-length"), nothing) == (str(len(body)), b"")


def test_entity_tags_of_every_coding_match(api: Stack, model: str) -> None:
    tags = {coding: header(raw(api, model, coding)[0], "etag") for coding in ("identity", "gzip", "zstd")}
    assert len(set(tags.values())) == 3

    def asked(have: str, takes: str) -> tuple[str, str | None]:
        head, _ = raw(api, model, takes, more=f"If-None-Match: {tags[have]}\r\n")
        return head.split()[1], header(head, "etag")

    for coding in ("gzip", "zstd"):
        assert asked(coding, coding) == ("304", tags[coding])
        assert asked("identity", coding) == ("304", tags["identity"]), "what it has will do"
        assert asked(coding, "identity") == ("200", tags["identity"]), "it does not take what it had"
    assert asked("gzip", "zstd, gzip") == ("304", tags["gzip"])
    head, _ = raw(api, model, "gzip", more=f"If-None-Match: {tags['gzip']}\r\n")
    assert header(head, "vary") == "accept-encoding"


def test_weak_tags_are_unchanged(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job = f"/v1/jobs/{submit(client, dataset)['id']}"
    plain, packed = (raw(api, job, coding)[0] for coding in ("identity", "gzip"))
    assert header(packed, "content-encoding") == "gzip"
    assert header(packed, "etag") == header(plain, "etag")
    assert header(packed, "vary") == "prefer, accept-encoding"
    tag = str(header(plain, "etag")).upper()
    head, _ = raw(api, job, "gzip", more=f"If-None-Match: {tag}\r\n")
    assert head.split()[1] == "304"


def test_small_responses_are_not_compressed(api: Stack, client: httpx.Client, model: str) -> None:
    for path in ("/v1/sweeps", "/healthz", "/nowhere"):
        head, body = raw(api, path, "gzip")
        assert "content-encoding" not in head
        assert json.loads(body) is not None
    answer = client.post(f"{model}/predict", json={"records": [ROW]}, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in answer.headers


def test_many_predictions_and_a_long_problem(client: httpx.Client, model: str) -> None:
    body = {"records": [ROW] * 2000}
    plain = client.post(f"{model}/predict", json=body, headers={"Accept-Encoding": "identity"})
    packed = client.post(f"{model}/predict", json=body, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()
    rows = {"records": [{**ROW, "size": "x", "age": "y", f"a{k}": 1} for k in range(30)]}
    refused = client.post(f"{model}/predict", json=rows, headers={"Accept-Encoding": "gzip"})
    assert problem(refused, 422)["errors"]


def test_event_streams_are_not_compressed(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job = submit(client, dataset)["id"]
    stream = listen(client, f"/v1/jobs/{job}/events")  # httpx asks for gzip
    assert next(stream).data["state"] == "QUEUED"
    ActingWorker(api.store)
    assert next(stream).data["state"] == "STARTING"
    stream.close()  # type: ignore[attr-defined]


def test_assets_are_compressed_once_and_cached(api: Stack) -> None:
    head, body = raw(api, "/", "gzip")
    assert header(head, "content-encoding") == "gzip"
    assert header(head, "vary") == "accept-encoding"
    assert unpacked("gzip", body) == raw(api, "/", None)[1]
    again, _ = raw(api, "/", "gzip", more=f"If-None-Match: {header(head, 'etag')}\r\n")
    assert (again.split()[1], header(again, "etag")) == ("304", header(head, "etag"))
    assert header(again, "vary") == "accept-encoding"
    assert header(raw(api, "/docs", None)[0], "vary") == "accept-encoding"
    asset = "/assets/docs.js"
    assert header(raw(api, asset, None)[0], "vary") == header(raw(api, asset, "zstd")[0], "vary")
