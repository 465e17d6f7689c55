"""Clients at work, faults all the while, an observer watching; then quiet, and an audit."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import rows
from .audit import Audit
from .caller import Caller, GaveUpError
from .cluster import Cluster
from .errands import Errand, UnfinishedError
from .faults import Faults
from .findings import Findings
from .ledger import Ledger
from .observer import Observer

LEASE = 1.5


@dataclass(frozen=True)
class Plan:
    """At least so many of each; `seconds` are those in which the faults are to happen."""

    seed: int
    jobs: int
    kills: int
    zombies: int
    seconds: float
    clients: int = 6
    quiet_seconds: float = 120.0  # after the last fault every job ends within these


class Campaign:
    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.findings = Findings()
        self.ledger = Ledger()
        self.cluster = Cluster(folder, lease=LEASE)
        self.faults = Faults(
            plan.seed,
            self.cluster,
            self.ledger,
            self.findings,
            kills=plan.kills,
            zombies=plan.zombies,
            seconds=plan.seconds,
        )
        self.observer = Observer(plan.seed, self.cluster.url, self.ledger, self.findings)
        self._numbers = itertools.count()
        self._failures: list[BaseException] = []

    def run(self, progress: Callable[[Campaign], object] = lambda campaign: None) -> dict[str, Any]:
        """What was done and what was found, as JSON has it."""
        started = time.monotonic()
        with self.cluster:
            self._upload()
            clients = [threading.Thread(target=self._client, daemon=True) for _ in range(self.plan.clients)]
            for thread in (*clients, self.observer, self.faults):
                thread.start()
            while any(client.is_alive() for client in clients):
                progress(self)
                self._close_in_time()
                time.sleep(0.2)
            self.faults.stop()
            self.cluster.await_ready()
            self.observer.stop()
            audit = Audit(self.cluster, self.ledger, self.observer, self.findings)
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
            "datasets": len(self.ledger.datasets()),
            "lost_workers": audit.lost_workers,
            "orphaned_blobs": audit.orphans,
            "counts": self.findings.counters,
            "slowest": self.findings.slowest,
            "violations": len(self.findings),
            "violation_list": [asdict(violation) for violation in self.findings.violations],
        }

    @property
    def enough(self) -> bool:
        """Whether no new job is needed: all that was planned is done."""
        return self.faults.over and self.ledger.counts()[0] >= self.plan.jobs

    def _upload(self) -> None:
        with Caller(self.cluster.url, self.findings) as caller:
            for table in (rows.easy(1), rows.easy(2), rows.hard(1), rows.hard(2)):
                _, dataset_id = caller.upload(table.csv)
                self.ledger.keep(dataset_id, table)

    def _client(self) -> None:
        try:
            with Caller(self.cluster.url, self.findings) as caller:
                while not self.enough and not self.ledger.closed.is_set():
                    with suppress(GaveUpError):  # it was noted as a violation
                        Errand(self.plan.seed, next(self._numbers), caller, self.ledger).run()
        except UnfinishedError:
            pass  # noted too
        except BaseException as error:
            self._failures.append(error)

    def _close_in_time(self) -> None:
        if not self.enough:
            self._quiet_since = time.monotonic()
        elif time.monotonic() - self._quiet_since > self.plan.quiet_seconds:
            self.ledger.closed.set()
