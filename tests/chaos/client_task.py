"""What clients do with a job: each kind of errand submits one (or two) and sees it through to its end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from . import rows as tables
from .caller import Caller
from .follower import Follower
from .ledger import Entry, Ledger
from .rules import ended

Json = dict[str, Any]

LONG: Json = {"max_depth": 3, "candidates": "all"}  # on hard rows: many seconds
STEADY: Json = {"max_depth": 4, "candidates": "quantile", "candidate_leaves": 9}  # proven after some seconds
WAIT = 5  # seconds that an answer may be held back
MOST_PAUSES = 2
FOLLOWED = 0.15  # of all jobs, by an event stream
FRESH = 0.15  # of all jobs bring a dataset of their own
TWICE = 0.2  # of all submissions are sent again, as after a lost answer


class UnfinishedError(Exception):
    """The campaign is over and the job has not ended."""


class Errand:
    """One job, decided by the seed and its number; belongs to one thread."""

    def __init__(self, seed: int, number: int, caller: Caller, ledger: Ledger) -> None:
        self.rng = random.Random(f"{seed} errand {number}")
        self.number = number
        self.caller = caller
        self.ledger = ledger
        self.kind = self.rng.choices(list(_KINDS), [weight for weight, _ in _KINDS.values()])[0]

    def run(self) -> None:
        _KINDS[self.kind][1](self)

    # Kinds

    def short(self) -> None:
        self._end(self._submit("easy", {"max_depth": self.rng.choice([2, 3])}))

    def limited(self) -> None:
        self._end(self._submit("hard", self.rng.choice([LONG, STEADY]), self._limits()))

    def paused(self) -> None:
        entry = self._submit("hard", self.rng.choice([LONG, STEADY]), self._limits())
        for _ in range(self.rng.randint(1, MOST_PAUSES)):
            self._until(entry, _has_tree)
            if not self._steer(entry, "pause"):
                break
            self._until(entry, lambda job: job["state"] == "PAUSED")
            time.sleep(self.rng.uniform(0.0, 1.0))
            if not self._steer(entry, "resume"):
                break
        self._end(entry)

    def cancelled(self) -> None:
        entry = self._submit("hard", LONG)
        time.sleep(self.rng.choice([0.0, self.rng.uniform(0.0, 4.0)]))
        self._steer(entry, "cancel")
        self._end(entry)

    def finished(self) -> None:
        entry = self._submit("hard", LONG)
        self._until(entry, _has_tree)
        time.sleep(self.rng.uniform(0.0, 3.0))
        self._steer(entry, "finish")
        self._end(entry)

    def descended(self) -> None:
        """A job, and one that starts where it ended."""
        limits = {"time_limit": None, "max_expansions": self.rng.randint(200, 800)}
        parent = self._submit("hard", LONG, limits)
        job = self._end(parent)
        if job["progress"]["incumbents"]:
            self._end(self._submit(parent.rows.name, LONG, limits, parent_job_id=parent.id))

    def _limits(self) -> Json:
        if self.rng.random() < 0.5:
            return {"time_limit": self.rng.uniform(1.0, 8.0)}
        return {"time_limit": None, "max_expansions": self.rng.randint(100, 3000)}

    # Steps

    def _submit(self, rows: str, parameters: Json, limits: Json | None = None, **fields: Any) -> Entry:
        """Accepted once, however often it had to be sent."""
        dataset_id, chosen = self._dataset(rows)
        body = {
            "dataset_id": dataset_id,
            "priority": self.rng.randint(-2, 2),
            "parameters": parameters,
            "limits": {"time_limit": 120.0} if limits is None else limits,
            **fields,
        }
        headers = {"Idempotency-Key": f"{self.kind}-{self.number}-{'child' if fields else 'first'}"}
        job = self.caller.ask("POST", "/v1/jobs", 202, json=body, headers=headers).json()
        if self.rng.random() < TWICE:
            again = self.caller.ask("POST", "/v1/jobs", 202, json=body, headers=headers).json()
            if again["id"] != job["id"]:
                self.caller.findings.violation("one key, one job", f"{job['id']} and {again['id']}")
        entry = Entry(job["id"], self.kind, chosen)
        if self.rng.random() < FOLLOWED:
            entry.told = []
            Follower(self.caller.url, entry, self.ledger, self.caller.findings).start()
        self.ledger.accept(entry)
        return entry

    def _dataset(self, name: str) -> tuple[str, tables.Rows]:
        if self.rng.random() < FRESH and name in _MAKERS:
            made = _MAKERS[name](1000 + self.number)
            _, dataset_id = self.caller.upload(made.csv)
            self.ledger.keep(dataset_id, made)
            return dataset_id, made
        return self.rng.choice(
            [(key, rows) for key, rows in self.ledger.datasets() if rows.name.startswith(name)]
        )

    def _steer(self, entry: Entry, verb: str) -> bool:
        """True if it was granted. A refusal is right only for a job that has ended."""
        answer = self.caller.ask("POST", f"/v1/jobs/{entry.id}/{verb}", 200, 202, 409)
        if answer.status_code != 409:
            entry.granted.add(verb)
            return True
        job = self.caller.ask("GET", f"/v1/jobs/{entry.id}", 200).json()
        if not ended(job):
            self.caller.findings.violation(
                "a live job can be steered", f"{verb} of {entry.id}, {job['state']}: {answer.text[:300]}"
            )
        return False

    def _until(self, entry: Entry, enough: Callable[[Json], bool]) -> Json:
        """Wait for it, or for the job's end."""
        job: Json = self.caller.ask("GET", f"/v1/jobs/{entry.id}", 200).json()
        while not (enough(job) or ended(job)):
            if self.ledger.closed.is_set():
                self.caller.findings.violation("every job ends", f"{entry.kind} {entry.id}: {job}")
                raise UnfinishedError(entry.id)
            headers = {"Prefer": f"wait={WAIT}", "If-None-Match": f'W/"{job["revision"]}"'}
            answer = self.caller.ask("GET", f"/v1/jobs/{entry.id}", 200, 304, headers=headers)
            job = answer.json() if answer.status_code == 200 else job
        return job

    def _end(self, entry: Entry) -> Json:
        job = self._until(entry, ended)
        for fault in _wrong_end(entry, job):
            self.caller.findings.violation(
                "a job ends as it was told to", f"{entry.kind} {entry.id}: {fault}"
            )
        entry.over = True
        return job


def _has_tree(job: Json) -> bool:
    return bool(job["progress"]["incumbents"])


def _wrong_end(entry: Entry, job: Json) -> list[str]:
    if job["state"] == "FAILED":
        # Killed again and again before it got further: that is what is promised of such a job.
        return [] if job["error"]["code"] == "WORKER_LOST" else [f"FAILED with {job['error']}"]
    wanted = "CANCELLED" if "cancel" in entry.granted else "SUCCEEDED"
    return [] if job["state"] == wanted else [f"{job['state']} after {sorted(entry.granted)}"]


_MAKERS = {"easy": tables.easy, "hard": tables.hard}
_KINDS: dict[str, tuple[int, Callable[[Errand], None]]] = {
    "short": (4, Errand.short),
    "limited": (4, Errand.limited),
    "paused": (3, Errand.paused),
    "cancelled": (3, Errand.cancelled),
    "finished": (3, Errand.finished),
    "descended": (2, Errand.descended),
}
