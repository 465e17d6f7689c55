"""Start all parts of the service as processes with their own store, to measure them together."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.service import jobs
from benchmarks.service.servers import start, stop, wait_for_log
from worker.processes.valkey import ValkeyServer
from worker.store.client import connect

NO_LIMITS = dict.fromkeys(("LITERATI_MAX_LIVE_JOBS", "LITERATI_MAX_QUEUE", "LITERATI_MAX_JOBS"), "1000000000")
LISTENING = re.compile(r"running on (http://[0-9.]+:[0-9]+)")


@dataclass(frozen=True)
class Use:
    """The resources used during a measurement. CPU time hardly depends on the load of the machine."""

    seconds: float
    store: float  # CPU seconds, as the next two
    api: float
    workers: float
    commands: int  # of the store, including those inside scripts
    memory_bytes: int  # growth of the data in the store
    file_bytes: int  # growth of the store's file

    def summary(self, count: float, what: str) -> str:
        """Return the resources divided by `count` as text."""
        cores = {"store": self.store, "API": self.api, "workers": self.workers}
        times = ", ".join(f"{name} {1000 * seconds / count:.3g}" for name, seconds in cores.items())
        return (
            f"  {what}: {times} ms of CPU time; {self.commands / count:,.1f} commands, "
            f"{self.memory_bytes / count:,.0f} bytes kept, {self.file_bytes / count:,.0f} written"
        )


class Stack:
    """A store, an API, and workers that run one job at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.valkey = ValkeyServer(folder / "valkey")
        self._store = connect(self.valkey.url)
        self._environment = {
            **os.environ,
            **NO_LIMITS,
            "REDIS_URL": self.valkey.url,
            "LITERATI_STATE_DIR": str(folder / "state"),
            "LITERATI_PORT": "0",
            "LITERATI_WORKER_CONCURRENCY": "1",
        }
        self._started: list[subprocess.Popen[bytes]] = []
        self.client = httpx.Client(timeout=120.0)
        self.url = self.dataset = ""

    def start_api(self) -> None:
        """Start the API and upload a dataset for the jobs."""
        log, rows = self.folder / "api.log", self.folder / "rows.csv"
        api = start(
            [sys.executable, "-m", "service.server"], self._environment, log, self._started, core=None
        )
        self.url = wait_for_log(log, LISTENING, api)[1]
        self.client.base_url = self.url
        jobs.write_rows(rows)
        upload = self.client.post(
            "/v1/datasets?target=label", content=rows.read_bytes(), headers={"Content-Type": "text/csv"}
        )
        self.dataset = str(upload.raise_for_status().json()["id"])

    def start_worker(self) -> subprocess.Popen[bytes]:
        log = self.folder / f"worker-{len(self._started)}.log"
        command = [sys.executable, "-m", "celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        process = start(command, self._environment, log, self._started, core=None)
        wait_for_log(log, re.compile(r"\bready\b"), process)
        return process

    def submit(self, body: dict[str, Any]) -> str:
        response = self.client.post("/v1/jobs", json={"dataset_id": self.dataset, **body})
        return str(response.raise_for_status().json()["id"])

    def job(self, job_id: str, **headers: str) -> dict[str, Any]:
        return dict(self.client.get(f"/v1/jobs/{job_id}", headers=headers).raise_for_status().json())

    def wait(self, job_id: str) -> dict[str, Any]:
        while not (job := self.job(job_id, Prefer="wait=30"))["finished_at"]:
            pass
        assert job["state"] == "SUCCEEDED", job
        return job

    @contextmanager
    def measured(self) -> Iterator[list[Use]]:
        """Measure the resources used inside the context and append them to the list that is returned."""
        measured: list[Use] = []
        stored_before = self._stored_bytes()
        before, began, cpu_before = self._store.info("everything"), time.monotonic(), self._cpu_seconds()
        yield measured
        after, seconds = self._store.info("everything"), time.monotonic() - began
        api, workers = (now - then for now, then in zip(self._cpu_seconds(), cpu_before, strict=True))

        def growth(*names: str) -> float:
            return sum(float(after[name]) - float(before[name]) for name in names)

        measured.append(
            Use(
                seconds,
                growth("used_cpu_user", "used_cpu_sys"),
                api,
                workers,
                int(growth("total_commands_processed")),
                self._stored_bytes() - stored_before,
                int(growth("aof_current_size")),
            )
        )

    def _stored_bytes(self) -> int:
        """Return the size of all keys. This excludes client buffers, which may be larger than a job."""
        return sum(self._store.memory_usage(key, samples=0) or 0 for key in self._store.scan_iter(count=1000))

    def _cpu_seconds(self) -> tuple[float, float]:
        """Return the CPU time of the API and of the workers."""
        api, *workers = (_process_cpu_seconds(process.pid) for process in self._started)
        return api, sum(workers)

    def api_cpu_seconds(self) -> float:
        """Return the CPU time of the API process."""
        return _process_cpu_seconds(self._started[0].pid)

    def api_memory(self) -> int:
        """Return the resident memory of the API process in bytes."""
        return int(psutil.Process(self._started[0].pid).memory_info().rss)

    def close(self) -> None:
        self.client.close()
        for process in reversed(self._started):
            stop(process)
        self._store.close()
        self.valkey.stop()


@contextmanager
def running_stack() -> Iterator[Stack]:
    """Start a store and an API in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        stack = Stack(Path(name))
        try:
            stack.start_api()
            yield stack
        finally:
            stack.close()


def _process_cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process, its children, and its ended children."""
    process = psutil.Process(pid)
    own = process.cpu_times()
    total = float(own.user + own.system + own.children_user + own.children_system)
    return total + sum(
        sum(child.cpu_times()[:2]) for child in process.children(recursive=True) if child.is_running()
    )


def seconds_between(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
