"""Tenants: their weights in the fair queue, and what they have queued and running."""

from __future__ import annotations

from dataclasses import dataclass

from worker.store.atomic_reads import AtomicReads
from worker.store.client import StorePart, read_hash

DEFAULT_WEIGHT, MAX_WEIGHT = 100, 10_000  # the range of CPU weights in systemd and control groups
_WEIGHTS, _RUNNING, _START_TIMES = "literati:weights", "literati:running", "literati:turns"


@dataclass(frozen=True)
class Tenant:
    name: str
    weight: int
    queued_jobs: int
    busy_cores: int


class TenantStore(StorePart):
    """The tenants with records, or with a weight of their own."""

    def get(self, name: str) -> Tenant:
        """Return the tenant. An unknown name has the default weight and no jobs."""
        reads = AtomicReads(self._client)
        reads.hget(_WEIGHTS, name)
        reads.hget(_RUNNING, name)
        reads.zrange(f"literati:queue-owners:{name}", 0, -1)
        weight, running, owners = reads.execute()
        for owner in {name, *(owner.decode() for owner in owners)}:  # a sweep has a queue of its own
            reads.zcard(f"literati:queue:{owner}")
        queued = sum(reads.execute())
        return Tenant(name, int(weight or DEFAULT_WEIGHT), queued, int(running or 0))

    def set_weight(self, name: str, weight: int) -> Tenant:
        """Set the tenant's share of the cores relative to others, from the next job that is started."""
        self._scripts.run("set_weight", name, weight)
        return self.get(name)

    def has_records(self, name: str) -> bool:
        """Return whether the tenant has a dataset, a job, a model or a sweep."""
        kinds = ("datasets", "jobs", "models", "sweeps")
        return bool(self._client.exists(*(f"literati:tenant-{kind}:{name}" for kind in kinds)))

    def names(self) -> set[str]:
        """Return the tenants with a weight of their own and those with queued or running jobs."""
        queued: list[bytes] = self._client.zrange(_START_TIMES, 0, -1)  # type: ignore[assignment]
        found = {*read_hash(self._client, _WEIGHTS), *read_hash(self._client, _RUNNING), *queued}
        return {name.decode() for name in found}
