"""Start the service and MLServer as processes on one core each."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

from worker.processes.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90.0
SERVER_CORE, CLIENT_CORE = 0, 1
_LISTENING = re.compile(r"running on (http://[0-9.]+:[0-9]+)")


@dataclass(frozen=True)
class Server:
    """A server on a port, with its processes."""

    port: int
    processes: tuple[subprocess.Popen[bytes], ...]

    def cpu_seconds(self) -> float:
        """Return the CPU time of its processes and their children."""
        total = 0.0
        for process in self.processes:
            with_children = psutil.Process(process.pid)
            for part in (with_children, *with_children.children(recursive=True)):
                times = part.cpu_times()
                total += times.user + times.system
        return total


@contextmanager
def ours(folder: Path) -> Iterator[tuple[Server, httpx.Client, Callable[[], Any]]]:
    """Start the API and its Valkey on one core. The function that is returned starts a worker on any core."""
    folder.mkdir(parents=True, exist_ok=True)
    valkey = ValkeyServer(folder / "valkey")
    assert valkey.process is not None
    environment = {
        **os.environ,
        "REDIS_URL": valkey.url,
        "LITERATI_STATE_DIR": str(folder / "state"),
        "LITERATI_PORT": "0",
        "LITERATI_WORKER_CONCURRENCY": "1",
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        _pin(valkey.process.pid)
        api = start([sys.executable, "-m", "service.server"], environment, folder / "api.log", started)
        url = wait_for_log(folder / "api.log", _LISTENING, api)[1]
        worker = [sys.executable, "-m", "celery", "-A", "worker.app", "worker", "--loglevel=INFO"]

        def start_worker() -> Any:
            process = start(worker, environment, folder / "worker.log", started, core=None)
            wait_for_log(folder / "worker.log", re.compile(r"\bready\b"), process)
            return lambda: stop(process)

        with httpx.Client(base_url=url, timeout=120.0) as client:
            yield Server(int(url.rpartition(":")[2]), (api, valkey.process)), client, start_worker
    finally:
        for process in reversed(started):
            stop(process)
        valkey.stop()


@contextmanager
def mlserver(python: Path, rows: Path, depth: int, parallel_workers: int) -> Iterator[Server]:
    """Start MLServer with a scikit-learn tree of the same rows. `python` is the Python of its environment."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fit = ROOT / "benchmarks" / "service" / "fit_sklearn.py"
        subprocess.run([python, fit, rows, str(depth), folder / "model.joblib"], check=True)
        ports = [free_port() for _ in range(3)]
        settings = {
            "debug": False,
            "host": "127.0.0.1",
            "http_port": ports[0],
            "grpc_port": ports[1],
            "metrics_port": ports[2],
            "parallel_workers": parallel_workers,
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        model = {
            "name": "tree",
            "implementation": "mlserver_sklearn.SKLearnModel",
            "parameters": {"uri": "./model.joblib"},
        }
        (folder / "model-settings.json").write_text(json.dumps(model))
        started: list[subprocess.Popen[bytes]] = []
        try:
            command = [str(python), "-m", "mlserver.cli.main", "start", "."]
            process = start(command, dict(os.environ), folder / "log", started, folder=folder)
            _await_ready(f"http://127.0.0.1:{ports[0]}/v2/models/tree/ready", process, folder / "log")
            yield Server(ports[0], (process,))
        finally:
            for process in started:
                stop(process)


def start(
    command: list[str],
    environment: dict[str, str],
    log: Path,
    started: list[subprocess.Popen[bytes]],
    *,
    core: int | None = SERVER_CORE,
    folder: Path = ROOT,
) -> subprocess.Popen[bytes]:
    """Start a process, append it to `started` and pin it to a core."""
    with log.open("ab") as file:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True
        )
    started.append(process)
    if core is not None:
        _pin(process.pid, core)
    return process


def _pin(pid: int, core: int = SERVER_CORE) -> None:
    if hasattr(os, "sched_setaffinity") and core in os.sched_getaffinity(0):
        os.sched_setaffinity(pid, {core})


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process, and kill its process group if it does not end in time."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for_log(log: Path, pattern: re.Pattern[str], process: subprocess.Popen[bytes]) -> re.Match[str]:
    """Wait until the log of a process matches the pattern, and return the match."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if found := pattern.search(log.read_text(errors="replace")):
            return found
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise RuntimeError(f"a server did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _await_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"MLServer did not start:\n{log.read_text(errors='replace')[-3000:]}")


def free_port() -> int:
    """Return a free TCP port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
