"""What is counted and measured over all jobs and workers: the numbers behind /metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from worker.messages import JobState

from . import records
from .client import Scripts


@dataclass(frozen=True)
class WorkerSeat:
    """A worker: its main process, and how many jobs it runs at a time."""

    name: str
    slots: int


@dataclass(frozen=True)
class Measurements:
    writable: bool  # the store takes writes
    states: Mapping[JobState, int]
    totals: Mapping[str, int]  # since the store was made; `fenced:` and `ended:` are counted by kind
    queue_depth: int
    queue_tenants: int  # with queued jobs
    busy_cores: int  # of all workers
    oldest_queued_seconds: float
    workers: Sequence[WorkerSeat]
    gaps: Sequence[float]  # relative, of jobs that a worker has and that have a tree
    memory: Sequence[int]  # bytes, of every search that a worker has

    def by_kind(self, name: str) -> dict[str, int]:
        prefix = f"{name}:"
        return {key.removeprefix(prefix): n for key, n in self.totals.items() if key.startswith(prefix)}


def measure(scripts: Scripts) -> Measurements:
    _, writable, now, states, totals, depth, oldest, workers, running, tenants, cores = scripts.run("measure")
    counts = records.pairs(states)
    return Measurements(
        writable=writable == 1,
        states={state: int(counts.get(state.encode(), 0)) for state in JobState},
        totals={name.decode(): int(n) for name, n in records.pairs(totals).items()},
        queue_depth=depth,
        queue_tenants=tenants,
        busy_cores=sum(int(used) for used in cores),
        oldest_queued_seconds=max(0.0, int(now) - float(oldest[1])) / 1000 if oldest else 0.0,
        workers=[_seat(line.decode()) for line in workers],
        gaps=[records.gaps(float(upper), float(lower))[1] for upper, lower, _ in running if upper],
        memory=[int(memory) for _, _, memory in running if memory],
    )


def _seat(line: str) -> WorkerSeat:
    name, _, slots = line.rpartition(" ")
    return WorkerSeat(name, int(slots))
