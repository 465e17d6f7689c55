"""What the clients of a campaign do with sweeps, and what must be true of a sweep when it has ended.

The jobs of these sweeps are limited by expansions, so that faults may change when something is known, but not
what is chosen.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.chaos.accepted import Accepted
from tests.chaos.client_task import UnfinishedError
from tests.chaos.retrying_client import RetryingClient
from tests.chaos.rules import ended

Json = dict[str, Any]
SETTINGS, FOLDS = 4, 3
BODIES: dict[str, Json] = {
    "path": {
        "space": {"max_depth": [1, 2], "max_changepoints": [1, 2]},
        "select": "ONE_STANDARD_ERROR",
    },
    "penalties": {
        "space": {"max_depth": [1, 2], "max_changepoints": [1], "split_penalty": [0.5, 4.0]},
        "select": "ONE_STANDARD_ERROR",
        "metric": "log_loss",
    },
}
COMMON: Json = {
    "validation": {"folds": FOLDS, "seed": 3},
    "test": {"fraction": 0.2, "seed": 1},
    "limits": {"time_limit": None},
    "trial_limits": {"time_limit": None, "max_expansions": 500},
}
WAIT = 5  # seconds of long polling


class SweepTask:
    """Run one sweep in one thread. The seed and the number decide what its client does with it."""

    def __init__(self, seed: int, number: int, client: RetryingClient, accepted: Accepted) -> None:
        self.rng = random.Random(f"{seed} sweep {number}")
        self.number = number
        self.client = client
        self.accepted = accepted
        self.kind = self.rng.choice(list(BODIES))
        self.verb = self.rng.choice(["", "", "pause", "cancel", "extend"])

    def run(self) -> None:
        sweep_id = self.submit(self.kind, f"sweep-{self.number}")
        if self.verb == "pause":
            self._pause(sweep_id)
        elif self.verb in ("cancel", "extend"):
            time.sleep(self.rng.uniform(0.0, 2.0))
            self._steer(sweep_id, "cancel")
        sweep = self._until(sweep_id, ended)
        if self.verb == "extend" and sweep["state"] == "CANCELLED":
            self.client.request("POST", f"/v1/sweeps/{sweep_id}/extend", 202, json={"time_limit": 600})
            self._until(sweep_id, ended)

    def submit(self, kind: str, key: str) -> str:
        """Submit a sweep, which must be accepted once however often the request is sent."""
        dataset_id = next(key for key, rows in self.accepted.datasets() if rows.name == "easy 1")
        body = {"dataset_id": dataset_id, "name": kind, **COMMON, **BODIES[kind]}
        headers = {"Idempotency-Key": key}
        found = {
            self.client.request("POST", "/v1/sweeps", 202, json=body, headers=headers).json()["id"]
            for _ in range(self.rng.randint(1, 2))
        }
        if len(found) > 1:
            self.client.findings.violation("one key, one sweep", f"{found}")
        sweep_id: str = found.pop()
        self.accepted.add_sweep(sweep_id)
        return sweep_id

    def _pause(self, sweep_id: str) -> None:
        time.sleep(self.rng.uniform(0.0, 1.0))
        if self._steer(sweep_id, "pause"):
            self._until(sweep_id, lambda sweep: sweep["state"] != "PAUSING")
            time.sleep(self.rng.uniform(0.0, 1.0))
            self._steer(sweep_id, "resume")

    def _steer(self, sweep_id: str, verb: str) -> bool:
        """Send a control request; return whether it was acknowledged."""
        answer = self.client.request("POST", f"/v1/sweeps/{sweep_id}/{verb}", 200, 202, 409)
        return answer.status_code != 409

    def until_end(self, sweep_id: str) -> Json:
        return self._until(sweep_id, ended)

    def _until(self, sweep_id: str, enough: Callable[[Json], bool]) -> Json:
        sweep: Json = self.client.request("GET", f"/v1/sweeps/{sweep_id}", 200).json()
        while not (enough(sweep) or ended(sweep)):
            if self.accepted.closed.is_set():
                self.client.findings.violation("every sweep ends", f"{sweep_id}: {sweep}")
                raise UnfinishedError(sweep_id)
            headers = {"Prefer": f"wait={WAIT}", "If-None-Match": f'W/"{sweep["revision"]}"'}
            answer = self.client.request("GET", f"/v1/sweeps/{sweep_id}", 200, 304, headers=headers)
            sweep = answer.json() if answer.status_code == 200 else sweep
        return sweep


def reference(client: RetryingClient, accepted: Accepted) -> dict[str, Json]:
    """Run a sweep of each kind without faults; return what every other sweep must find, by kind."""
    found = {}
    task = SweepTask(0, 0, client, accepted)
    for kind in BODIES:
        sweep_id = task.submit(kind, f"reference-{kind}")
        found[kind] = outcome(client, task.until_end(sweep_id))
    return found


def outcome(client: RetryingClient, sweep: Json) -> Json:
    """Return what a sweep found, without ids and times."""
    trials = client.request("GET", f"/v1/sweeps/{sweep['id']}/trials", 200, params={"limit": 10_000}).json()
    shown = (
        "number",
        "setting",
        "parameters",
        "penalty_range",
        "fold_scores",
        "train_mean",
        "leaves",
        "state",
    )
    model = client.request("GET", f"/v1/models/{sweep['model_id']}", 200).json() if sweep["model_id"] else {}
    return {
        "choice": sweep["choice"],
        "trials": [{name: trial[name] for name in shown} for trial in trials["items"]],
        "objective": model.get("objective"),
    }


def faults_of_sweep(client: RetryingClient, sweep: Json, expected: Json, jobs: list[Json]) -> Iterator[str]:
    """Yield a sentence for each promise that is broken about a sweep that has ended."""
    if not ended(sweep):
        yield f"it is {sweep['state']}"
        return
    lost = [job for job in jobs if job["state"] == "FAILED"]
    if any(job["error"]["code"] != "WORKER_LOST" for job in lost):
        yield f"jobs failed: {[job['error'] for job in lost]}"
    if any(job["state"] not in ("SUCCEEDED", "CANCELLED", "FAILED") for job in jobs):
        yield "a job has not ended"
    events = client.request("GET", f"/v1/sweeps/{sweep['id']}/events?page_size=1000", 200).json()["items"]
    if events[-1]["type"] != "done":
        yield f"the last event is {events[-1]}"
    told = [event["data"]["job_id"] for event in events if event["type"] == "trial"]
    if len(told) != len(set(told)):
        yield "the end of a job was told twice"
    if sweep["state"] == "SUCCEEDED" and not lost:
        if sweep["progress"]["done"] != SETTINGS * FOLDS:
            yield f"{sweep['progress']['done']} results of {SETTINGS * FOLDS}"
        found = outcome(client, sweep)
        for name, value in expected.items():
            if found[name] != value:
                yield f"{name} is {found[name]}, without faults it is {value}"
    elif sweep["state"] == "FAILED" and not lost:
        yield f"it failed: {sweep['error']}"
