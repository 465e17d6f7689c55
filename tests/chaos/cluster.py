"""The whole stack under supervision: a Valkey that syncs every write, an API server, Celery workers."""

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

from stack import ROOT
from worker.app import QUEUE
from worker.blobs import Blobs
from worker.store import Store, connect
from worker.tether import tethered
from worker.valkey import ValkeyServer

from .supervision import Supervisor, Unit

CELERY = ["celery", "-A", "worker.app", "worker", "--loglevel=INFO"]
ALONE = ["--without-gossip", "--without-mingle", "--without-heartbeat"]


class Cluster:
    """Made of the code under `root`: that of this repository, or a copy that was broken on purpose."""

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
        self.api = self._unit("api", _module("service.server"), lambda unit: "running on" in unit.said())
        self.workers: list[Unit] = []
        self.supervisor = Supervisor([self.valkey, self.api])
        for _ in range(workers):
            self.add_worker()

    def _unit(self, name: str, command: list[str], ready: Callable[[Unit], bool]) -> Unit:
        log = self.folder / f"{name}.log"
        return Unit(name, command, ready, folder=self.root, environment=dict(self.environment), log=log)

    def add_worker(self, **environment: str) -> Unit:
        """One more, started by the supervisor at its next round."""
        name = f"worker-{len(self.workers)}"
        assert all(worker.name != name for worker in self.workers)
        words = [*CELERY, *ALONE, "-n", f"{name}@%h"]
        worker = self._unit(name, _module(*words), lambda unit: " ready." in unit.said())
        worker.environment.update(environment)
        self.workers.append(worker)
        self.supervisor.units.append(worker)
        return worker

    def remove_worker(self, worker: Unit) -> None:
        worker.hold()
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
        self.server.clean()

    # A look inside

    def children(self, worker: Unit) -> list[psutil.Process]:
        try:
            found: list[psutil.Process] = psutil.Process(worker.pid).children()
        except psutil.NoSuchProcess:
            return []
        return found

    def fields(self, job_id: str, *names: str) -> list[bytes | None]:
        """As the store keeps them."""
        values: Any = self.connection.hmget(f"literati:job:{job_id}", list(names))
        return list(values)

    def holder(self, job_id: str) -> psutil.Process | None:
        """The process that has the job leased; None if none has, or it is gone."""
        name, lease = self.fields(job_id, "worker", "lease_until")
        if not name or not lease:
            return None
        try:
            return psutil.Process(int(name.rpartition(b":")[2]))
        except psutil.NoSuchProcess:
            return None

    def drop_wakeups(self) -> None:
        """Lose the messages that say that there is work."""
        self.connection.delete(QUEUE)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _module(*words: str) -> list[str]:
    return tethered([sys.executable, "-m", *words])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
