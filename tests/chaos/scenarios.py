"""Zombies on purpose: what one check in the store's scripts is for, each shown on a running stack.

A scenario reports violations as the observer of a campaign does. On the code as it is there are none.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import psutil

from stack import poll

from . import rows, rules
from .cluster import Cluster
from .findings import Findings
from .ledger import Entry, Ledger
from .observer import Observer
from .visitor import Visitor, has_tree

Json = dict[str, Any]
TAKEN_SECONDS = 30.0


class Scene:
    """One job on a stack, with an eye on it."""

    def __init__(self, cluster: Cluster, findings: Findings, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self.visitor = Visitor(cluster.url, findings)
        self.observer = Observer(0, cluster.url, Ledger(), findings)
        self.entry = Entry(self.visitor.submit(rows.hard(1)), name, rows.hard(1))

    def look(self) -> Json:
        """The job as it is now, held against all that was seen of it before."""
        self.observer.look_at(self.entry)
        job = self.observer.seen[self.entry.id].job
        assert job is not None, "the API does not answer"
        return job

    def until(self, enough: Callable[[Json], object], what: str) -> Json:
        def look() -> Json | None:
            job = self.look()
            return job if enough(job) else None

        return poll(look, seconds=TAKEN_SECONDS, what=f"{self.name}: {what}")

    def steer(self, verb: str) -> None:
        self.visitor.steer(self.entry.id, verb)

    def holder(self, besides: psutil.Process | None = None) -> psutil.Process:
        """The process that has the job, once it is one other than this."""

        def look() -> psutil.Process | None:
            holder = self.cluster.holder(self.entry.id)
            return None if holder is None or holder == besides else holder

        return poll(look, seconds=TAKEN_SECONDS, what=f"{self.name}: a worker has the job")

    def stored(self, *names: str) -> list[bytes | None]:
        return self.cluster.fields(self.entry.id, *names)

    def end(self) -> None:
        self.steer("cancel")
        self.until(rules.ended, "the end")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.visitor.close()
        self.observer.close()


def no_word_of_one_who_lost_the_job(cluster: Cluster, findings: Findings) -> None:
    """A is stopped past its lease, B has the job; then B is stopped too, and A goes on.

    Until B's lease runs out nobody may write: whatever is written then is A's.
    """
    with Scene(cluster, findings, "two workers of one job") as scene:
        scene.until(has_tree, "a tree")
        first = scene.holder()
        first.suspend()
        second = scene.holder(besides=first)
        scene.until(
            lambda job: job["state"] == "RUNNING" and scene.stored("epoch") != [b"1"], "running again"
        )
        second.suspend()
        time.sleep(0.05)  # a command that was under way
        before = scene.stored("epoch", "lease_until")
        first.resume()
        until = time.monotonic() + 0.6 * cluster.lease
        while time.monotonic() < until and scene.stored("epoch", "lease_until") == before:
            time.sleep(0.02)
        if (after := scene.stored("epoch", "lease_until")) != before and after[0] == before[0] and after[1]:
            findings.violation("who lost a job is not heard", f"epoch and lease {before}, then {after}")
        second.resume()
        scene.end()


def no_word_after_the_end(cluster: Cluster, findings: Findings) -> None:
    """A is stopped past its lease, and its job is cancelled meanwhile; then A goes on."""
    with Scene(cluster, findings, "a cancelled job") as scene:
        scene.until(has_tree, "a tree")
        holder = scene.holder()
        holder.suspend()
        scene.steer("cancel")
        scene.until(rules.ended, "the end")
        holder.resume()
        until = time.monotonic() + cluster.lease
        while time.monotonic() < until and not len(findings):
            scene.look()
            time.sleep(0.05)


def no_bound_is_taken_back(cluster: Cluster, findings: Findings) -> None:
    """The child is killed and what it saved is lost: the search begins anew, with the bounds of then."""
    with Scene(cluster, findings, "a search begun again") as scene:
        first = scene.until(has_tree, "a tree")
        scene.until(
            lambda job: job["progress"]["lower_bound"] > first["progress"]["lower_bound"], "a better bound"
        )
        scene.holder().send_signal(signal.SIGKILL)
        for blob in filter(None, scene.stored("blob")):
            cluster.blobs.delete(blob.decode())
        attempts = scene.stored("epoch")
        before = scene.look()
        scene.until(
            lambda job: (
                job["state"] == "RUNNING"
                and scene.stored("epoch") != attempts
                and job["revision"] > before["revision"] + 2
            ),
            "running again",
        )
        scene.end()
