"""Measure the capacity of one worker, one API process and one store, for docs/deployment.md.

Run it with `python -m benchmarks.service.sizing [NAME...]`. Each measurement has its own processes and store.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.service.servers import CLIENT_CORE, ROOT
from benchmarks.service.stack import Stack, running_stack, seconds_between
from benchmarks.service.store_throughput import updates_per_second
from literati.cores import usable_cores

# The jobs run on 1,000 rows with 10 features; a fifth of the labels is noise.
TRIVIAL = {"parameters": {"max_depth": 1}, "limits": {"max_expansions": 1}}
SMALL = {"parameters": {"max_depth": 3}}
LONG = {"parameters": {"max_depth": 7, "max_changepoints": 3}, "limits": {"time_limit": 3600}}
MINUTE = {**LONG, "limits": {"time_limit": 60}}
SWEEP = {  # 20 settings on 10 folds
    "space": {"max_depth": [4], "max_changepoints": [1, 2], "split_penalty": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]},
    "trial_limits": {"time_limit": None, "max_expansions": 500},
    "validation": {"folds": 10},
}
LOAD_SECONDS, WARM_UP = 10.0, 0.2  # of the load generator
MEASURE_SECONDS = 30.0


def one_worker() -> None:
    """Measure jobs that are submitted faster than one worker completes them."""
    for what, body, count in (("trivial", TRIVIAL, 300), ("small, to its proof", SMALL, 60)):
        with running_stack() as stack:
            stack.start_worker()
            stack.wait(stack.submit(body))  # the worker imports its modules during the first job
            with stack.measured() as uses:
                ids = [stack.submit(body) for _ in range(count)]
                ended = [stack.wait(job_id) for job_id in ids]
            (use,) = uses
            begin, end = (pick(job[f"{name}_at"] for job in ended) for pick, name in _ENDS)
            rate = count / seconds_between(begin, end)
            search = sum(job["progress"]["elapsed_seconds"] for job in ended) / count
            write(f"{what}: {3600 * rate:,.0f} jobs per hour, {86400 * rate:,.0f} per day")
            write(f"  {1000 / rate:.0f} ms per job, of which {1000 * search:.0f} ms are search")
            write(use.summary(count, "per job"))


def a_minute() -> None:
    """Measure a job of one minute."""
    with running_stack() as stack:
        stack.start_worker()
        stack.wait(stack.submit(TRIVIAL))
        with stack.measured() as uses:
            job = stack.wait(stack.submit(MINUTE))
        write(f"search of one minute: {job['progress']['incumbents']} trees")
        write(uses[0].summary(1, "in total"))


def running() -> None:
    """Measure the load of idle workers and of running searches on the store."""
    with running_stack() as stack:
        stack.start_worker()
        stack.start_worker()
        time.sleep(3.0)
        _measure(stack, "two idle workers and an API")
        ids = [stack.submit(LONG) for _ in range(2)]
        while any(stack.job(job_id)["progress"]["elapsed_seconds"] < 5 for job_id in ids):
            time.sleep(0.1)
        _measure(stack, "two workers with running jobs and an API")
        for job_id in ids:
            stack.client.post(f"/v1/jobs/{job_id}/cancel").raise_for_status()


def one_api() -> None:
    """Measure the requests per second of one API process over 32 connections, without workers."""
    with running_stack() as stack:
        job_id = stack.submit(LONG)
        body = json.dumps({"dataset_id": stack.dataset, **TRIVIAL}).encode()
        for what, request in (
            ("GET of a job", _request(f"GET /v1/jobs/{job_id}")),
            ("POST of a job", _request("POST /v1/jobs", body)),
            ("GET of 20 jobs", _request("GET /v1/jobs?page_size=20")),
        ):
            with stack.measured() as uses:
                rate, median, p99 = _load(stack, request)
            write(f"{what}: {rate:,.0f} per second, median {median:.1f} ms, p99 {p99:.1f} ms")
            write(uses[0].summary(rate * LOAD_SECONDS * (1 + WARM_UP), "per request"))


def sweeps() -> None:
    """Measure a sweep of 200 jobs on one worker and on two: the time, and how long workers wait for jobs."""
    times = []
    for workers in (1, 2):
        with running_stack() as stack:
            for _ in range(workers):
                stack.start_worker()
            for job_id in [stack.submit(SMALL) for _ in range(2 * workers)]:
                stack.wait(job_id)  # the workers import their modules during the first jobs
            body = {"dataset_id": stack.dataset, **SWEEP}
            sweep_id = stack.client.post("/v1/sweeps", json=body).raise_for_status().json()["id"]
            while (sweep := _sweep(stack, sweep_id))["state"] in ("QUEUED", "RUNNING", "CHOOSING"):
                time.sleep(1.0)  # the API shares the cores with the workers
            found = _pages(stack, f"/v1/jobs?sweep_id={sweep_id}&page_size=100")
            trials = [job for job in found if job["id"] != sweep["refit_job_id"]]
            begin, end = (pick(job[f"{name}_at"] for job in trials) for pick, name in _ENDS)
            seconds = seconds_between(begin, end)
            busy = sum(seconds_between(job["started_at"], job["finished_at"]) for job in trials)
            times.append(seconds)
            write(
                f"{len(trials)} jobs of a sweep on {workers} workers: {seconds:.1f} s, "
                f"idle {1 - busy / (workers * seconds):.1%}"
            )
    write(f"two workers are {times[0] / times[1]:.2f} times as fast as one")


def _sweep(stack: Stack, sweep_id: str) -> dict[str, Any]:
    return dict(stack.client.get(f"/v1/sweeps/{sweep_id}").raise_for_status().json())


def _pages(stack: Stack, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {"next_page_token": ""}
    while (token := page["next_page_token"]) is not None:
        page = stack.client.get(path + (f"&page_token={token}" if token else "")).raise_for_status().json()
        found += page["items"]
    return found


def _measure(stack: Stack, what: str) -> None:
    with stack.measured() as uses:
        time.sleep(MEASURE_SECONDS)
    write(what)
    write(uses[0].summary(uses[0].seconds, "per second"))


def _load(stack: Stack, request: bytes) -> tuple[float, float, float]:
    """Return the requests per second, and the median and 99th percentile in milliseconds."""
    port = stack.url.rpartition(":")[2]
    command = [
        sys.executable,
        "-m",
        "benchmarks.service.load",
        port,
        "32",
        str(LOAD_SECONDS),
        str(CLIENT_CORE),
    ]
    done = subprocess.run(command, input=request, cwd=ROOT, capture_output=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["first_response"].startswith(("HTTP/1.1 200", "HTTP/1.1 202")), result["first_response"]
    seconds = sorted(result["seconds"])
    median, p99 = (1000 * seconds[int(share * len(seconds))] for share in (0.5, 0.99))
    return result["requests"] / result["elapsed"], median, p99


def _request(line: str, body: bytes = b"") -> bytes:
    head = (
        f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n".encode() + body


def write(text: str) -> None:
    print(text, flush=True)


_ENDS = ((min, "started"), (max, "finished"))
MEASUREMENTS: dict[str, Callable[[], None]] = {
    "worker": one_worker,
    "running": running,
    "minute": a_minute,
    "api": one_api,
    "sweeps": sweeps,
    "store": lambda: updates_per_second(write),
}


def main(names: list[str]) -> None:
    write(f"{usable_cores()} cores, load {os.getloadavg()[0]:.1f}")
    for name in names or MEASUREMENTS:
        MEASUREMENTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
