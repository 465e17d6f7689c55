"""Faults that are injected into a running stack, drawn from a seeded generator.

A zombie is a worker process that is suspended until it has lost its lease, and then resumed.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from contextlib import suppress

import psutil
import redis

from tests.chaos.accepted import Accepted
from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.chaos.supervision import Unit

# Kills by their share. The rest go by rates of their own.
KILLS = {"kill child": 45, "kill store": 25, "kill API": 15, "kill worker": 15}
OTHERS = {"drop wake-ups": 0.15, "worker asked to leave": 0.03}  # per kill
WHILE_STARTING = 0.1  # share of the kills that may hit a process before it is ready
MAX_ZOMBIE_SECONDS = 12.0  # a process that still has its lease by then was not a zombie
MIN_PAUSE = 0.5  # seconds between two faults
LINGER = 0.5  # seconds that a zombie may stay suspended after it has lost its lease


class Faults(threading.Thread):
    """Inject faults until there were enough kills and zombies, or `stop` is called."""

    def __init__(
        self,
        seed: int,
        cluster: Cluster,
        accepted: Accepted,
        findings: Findings,
        *,
        kills: int,
        zombies: int,
        seconds: float,
    ) -> None:
        super().__init__(name="faults", daemon=True)
        self.done: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self._rng = random.Random(f"{seed} faults")
        self._cluster = cluster
        self._accepted = accepted
        self._findings = findings
        self._kills, self._zombies = kills, zombies
        self._seconds = seconds
        self._began = 0.0
        self._stopping = threading.Event()
        self._frozen: set[int] = set()  # worker processes that are suspended now
        self._sleepers: list[threading.Thread] = []

    @property
    def killed(self) -> int:
        return sum(self.done[name] for name in KILLS)

    @property
    def zombies(self) -> int:
        return self.done["zombie"]

    @property
    def over(self) -> bool:
        return self.killed >= self._kills and self.zombies >= self._zombies

    def stop(self) -> None:
        self._stopping.set()
        self.join()
        for sleeper in self._sleepers:
            sleeper.join()
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        try:
            self._began = time.monotonic()
            while not self.over and not self._stopping.wait(self._pause()):
                self._one()
        except BaseException as error:
            self.failure = error

    def _pause(self) -> float:
        """Return the seconds to wait, so that the planned faults fit into the time that is left."""
        left = self._began + self._seconds - time.monotonic()
        wanted = max(1, self._kills - self.killed) + max(0, self._zombies - self.zombies)
        return max(MIN_PAUSE, left / wanted) * self._rng.uniform(0.4, 1.6)

    def _one(self) -> None:
        killed = self.killed / max(1, self._kills)
        raised = (self.zombies + len(self._frozen)) / max(1, self._zombies)
        if raised < killed or self.killed >= self._kills:
            self._make_zombie()
        else:
            self._kill(self._rng.choices(list(KILLS), list(KILLS.values()))[0])
        for name, rate in OTHERS.items():
            if self._rng.random() < rate:
                self._inject_other(name)

    # Kills

    def _kill(self, name: str) -> None:
        chosen = self._rng.choice(self._cluster.workers)
        target = {"kill store": self._cluster.valkey, "kill API": self._cluster.api}.get(name, chosen)
        if not target.alive or not (target.ready or self._rng.random() < WHILE_STARTING):
            return
        if name == "kill child":
            self._kill_child(target)
        elif name == "kill worker" and self._has_frozen(target):
            return  # a zombie must stay alive
        else:
            target.kill()
            self.done[name] += 1

    def _kill_child(self, worker: Unit) -> None:
        """Kill a child of the worker, one with a job if there is one."""
        children = [child for child in self._cluster.children(worker) if child.pid not in self._frozen]
        busy = [child for child in children if child.pid in self._holders()]
        if busy or children:
            with suppress(psutil.NoSuchProcess):
                self._rng.choice(busy or children).kill()
                self.done["kill child"] += 1

    def _has_frozen(self, worker: Unit) -> bool:
        return any(child.pid in self._frozen for child in self._cluster.children(worker))

    def _holders(self) -> dict[int, str]:
        """Return the ids of leased jobs by the process that holds them."""
        found = {}
        with suppress(redis.RedisError):
            for accepted_job in self._accepted.jobs():
                if (
                    not accepted_job.end_seen
                    and (holder := self._cluster.holder(accepted_job.id)) is not None
                ):
                    found[holder.pid] = accepted_job.id
        return found

    # Zombies

    def _make_zombie(self) -> None:
        """Suspend a child until it has lost its lease; then resume it."""
        ours = {child.pid for worker in self._cluster.workers for child in self._cluster.children(worker)}
        candidates = {
            pid: job for pid, job in self._holders().items() if pid in ours and pid not in self._frozen
        }
        if not candidates:
            return
        pid = self._rng.choice(sorted(candidates))
        linger = self._rng.uniform(0.0, LINGER)
        self._frozen.add(pid)
        sleeper = threading.Thread(target=self._sleep, args=(pid, candidates[pid], linger), daemon=True)
        self._sleepers.append(sleeper)
        sleeper.start()

    def _sleep(self, pid: int, job_id: str, linger: float) -> None:
        try:
            epoch = self._epoch(job_id)
            os.kill(pid, signal.SIGSTOP)
            deadline = time.monotonic() + MAX_ZOMBIE_SECONDS
            lost = False
            while not lost and time.monotonic() < deadline and psutil.pid_exists(pid):
                time.sleep(0.05)
                lost = epoch is not None and self._lost(job_id, epoch)
            time.sleep(linger)
            os.kill(pid, signal.SIGCONT)
            if lost:
                self.done["zombie"] += 1
        except ProcessLookupError:
            self._findings.count("zombies that died")
        finally:
            self._frozen.discard(pid)

    def _epoch(self, job_id: str) -> bytes | None:
        with suppress(redis.RedisError):
            epoch, lease = self._cluster.fields(job_id, "epoch", "lease_until")
            return epoch if lease else None
        return None

    def _lost(self, job_id: str, epoch: bytes) -> bool:
        with suppress(redis.RedisError):
            now, lease = self._cluster.fields(job_id, "epoch", "lease_until")
            return now != epoch or not lease
        return False

    # Other faults

    def _inject_other(self, name: str) -> None:
        if name == "drop wake-ups":
            with suppress(redis.RedisError):
                self._cluster.drop_wakeups()
                self.done[name] += 1
        else:
            worker = self._rng.choice(self._cluster.workers)
            if worker.ready and not self._has_frozen(worker):
                worker.send(signal.SIGTERM)
                self.done[name] += 1
