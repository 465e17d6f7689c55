"""What one worker, one API process and one store carry: the figures behind docs/deployment.md.

python -m benchmarks.service.sizing [NAME...]

Each measurement runs with processes and a store of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.service.ceiling import checkpoints_per_second
from benchmarks.service.servers import CLIENT_CORE, ROOT
from benchmarks.service.site import Site, seconds_between, site
from literati.cores import usable_cores

# Of 1,000 rows with 10 features, a fifth of whose labels are noise
TRIVIAL = {"parameters": {"max_depth": 1}, "limits": {"max_expansions": 1}}
SMALL = {"parameters": {"max_depth": 3}}
LONG = {"parameters": {"max_depth": 7, "max_changepoints": 3}, "limits": {"time_limit": 3600}}
MINUTE = {**LONG, "limits": {"time_limit": 60}}
ASK_SECONDS, WARM_UP = 10.0, 0.2  # of the load generator
WATCH_SECONDS = 30.0


def one_worker() -> None:
    """Jobs that come faster than they are done: from the first claim to the last end."""
    for what, body, count in (("trivial", TRIVIAL, 300), ("small, to its proof", SMALL, 60)):
        with site() as here:
            here.start_worker()
            here.wait(here.submit(body))  # its process has imported what it needs
            with here.watched() as uses:
                ids = [here.submit(body) for _ in range(count)]
                ended = [here.wait(job_id) for job_id in ids]
            (use,) = uses
            begin, end = (pick(job[f"{name}_at"] for job in ended) for pick, name in _ENDS)
            rate = count / seconds_between(begin, end)
            search = sum(job["progress"]["elapsed_seconds"] for job in ended) / count
            say(f"{what}: {3600 * rate:,.0f} jobs an hour, {86400 * rate:,.0f} a day")
            say(f"  {1000 / rate:.0f} ms a job, {1000 * search:.0f} ms of it search")
            say(use.told(count, "a job"))


def a_minute() -> None:
    """What a job of the usual length leaves in the store."""
    with site() as here:
        here.start_worker()
        here.wait(here.submit(TRIVIAL))
        with here.watched() as uses:
            job = here.wait(here.submit(MINUTE))
        say(f"a minute's search: {job['progress']['incumbents']} trees")
        say(uses[0].told(1, "in all"))


def running() -> None:
    """What the store does for workers that wait and for searches that run."""
    with site() as here:
        here.start_worker()
        here.start_worker()
        time.sleep(3.0)
        _watch(here, "two idle workers and an API")
        ids = [here.submit(LONG) for _ in range(2)]
        while any(here.job(job_id)["progress"]["elapsed_seconds"] < 5 for job_id in ids):
            time.sleep(0.1)
        _watch(here, "the same with two running jobs")
        for job_id in ids:
            here.client.post(f"/v1/jobs/{job_id}/cancel").raise_for_status()


def one_api() -> None:
    """Requests a second of one process over 32 connections, while no worker runs."""
    with site() as here:
        job_id = here.submit(LONG)
        body = json.dumps({"dataset_id": here.dataset, **TRIVIAL}).encode()
        for what, request in (
            ("GET of a job", _request(f"GET /v1/jobs/{job_id}")),
            ("POST of a job", _request("POST /v1/jobs", body)),
            ("GET of 20 jobs", _request("GET /v1/jobs?page_size=20")),
        ):
            with here.watched() as uses:
                rate, median, late = _ask(here, request)
            say(f"{what}: {rate:,.0f} a second, median {median:.1f} ms, p99 {late:.1f} ms")
            say(uses[0].told(rate * ASK_SECONDS * (1 + WARM_UP), "each"))


def _watch(here: Site, what: str) -> None:
    with here.watched() as uses:
        time.sleep(WATCH_SECONDS)
    say(what)
    say(uses[0].told(uses[0].seconds, "a second"))


def _ask(here: Site, request: bytes) -> tuple[float, float, float]:
    """Requests a second; median and 99th percentile in milliseconds."""
    port = here.url.rpartition(":")[2]
    command = [
        sys.executable,
        "-m",
        "benchmarks.service.load",
        port,
        "32",
        str(ASK_SECONDS),
        str(CLIENT_CORE),
    ]
    done = subprocess.run(command, input=request, cwd=ROOT, capture_output=True, check=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    assert seen["first_answer"].startswith(("HTTP/1.1 200", "HTTP/1.1 202")), seen["first_answer"]
    seconds = sorted(seen["seconds"])
    median, late = (1000 * seconds[int(share * len(seconds))] for share in (0.5, 0.99))
    return seen["requests"] / seen["elapsed"], median, late


def _request(line: str, body: bytes = b"") -> bytes:
    head = (
        f"{line} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n".encode() + body


def say(text: str) -> None:
    print(text, flush=True)


_ENDS = ((min, "started"), (max, "finished"))
MEASUREMENTS: dict[str, Callable[[], None]] = {
    "worker": one_worker,
    "running": running,
    "minute": a_minute,
    "api": one_api,
    "ceiling": lambda: checkpoints_per_second(say),
}


def main(names: list[str]) -> None:
    say(f"{usable_cores()} cores, load {os.getloadavg()[0]:.1f}")
    for name in names or MEASUREMENTS:
        MEASUREMENTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
