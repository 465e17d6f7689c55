"""The job store: what is true of jobs, datasets and models, on a Valkey or Redis server.

Every write that has to be all or nothing is a script in `lua/`. Scripts build the names of keys from ids, so
a Redis Cluster will not do.
"""

from __future__ import annotations

import redis

from worker.errors import (
    AliasGoneError,
    BadTokenError,
    DatasetGoneError,
    DatasetInUseError,
    FencedError,
    IdempotencyConflictError,
    JobGoneError,
    JobLiveError,
    LimitReachedError,
    ModelGoneError,
    ModelInUseError,
    NoTreeError,
    StoreError,
    WrongStateError,
)

from .blob_references import BlobReferences
from .claims import Ack, Claim
from .client import Kept, Scripts, connect
from .datasets import DatasetStore
from .jobs import Controlled, EventPage, JobStore, Submitted
from .measurements import Measurements, WorkerSeat, measure
from .models import ModelStore
from .pages import Page
from .retention import Retention
from .tenants import TenantStore

__all__ = [
    "Ack",
    "AliasGoneError",
    "BadTokenError",
    "BlobReferences",
    "Claim",
    "Controlled",
    "DatasetGoneError",
    "DatasetInUseError",
    "DatasetStore",
    "EventPage",
    "FencedError",
    "IdempotencyConflictError",
    "JobGoneError",
    "JobLiveError",
    "JobStore",
    "Kept",
    "LimitReachedError",
    "Measurements",
    "ModelGoneError",
    "ModelInUseError",
    "ModelStore",
    "NoTreeError",
    "Page",
    "Retention",
    "Store",
    "StoreError",
    "Submitted",
    "TenantStore",
    "WorkerSeat",
    "WrongStateError",
    "connect",
]


class Store:
    def __init__(self, client: redis.Redis, *, lease_seconds: float = 30.0, kept: Kept | None = None) -> None:
        self.client = client
        self._scripts = scripts = Scripts(client, kept or Kept())
        self.jobs = JobStore(client, scripts, lease_seconds)
        self.datasets = DatasetStore(client, scripts)
        self.models = ModelStore(client, scripts)
        self.blobs = BlobReferences(client, scripts)
        self.retention = Retention(client, scripts)
        self.tenants = TenantStore(client)

    def measure(self) -> Measurements:
        """What there is to say of jobs and workers, in one round trip; the same from every process."""
        return measure(self._scripts)

    def alive(self, seat: WorkerSeat, seconds: float) -> None:
        """A worker says that it will be there for so long; 0: that it goes."""
        self._scripts.run("worker_alive", f"{seat.name} {seat.slots}", round(seconds * 1000))

    def ping(self) -> None:
        """Raises redis.RedisError unless the server answers and its data is writable."""
        self.client.set("literati:ready", 1)
