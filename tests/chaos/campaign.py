"""A campaign: clients run jobs while faults are injected and an observer reads; an audit follows."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.chaos import rows
from tests.chaos.accepted import Accepted
from tests.chaos.audit import Audit
from tests.chaos.client_task import ClientTask, UnfinishedError
from tests.chaos.cluster import Cluster
from tests.chaos.faults import Faults
from tests.chaos.findings import Findings
from tests.chaos.observer import Observer
from tests.chaos.retrying_client import GaveUpError, RetryingClient
from tests.chaos.sweep_task import SweepTask, reference

LEASE = 1.5


@dataclass(frozen=True)
class Plan:
    """The least numbers of jobs, sweeps, kills and zombies; the faults are spread over `seconds`."""

    seed: int
    jobs: int
    kills: int
    zombies: int
    seconds: float
    sweeps: int = 6
    clients: int = 6
    quiet_seconds: float = 120.0  # in which every job ends after the last fault


class Campaign:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.findings = Findings()
        self.accepted = Accepted()
        self.cluster = Cluster(folder, lease=LEASE)
        self.faults = Faults(
            plan.seed,
            self.cluster,
            self.accepted,
            self.findings,
            kills=plan.kills,
            zombies=plan.zombies,
            seconds=plan.seconds,
        )
        self.observer = Observer(plan.seed, self.cluster.url, self.accepted, self.findings)
        self._numbers = itertools.count()
        self._failures: list[BaseException] = []
        self.reference: dict[str, Any] = {}  # what sweeps find without faults

    def run(self, progress: Callable[[Campaign], object] = lambda campaign: None) -> dict[str, Any]:
        """Run the campaign; return what was done and found, ready for JSON."""
        started = time.monotonic()
        with self.cluster:
            self._upload()
            works = [*self.plan.clients * [self._client], self._sweep_client]
            clients = [threading.Thread(target=work, daemon=True) for work in works]
            for thread in (*clients, self.observer, self.faults):
                thread.start()
            while any(client.is_alive() for client in clients):
                progress(self)
                self._close_in_time()
                time.sleep(0.2)
            self.faults.stop()
            self.cluster.await_ready()
            self.observer.stop()
            audit = Audit(self.cluster, self.accepted, self.observer, self.findings, self.reference)
            audit.run()
            self.observer.close()
            restarts = {unit.name: unit.starts - 1 for unit in self.cluster.supervisor.units}
        if self._failures:
            raise self._failures[0]
        return {
            "plan": asdict(self.plan),
            "seconds": round(time.monotonic() - started, 1),
            "faults": dict(sorted(self.faults.done.items())),
            "kills": self.faults.killed,
            "zombies": self.faults.zombies,
            "restarts": restarts,
            "jobs": sum(audit.states.values()),
            "states": dict(sorted(audit.states.items())),
            "sweeps": sum(audit.sweep_states.values()),
            "sweep_states": dict(sorted(audit.sweep_states.items())),
            "datasets": len(self.accepted.datasets()),
            "lost_workers": audit.lost_workers,
            "orphaned_blobs": audit.orphans,
            "counts": self.findings.counters,
            "slowest": self.findings.slowest,
            "violations": len(self.findings),
            "violation_list": [asdict(violation) for violation in self.findings.violations],
        }

    @property
    def enough(self) -> bool:
        """Whether everything planned is done, so that no further job is needed."""
        planned = self.accepted.counts()[0] >= self.plan.jobs and self.enough_sweeps
        return self.faults.over and planned

    @property
    def enough_sweeps(self) -> bool:
        return len(self.accepted.sweeps()) - len(self.reference) >= self.plan.sweeps

    def _upload(self) -> None:
        with RetryingClient(self.cluster.url, self.findings) as client:
            for table in (rows.easy(1), rows.easy(2), rows.hard(1), rows.hard(2)):
                _, dataset_id = client.upload(table.csv)
                self.accepted.add_dataset(dataset_id, table)
            self.reference = reference(client, self.accepted)

    def _client(self) -> None:
        try:
            with RetryingClient(self.cluster.url, self.findings) as client:
                while not self.enough and not self.accepted.closed.is_set():
                    with suppress(GaveUpError):  # it is among the violations
                        ClientTask(self.plan.seed, next(self._numbers), client, self.accepted).run()
        except UnfinishedError:
            pass  # it is among the violations
        except BaseException as error:
            self._failures.append(error)

    def _sweep_client(self) -> None:
        """Run sweeps one after another, at least until the faults are over."""
        try:
            with RetryingClient(self.cluster.url, self.findings) as client:
                while not (self.faults.over and self.enough_sweeps) and not self.accepted.closed.is_set():
                    with suppress(GaveUpError):  # it is among the violations
                        SweepTask(self.plan.seed, next(self._numbers), client, self.accepted).run()
        except UnfinishedError:
            pass  # it is among the violations
        except BaseException as error:
            self._failures.append(error)

    def _close_in_time(self) -> None:
        if not self.enough:
            self._quiet_since = time.monotonic()
        elif time.monotonic() - self._quiet_since > self.plan.quiet_seconds:
            self.accepted.closed.set()
