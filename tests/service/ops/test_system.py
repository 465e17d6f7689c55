"""Health, readiness, metrics, version and the pages."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

import literati
from service.ops.readiness import VALID_SECONDS
from tests.support.http.service_client import submit
from tests.support.stack.stack import Stack
from worker.domain.datasets import Dataset


def test_health_readiness_version(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok"}
    version = client.get("/version").json()
    assert (version["version"], version["api"]) == (literati.__version__, "v1")


def test_frequent_readiness_checks_write_little(api: Stack) -> None:
    """The route is public, and every check writes to disk."""

    def writes() -> int:
        found: Any = api.connection.info("commandstats")
        return int(found["cmdstat_set"]["calls"])

    assert httpx.get(f"{api.url}/readyz").status_code == 200
    before, started = writes(), time.monotonic()
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: httpx.get(f"{api.url}/readyz").status_code, range(200)))
    assert set(answers) == {200}
    assert writes() - before <= 2 + (time.monotonic() - started) / VALID_SECONDS


def test_metrics(api: Stack, client: httpx.Client, dataset: Dataset) -> None:
    job = submit(client, dataset)["id"]
    submit(client, dataset)
    client.post(f"/v1/jobs/{job}/cancel")
    client.get("/some/unknown/path")
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    text = answer.text
    assert 'literati_jobs{state="QUEUED"} 1.0' in text
    assert 'literati_jobs{state="CANCELLED"} 1.0' in text
    assert "literati_queue_depth 1.0" in text
    assert re.search(
        r'literati_http_requests_total\{method="POST",route="/v1/jobs",status="202"\} [1-9]', text
    )
    assert re.search(
        r'literati_http_request_seconds_bucket\{le="0.01",method="POST",route="/v1/jobs"\}', text
    )
    assert 'route="/v1/jobs/{job_id}/cancel"' in text
    assert job not in text  # a label for every id would grow without end
    assert "/some/unknown/path" not in text


def test_the_page_has_no_external_or_inline_content(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    linked = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert {"/assets/docs.js", "/assets/docs.css", "/assets/icon.svg", "/openapi.json"} == set(linked)
    for path in linked:
        assert client.get(path).status_code == 200
    assert not re.search(r"<script>|<style|\son\w+=|style=", page.text)
    for asset in ("/assets/docs.js", "/assets/docs.css"):
        text = client.get(asset).text
        assert not re.search(r"https?://|innerHTML|eval\(|\.style\b", text)


def test_assets_are_cacheable(client: httpx.Client) -> None:
    tag = client.get("/assets/docs.js").headers["etag"]
    assert client.get("/assets/docs.js", headers={"If-None-Match": tag}).status_code == 304
