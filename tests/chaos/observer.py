"""Looks at every job all the time, as many clients would, and holds what it sees against the rules."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass, field
from typing import Any

from . import rules
from .caller import Caller
from .findings import Findings
from .ledger import Entry, Ledger

Json = dict[str, Any]
ROUND_SECONDS = 0.1
ENDED_AGAIN = 3  # ended jobs looked at again in every round


@dataclass
class Seen:
    """All that was ever seen of one job."""

    job: Json | None = None
    trees: dict[int, Json] = field(default_factory=dict)  # by revision
    events: list[Json] = field(default_factory=list)
    model: Json | None = None

    @property
    def last_event(self) -> str | None:
        return self.events[-1]["id"] if self.events else None


class Observer(threading.Thread):
    def __init__(self, seed: int, url: str, ledger: Ledger, findings: Findings) -> None:
        super().__init__(name="observer", daemon=True)
        self.seen: dict[str, Seen] = {}
        self._rng = random.Random(f"{seed} observer")
        self._caller = Caller(url, findings)
        self._ledger = ledger
        self._findings = findings
        self._stopping = threading.Event()
        self.failure: BaseException | None = None

    def close(self) -> None:
        self._caller.close()

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
        entries = self._ledger.entries()
        ended = [entry for entry in entries if self._has_ended(entry)]
        live = [entry for entry in entries if not self._has_ended(entry)]
        for entry in [*live, *self._rng.sample(ended, min(ENDED_AGAIN, len(ended)))]:
            if self._stopping.is_set() or not self._look_at_job(entry):
                return  # nobody answers: not now
            self._look_further(entry)

    def _has_ended(self, entry: Entry) -> bool:
        seen = self.seen.get(entry.id)
        return seen is not None and seen.job is not None and rules.ended(seen.job)

    def look_at(self, entry: Entry) -> None:
        """Everything there is to see of the job now. What is not answered is left for the next time."""
        if self._look_at_job(entry):
            self._look_further(entry)

    def _look_further(self, entry: Entry) -> None:
        seen = self.seen[entry.id]
        assert seen.job is not None
        self._look_at_trees(entry, seen)
        self._look_at_events(entry, seen)
        if seen.job["model_id"] is not None:
            self._look_at_model(entry, seen, seen.job["model_id"])

    def _look_at_job(self, entry: Entry) -> bool:
        seen = self.seen.setdefault(entry.id, Seen())
        job = self._get(f"/v1/jobs/{entry.id}")
        if job is None:
            return False
        self._findings.count("sights of jobs")
        self._report(entry, "a job does not contradict itself", rules.one_sight(job))
        if seen.job is not None:
            self._report(entry, "what was told is not taken back", rules.two_sights(seen.job, job))
        seen.job = job
        return True

    def _look_at_trees(self, entry: Entry, seen: Seen) -> None:
        assert seen.job is not None
        number = seen.job["progress"]["incumbents"]
        missing = [n for n in range(1, number + 1) if n not in seen.trees]
        for revision in missing or self._rng.sample(sorted(seen.trees), min(1, len(seen.trees))):
            tree = self._get(f"/v1/jobs/{entry.id}/incumbent", revision=revision)
            if tree is None:
                continue
            if revision not in seen.trees:
                self._judge(entry, tree)
            elif tree != seen.trees[revision]:
                self._report(entry, "a numbered tree never changes", [f"tree {revision}"])
            seen.trees[revision] = tree
        if number:
            self._look_at_best(entry, seen, seen.job)

    def _look_at_best(self, entry: Entry, seen: Seen, job: Json) -> None:
        best = self._get(f"/v1/jobs/{entry.id}/incumbent")
        if best is None:
            return
        before = job["progress"]
        if best["revision"] < before["incumbents"] or best["objective"] > before["objective"]:
            self._report(
                entry, "what was told is not taken back", [f"tree {best['revision']} after {before}"]
            )
        if best["upper_bound"] > before["upper_bound"] or best["lower_bound"] < before["lower_bound"]:
            told = f"bounds {best['upper_bound']}, {best['lower_bound']} after {before}"
            self._report(entry, "what was told is not taken back", [told])
        known = seen.trees.get(best["revision"])
        if known is None or best["objective"] != known["objective"]:
            self._judge(entry, best)

    def _judge(self, entry: Entry, tree: Json) -> None:
        self._findings.count("trees evaluated")
        self._report(entry, "a tree costs what it says", entry.rows.faults(tree["tree"], tree["objective"]))

    def _look_at_events(self, entry: Entry, seen: Seen) -> None:
        after = {} if seen.last_event is None else {"after": seen.last_event}
        page = self._get(f"/v1/jobs/{entry.id}/events", page_size=1000, **after)
        if page is None:
            return
        if page["resync"]:
            self._report(entry, "no event is lost", [f"resync after {seen.last_event}"])
        seen.events += page["items"]

    def _look_at_model(self, entry: Entry, seen: Seen, model_id: str) -> None:
        model = self._get(f"/v1/models/{model_id}")
        if model is None:
            return
        if seen.model is None:
            self._judge(entry, model)
        elif model != seen.model:
            self._report(entry, "a model never changes", [model_id])
        seen.model = model

    def _get(self, path: str, **query: Any) -> Json | None:
        """None if it could not be had now. That something known is not there is a violation."""
        answer = self._caller.look("GET", path, params=query)
        if answer is None or answer.status_code == 503:
            return None
        if answer.status_code != 200:
            self._findings.violation(
                "what was acknowledged is not lost", f"{path} {query}: {answer.text[:300]}"
            )
            return None
        body: Json = answer.json()
        return body

    def _report(self, entry: Entry, rule: str, faults: Any) -> None:
        for fault in faults:
            self._findings.violation(rule, f"{entry.kind} {entry.id}: {fault}")
