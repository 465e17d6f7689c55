"""An observer that reads every job again and again and checks what it reads by the rules."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from typing import Any

from tests.chaos import rules
from tests.chaos.accepted import Accepted, AcceptedJob
from tests.chaos.findings import Findings
from tests.chaos.retrying_client import RetryingClient

Json = dict[str, Any]
ROUND_SECONDS = 0.1
ENDED_AGAIN = 3  # ended jobs that are read again in every round


@dataclass
class JobHistory:
    """Everything that was read of a job so far."""

    job: Json | None = None
    trees: dict[int, Json] = field(default_factory=dict)  # by revision
    events: list[Json] = field(default_factory=list)
    model: Json | None = None

    @property
    def last_event(self) -> str | None:
        return self.events[-1]["id"] if self.events else None


class Observer(threading.Thread):
    def __init__(self, seed: int, url: str, accepted: Accepted, findings: Findings) -> None:
        super().__init__(name="observer", daemon=True)
        self.seen: dict[str, JobHistory] = {}
        self._rng = random.Random(f"{seed} observer")
        self._client = RetryingClient(url, findings)
        self._accepted = accepted
        self._findings = findings
        self._stopping = threading.Event()
        self.failure: BaseException | None = None

    def close(self) -> None:
        self._client.close()

    def stop(self) -> None:
        self._stopping.set()
        self.join()
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        try:
            while not self._stopping.wait(ROUND_SECONDS):
                self._round()
        except BaseException as error:
            self.failure = error

    def _round(self) -> None:
        accepted_jobs = self._accepted.jobs()
        ended = [accepted_job for accepted_job in accepted_jobs if self._has_ended(accepted_job)]
        live = [accepted_job for accepted_job in accepted_jobs if not self._has_ended(accepted_job)]
        for accepted_job in [*live, *self._rng.sample(ended, min(ENDED_AGAIN, len(ended)))]:
            if self._stopping.is_set() or not self._look_at_job(accepted_job):
                return  # the API does not answer now
            self._look_further(accepted_job)

    def _has_ended(self, accepted_job: AcceptedJob) -> bool:
        seen = self.seen.get(accepted_job.id)
        return seen is not None and seen.job is not None and rules.ended(seen.job)

    def look_at(self, accepted_job: AcceptedJob) -> None:
        """Read the job with its trees, events and model; skip what is not answered now."""
        if self._look_at_job(accepted_job):
            self._look_further(accepted_job)

    def _look_further(self, accepted_job: AcceptedJob) -> None:
        seen = self.seen[accepted_job.id]
        assert seen.job is not None
        self._look_at_trees(accepted_job, seen)
        self._look_at_events(accepted_job, seen)
        if seen.job["model_id"] is not None:
            self._look_at_model(accepted_job, seen, seen.job["model_id"])

    def _look_at_job(self, accepted_job: AcceptedJob) -> bool:
        seen = self.seen.setdefault(accepted_job.id, JobHistory())
        job = self._get(f"/v1/jobs/{accepted_job.id}")
        if job is None:
            return False
        self._findings.count("reads of jobs")
        self._report(accepted_job, "a job does not contradict itself", rules.contradictions(job))
        if seen.job is not None:
            self._report(
                accepted_job, "what was reported is not taken back", rules.changes_taken_back(seen.job, job)
            )
        seen.job = job
        return True

    def _look_at_trees(self, accepted_job: AcceptedJob, seen: JobHistory) -> None:
        assert seen.job is not None
        number = seen.job["progress"]["incumbents"]
        missing = [n for n in range(1, number + 1) if n not in seen.trees]
        for revision in missing or self._rng.sample(sorted(seen.trees), min(1, len(seen.trees))):
            tree = self._get(f"/v1/jobs/{accepted_job.id}/incumbent", revision=revision)
            if tree is None:
                continue
            if revision not in seen.trees:
                self._judge(accepted_job, tree)
            elif tree != seen.trees[revision]:
                self._report(accepted_job, "a numbered tree never changes", [f"tree {revision}"])
            seen.trees[revision] = tree
        if number:
            self._look_at_best(accepted_job, seen, seen.job)

    def _look_at_best(self, accepted_job: AcceptedJob, seen: JobHistory, job: Json) -> None:
        best = self._get(f"/v1/jobs/{accepted_job.id}/incumbent")
        if best is None:
            return
        before = job["progress"]
        if best["revision"] < before["incumbents"] or best["objective"] > before["objective"]:
            self._report(
                accepted_job,
                "what was reported is not taken back",
                [f"tree {best['revision']} after {before}"],
            )
        if best["upper_bound"] > before["upper_bound"] or best["lower_bound"] < before["lower_bound"]:
            streamed = f"bounds {best['upper_bound']}, {best['lower_bound']} after {before}"
            self._report(accepted_job, "what was reported is not taken back", [streamed])
        known = seen.trees.get(best["revision"])
        if known is None or best["objective"] != known["objective"]:
            self._judge(accepted_job, best)

    def _judge(self, accepted_job: AcceptedJob, tree: Json) -> None:
        self._findings.count("trees evaluated")
        self._report(
            accepted_job,
            "a tree costs what it says",
            accepted_job.rows.faults(tree["tree"], tree["objective"]),
        )

    def _look_at_events(self, accepted_job: AcceptedJob, seen: JobHistory) -> None:
        after = {} if seen.last_event is None else {"after": seen.last_event}
        page = self._get(f"/v1/jobs/{accepted_job.id}/events", page_size=1000, **after)
        if page is None:
            return
        if page["resync"]:
            self._report(accepted_job, "no event is lost", [f"resync after {seen.last_event}"])
        seen.events += page["items"]

    def _look_at_model(self, accepted_job: AcceptedJob, seen: JobHistory, model_id: str) -> None:
        model = self._get(f"/v1/models/{model_id}")
        if model is None:
            return
        if seen.model is None:
            self._judge(accepted_job, model)
        elif model != seen.model:
            self._report(accepted_job, "a model never changes", [model_id])
        seen.model = model

    def _get(self, path: str, **query: Any) -> Json | None:
        """Return the response, or None if there is none now. A 404 for something known is a violation."""
        answer = self._client.try_once("GET", path, params=query)
        if answer is None or answer.status_code == 503:
            return None
        if answer.status_code != 200:
            self._findings.violation(
                "what was acknowledged is not lost", f"{path} {query}: {answer.text[:300]}"
            )
            return None
        body: Json = answer.json()
        return body

    def _report(self, accepted_job: AcceptedJob, rule: str, faults: Any) -> None:
        for fault in faults:
            self._findings.violation(rule, f"{accepted_job.kind} {accepted_job.id}: {fault}")
