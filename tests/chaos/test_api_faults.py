"""Faults of the API: it is killed, suspended or has no disk space, and clients miss nothing."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import httpx
import psutil

from tests.chaos import rows
from tests.chaos.accepted import Accepted, AcceptedJob
from tests.chaos.cluster import Cluster
from tests.chaos.event_follower import EventFollower
from tests.chaos.findings import Findings
from tests.chaos.job_client import JobClient
from tests.chaos.limits import full_disk
from tests.chaos.retrying_client import RetryingClient
from tests.chaos.rules import ended
from tests.support.stack.stack import poll


def test_long_polling_misses_nothing_through_restarts(
    cluster: Cluster, job_client: JobClient, findings: Findings
) -> None:
    job_id = job_client.submit(rows.hard(1))
    job_client.until_tree(job_id)
    followed = AcceptedJob(job_id, "followed", rows.hard(1), streamed=[])
    follower = EventFollower(cluster.url, followed, Accepted(), findings)
    seen: list[dict[str, Any]] = []
    waiter = threading.Thread(target=_wait, args=(cluster.url, job_id, findings, seen))
    for thread in (follower, waiter):
        thread.start()
    for number in (signal.SIGKILL, signal.SIGTERM):
        streamed = len(followed.streamed or ())
        poll(lambda n=streamed: len(followed.streamed or ()) > n, what="an event of the stream")  # type: ignore[misc]
        starts = cluster.api.starts
        cluster.api.send(number)
        poll(lambda starts=starts: cluster.api.starts > starts, what="a restart")  # type: ignore[misc]
        cluster.await_ready(cluster.api)
    job_client.steer(job_id, "finish")
    for thread in (follower, waiter):
        thread.join(30)
        assert not thread.is_alive()
    assert seen[-1] == job_client.job(job_id)
    assert [event["id"] for event in followed.streamed or ()] == [
        event["id"] for event in job_client.events(job_id)
    ]


def _wait(url: str, job_id: str, findings: Findings, seen: list[dict[str, Any]]) -> None:
    """Read every change of the job by long polling."""
    with RetryingClient(url, findings) as client:
        while not (seen and ended(seen[-1])):
            tag = {"If-None-Match": f'W/"{seen[-1]["revision"]}"'} if seen else {}
            answer = client.request(
                "GET", f"/v1/jobs/{job_id}", 200, 304, headers={"Prefer": "wait=20", **tag}
            )
            if answer.status_code == 200:
                seen.append(answer.json())


def test_a_stopped_api_goes_on_where_it_was(cluster: Cluster, job_client: JobClient) -> None:
    job_id = job_client.submit(rows.easy(), {"max_depth": 3})
    cluster.api.send(signal.SIGSTOP)
    try:
        with httpx.Client(base_url=cluster.url, timeout=0.5) as hasty:
            started = time.monotonic()
            try:
                hasty.get(f"/v1/jobs/{job_id}")
            except httpx.TimeoutException:
                assert time.monotonic() - started < 2
            else:
                raise AssertionError("a stopped process answered")
        # Workers need no API.
        poll(lambda: cluster.fields(job_id, "state") == [b"SUCCEEDED"], what="the end of the job")
    finally:
        cluster.api.send(signal.SIGCONT)
    assert job_client.until_end(job_id)["state"] == "SUCCEEDED"


def test_an_upload_without_room_leaves_nothing_behind(cluster: Cluster, job_client: JobClient) -> None:
    table = rows.hard(77)
    before = _files(cluster)
    ours = [
        cluster.api.pid,
        *(child.pid for child in psutil.Process(cluster.api.pid).children(recursive=True)),
    ]
    options: dict[str, Any] = {"content": table.csv, "headers": {"Content-Type": "text/csv"}}
    for size in (0, len(table.csv) // 2, len(table.csv)):
        with full_disk(ours, size):
            answer = job_client.try_once("POST", "/v1/datasets?target=label", **options)
            assert answer is not None
            assert answer.status_code == 503
            wanted = 503 if size == 0 else 200
            poll(lambda wanted=wanted: _readiness(job_client) == wanted, seconds=5, what=f"{wanted}")  # type: ignore[misc]
        assert _files(cluster) == before
    assert job_client.upload(table.csv)[0] == 201


def _readiness(job_client: JobClient) -> int | None:
    answer = job_client.try_once("GET", "/readyz")
    return None if answer is None else answer.status_code


def _files(cluster: Cluster) -> set[str]:
    return {str(path) for path in cluster.blobs.folder.rglob("*") if path.is_file()}
