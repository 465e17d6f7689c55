"""Scenarios on a running stack, each for one check in the store's scripts.

A scenario adds violations to the findings, as the observer of a campaign does. The unchanged code has none.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import psutil

from tests.chaos import rows, rules
from tests.chaos.accepted import Accepted, AcceptedJob
from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.chaos.job_client import JobClient, has_tree
from tests.chaos.observer import Observer
from tests.support.stack.stack import poll

Json = dict[str, Any]
TAKEN_SECONDS = 30.0


class ObservedJob:
    """Submit a job and observe it."""

    def __init__(self, cluster: Cluster, findings: Findings, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.job_client = JobClient(cluster.url, findings)
        self.observer = Observer(0, cluster.url, Accepted(), findings)
        self.accepted_job = AcceptedJob(self.job_client.submit(rows.hard(1)), name, rows.hard(1))

    def look(self) -> Json:
        """Read the job, and check it against everything that was read of it before."""
        self.observer.look_at(self.accepted_job)
        job = self.observer.seen[self.accepted_job.id].job
        assert job is not None, "the API does not answer"
        return job

    def until(self, enough: Callable[[Json], object], what: str) -> Json:
        def look() -> Json | None:
            job = self.look()
            return job if enough(job) else None

        return poll(look, seconds=TAKEN_SECONDS, what=f"{self.name}: {what}")

    def steer(self, verb: str) -> None:
        self.job_client.steer(self.accepted_job.id, verb)

    def holder(self, besides: psutil.Process | None = None) -> psutil.Process:
        """Wait until a process other than `besides` holds the job, and return it."""

        def look() -> psutil.Process | None:
            holder = self.cluster.holder(self.accepted_job.id)
            return None if holder is None or holder == besides else holder

        return poll(look, seconds=TAKEN_SECONDS, what=f"{self.name}: a worker has the job")

    def stored(self, *names: str) -> list[bytes | None]:
        return self.cluster.fields(self.accepted_job.id, *names)

    def end(self) -> None:
        self.steer("cancel")
        self.until(rules.ended, "the end")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.job_client.close()
        self.observer.close()


def updates_after_a_lost_lease_are_refused(cluster: Cluster, findings: Findings) -> None:
    """Worker A is suspended beyond its lease and B takes the job; then B is suspended too, and A is resumed.

    Until B's lease expires nothing may be written, so that any write is A's.
    """
    with ObservedJob(cluster, findings, "two workers of one job") as observed:
        observed.until(has_tree, "a tree")
        first = observed.holder()
        first.suspend()
        second = observed.holder(besides=first)
        observed.until(
            lambda job: job["state"] == "RUNNING" and observed.stored("epoch") != [b"1"], "running again"
        )
        second.suspend()
        time.sleep(0.05)  # for a command that was under way
        before = observed.stored("epoch", "lease_until")
        first.resume()
        until = time.monotonic() + 0.6 * cluster.lease
        while time.monotonic() < until and observed.stored("epoch", "lease_until") == before:
            time.sleep(0.02)
        if (
            (after := observed.stored("epoch", "lease_until")) != before
            and after[0] == before[0]
            and after[1]
        ):
            findings.violation(
                "updates after a lost lease are refused", f"epoch and lease {before}, then {after}"
            )
        second.resume()
        observed.end()


def updates_after_the_end_are_refused(cluster: Cluster, findings: Findings) -> None:
    """Worker A is suspended beyond its lease; its job is cancelled; then A is resumed."""
    with ObservedJob(cluster, findings, "a cancelled job") as observed:
        observed.until(has_tree, "a tree")
        holder = observed.holder()
        holder.suspend()
        observed.steer("cancel")
        observed.until(rules.ended, "the end")
        holder.resume()
        until = time.monotonic() + cluster.lease
        while time.monotonic() < until and not len(findings):
            observed.look()
            time.sleep(0.05)


def bounds_never_get_worse(cluster: Cluster, findings: Findings) -> None:
    """A worker process is killed and its saved search is deleted, so that the search starts again."""
    with ObservedJob(cluster, findings, "a search begun again") as observed:
        first = observed.until(has_tree, "a tree")
        observed.until(
            lambda job: job["progress"]["lower_bound"] > first["progress"]["lower_bound"], "a better bound"
        )
        observed.holder().send_signal(signal.SIGKILL)
        for blob in filter(None, observed.stored("blob")):
            cluster.blobs.delete(blob.decode())
        attempts = observed.stored("epoch")
        before = observed.look()
        observed.until(
            lambda job: (
                job["state"] == "RUNNING"
                and observed.stored("epoch") != attempts
                and job["revision"] > before["revision"] + 2
            ),
            "running again",
        )
        observed.end()
