"""The audit after a campaign: everything that was acknowledged exists exactly once, and nothing else does."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from tests.chaos import rules
from tests.chaos.accepted import Accepted, AcceptedJob
from tests.chaos.cluster import Cluster
from tests.chaos.findings import Findings
from tests.chaos.observer import JobHistory, Observer
from tests.chaos.retrying_client import RetryingClient
from tests.chaos.sweep_task import faults_of_sweep
from worker.domain.jobs import JobState

Json = dict[str, Any]


class Audit:
    def __init__(
        self,
        cluster: Cluster,
        accepted: Accepted,
        observer: Observer,
        findings: Findings,
        reference: dict[str, Json],
    ) -> None:
        self._cluster = cluster
        self._accepted = accepted
        self._observer = observer
        self._findings = findings
        self._reference = reference  # what sweeps find without faults
        self.states: Counter[str] = Counter()
        self.sweep_states: Counter[str] = Counter()
        self.lost_workers = 0  # how often a job lost its worker
        self.orphans = 0  # blobs without a record, left behind by killed processes

    def run(self) -> None:
        with RetryingClient(self._cluster.url, self._findings) as client:
            listed = _pages(client, "/v1/jobs")
            jobs = {
                item["id"]: client.request("GET", f"/v1/jobs/{item['id']}", 200).json() for item in listed
            }
            self._check_list(listed, jobs)
            models = _pages(client, "/v1/models")
            self._check_datasets(client)
            children = self._check_sweeps(client)
            of_sweeps = {model["job_id"] for model in models} & children.keys()
            self._check_jobs(jobs, [model for model in models if model["job_id"] not in of_sweeps])
            for accepted_job in self._accepted.jobs():
                if accepted_job.id in jobs:
                    self._check_job(client, accepted_job, jobs[accepted_job.id])
        self._check_store(jobs | children)

    def _violation(self, rule: str, detail: str) -> None:
        self._findings.violation(rule, detail)

    def _check_list(self, listed: list[Json], jobs: dict[str, Json]) -> None:
        """Compare the list with the jobs: an item has the fields of its job, with fewer metrics."""
        for item in listed:
            shown = jobs[item["id"]]
            if any(item[name] != shown[name] for name in item if name != "metrics"):
                self._violation("a job is one thing", f"listed as {item}, shown as {shown}")

    def _check_datasets(self, client: RetryingClient) -> None:
        for dataset_id, rows in self._accepted.datasets():
            client.request("GET", f"/v1/datasets/{dataset_id}/preview", 200)
            status, again = client.upload(rows.csv)
            if (status, again) != (200, dataset_id):
                self._violation("no dataset is lost", f"{dataset_id}: uploaded again it is {again}")

    def _check_jobs(self, jobs: dict[str, Json], models: list[Json]) -> None:
        accepted = {accepted_job.id for accepted_job in self._accepted.jobs()}
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

    def _check_sweeps(self, client: RetryingClient) -> dict[str, Json]:
        """Check every sweep, and return the jobs of all of them."""
        listed = {item["id"]: item for item in _pages(client, "/v1/sweeps")}
        for sweep_id in listed.keys() ^ set(self._accepted.sweeps()):
            self._violation("accepted sweeps and no others", sweep_id)
        children: dict[str, Json] = {}
        for sweep_id in listed:
            sweep = client.request("GET", f"/v1/sweeps/{sweep_id}", 200).json()
            jobs = _pages(client, "/v1/jobs", sweep_id=sweep_id)
            children |= {job["id"]: job for job in jobs}
            self.sweep_states[sweep["state"]] += 1
            for fault in faults_of_sweep(client, sweep, self._reference[sweep["name"]], jobs):
                self._violation("a sweep is not changed by faults", f"{sweep_id}: {fault}")
        return children

    def _check_job(self, client: RetryingClient, accepted_job: AcceptedJob, job: Json) -> None:
        self._observer.look_at(accepted_job)
        seen = self._observer.seen.get(accepted_job.id, JobHistory())
        if seen.job != job:
            self._violation("a job is one thing", f"{accepted_job.id}: shown as {job} and as {seen.job}")
        if not rules.ended(job):
            self._violation("every job ends", f"{accepted_job.kind} {accepted_job.id}: {job['state']}")
            return
        events = client.request("GET", f"/v1/jobs/{accepted_job.id}/events?page_size=1000", 200).json()[
            "items"
        ]
        points = client.request("GET", f"/v1/jobs/{accepted_job.id}/trace", 200).json()["points"]
        trees = [seen.trees[number] for number in sorted(seen.trees)]
        faults = [
            *rules.faults_in_events(events, job),
            *rules.faults_in_bounds(points, "upper", "lower"),
            *rules.faults_in_trees(trees),
        ]
        if seen.events != events:
            faults.append(f"{len(events)} events, but {len(seen.events)} were seen as they came")
        if accepted_job.streamed is not None and [e["id"] for e in accepted_job.streamed] != [
            e["id"] for e in events
        ]:
            faults.append(f"{len(events)} events, but the stream had {len(accepted_job.streamed)}")
        for revision in range(1, job["progress"]["incumbents"] + 1):
            kept = client.request(
                "GET", f"/v1/jobs/{accepted_job.id}/incumbent?revision={revision}", 200
            ).json()
            if kept != seen.trees.get(revision, kept):
                faults.append(f"tree {revision} is not what it was")
        for fault in faults:
            self._violation("the record is whole", f"{accepted_job.kind} {accepted_job.id}: {fault}")

    def _check_store(self, jobs: dict[str, Json]) -> None:
        """Look at the store itself: no queue has an entry, and every blob with a record is intact."""
        store = self._cluster.store
        for name in ("literati:turns", "literati:waiting", "literati:leases", "literati:active"):
            if left := self._cluster.connection.zcard(name):
                self._violation("nothing is left over", f"{left} in {name}")
        if busy := self._cluster.connection.hgetall("literati:running"):
            self._violation("nothing is left over", f"cores in use: {busy}")
        counts = {state: n for state, n in store.measure().states.items() if n}
        if counts != Counter(JobState(job["state"]) for job in jobs.values()):
            self._violation("states are counted right", f"{counts}")
        named = store.blobs.referenced()
        files = {path.name: path for path in self._cluster.blobs.folder.glob("[0-9a-f][0-9a-f]/*")}
        for name in named:
            if name not in files or hashlib.sha256(files[name].read_bytes()).hexdigest() != name:
                self._violation("no blob is lost", f"{name}: {'damaged' if name in files else 'gone'}")
        self.orphans = len(files.keys() - named)


def _pages(client: RetryingClient, path: str, **options: str) -> list[Json]:
    found: list[Json] = []
    token: str | None = None
    while True:
        query = {"page_size": 100, **options, **({"page_token": token} if token else {})}
        page = client.request("GET", path, 200, params=query).json()
        found += page["items"]
        token = page["next_page_token"]
        if token is None:
            return found
