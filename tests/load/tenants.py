"""Tenants that submit jobs at a steady rate, wait for their ends and predict with their models."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.load.requests import TenantClient

JOB = {"parameters": {"max_depth": 3}, "limits": {"max_expansions": 50}}
WAIT = "wait=20"  # of a long poll
END_SECONDS = 600.0  # after the last submission, in which all jobs must end
COLUMNS = 6


@dataclass(frozen=True)
class EndedJob:
    tenant: str
    id: str
    state: str
    queue_seconds: float  # from its submission to its start
    first_tree_seconds: float | None  # from its submission to its first tree


@dataclass
class Tenant:
    """A tenant with its own key, dataset and share of the jobs."""

    name: str
    client: TenantClient
    share: float
    dataset: str = ""
    accepted: list[str] = field(default_factory=list)
    ended: list[EndedJob] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)  # the jobs that the service lists at the end

    async def upload(self, seed: int) -> None:
        content = training_rows(seed).encode()
        path = "/v1/datasets?target=label"
        self.dataset = (
            await self.client.send("POST", path, content=content, **{"Content-Type": "text/csv"})
        )["id"]

    async def run_job(self, number: int) -> None:
        """Submit a job, wait until it has ended, and predict a row with its model."""
        body = {"dataset_id": self.dataset, **JOB}
        key = {"Idempotency-Key": f"{self.name}-{number}"}
        job = await self.client.send("POST", "/v1/jobs", kind="submit", content=body, **key)
        self.accepted.append(job["id"])
        path = f"/v1/jobs/{job['id']}"
        job = await self.client.send("GET", path, kind="poll")
        while not job["finished_at"]:
            job = await self.client.send("GET", path, Prefer=WAIT)
        self.ended.append(_ended(self.name, job))
        if job["model_id"]:
            rows = {"records": [{f"x{column}": 0.5 for column in range(COLUMNS)}]}
            await self.client.send(
                "POST", f"/v1/models/{job['model_id']}/predict", kind="predict", content=rows
            )

    async def list_jobs(self) -> None:
        """Ask for all jobs, also those that the tenant does not know of."""
        path = "/v1/jobs?page_size=100"
        page = await self.client.send("GET", path)
        while True:
            self.stored += [job["id"] for job in page["items"]]
            if page["next_page_token"] is None:
                return
            page = await self.client.send("GET", f"{path}&page_token={page['next_page_token']}")


def training_rows(seed: int, rows: int = 300) -> str:
    """Return a table with noisy labels."""
    draw = random.Random(seed)
    lines = [",".join([*(f"x{column}" for column in range(COLUMNS)), "label"])]
    for _ in range(rows):
        values = [draw.gauss(0, 1) for _ in range(COLUMNS)]
        label = (values[0] * values[1] > 0) != (draw.random() < 0.2)
        lines.append(",".join([*(f"{value:.4f}" for value in values), "ab"[label]]))
    return "\n".join([*lines, ""])


def shares(count: int) -> list[float]:
    """Return the shares of the tenants in all jobs: the second has half as many as the first, and so on."""
    raw = [1 / (place + 1) for place in range(count)]
    return [share / sum(raw) for share in raw]


async def submit_at_rate(tenants: list[Tenant], per_minute: float, seconds: float, seed: int) -> list[str]:
    """Start jobs at random times with this mean rate, wait for their ends, and return what went wrong.

    The times do not depend on how fast the service answers. A job that does not end is given up at last.
    """
    draw = random.Random(seed)
    weights = [tenant.share for tenant in tenants]
    begin, at, running = time.monotonic(), 0.0, []
    for number in itertools.count():
        at += draw.expovariate(per_minute / 60)
        if at > seconds:
            break
        await asyncio.sleep(max(0.0, begin + at - time.monotonic()))
        (tenant,) = draw.choices(tenants, weights)
        running.append(asyncio.create_task(tenant.run_job(number)))
    return await _problems(running)


async def _problems(running: list[asyncio.Task[None]]) -> list[str]:
    """Wait for jobs, and return what went wrong."""
    if not running:
        return ["No job was submitted."]
    _, late = await asyncio.wait(running, timeout=END_SECONDS)
    for task in late:
        task.cancel()
    outcomes = await asyncio.gather(*set(running).difference(late), return_exceptions=True)
    failed = [f"{type(outcome).__name__}: {outcome}" for outcome in outcomes if outcome is not None]
    return [*failed, *([f"{len(late)} jobs did not end in {END_SECONDS:g} s."] if late else [])]


def _ended(tenant: str, job: dict[str, Any]) -> EndedJob:
    created = datetime.fromisoformat(job["created_at"])

    def since(name: str) -> float | None:
        at = job[name]
        return None if at is None else (datetime.fromisoformat(at) - created).total_seconds()

    return EndedJob(tenant, job["id"], job["state"], since("started_at") or 0.0, since("first_incumbent_at"))
