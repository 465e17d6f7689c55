"""Ctrl-C ends the waiting and says how to come back. The job continues."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from literati.client import Client, Dataset, Sweep
from tests.support.stack.stack import Stack, poll

WAIT = """
import sys
from literati.client import Client

with Client(sys.argv[1]) as client:
    record = getattr(client, sys.argv[2]).get(sys.argv[3])
    print("waiting", flush=True)
    record.wait(progress=True)
"""
ASYNC_WAIT = """
import asyncio
import sys
from literati.client import AsyncClient

async def main():
    async with AsyncClient(sys.argv[1]) as client:
        record = await getattr(client, sys.argv[2]).get(sys.argv[3])
        print("waiting", flush=True)
        await record.wait(progress=True)

asyncio.run(main())
"""
CAUGHT = """
import sys
from literati.client import Client

with Client(sys.argv[1]) as client:
    record = getattr(client, sys.argv[2]).get(sys.argv[3])
    print("waiting", flush=True)
    try:
        record.wait()
    except KeyboardInterrupt as message:
        print(message, file=sys.stderr)
        sys.exit(7)
"""


def interrupted(code: str, folder: Path, *arguments: str) -> tuple[int, str]:
    """Run a program, press Ctrl-C while it waits, and return its exit code and what it wrote."""
    errors = folder / "errors"
    with errors.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=file, text=True
        )
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == "waiting\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        try:
            return process.wait(20), errors.read_text()
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("code", "expected"),
    [(WAIT, -signal.SIGINT), (ASYNC_WAIT, -signal.SIGINT), (CAUGHT, 7)],
    ids=["wait", "async", "caught"],
)
def test_a_job(
    stack: Stack, client: Client, endless: Dataset, code: str, expected: int, tmp_path: Path
) -> None:
    job = client.jobs.create(endless, max_depth=6, time_limit=600)
    poll(lambda: job.refresh().state == "RUNNING", what="a running job")
    status, text = interrupted(code, tmp_path, stack.url, "jobs", job.id)
    assert status == expected
    there = f'Client("{stack.url}").jobs.get("{job.id}")'
    assert f"You no longer wait for the job {job.id}, which continues on the server." in text
    assert f"Come back with  {there}.wait()" in text
    assert f"or stop it with {there}.cancel()" in text
    if code != ASYNC_WAIT:
        assert text.rstrip().endswith(f"{there}.cancel()")
    assert job.refresh().state == "RUNNING"
    coming_back = re.search(r"Come back with {2}(.*)\.wait\(\)", text)
    assert coming_back is not None
    again = eval(coming_back[1], {"Client": lambda url: client})
    again.wait(until="trees>=1")
    assert job.refresh()["stop_reason"] == "USER_FINISH"


def test_a_sweep(stack: Stack, client: Client, endless: Dataset, tmp_path: Path) -> None:
    sweep: Sweep = client.sweeps.create(endless, space={"max_depth": [5], "split_penalty": [0.0]})
    status, text = interrupted(WAIT, tmp_path, stack.url, "sweeps", sweep.id)
    assert status == -signal.SIGINT
    assert f'Client("{stack.url}").sweeps.get("{sweep.id}").wait()' in text
    assert not sweep.refresh().ended
    sweep.cancel()
