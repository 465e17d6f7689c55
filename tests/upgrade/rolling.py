"""Replace all processes one by one behind HAProxy, while clients use the service."""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

import httpx

from tests.support.paths import ROOT
from tests.support.records import jobs
from tests.support.stack.stack import Process, Stack, poll
from tests.upgrade.balancer import Balancer, free_port
from tests.upgrade.clients import Clients
from tests.upgrade.conftest import ROOTS

RESULT = ROOT / "build" / "upgrade.json"
DRAIN_SECONDS = 10
STOP_SECONDS = 60.0
QUIET_SECONDS = 3.0  # between two replacements


class RollingUpgrade:
    """Two API servers behind HAProxy, two workers, and clients."""

    def __init__(self, folder: Path) -> None:
        self.stack = Stack(folder, LITERATI_DRAIN_SECONDS=str(DRAIN_SECONDS))
        self.ports = [free_port(), free_port()]
        self.apis: list[Process] = []
        self.workers: list[Process] = []
        self.replaced: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        """Run the older version, replace it by the newer one, and that by itself. Return the figures."""
        with self.stack, Balancer(self.stack.folder, self.ports) as balancer:
            self.workers = [self.stack.start_worker(ROOTS["older"]) for _ in self.ports]
            self.apis = [self._start_api(port, "older") for port in self.ports]
            balancer.wait_until_up("api1", "api2")
            clients = self._clients(balancer.url)
            began = time.monotonic()
            clients.start()
            time.sleep(QUIET_SECONDS)
            for version in ("older", "newer"):
                self._replace_all(balancer, version)
            clients.stop()
            seconds = time.monotonic() - began
            return self._figures(balancer, clients, seconds)

    def _start_api(self, port: int, version: str) -> Process:
        return self.stack.start_api(ROOTS[version], LITERATI_PORT=str(port))

    def _clients(self, url: str) -> Clients:
        """Upload the tables, make a model to predict with, and return clients that use them."""
        stack, table = self.stack, jobs.easy()
        easy = jobs.add_dataset(stack.store, stack.blobs, table)
        hard = jobs.add_dataset(stack.store, stack.blobs, jobs.noise())
        with httpx.Client(base_url=url, timeout=60) as client:
            job = client.post("/v1/jobs", json={"dataset_id": easy.id}).json()["id"]

            def model() -> str | None:
                found: str | None = client.get(f"/v1/jobs/{job}").json()["model_id"]
                return found

            model_id = poll(model, seconds=60, what="a model")
        rows = [{"x": float(x), "z": int(z)} for x, z in zip(table["x"], table["z"], strict=True)]
        return Clients(url, easy.id, hard.id, model_id, rows[:10])

    def _replace_all(self, balancer: Balancer, version: str) -> None:
        """Replace the processes of this version by the newer one."""
        for i, port in enumerate(self.ports):
            seconds = _stop(self.workers[i])
            self.workers[i] = self.stack.start_worker(ROOTS["newer"])
            self.replaced.append({"process": "worker", "version": version, "stopped_in_seconds": seconds})
            time.sleep(QUIET_SECONDS)

            before = balancer.retries()
            seconds = _stop(self.apis[i])
            self.apis[i] = self._start_api(port, "newer")
            balancer.wait_until_up("api1", "api2")
            time.sleep(QUIET_SECONDS)
            again = {"tried_again_by_haproxy": balancer.retries() - before}
            self.replaced.append(
                {"process": "api", "version": version, "stopped_in_seconds": seconds, **again}
            )

    def _figures(self, balancer: Balancer, clients: Clients, seconds: float) -> dict[str, Any]:
        tally = clients.tally
        with httpx.Client(base_url=balancer.url, timeout=60) as client:
            states = {job: client.get(f"/v1/jobs/{job}").json()["state"] for job in tally.jobs}
            stored = {job: _event_ids(client, job) for job in tally.jobs}
        return {
            "seconds": round(seconds),
            "replaced": self.replaced,
            "requests": dict(tally.requests),
            "failed": tally.failures,
            "p99_seconds": {
                kind: round(statistics.quantiles(values, n=100)[-1], 3)
                for kind, values in tally.seconds.items()
                if kind not in ("event stream", "long poll") and len(values) > 1
            },
            "jobs": len(tally.jobs),
            "jobs_in_store": int(self.stack.store.client.zcard("literati:tenant-jobs:default")) - 1,
            "jobs_not_succeeded": [job for job, state in states.items() if state != "SUCCEEDED"],
            "streams_continued": tally.continued,
            "events": sum(map(len, stored.values())),
            "jobs_with_other_events": [job for job in tally.jobs if tally.streams.get(job) != stored[job]],
        }


def _stop(process: Process) -> float:
    """Stop a process as an administrator does, by SIGTERM, and return the seconds that it took."""
    began = time.monotonic()
    process.process.terminate()
    process.process.wait(STOP_SECONDS)
    return round(time.monotonic() - began, 1)


def _event_ids(client: httpx.Client, job: str) -> list[str]:
    """Return the ids of all events of a job, read in pages."""
    found: list[str] = []
    while True:
        after = {"after": found[-1]} if found else {}
        page = client.get(f"/v1/jobs/{job}/events", params=after).json()
        found += [event["id"] for event in page["items"]]
        if not page["items"]:
            return found


def write(figures: dict[str, Any]) -> None:
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures, indent=2) + "\n")
