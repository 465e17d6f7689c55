"""Kill the primary of a replicated store under load, and count acknowledged writes that are lost."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import redis

from tests.support.records.store_records import add_dataset, spec
from tests.support.stack.replicated import SWITCH_SECONDS, ReplicatedStore
from tests.support.stack.stack import poll
from worker.blobs.open import open_blobs
from worker.domain.datasets import Dataset
from worker.settings import WorkerSettings
from worker.store import Store, open_store
from worker.store.connections import CHECK_SECONDS

WRITERS = 8
MIN_LOAD, MAX_LOAD = 0.3, 1.0  # seconds of load before a kill
AFTER_SECONDS = 0.3  # of load on the new primary
MOVE_SECONDS = CHECK_SECONDS + 0.5  # of load until all connections have left a primary that lives


@dataclass
class Round:
    """What one kill did."""

    acknowledged: int
    lost: int
    outage_seconds: float  # the longest time without an acknowledged write since the kill
    promotions: int  # more than one if the sentinels replaced the new primary once more


@dataclass
class Result:
    """All kills with one value of LITERATI_REDIS_WAIT_REPLICAS."""

    rounds: list[Round] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)  # what writers were told instead, by class
    submit_ms: list[float] = field(default_factory=list)  # of every twentieth acknowledged write

    def summary(self) -> dict[str, object]:
        several = [round_ for round_ in self.rounds if round_.promotions > 1]
        return {
            "kills": len(self.rounds),
            "acknowledged": sum(round_.acknowledged for round_ in self.rounds),
            "lost": sum(round_.lost for round_ in self.rounds),
            "kills_with_losses": sum(round_.lost > 0 for round_ in self.rounds),
            "kills_with_several_promotions": len(several),
            "lost_with_several_promotions": sum(round_.lost for round_ in several),
            "outage_seconds": _quantiles([round_.outage_seconds for round_ in self.rounds]),
            "submit_ms": _quantiles(self.submit_ms),
            "refusals": dict(self.refusals),
        }


class Writers:
    """Threads that submit jobs all the time and remember which of them were acknowledged."""

    def __init__(self, store: Store, dataset: Dataset, result: Result) -> None:
        self._store, self._dataset, self._result = store, dataset, result
        self._stop = threading.Event()
        self.acknowledged: list[tuple[float, str]] = []  # time and id; appending is atomic
        self._threads = [threading.Thread(target=self._write, daemon=True) for _ in range(WRITERS)]
        for thread in self._threads:
            thread.start()

    def _write(self) -> None:
        while not self._stop.is_set():
            new = spec(self._dataset)
            began = time.monotonic()
            try:
                self._store.jobs.submit(new, idempotency_key=new.id, body_digest=new.id)
            except redis.RedisError as error:
                self._result.refusals[type(error).__name__] += 1
                time.sleep(0.01)
                continue
            now = time.monotonic()
            self.acknowledged.append((now, new.id))
            if len(self.acknowledged) % 20 == 0:
                self._result.submit_ms.append(1000 * (now - began))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


def run(
    folder: Path, wait_replicas: int, kills: int, seed: int, binary: str, *, alive: bool, tls: bool
) -> Iterator[Result]:
    """Kill the primary this many times, and yield the result so far after each kill.

    If `alive`, the sentinels are told to replace it instead, and it takes writes until it is made a replica.
    Every round begins with all servers and an empty store.
    """
    result = Result()
    draw = random.Random(seed)
    with ReplicatedStore(folder, binary=binary, tls=tls) as servers:
        settings = WorkerSettings.model_validate(
            {**servers.settings, "redis_wait_replicas": wait_replicas, "blobs": str(folder / "blobs")}
        )
        store = open_store(settings, open_blobs(settings))
        for number in range(kills):
            done = _replace_once(servers, store, result, draw.uniform(MIN_LOAD, MAX_LOAD), alive=alive)
            result.rounds.append(done)
            print(f"n={wait_replicas} {'switch' if alive else 'kill'} {number + 1}: {done}", flush=True)
            yield result


def _replace_once(
    servers: ReplicatedStore, store: Store, result: Result, load_seconds: float, *, alive: bool
) -> Round:
    old = servers.await_replicas()
    with servers.client(old) as admin:
        admin.flushall()
    servers.await_replicas()
    promotions = servers.promotions()
    writers = Writers(store, add_dataset(store), result)
    try:
        time.sleep(load_seconds)
        killed_at = time.monotonic()
        if alive:
            servers.begin_failover()
            servers.await_switch(old)
        else:
            old.kill()
            # The server is restarted as an operator's scripts should do it: as a replica of the new primary.
            servers.start_server(old, servers.await_switch(old))
        switched_at = time.monotonic()
        if alive:
            time.sleep(MOVE_SECONDS)
        poll(
            lambda: writers.acknowledged and writers.acknowledged[-1][0] > switched_at + AFTER_SECONDS,
            seconds=SWITCH_SECONDS,
            what="an acknowledged write after the failover",
        )
    finally:
        writers.stop()
    servers.await_replicas()
    times, ids = zip(*writers.acknowledged, strict=True)
    outage = _longest_pause(times, killed_at)
    return Round(len(ids), _missing(servers, ids), outage, servers.promotions() - promotions)


def _longest_pause(times: Sequence[float], since: float) -> float:
    ordered = [since, *sorted(at for at in times if at > since)]
    return max(after - before for before, after in pairwise(ordered))


def _missing(servers: ReplicatedStore, ids: Sequence[str]) -> int:
    with servers.client(servers.primary()) as client:
        pipeline = client.pipeline(transaction=False)
        for job_id in ids:
            pipeline.exists(f"literati:job:{job_id}")
        found: list[int] = pipeline.execute()
    return found.count(0)


def _quantiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    places = {"median": 0.5, "p99": 0.99, "max": 1.0}
    last = len(ordered) - 1
    return {
        name: round(ordered[min(last, int(share * len(ordered)))], 3)
        for name, share in places.items()
        if ordered
    }
