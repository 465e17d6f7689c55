"""A supervised stack: a Valkey that syncs every write, an API server and Celery workers."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import redis

from tests.chaos.supervision import Supervisor, Unit
from tests.support.paths import ROOT
from worker.app import QUEUE
from worker.blobs.local import Blobs
from worker.processes.parent_death import kill_with_parent
from worker.processes.valkey import ValkeyServer
from worker.store import Store
from worker.store.client import connect

CELERY = ["celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
ALONE = ["--without-gossip", "--without-mingle", "--without-heartbeat"]


class Cluster:
    """Run the code under `root`, which is this repository or a copy with a change in it."""

    def __init__(
        self,
        folder: Path,
        *,
        root: Path = ROOT,
        workers: int = 2,
        children: int = 2,
        lease: float = 1.5,
        reconcile: float = 0.5,
        **environment: str,
    ) -> None:
        self.folder, self.root, self.lease = folder, root, lease
        folder.mkdir(parents=True, exist_ok=True)
        port = _free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.server = ValkeyServer(folder / "valkey", start=False)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "REDIS_URL": self.server.url,
            "LITERATI_STATE_DIR": str(folder / "state"),
            "LITERATI_PORT": str(port),
            "LITERATI_LEASE_SECONDS": str(lease),
            "LITERATI_RECONCILE_SECONDS": str(reconcile),
            "LITERATI_WORKER_CONCURRENCY": str(children),
            **environment,
        }
        self.connection = connect(self.server.url)
        self.store = Store(self.connection, lease_seconds=lease)
        self.blobs = Blobs(folder / "state" / "blobs")
        self.valkey = self._unit("valkey", self.server.command, self._answers)
        self.api = self._unit(
            "api", _module("service.server"), lambda unit: "running on" in unit.log_since_start()
        )
        self.workers: list[Unit] = []
        self.supervisor = Supervisor([self.valkey, self.api])
        for _ in range(workers):
            self.add_worker()

    def _unit(self, name: str, command: list[str], ready: Callable[[Unit], bool]) -> Unit:
        log = self.folder / f"{name}.log"
        return Unit(name, command, ready, folder=self.root, environment=dict(self.environment), log=log)

    def add_worker(self, **environment: str) -> Unit:
        """Add a worker, which the supervisor starts next."""
        name = f"worker-{len(self.workers)}"
        assert all(worker.name != name for worker in self.workers)
        words = [*CELERY, *ALONE, "-n", f"{name}@%h"]
        worker = self._unit(name, _module(*words), lambda unit: " ready." in unit.log_since_start())
        worker.environment.update(environment)
        self.workers.append(worker)
        self.supervisor.units.append(worker)
        return worker

    def remove_worker(self, worker: Unit) -> None:
        worker.keep_stopped()
        worker.kill()
        self.workers.remove(worker)
        self.supervisor.units.remove(worker)

    def _answers(self, unit: Unit) -> bool:
        try:
            with redis.Redis.from_url(self.server.url, socket_timeout=1) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def start(self) -> None:
        self.server.prepare()
        self.supervisor.start()
        self.await_ready()

    def await_ready(self, *units: Unit) -> None:
        self.supervisor.await_ready(*units)

    def stop(self) -> None:
        self.supervisor.stop()
        self.connection.close()
        self.server.remove_socket()

    # What the processes and the store hold

    def children(self, worker: Unit) -> list[psutil.Process]:
        try:
            found: list[psutil.Process] = psutil.Process(worker.pid).children()
        except psutil.NoSuchProcess:
            return []
        return found

    def fields(self, job_id: str, *names: str) -> list[bytes | None]:
        """Return fields of the job's record in the store."""
        values: Any = self.connection.hmget(f"literati:job:{job_id}", list(names))
        return list(values)

    def holder(self, job_id: str) -> psutil.Process | None:
        """Return the process that holds the job's lease, or None if there is none."""
        name, lease = self.fields(job_id, "worker", "lease_until")
        if not name or not lease:
            return None
        try:
            return psutil.Process(int(name.rpartition(b":")[2]))
        except psutil.NoSuchProcess:
            return None

    def drop_wakeups(self) -> None:
        """Delete the messages that tell workers of new jobs."""
        self.connection.delete(QUEUE)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _module(*words: str) -> list[str]:
    return kill_with_parent([sys.executable, "-m", *words])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
