"""The API is killed, stopped or has no room: clients come back, and have missed nothing."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import httpx
import psutil

from chaos import rows
from chaos.caller import Caller
from chaos.cluster import Cluster
from chaos.findings import Findings
from chaos.follower import Follower
from chaos.ledger import Entry, Ledger
from chaos.limits import full_disk
from chaos.rules import ended
from chaos.visitor import Visitor
from stack import poll


def test_who_waits_through_restarts_misses_nothing(
    cluster: Cluster, visitor: Visitor, findings: Findings
) -> None:
    job_id = visitor.submit(rows.hard(1))
    visitor.until_tree(job_id)
    entry = Entry(job_id, "followed", rows.hard(1), told=[])
    follower = Follower(cluster.url, entry, Ledger(), findings)
    seen: list[dict[str, Any]] = []
    waiter = threading.Thread(target=_wait, args=(cluster.url, job_id, findings, seen))
    for thread in (follower, waiter):
        thread.start()
    for number in (signal.SIGKILL, signal.SIGTERM):
        told = len(entry.told or ())
        poll(lambda told=told: len(entry.told or ()) > told, what="news by the stream")  # type: ignore[misc]
        starts = cluster.api.starts
        cluster.api.send(number)
        poll(lambda starts=starts: cluster.api.starts > starts, what="a restart")  # type: ignore[misc]
        cluster.await_ready(cluster.api)
    visitor.steer(job_id, "finish")
    for thread in (follower, waiter):
        thread.join(30)
        assert not thread.is_alive()
    assert seen[-1] == visitor.job(job_id)
    assert [event["id"] for event in entry.told or ()] == [event["id"] for event in visitor.events(job_id)]


def _wait(url: str, job_id: str, findings: Findings, seen: list[dict[str, Any]]) -> None:
    """By `Prefer: wait`, for each change after the last one seen."""
    with Caller(url, findings) as caller:
        while not (seen and ended(seen[-1])):
            tag = {"If-None-Match": f'W/"{seen[-1]["revision"]}"'} if seen else {}
            answer = caller.ask("GET", f"/v1/jobs/{job_id}", 200, 304, headers={"Prefer": "wait=20", **tag})
            if answer.status_code == 200:
                seen.append(answer.json())


def test_a_stopped_api_goes_on_where_it_was(cluster: Cluster, visitor: Visitor) -> None:
    job_id = visitor.submit(rows.easy(), {"max_depth": 3})
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
    assert visitor.until_end(job_id)["state"] == "SUCCEEDED"


def test_an_upload_without_room_leaves_nothing_behind(cluster: Cluster, visitor: Visitor) -> None:
    table = rows.hard(77)
    before = _files(cluster)
    ours = [
        cluster.api.pid,
        *(child.pid for child in psutil.Process(cluster.api.pid).children(recursive=True)),
    ]
    options: dict[str, Any] = {"content": table.csv, "headers": {"Content-Type": "text/csv"}}
    for size in (0, len(table.csv) // 2, len(table.csv)):
        with full_disk(ours, size):
            answer = visitor.look("POST", "/v1/datasets?target=label", **options)
            assert answer is not None
            assert answer.status_code == 503
            wanted = 503 if size == 0 else 200
            poll(lambda wanted=wanted: _readiness(visitor) == wanted, seconds=5, what=f"{wanted}")  # type: ignore[misc]
        assert _files(cluster) == before
    assert visitor.upload(table.csv)[0] == 201


def _readiness(visitor: Visitor) -> int | None:
    answer = visitor.look("GET", "/readyz")
    return None if answer is None else answer.status_code


def _files(cluster: Cluster) -> set[str]:
    return {str(path) for path in cluster.blobs.folder.rglob("*") if path.is_file()}
