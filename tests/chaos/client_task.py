"""What the clients of a campaign do: submit a job or two, control them, and wait for their end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from tests.chaos import rows as tables
from tests.chaos.accepted import Accepted, AcceptedJob
from tests.chaos.event_follower import EventFollower
from tests.chaos.retrying_client import RetryingClient
from tests.chaos.rules import ended

Json = dict[str, Any]

LONG: Json = {"max_depth": 3, "candidates": "all"}  # many seconds on a hard table
STEADY: Json = {"max_depth": 4, "candidates": "quantile", "candidate_leaves": 9}  # a proof takes some seconds
WAIT = 5  # seconds of long polling
MAX_PAUSES = 2
FOLLOWED = 0.15  # share of the jobs whose event stream is read
FRESH = 0.15  # share of the jobs with a new dataset
TWICE = 0.2  # share of the submissions that are repeated, as after a lost response


class UnfinishedError(Exception):
    """The campaign is over, but the job has not ended."""


class ClientTask:
    """Handle one job in one thread. The seed and the number decide which kind of job it is."""

    def __init__(self, seed: int, number: int, client: RetryingClient, accepted: Accepted) -> None:
        self.rng = random.Random(f"{seed} task {number}")
        self.number = number
        self.client = client
        self.accepted = accepted
        self.kind = self.rng.choices(list(_KINDS), [weight for weight, _ in _KINDS.values()])[0]

    def run(self) -> None:
        _KINDS[self.kind][1](self)

    # Kinds of jobs

    def short(self) -> None:
        self._end(self._submit("easy", {"max_depth": self.rng.choice([2, 3])}))

    def limited(self) -> None:
        self._end(self._submit("hard", self.rng.choice([LONG, STEADY]), self._limits()))

    def paused(self) -> None:
        accepted_job = self._submit("hard", self.rng.choice([LONG, STEADY]), self._limits())
        for _ in range(self.rng.randint(1, MAX_PAUSES)):
            self._until(accepted_job, _has_tree)
            if not self._steer(accepted_job, "pause"):
                break
            self._until(accepted_job, lambda job: job["state"] == "PAUSED")
            time.sleep(self.rng.uniform(0.0, 1.0))
            if not self._steer(accepted_job, "resume"):
                break
        self._end(accepted_job)

    def cancelled(self) -> None:
        accepted_job = self._submit("hard", LONG)
        time.sleep(self.rng.choice([0.0, self.rng.uniform(0.0, 4.0)]))
        self._steer(accepted_job, "cancel")
        self._end(accepted_job)

    def finished(self) -> None:
        accepted_job = self._submit("hard", LONG)
        self._until(accepted_job, _has_tree)
        time.sleep(self.rng.uniform(0.0, 3.0))
        self._steer(accepted_job, "finish")
        self._end(accepted_job)

    def descended(self) -> None:
        """Run a job, and a second one that starts from the search of the first."""
        limits = {"time_limit": None, "max_expansions": self.rng.randint(200, 800)}
        parent = self._submit("hard", LONG, limits)
        job = self._end(parent)
        if job["progress"]["incumbents"]:
            self._end(self._submit(parent.rows.name, LONG, limits, parent_job_id=parent.id))

    def _limits(self) -> Json:
        if self.rng.random() < 0.5:
            return {"time_limit": self.rng.uniform(1.0, 8.0)}
        return {"time_limit": None, "max_expansions": self.rng.randint(100, 3000)}

    # Steps of all kinds

    def _submit(self, rows: str, parameters: Json, limits: Json | None = None, **fields: Any) -> AcceptedJob:
        """Submit a job, which must be accepted once however often the request is sent."""
        dataset_id, chosen = self._dataset(rows)
        body = {
            "dataset_id": dataset_id,
            "priority": self.rng.randint(-2, 2),
            "parameters": parameters,
            "limits": {"time_limit": 120.0} if limits is None else limits,
            **fields,
        }
        headers = {"Idempotency-Key": f"{self.kind}-{self.number}-{'child' if fields else 'first'}"}
        job = self.client.request("POST", "/v1/jobs", 202, json=body, headers=headers).json()
        if self.rng.random() < TWICE:
            again = self.client.request("POST", "/v1/jobs", 202, json=body, headers=headers).json()
            if again["id"] != job["id"]:
                self.client.findings.violation("one key, one job", f"{job['id']} and {again['id']}")
        accepted_job = AcceptedJob(job["id"], self.kind, chosen)
        if self.rng.random() < FOLLOWED:
            accepted_job.streamed = []
            EventFollower(self.client.url, accepted_job, self.accepted, self.client.findings).start()
        self.accepted.add_job(accepted_job)
        return accepted_job

    def _dataset(self, name: str) -> tuple[str, tables.Rows]:
        if self.rng.random() < FRESH and name in _MAKERS:
            made = _MAKERS[name](1000 + self.number)
            _, dataset_id = self.client.upload(made.csv)
            self.accepted.add_dataset(dataset_id, made)
            return dataset_id, made
        return self.rng.choice(
            [(key, rows) for key, rows in self.accepted.datasets() if rows.name.startswith(name)]
        )

    def _steer(self, accepted_job: AcceptedJob, verb: str) -> bool:
        """Send a control request; return whether it was acknowledged. Only an ended job may refuse it."""
        answer = self.client.request("POST", f"/v1/jobs/{accepted_job.id}/{verb}", 200, 202, 409)
        if answer.status_code != 409:
            accepted_job.acknowledged.add(verb)
            return True
        job = self.client.request("GET", f"/v1/jobs/{accepted_job.id}", 200).json()
        if not ended(job):
            self.client.findings.violation(
                "a live job can be steered",
                f"{verb} of {accepted_job.id}, {job['state']}: {answer.text[:300]}",
            )
        return False

    def _until(self, accepted_job: AcceptedJob, enough: Callable[[Json], bool]) -> Json:
        """Wait until `enough` is true of the job, or it has ended."""
        job: Json = self.client.request("GET", f"/v1/jobs/{accepted_job.id}", 200).json()
        while not (enough(job) or ended(job)):
            if self.accepted.closed.is_set():
                self.client.findings.violation(
                    "every job ends", f"{accepted_job.kind} {accepted_job.id}: {job}"
                )
                raise UnfinishedError(accepted_job.id)
            headers = {"Prefer": f"wait={WAIT}", "If-None-Match": f'W/"{job["revision"]}"'}
            answer = self.client.request("GET", f"/v1/jobs/{accepted_job.id}", 200, 304, headers=headers)
            job = answer.json() if answer.status_code == 200 else job
        return job

    def _end(self, accepted_job: AcceptedJob) -> Json:
        job = self._until(accepted_job, ended)
        for fault in _wrong_end(accepted_job, job):
            self.client.findings.violation(
                "a job ends as requested", f"{accepted_job.kind} {accepted_job.id}: {fault}"
            )
        accepted_job.end_seen = True
        return job


def _has_tree(job: Json) -> bool:
    return bool(job["progress"]["incumbents"])


def _wrong_end(accepted_job: AcceptedJob, job: Json) -> list[str]:
    if job["state"] == "FAILED":
        # The promise for a job whose worker is killed again and again before it makes progress.
        return [] if job["error"]["code"] == "WORKER_LOST" else [f"FAILED with {job['error']}"]
    wanted = "CANCELLED" if "cancel" in accepted_job.acknowledged else "SUCCEEDED"
    return [] if job["state"] == wanted else [f"{job['state']} after {sorted(accepted_job.acknowledged)}"]


_MAKERS = {"easy": tables.easy, "hard": tables.hard}
_KINDS: dict[str, tuple[int, Callable[[ClientTask], None]]] = {
    "short": (4, ClientTask.short),
    "limited": (4, ClientTask.limited),
    "paused": (3, ClientTask.paused),
    "cancelled": (3, ClientTask.cancelled),
    "finished": (3, ClientTask.finished),
    "descended": (2, ClientTask.descended),
}
