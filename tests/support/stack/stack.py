"""The processes of the service for tests: Valkey, API servers and Celery workers, each with a log file."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from tests.support.paths import ROOT
from worker.blobs.local import Blobs
from worker.processes.parent_death import kill_with_parent
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect

START_SECONDS = 60.0
STOP_SECONDS = 30.0
_LISTENING = re.compile(r"running on (http://[0-9.]+:[0-9]+)")

Seen = TypeVar("Seen")


def poll(look: Callable[[], Seen | None], *, seconds: float = 30.0, what: str = "it") -> Seen:
    """Call `look` until it returns something true, and return that."""
    deadline = time.monotonic() + seconds
    while True:
        if seen := look():
            return seen
        assert time.monotonic() < deadline, f"{what} did not happen in {seconds:g} s"
        time.sleep(0.01)


class Process:
    """A Python module in a child process, which is killed when the test process ends."""

    def __init__(
        self, name: str, words: list[str], environment: dict[str, str], folder: Path, *, root: Path = ROOT
    ) -> None:
        self.log = folder / f"{name}.log"
        command = kill_with_parent([sys.executable, "-m", *words])
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=root, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: re.Pattern[str]) -> re.Match[str]:
        def look() -> re.Match[str] | None:
            assert self.process.poll() is None, self.text()[-4000:]
            return pattern.search(self.text())

        return poll(look, seconds=START_SECONDS, what=pattern.pattern)

    def stop(self) -> None:
        """Terminate the process, and kill its group if it does not end."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


class Stack:
    """A store, and the processes that `start_api` and `start_worker` start on it."""

    def __init__(self, folder: Path, *, server: ValkeyServer | None = None, **environment: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._own_server = server is None
        self.server = server or ValkeyServer(folder / "valkey")
        self.environment = {
            **os.environ,
            "REDIS_URL": self.server.url,
            "LITERATI_STATE_DIR": str(folder / "state"),
            "LITERATI_PORT": "0",
            "LITERATI_WORKER_CONCURRENCY": "1",
            "REMAP_SIGTERM": "SIGQUIT",
            **environment,
        }
        self.connection = connect(self.server.url)
        self.blobs = Blobs(folder / "state" / "blobs")
        self.store = Store(self.connection, blobs=self.blobs)
        self.url = ""
        self._processes: list[Process] = []
        self._start_on_entry: tuple[Callable[[], Process], ...] = ()

    @classmethod
    def with_api(cls, folder: Path, *, server: ValkeyServer | None = None, **environment: str) -> Self:
        """Return a stack that starts an API server when it is entered."""
        stack = cls(folder, server=server, **environment)
        stack._start_on_entry = (stack.start_api,)
        return stack

    @classmethod
    def with_worker_and_api(
        cls, folder: Path, *, server: ValkeyServer | None = None, **environment: str
    ) -> Self:
        """Return a stack that starts a worker and an API server when it is entered."""
        stack = cls(folder, server=server, **environment)
        stack._start_on_entry = (stack.start_worker, stack.start_api)
        return stack

    def start_api(self, root: Path = ROOT, **environment: str) -> Process:
        """Start an API server of the code under `root`, and wait until it listens."""
        api = self._start("api", ["service.server"], root, environment)
        self.url = api.wait_for(_LISTENING)[1]
        return api

    def start_worker(self, root: Path = ROOT) -> Process:
        words = ["celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
        worker = self._start("worker", words, root, {})
        worker.wait_for(re.compile(r"\bready\b"))
        return worker

    def _start(self, name: str, words: list[str], root: Path, environment: dict[str, str]) -> Process:
        number = sum(process.log.name.startswith(name) for process in self._processes)
        variables = {**self.environment, **environment}
        if root != ROOT:
            variables["PYTHONPATH"] = f"{root}:{root / 'core'}"
        process = Process(f"{name}-{number}", words, variables, self.folder, root=root)
        self._processes.append(process)
        return process

    def log_lines(self, name: str) -> list[dict[str, Any]]:
        """Return the log lines of the processes `api` or `worker`. A line that is not JSON is an error."""
        return [
            json.loads(line)
            for process in self._processes
            if process.log.name.startswith(name)
            for line in process.text().splitlines()
        ]

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=90.0, **options)  # type: ignore[arg-type]

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.stop()
        self.connection.close()
        if self._own_server:
            self.server.stop()

    def __enter__(self) -> Self:
        try:
            for start in self._start_on_entry:
                start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
