"""When all is quiet: everything that was acknowledged is there, once, and nothing else is."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from worker.messages import JobState

from . import rules
from .caller import Caller
from .cluster import Cluster
from .findings import Findings
from .ledger import Entry, Ledger
from .observer import Observer, Seen

Json = dict[str, Any]


class Audit:
    def __init__(self, cluster: Cluster, ledger: Ledger, observer: Observer, findings: Findings) -> None:
        self._cluster = cluster
        self._ledger = ledger
        self._observer = observer
        self._findings = findings
        self.states: Counter[str] = Counter()
        self.lost_workers = 0  # times that a job's worker was lost, by its transitions
        self.orphans = 0  # blobs that no record names: what killed processes left behind

    def run(self) -> None:
        with Caller(self._cluster.url, self._findings) as caller:
            listed = _pages(caller, "/v1/jobs")
            jobs = {item["id"]: caller.ask("GET", f"/v1/jobs/{item['id']}", 200).json() for item in listed}
            self._check_list(listed, jobs)
            models = _pages(caller, "/v1/models")
            self._check_datasets(caller)
            self._check_jobs(jobs, models)
            for entry in self._ledger.entries():
                if entry.id in jobs:
                    self._check_job(caller, entry, jobs[entry.id])
        self._check_store(jobs)

    def _violation(self, rule: str, detail: str) -> None:
        self._findings.violation(rule, detail)

    def _check_list(self, listed: list[Json], jobs: dict[str, Json]) -> None:
        """A summary says what the job says, but less of its metrics."""
        for item in listed:
            shown = jobs[item["id"]]
            if any(item[name] != shown[name] for name in item if name != "metrics"):
                self._violation("a job is one thing", f"listed as {item}, shown as {shown}")

    def _check_datasets(self, caller: Caller) -> None:
        for dataset_id, rows in self._ledger.datasets():
            caller.ask("GET", f"/v1/datasets/{dataset_id}/preview", 200)
            status, again = caller.upload(rows.csv)
            if (status, again) != (200, dataset_id):
                self._violation("no dataset is lost", f"{dataset_id}: uploaded again it is {again}")

    def _check_jobs(self, jobs: dict[str, Json], models: list[Json]) -> None:
        accepted = {entry.id for entry in self._ledger.entries()}
        for job_id in accepted ^ jobs.keys():
            self._violation("accepted jobs and no others", f"{job_id}: {job_id in accepted=}")
        self.states.update(job["state"] for job in jobs.values())
        moves = [move for job in jobs.values() for move in job["transitions"]]
        self.lost_workers = sum(
            move["reason"] == "WORKER_LOST" and move["state"] != "FAILED" for move in moves
        )
        made = Counter(model["job_id"] for model in models)
        for job in jobs.values():
            wanted = 1 if job["state"] == "SUCCEEDED" else 0
            if made.pop(job["id"], 0) != wanted:
                self._violation("one model for a job that succeeded", f"{job['id']}: {job['state']}")
        for job_id in made:
            self._violation("one model for a job that succeeded", f"{job_id}: not a job")

    def _check_job(self, caller: Caller, entry: Entry, job: Json) -> None:
        self._observer.look_at(entry)
        seen = self._observer.seen.get(entry.id, Seen())
        if seen.job != job:
            self._violation("a job is one thing", f"{entry.id}: shown as {job} and as {seen.job}")
        if not rules.ended(job):
            self._violation("every job ends", f"{entry.kind} {entry.id}: {job['state']}")
            return
        events = caller.ask("GET", f"/v1/jobs/{entry.id}/events?page_size=1000", 200).json()["items"]
        points = caller.ask("GET", f"/v1/jobs/{entry.id}/trace", 200).json()["points"]
        trees = [seen.trees[number] for number in sorted(seen.trees)]
        faults = [
            *rules.all_events(events, job),
            *rules.series(points, "upper", "lower"),
            *rules.numbered_trees(trees),
        ]
        if seen.events != events:
            faults.append(f"{len(events)} events, but {len(seen.events)} were seen as they came")
        if entry.told is not None and [e["id"] for e in entry.told] != [e["id"] for e in events]:
            faults.append(f"{len(events)} events, but the stream told {len(entry.told)}")
        for revision in range(1, job["progress"]["incumbents"] + 1):
            kept = caller.ask("GET", f"/v1/jobs/{entry.id}/incumbent?revision={revision}", 200).json()
            if kept != seen.trees.get(revision, kept):
                faults.append(f"tree {revision} is not what it was")
        for fault in faults:
            self._violation("the record is whole", f"{entry.kind} {entry.id}: {fault}")

    def _check_store(self, jobs: dict[str, Json]) -> None:
        """Behind the API: no job is left in a queue, and every blob that is named is whole."""
        store = self._cluster.store
        for name in ("literati:turns", "literati:waiting", "literati:leases", "literati:active"):
            if left := self._cluster.connection.zcard(name):
                self._violation("nothing is left over", f"{left} in {name}")
        if busy := self._cluster.connection.hgetall("literati:running"):
            self._violation("nothing is left over", f"cores in use: {busy}")
        counts = {state: n for state, n in store.jobs.count_by_state().items() if n}
        if counts != Counter(JobState(job["state"]) for job in jobs.values()):
            self._violation("states are counted right", f"{counts}")
        references: Any = self._cluster.connection.hkeys("literati:blob-references")
        named = {name.decode() for name in references}
        files = {path.name: path for path in self._cluster.blobs.folder.glob("[0-9a-f][0-9a-f]/*")}
        for name in named:
            if name not in files or hashlib.sha256(files[name].read_bytes()).hexdigest() != name:
                self._violation("no blob is lost", f"{name}: {'damaged' if name in files else 'gone'}")
        self.orphans = len(files.keys() - named)


def _pages(caller: Caller, path: str) -> list[Json]:
    found: list[Json] = []
    token: str | None = None
    while True:
        query = {"page_size": 100, **({"page_token": token} if token else {})}
        page = caller.ask("GET", path, 200, params=query).json()
        found += page["items"]
        token = page["next_page_token"]
        if token is None:
            return found
