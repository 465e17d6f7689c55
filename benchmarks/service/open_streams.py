"""Measure one API process while many clients follow running jobs, for docs/deployment.md.

    python -m benchmarks.service.open_streams --streams 1000 --polls 200

The clients wait for events and for changes of a running job. The memory of the API process and the time of a
request of another process are measured without them and with them. Then the job is cancelled, and the time
is measured until every client knows it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import httpx
import numpy as np

from benchmarks.service.sizing import LONG, write
from benchmarks.service.stack import Stack, running_stack

MEASURE_SECONDS = 20.0
PAUSE_SECONDS = 0.01  # between two requests that are measured
OPEN_SECONDS = 600.0  # within which all streams must be open


async def _follow(client: httpx.AsyncClient, job_id: str, opened: asyncio.Semaphore) -> float:
    """Read the events of a job to their end, and return when it came."""
    headers = {"Accept": "text/event-stream"}
    async with client.stream("GET", f"/v1/jobs/{job_id}/events", headers=headers) as response:
        response.raise_for_status()
        opened.release()
        async for line in response.aiter_lines():
            if line.replace(" ", "") == "event:done":
                return time.monotonic()
    raise RuntimeError("a stream ended before its job")


async def _poll(client: httpx.AsyncClient, job_id: str, opened: asyncio.Semaphore) -> float:
    """Wait for changes of a job until it has ended, and return when this was known."""
    path, headers = f"/v1/jobs/{job_id}", {"Prefer": "wait=30"}
    response = await client.get(path)
    opened.release()
    while not response.json()["finished_at"]:
        tag = {"If-None-Match": response.headers["ETag"]}
        try:
            answer = await client.get(path, headers=headers | tag)
        except httpx.RemoteProtocolError:  # on a busy machine the server gives up a head that comes too late
            continue
        if answer.status_code != httpx.codes.NOT_MODIFIED:
            response = answer.raise_for_status()
    return time.monotonic()


def _request_milliseconds(url: str, job_id: str) -> list[float]:
    """Return the times of requests on a connection of their own."""
    found = []
    with httpx.Client(base_url=url, timeout=60.0) as client:
        end = time.monotonic() + MEASURE_SECONDS
        while time.monotonic() < end:
            start = time.perf_counter()
            client.get(f"/v1/jobs/{job_id}").raise_for_status()
            found.append(1000 * (time.perf_counter() - start))
            time.sleep(PAUSE_SECONDS)
    return found


async def _measured(stack: Stack, job_id: str) -> list[float]:
    """Measure requests in a process of their own, which does not wait for the clients in this one."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(process, _request_milliseconds, stack.url, job_id)


def _show(what: str, milliseconds: list[float], memory: int) -> None:
    median, p99 = np.percentile(milliseconds, [50, 99])
    write(f"{what}: GET of a job median {median:.1f} ms, p99 {p99:.1f} ms; API {memory / 2**20:.0f} MiB")


async def measure(stack: Stack, streams: int, polls: int) -> None:
    job_id = stack.submit(LONG)
    while not stack.job(job_id)["progress"]["incumbents"]:
        await asyncio.sleep(0.1)
    _show("without them", await _measured(stack, job_id), stack.api_memory())
    # A connection is not used again, because the server may close it while this busy process sends a request.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with (
        httpx.AsyncClient(base_url=stack.url, timeout=OPEN_SECONDS, limits=limits) as client,
        asyncio.TaskGroup() as clients,  # the first client that fails ends the measurement
    ):
        opened = asyncio.Semaphore(0)
        kinds = [_follow] * streams + [_poll] * polls
        tasks = [clients.create_task(kind(client, job_id, opened)) for kind in kinds]
        start = time.monotonic()
        async with asyncio.timeout(OPEN_SECONDS):
            for _ in kinds:
                await opened.acquire()
        write(f"{streams} streams and {polls} long polls are open after {time.monotonic() - start:.1f} s")
        _show("with them", await _measured(stack, job_id), stack.api_memory())
        cancelled = time.monotonic()
        (await client.post(f"/v1/jobs/{job_id}/cancel")).raise_for_status()
        known = [at - cancelled for at in await asyncio.gather(*tasks)]
    median, worst = np.median(known), max(known)
    write(f"every client knew the end of its job after {worst:.2f} s, half of them after {median:.2f} s")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service.open_streams")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--polls", type=int, default=200)
    options: Any = parser.parse_args(arguments)
    os.environ["LITERATI_MAX_WAITING"] = str(options.streams + options.polls)
    with running_stack() as stack:
        stack.start_worker()
        asyncio.run(measure(stack, options.streams, options.polls))


if __name__ == "__main__":
    main()
