"""All parts of the service as processes with a store of their own, for measurements of the whole."""

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
from benchmarks.service.servers import start, stop, waited_for
from worker.store import connect
from worker.valkey import ValkeyServer

NO_LIMITS = dict.fromkeys(("LITERATI_MAX_LIVE_JOBS", "LITERATI_MAX_QUEUE", "LITERATI_MAX_JOBS"), "1000000000")
LISTENING = re.compile(r"running on (http://[0-9.]+:[0-9]+)")


@dataclass(frozen=True)
class Use:
    """What was used in a time. Seconds of a core are the same on a busy machine as on an idle one."""

    seconds: float
    store: float  # seconds of a core
    api: float
    workers: float
    commands: int  # of the store, those inside scripts too
    memory_bytes: int  # that the store holds more than before
    file_bytes: int  # that it wrote

    def told(self, count: float, what: str) -> str:
        cores = {"store": self.store, "API": self.api, "workers": self.workers}
        times = ", ".join(f"{name} {1000 * seconds / count:.3g}" for name, seconds in cores.items())
        return (
            f"  {what}: {times} ms of a core; {self.commands / count:,.1f} commands, "
            f"{self.memory_bytes / count:,.0f} bytes kept, {self.file_bytes / count:,.0f} written"
        )


class Site:
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
        """With a dataset for the jobs."""
        log, rows = self.folder / "api.log", self.folder / "rows.csv"
        api = start(
            [sys.executable, "-m", "service.server"], self._environment, log, self._started, core=None
        )
        self.url = waited_for(log, LISTENING, api)[1]
        self.client.base_url = self.url
        jobs.write_rows(rows)
        upload = self.client.post(
            "/v1/datasets?target=label", content=rows.read_bytes(), headers={"Content-Type": "text/csv"}
        )
        self.dataset = str(upload.raise_for_status().json()["id"])

    def start_worker(self) -> None:
        log = self.folder / f"worker-{len(self._started)}.log"
        command = [sys.executable, "-m", "celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
        command += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
        process = start(command, self._environment, log, self._started, core=None)
        waited_for(log, re.compile(r"\bready\b"), process)

    def submit(self, body: dict[str, Any]) -> str:
        answer = self.client.post("/v1/jobs", json={"dataset_id": self.dataset, **body})
        return str(answer.raise_for_status().json()["id"])

    def job(self, job_id: str, **headers: str) -> dict[str, Any]:
        return dict(self.client.get(f"/v1/jobs/{job_id}", headers=headers).raise_for_status().json())

    def wait(self, job_id: str) -> dict[str, Any]:
        while not (job := self.job(job_id, Prefer="wait=30"))["finished_at"]:
            pass
        assert job["state"] == "SUCCEEDED", job
        return job

    @contextmanager
    def watched(self) -> Iterator[list[Use]]:
        """What is used meanwhile is in the list afterwards."""
        found: list[Use] = []
        held = self._held()
        before, began, cores = self._store.info("everything"), time.monotonic(), self._cores()
        yield found
        after, seconds = self._store.info("everything"), time.monotonic() - began
        api, workers = (now - then for now, then in zip(self._cores(), cores, strict=True))

        def more(*names: str) -> float:
            return sum(float(after[name]) - float(before[name]) for name in names)

        found.append(
            Use(
                seconds,
                more("used_cpu_user", "used_cpu_sys"),
                api,
                workers,
                int(more("total_commands_processed")),
                self._held() - held,
                int(more("aof_current_size")),
            )
        )

    def _held(self) -> int:
        """Bytes of all keys, without what clients are about to be sent: that may be more than a job."""
        return sum(self._store.memory_usage(key, samples=0) or 0 for key in self._store.scan_iter(count=1000))

    def _cores(self) -> tuple[float, float]:
        """Seconds that the API has used, and the workers."""
        api, *workers = (_core_seconds(process.pid) for process in self._started)
        return api, sum(workers)

    def close(self) -> None:
        self.client.close()
        for process in reversed(self._started):
            stop(process)
        self._store.close()
        self.valkey.stop()


@contextmanager
def site() -> Iterator[Site]:
    with tempfile.TemporaryDirectory() as name:
        here = Site(Path(name))
        try:
            here.start_api()
            yield here
        finally:
            here.close()


def _core_seconds(pid: int) -> float:
    """Of a process, its children, and the children that it had."""
    process = psutil.Process(pid)
    own = process.cpu_times()
    total = float(own.user + own.system + own.children_user + own.children_system)
    return total + sum(
        sum(child.cpu_times()[:2]) for child in process.children(recursive=True) if child.is_running()
    )


def seconds_between(begin: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()
