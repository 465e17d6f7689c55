"""What a load test counts as lost, as made twice and as a problem."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.load import tenants as load_tenants
from tests.load.report import summarize, table
from tests.load.requests import Addresses, Measurements, TenantClient
from tests.load.tenants import EndedJob, Tenant, submit_at_rate


def tenant(name: str, *, accepted: list[str], stored: list[str], states: dict[str, str]) -> Tenant:
    client = TenantClient(Addresses(["http://127.0.0.1:1"]), "key", Measurements())
    found = Tenant(name, client, 0.5, accepted=accepted, stored=stored)
    found.ended = [EndedJob(name, job, state, 2.0, 3.0) for job, state in states.items()]
    return found


def figures(*tenants: Tenant, kills: list[tuple[float, str]] | None = None) -> dict[str, Any]:
    measurements = Measurements()
    now = time.monotonic()
    measurements.seconds["submit"] = [(now, 0.1), (now - 100.0, 0.3)]
    return summarize(tenants, measurements, kills or [], [])


def test_nothing_is_lost() -> None:
    states = {"a": "SUCCEEDED", "b": "SUCCEEDED"}
    found = figures(tenant("one", accepted=["a", "b"], stored=["b", "a"], states=states))
    assert (found["jobs"], found["lost"], found["made_twice"], found["fairness"]) == (2, 0, 0, 1.0)


@pytest.mark.parametrize(
    ("stored", "states", "lost", "twice"),
    [
        (["a", "b"], {"a": "SUCCEEDED"}, 1, 0),  # it did not end
        (["a", "b"], {"a": "SUCCEEDED", "b": "FAILED"}, 1, 0),
        (["a"], {"a": "SUCCEEDED", "b": "SUCCEEDED"}, 1, 0),  # the service has forgotten it
        (["a", "b", "c"], {"a": "SUCCEEDED", "b": "SUCCEEDED"}, 0, 1),  # a second job of a request
    ],
)
def test_lost_and_second_jobs(stored: list[str], states: dict[str, str], lost: int, twice: int) -> None:
    found = figures(tenant("one", accepted=["a", "b"], stored=stored, states=states))
    assert (found["lost"], found["made_twice"]) == (lost, twice)


def test_requests_soon_after_a_kill_are_counted_separately() -> None:
    one = tenant("one", accepted=["a"], stored=["a"], states={"a": "SUCCEEDED"})
    found = figures(one, kills=[(time.monotonic() - 5.0, "api")])
    assert found["milliseconds"]["submit"]["worst"] == pytest.approx(300.0)
    assert found["milliseconds"]["submit after a kill"]["worst"] == pytest.approx(100.0)
    assert "| submit after a kill | 1 | 100 | 100 | 100 |" in table(found)


class Endless(Tenant):
    """A tenant whose jobs never end, or fail."""

    async def run_job(self, number: int) -> None:
        if number % 2:
            raise ConnectionError("no answer")
        await asyncio.Event().wait()


def test_a_job_that_does_not_end_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_tenants, "END_SECONDS", 0.1)
    endless = Endless("one", tenant("one", accepted=[], stored=[], states={}).client, 1.0)
    problems = asyncio.run(submit_at_rate([endless], per_minute=60_000, seconds=0.02, seed=0))
    assert "ConnectionError: no answer" in problems
    assert problems[-1].endswith("jobs did not end in 0.1 s.")
    assert asyncio.run(submit_at_rate([endless], per_minute=1, seconds=0.0, seed=0)) == [
        "No job was submitted."
    ]
