"""The jobs and datasets that the API accepted, as the clients of a campaign know them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from tests.chaos.rows import Rows

Json = dict[str, Any]


@dataclass
class AcceptedJob:
    """A job that was accepted. Its client writes the fields; all threads read them."""

    id: str
    kind: str
    rows: Rows
    acknowledged: set[str] = field(default_factory=set)  # control requests, such as "cancel"
    streamed: list[Json] | None = None  # the events of its stream, if a client follows it
    end_seen: bool = False  # its client has seen the job ended


class Accepted:
    """A record of everything that was accepted, shared by all threads."""

    def __init__(self) -> None:
        self.closed = threading.Event()  # set when the jobs should have ended by now
        self._lock = threading.Lock()
        self._jobs: dict[str, AcceptedJob] = {}
        self._datasets: dict[str, Rows] = {}
        self._sweeps: list[str] = []

    def add_dataset(self, dataset_id: str, rows: Rows) -> None:
        with self._lock:
            self._datasets[dataset_id] = rows

    def datasets(self) -> list[tuple[str, Rows]]:
        with self._lock:
            return list(self._datasets.items())

    def add_job(self, accepted_job: AcceptedJob) -> None:
        with self._lock:
            self._jobs[accepted_job.id] = accepted_job

    def jobs(self) -> list[AcceptedJob]:
        with self._lock:
            return list(self._jobs.values())

    def add_sweep(self, sweep_id: str) -> None:
        with self._lock:
            self._sweeps.append(sweep_id)

    def sweeps(self) -> list[str]:
        """Return the ids of the sweeps, each once."""
        with self._lock:
            return list(dict.fromkeys(self._sweeps))

    def counts(self) -> tuple[int, int]:
        """Return the number of accepted jobs, and of those whose end was seen."""
        jobs = self.jobs()
        return len(jobs), sum(job.end_seen for job in jobs)
