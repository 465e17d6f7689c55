"""The store: the records of jobs, datasets and models on a Valkey or Redis server.

Every write that must be atomic is a script in `lua/`. The scripts build the names of keys from ids, so a
Redis Cluster cannot be used.
"""

from __future__ import annotations

import redis

from worker.blobs.local import Blobs
from worker.settings import WorkerSettings
from worker.store.archiver import Archiver
from worker.store.archives import Archives
from worker.store.backups import BackupRecords
from worker.store.client import HistoryLimits, Scripts, connect
from worker.store.datasets import DatasetStore
from worker.store.jobs import JobStore
from worker.store.measurements import Measurements, WorkerInfo, measure
from worker.store.models import ModelStore
from worker.store.retention import BlobReferences, Retention
from worker.store.store_format import StoreFormat
from worker.store.sweeps import SweepStore
from worker.store.tenants import TenantStore


class Store:
    """The records on one server, and their archives in the blobs."""

    def __init__(
        self,
        client: redis.Redis,
        *,
        lease_seconds: float = 30.0,
        history: HistoryLimits | None = None,
        wait_replicas: int = 0,
        blobs: Blobs | None = None,
    ) -> None:
        self.client = client
        self.scripts = scripts = Scripts(client, history or HistoryLimits(), wait_replicas)
        self.format = StoreFormat(client, scripts)
        archives = Archives(client, scripts, blobs)
        self.jobs = JobStore(client, scripts, archives, lease_seconds)
        self.datasets = DatasetStore(client, scripts)
        self.models = ModelStore(client, scripts, archives)
        self.sweeps = SweepStore(client, scripts)
        self.blobs = BlobReferences(client, scripts)
        self.retention = Retention(client, scripts)
        self.archiver = Archiver(client, scripts)
        self.tenants = TenantStore(client, scripts)
        self.backups = BackupRecords(client, scripts)

    def measure(self) -> Measurements:
        """Return the numbers of all jobs and workers, in one round trip."""
        return measure(self.scripts)

    def report_alive(self, worker: WorkerInfo, seconds: float) -> None:
        """Count a worker as alive for this many seconds; 0 if it ends now."""
        self.scripts.run("report_alive", f"{worker.name} {worker.slots}", round(seconds * 1000))

    def ping(self) -> None:
        """Raise redis.RedisError unless the server answers and takes writes."""
        self.client.set("literati:ready", 1)


def open_store(settings: WorkerSettings, blobs: Blobs) -> Store:
    """Return the store; the first command connects to the server."""
    history = HistoryLimits(settings.max_events, settings.max_trace_points, settings.max_incumbents)
    return Store(
        connect(settings.store_url),
        lease_seconds=settings.lease_seconds,
        history=history,
        wait_replicas=settings.redis_wait_replicas,
        blobs=blobs,
    )
