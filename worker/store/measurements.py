"""Numbers of all jobs and workers, for /metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worker.domain.jobs import JobState
from worker.domain.sweeps import SweepState
from worker.store import codecs
from worker.store.client import Scripts


@dataclass(frozen=True)
class WorkerInfo:
    """The main process of a worker, and how many jobs it runs at the same time."""

    name: str
    slots: int


@dataclass(frozen=True)
class Measurements:
    writable: bool  # whether the store takes writes
    states: Mapping[JobState, int]
    sweep_states: Mapping[SweepState, int]
    # Since the store was created. `fenced:`, `ended:` and `sweeps_ended:` are counted by kind.
    totals: Mapping[str, int]
    queue_depth: int
    queue_tenants: int  # tenants with queued jobs
    busy_cores: int  # of all workers
    oldest_queued_seconds: float
    workers: Sequence[WorkerInfo]
    gaps: Sequence[float]  # relative gaps of running jobs that have a tree
    memory: Sequence[int]  # bytes of every running search
    explored: Sequence[float]  # explored shares of running jobs that have a tree
    clock: float  # of the server, in seconds
    server: Mapping[str, str]  # what the server says about itself; empty if it refuses
    backup_age_seconds: float | None  # None if there is no backup
    backup_missing: int  # blobs that the last backup lacks

    def by_kind(self, name: str) -> dict[str, int]:
        prefix = f"{name}:"
        return {key.removeprefix(prefix): n for key, n in self.totals.items() if key.startswith(prefix)}


def measure(scripts: Scripts) -> Measurements:
    answer = scripts.run("measure")
    _, writable, now, states, totals, depth, oldest, workers, running, tenants, cores, sweeps = answer[:12]
    info, backup = answer[12].decode(), codecs.to_dict(answer[13])
    counts, sweep_counts = codecs.to_dict(states), codecs.to_dict(sweeps)
    return Measurements(
        writable=writable == 1,
        states={state: int(counts.get(state.encode(), 0)) for state in JobState},
        sweep_states={state: int(sweep_counts.get(state.encode(), 0)) for state in SweepState},
        totals={name.decode(): int(n) for name, n in codecs.to_dict(totals).items()},
        queue_depth=depth,
        queue_tenants=tenants,
        busy_cores=sum(int(used) for used in cores),
        oldest_queued_seconds=max(0.0, int(now) - float(oldest[1])) / 1000 if oldest else 0.0,
        workers=[_worker(line.decode()) for line in workers],
        gaps=[codecs.gaps(float(upper), float(lower))[1] for upper, lower, *_ in running if upper],
        memory=[int(memory) for *_, memory, _ in running if memory],
        explored=[float(explored) for *_, explored in running if explored],
        clock=int(now) / 1000,
        server=dict(line.split(":", 1) for line in info.splitlines() if ":" in line),
        backup_age_seconds=max(0, int(now) - int(backup[b"at"])) / 1000 if backup else None,
        backup_missing=int(backup.get(b"missing", 0)),
    )


def _worker(line: str) -> WorkerInfo:
    name, _, slots = line.rpartition(" ")
    return WorkerInfo(name, int(slots))
