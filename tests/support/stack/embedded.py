"""The supervisor of `make serve` with its real child processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from tests.support.paths import ROOT
from tests.support.stack.stack import poll
from worker.processes.parent_death import kill_with_parent
from worker.store import Store
from worker.store.client import connect

READY = re.compile(r"Literati is ready at (http://127\.0\.0\.1:\d+)\n")
PARTS = {"store": "valkey", "worker": "--without-gossip", "API": "service.server"}


class Embedded:
    """Run `make serve` with a state folder and a port of its own; `environment` adds or changes settings."""

    def __init__(self, folder: Path, **environment: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.state = folder / "state"
        self.out, self.err = folder / "out", folder / "err"
        inherited = {name: value for name, value in os.environ.items() if name != "REDIS_URL"}
        with self.out.open("w") as out, self.err.open("a") as err:
            self.process = subprocess.Popen(
                kill_with_parent([sys.executable, "-m", "service.embedded"]),
                cwd=ROOT,
                env={
                    **inherited,
                    "LITERATI_STATE_DIR": str(self.state),
                    "LITERATI_PORT": "0",
                    "LITERATI_WORKER_CONCURRENCY": "1",
                    "LITERATI_LEASE_SECONDS": "2",
                    **environment,
                },
                stdout=out,
                stderr=err,
            )

    def wait_until_ready(self) -> str:
        """Return the address of the API."""

        def look() -> re.Match[str] | None:
            assert self.process.poll() is None, self.err.read_text()
            return READY.fullmatch(self.out.read_text())

        return poll(look, seconds=120, what="the ready line")[1]

    def family(self) -> list[psutil.Process]:
        """Return every process that the supervisor started, and theirs."""
        return list(psutil.Process(self.process.pid).children(recursive=True))

    def leader(self, part: str) -> psutil.Process | None:
        """Return the first process of the store, the worker or the API."""
        for child in psutil.Process(self.process.pid).children():
            try:
                words = child.cmdline()
            except psutil.Error:
                continue
            if any(PARTS[part] in word for word in words):
                return child
        return None

    def store(self) -> Store:
        return Store(connect(f"unix://{self.state}/valkey.sock"))

    def refusal(self) -> str:
        """Return what is written to standard error by a supervisor that does not start."""
        assert self.process.wait(60) == 1
        assert self.out.read_text() == ""
        return self.err.read_text()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
